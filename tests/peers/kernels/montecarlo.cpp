// SPDX-License-Identifier: Apache-2.0
//
// montecarlo.option against the same option by the random numbers of the standard library, each side in a process of
// its own.
#include "children.hpp"
#include "comparison.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace assay::peers {

std::vector<Row> compare_montecarlo(const Options& options) {
    const std::string threads = std::to_string(options.threads);
    std::vector<Row> rows;
    for (const std::string precision : {"fp64", "fp32"}) {
        const auto ours = start_child(options, {options.peer("peer_module"), options.module("host"),
                                                "montecarlo.option", "precision=" + precision,
                                                "threads=" + threads, "work=items"});
        const auto theirs =
            start_child(options, {options.peer("peer_montecarlo"), precision, threads});
        const Ratio ratio = compare_children(*ours, *theirs, options);
        rows.push_back(
            row_of("Monte Carlo " + precision + " / mt19937_64, normal_distribution", ratio, 0.95,
                   fmt::format("ours {:.0f} million paths/s ({}), theirs {:.0f}",
                               1e-6 / ratio.a_seconds, ours->words(), 1e-6 / ratio.b_seconds)));
    }
    return rows;
}

} // namespace assay::peers
