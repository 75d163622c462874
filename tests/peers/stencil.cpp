// SPDX-License-Identifier: Apache-2.0
//
// stencil.heat3d and stencil.window against our own copy with streaming stores, the fastest that memory
// can be written and read: what counts is bytes that must move, for each second.
#include "children.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

namespace assay::peers {
namespace {

struct Example {
    const char* name;
    const char* benchmark;
    const char* parameter;
    const char* precision;
    double at_least;
};
constexpr std::array examples{
    Example{"heat3d 7 points fp64", "stencil.heat3d", "stencil=7_point", "fp64", 0.9},
    Example{"heat3d 7 points fp32", "stencil.heat3d", "stencil=7_point", "fp32", 0.9},
    Example{"heat3d 27 points fp64", "stencil.heat3d", "stencil=27_point", "fp64", 0.75},
    Example{"heat3d 27 points fp32", "stencil.heat3d", "stencil=27_point", "fp32", 0.75},
    Example{"window 20 fp64", "stencil.window", "window=20", "fp64", 0.85},
    Example{"window 250 fp64", "stencil.window", "window=250", "fp64", 0.85},
    Example{"window 250 fp32", "stencil.window", "window=250", "fp32", 0.85},
};

} // namespace

std::vector<Row> compare_stencil(const Options& options) {
    const auto start = [&](std::vector<std::string> what) {
        what.emplace_back("work=bytes");
        return start_ours(options, "host", what);
    };
    std::vector<Row> rows;
    for (const Example& e : examples) {
        const auto ours =
            start({e.benchmark, e.parameter, std::string{"precision="} + e.precision});
        const auto copy = start({"memory.stream", "kernel=copy", "stores=streaming"});
        const Ratio ratio = compare_children(*ours, *copy, options); // for each byte
        rows.push_back(row_of(std::string{e.name} + " / streaming copy", ratio, e.at_least,
                              fmt::format("ours {:.1f} GB/s ({}), copy {:.1f} GB/s ({})",
                                          1e-9 / ratio.a_seconds, ours->words(),
                                          1e-9 / ratio.b_seconds, copy->words())));
    }
    return rows;
}

} // namespace assay::peers
