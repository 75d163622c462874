// SPDX-License-Identifier: Apache-2.0
//
// A module of one benchmark that asks for long batches at load (see Context::sustained), and may leak.
#include <assay/define.hpp>
#include <assay/verify.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace assay;

class Lasting {
public:
    struct Params {
        bool sustained = true;
        bool leaks = false;
    };
    static constexpr Info info{
        .id = "test.lasting",
        .question = "Does the program keep the load up?",
        .method = "Waits.",
        .caveats = "None.",
        .headline = "time",
        .place = "pretended",
        .items = "waits",
    };
    static constexpr std::tuple axes{
        boolean("sustained", "asks for it", &Params::sustained, {true}),
        boolean("leaks", "keeps memory with every call", &Params::leaks, {false})};

    static Fit fit(const Params& /*p*/, const Machine& /*m*/) { return Fit::yes(); }
    Lasting(const Params& p, const Context& context) {
        if (p.sustained) context.sustained(0.005, 1);
        leaks_ = p.leaks;
    }
    void run() noexcept {
        const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds{50};
        while (std::chrono::steady_clock::now() < end) {
        }
        constexpr std::size_t most = 2048;
        if (leaks_ && leaked_.size() < most) leaked_.emplace_back(std::size_t{256} << 10U, 'x');
        ran_ = true;
    }
    Work work() const { return {.items = 1}; }
    Check verify() const { return check_value(ran_ ? 0 : 1, 0, "that it ran", "it did not run"); }
    void poison() { ran_ = false; }
    void spoil() { ran_ = false; }

private:
    bool leaks_ = false;
    bool ran_ = false;
    std::vector<std::string> leaked_;
};

constinit const assay_benchmark lasting = define<Lasting>();
constexpr const assay_benchmark* all[] = {&lasting}; // NOLINT(*-avoid-c-arrays)
constinit const assay_module_v1 module{.struct_size = sizeof(assay_module_v1),
                                       .abi = ASSAY_MODULE_ABI,
                                       .name = "lasting",
                                       .benchmarks = all,
                                       .benchmark_count = 1,
                                       .launcher = ""};

} // namespace

extern "C" ASSAY_EXPORT const assay_module_v1* assay_module();
extern "C" const assay_module_v1* assay_module() { return &module; }
