// SPDX-License-Identifier: Apache-2.0
//
// stencil.filter2d against the loop that everybody writes: the same image, each side in a process of its own.
#include "children.hpp"
#include "comparison.hpp"

#include <string>
#include <vector>

namespace assay::peers {

std::vector<Row> compare_filter(const Options& options) {
    const std::string threads = std::to_string(options.threads);
    const std::string bytes = "134217728";
    std::vector<Row> rows;
    for (const std::string precision : {"fp64", "fp32"})
        for (const std::string side : {"3", "5", "7"}) {
            const auto ours = start_child(
                options, {options.peer("peer_module"), options.module("host"), "stencil.filter2d",
                          "precision=" + precision, "kernel=" + side + 'x' + side,
                          "footprint=" + bytes, "threads=" + threads});
            const auto theirs = start_child(
                options, {options.peer("peer_filter"), precision, side, bytes, threads});
            const Ratio ratio = compare_children(*ours, *theirs, options);
            rows.push_back(
                row_of("filter " + side + 'x' + side + ' ' + precision + " / plain OpenMP loop",
                       ratio, 0.95,
                       rate_words("ours", ratio.a_seconds, ours->words()) + ", " +
                           rate_words("theirs", ratio.b_seconds, theirs->words())));
        }
    return rows;
}

} // namespace assay::peers
