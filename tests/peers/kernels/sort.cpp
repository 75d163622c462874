// SPDX-License-Identifier: Apache-2.0
//
// sort.radix against parallel sorts of libstdc++ and Boost, and on one core against Highway's vectorised quicksort: the
// same keys, each side in a process of its own, and whichever was there when this was built.
#include "children.hpp"
#include "comparison.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay::peers {
namespace {

constexpr long footprint = 128L << 20U; // bytes, of three arrays

struct Example {
    const char* type;
    const char* distribution;
    const char* peer;
    int threads; ///< 0: those of the command
    std::optional<double> at_least;
};
constexpr std::array examples{
    Example{"uint32", "uniform", "gnu", 0, 0.95},
    Example{"uint32", "uniform", "boost", 0, 0.95},
    Example{"uint64", "uniform", "gnu", 0, 0.95},
    Example{"uint64", "skewed", "gnu", 0, 0.95},
    Example{"uint32", "uniform", "spreadsort", 1, 0.95},
    // Quicksort by vectors of 512 bits is faster than digits on one core; it has no threads.
    Example{"uint32", "uniform", "vqsort", 1, {}},
    Example{"uint64", "uniform", "vqsort", 1, {}},
};

Row compare(const Options& options, const Example& e) {
    const int threads = e.threads == 0 ? options.threads : e.threads;
    const std::string name =
        fmt::format("sort {} {}, {} threads / {}", e.type, e.distribution, threads, e.peer);
    const bool narrow = e.type == std::string{"uint32"};
    const auto count = std::to_string(footprint / (narrow ? 12 : 24));
    const auto ours = start_child(options, {options.peer("peer_module"), options.module("host"),
                                            "sort.radix", std::string{"type="} + e.type,
                                            std::string{"distribution="} + e.distribution,
                                            "footprint=" + std::to_string(footprint),
                                            "threads=" + std::to_string(threads), "work=items"});
    ChildPtr theirs;
    try {
        theirs = start_child(options, {options.peer("peer_sort"), e.peer, e.type, e.distribution,
                                       count, std::to_string(threads)});
    } catch (const std::runtime_error& missing) {
        return {.name = name, .not_measured = missing.what()};
    }
    const Ratio ratio = compare_children(*ours, *theirs, options);
    return row_of(name, ratio, e.at_least,
                  fmt::format("ours {:.0f} million keys/s, theirs {:.0f}", 1e-6 / ratio.a_seconds,
                              1e-6 / ratio.b_seconds));
}

} // namespace

std::vector<Row> compare_sort(const Options& options) {
    std::vector<Row> rows;
    for (const Example& e : examples) rows.push_back(compare(options, e));
    return rows;
}

} // namespace assay::peers
