// SPDX-License-Identifier: Apache-2.0
//
// gemm.square in fp32 against bare calls of the same libraries and against the measured FMA peak.
// Every side is a process of its own, because OpenBLAS reads its core type when it is loaded.
#include "children.hpp"
#include "comparison.hpp"
#include "machine/inventory.hpp"
#include "plan/manifest.hpp"
#include "worker/module.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace assay::peers {
namespace {

bool has_all(const std::vector<std::string>& isa, const std::string& wanted) {
    std::istringstream words{wanted};
    for (std::string word; words >> word;)
        if (std::ranges::find(isa, word) == isa.end()) return false;
    return true;
}

/// OpenBLAS' own choice first, then the core types that this CPU can run.
std::vector<std::string> core_types(const Options& options) {
    const auto module = worker::Module::load(options.module("openblas"));
    if (!module) throw std::runtime_error{module.error().message};
    const auto manifest = worker::describe(*module);
    if (!manifest) throw std::runtime_error{manifest.error().message};
    const auto isa = machine::inspect().isa;
    std::vector<std::string> types{""};
    for (const auto& tuning : manifest->tunings)
        if (has_all(isa, tuning.requires_isa)) types.push_back(tuning.value);
    return types;
}

class Gemm {
public:
    explicit Gemm(const Options& options) : options_{options} {}

    ChildPtr bare_openblas(const std::string& core_type) const {
        return start_child(options_, {options_.peer("peer_openblas"), size()}, core_type);
    }
    ChildPtr bare_onednn() const {
        return start_child(options_, {options_.peer("peer_onednn"), size(), "packed"});
    }
    ChildPtr ours(const std::string& library, const std::string& core_type = {}) const {
        return start_ours(options_, library, {"gemm.square", "precision=fp32", "size=" + size()},
                          core_type);
    }
    ChildPtr peak() const { return start_ours(options_, "host", {"peak.fma", "precision=fp32"}); }

    Ratio compare(Child& ours, Child& peer) const { return compare_children(ours, peer, options_); }
    double rate(Child& child) const {
        const double once = child.sample(1);
        const auto calls =
            static_cast<std::size_t>(std::max(1.0, options_.plan.turn_seconds / once));
        return child.flops() * static_cast<double>(calls) / child.sample(calls);
    }

private:
    std::string size() const { return std::to_string(options_.gemm_size); }

    const Options& options_;
};

} // namespace

std::vector<Row> compare_gemm(const Options& options) {
    const Gemm gemm{options};
    std::vector<Row> rows;

    std::string best_type;
    double best_rate = 0;
    double default_rate = 0;
    std::string tried;
    for (const std::string& type : core_types(options)) {
        const ChildPtr child = gemm.bare_openblas(type);
        const double rate = gemm.rate(*child);
        tried += fmt::format("{}{} {:.1f}", tried.empty() ? "" : ", ",
                             type.empty() ? "own choice " + child->words() : type, rate * 1e-9);
        if (type.empty()) default_rate = rate;
        if (rate > best_rate) {
            best_rate = rate;
            best_type = type;
        }
    }
    rows.push_back({.name = "OpenBLAS: own choice of core type / best",
                    .value = default_rate / best_rate,
                    .note = "one short turn each, GFLOP/s: " + tried});

    const ChildPtr bare_openblas = gemm.bare_openblas(best_type);
    const ChildPtr our_openblas = gemm.ours("openblas", best_type);
    const ChildPtr bare_onednn = gemm.bare_onednn();
    const ChildPtr our_onednn = gemm.ours("onednn");
    const Ratio openblas = gemm.compare(*our_openblas, *bare_openblas);
    rows.push_back(row_of("gemm fp32, our openblas / bare cblas_sgemm", openblas, 0.98,
                          rate_words("ours", openblas.a_seconds, our_openblas->words())));
    const Ratio onednn = gemm.compare(*our_onednn, *bare_onednn);
    rows.push_back(row_of("gemm fp32, our onednn / bare dnnl matmul", onednn, 0.98,
                          rate_words("ours", onednn.a_seconds, our_onednn->words())));

    // Seconds per operation: the smaller is the better.
    Child& ours = openblas.a_seconds < onednn.a_seconds ? *our_openblas : *our_onednn;
    Child& peer = openblas.b_seconds < onednn.b_seconds ? *bare_openblas : *bare_onednn;
    const Ratio best = gemm.compare(ours, peer);
    rows.push_back(row_of("gemm fp32, our better library / better bare library", best, 0.98,
                          rate_words("peer", best.b_seconds, peer.words())));
    const ChildPtr peak = gemm.peak();
    const Ratio of_peak = gemm.compare(ours, *peak);
    rows.push_back(row_of("gemm fp32, our better library / measured FMA peak", of_peak, 0.90,
                          rate_words("peak", of_peak.b_seconds, peak->words())));
    return rows;
}

} // namespace assay::peers
