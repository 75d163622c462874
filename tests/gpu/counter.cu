// SPDX-License-Identifier: Apache-2.0
//
// Authors of device benchmarks include the counter from .cu files, so it must compile under nvcc.
// Compiled by the preset `cuda`, never run.
#include <assay/define.hpp>
#include <assay/units.hpp>

namespace assay::counter_test {
namespace {

using namespace units;

class Nothing {
public:
    struct Params {
        Symbolic footprint;
    };
    static constexpr Info info{.id = "counter.nothing",
                               .question = "Does the counter compile under nvcc?",
                               .method = "It is compiled.",
                               .caveats = "Never run.",
                               .headline = "time",
                               .place = "cuda"};
    static constexpr auto axes = std::tuple{symbolic("footprint", "bytes", "B", &Params::footprint,
                                                     {1_MiB}, {1, 1_TiB}, {Symbol::beyond_cache})};
    static Fit fit(const Params&, const Machine&) { return Fit::yes(); }
    Nothing(const Params& /*params*/, Context& /*context*/) {}
    void run() noexcept {}
    Work work() const { return {.bytes = 1}; }
    Check verify() const { return {.passed = true, .method = "none", .detail = ""}; }
    void poison() {}
    void spoil() {}
};

} // namespace

extern constinit const assay_benchmark nothing = define<Nothing>();

} // namespace assay::counter_test
