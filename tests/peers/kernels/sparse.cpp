// SPDX-License-Identifier: Apache-2.0
//
// sparse.spmv against the loop that everybody writes, and against Eigen where that was there when this was built: the
// same matrix, each side in a process of its own.
#include "children.hpp"
#include "comparison.hpp"

#include <array>
#include <string>
#include <vector>

namespace assay::peers {
namespace {

struct Example {
    const char* precision;
    const char* edge;      ///< of the cube
    const char* footprint; ///< that gives this edge
    const char* where;
};
constexpr std::array examples{
    Example{"fp64", "73", "134217728", "128 MiB"},
    Example{"fp32", "84", "134217728", "128 MiB"},
    Example{"fp64", "13", "786432", "768 KiB"},
};

} // namespace

std::vector<Row> compare_sparse(const Options& options) {
    const std::string threads = std::to_string(options.threads);
    std::vector<Row> rows;
    for (const Example& e : examples)
        for (const std::string peer : {"loop", "eigen"}) {
#ifndef ASSAY_HAS_EIGEN
            if (peer == "eigen") {
                rows.push_back({.name = "spmv / Eigen", .not_measured = "built without Eigen"});
                continue;
            }
#endif
            const auto ours = start_child(
                options, {options.peer("peer_module"), options.module("host"), "sparse.spmv",
                          std::string{"precision="} + e.precision,
                          std::string{"footprint="} + e.footprint, "threads=" + threads});
            const auto theirs = start_child(
                options, {options.peer("peer_spmv"), peer, e.precision, e.edge, threads});
            if (ours->flops() != theirs->flops())
                throw std::runtime_error{"the matrices have different sizes"};
            const Ratio ratio = compare_children(*ours, *theirs, options);
            rows.push_back(row_of(std::string{"spmv "} + e.precision + ", " + e.where + " / " +
                                      (peer == "loop" ? "plain OpenMP loop" : "Eigen"),
                                  ratio, 0.95,
                                  rate_words("ours", ratio.a_seconds, ours->words()) + ", " +
                                      rate_words("theirs", ratio.b_seconds, theirs->words())));
        }
    return rows;
}

} // namespace assay::peers
