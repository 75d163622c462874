// SPDX-License-Identifier: Apache-2.0
//
// fft.transform against bare FFTW, which takes the plan that ours has measured and kept.
#include "children.hpp"
#include "support/temporary_folder.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace assay::peers {
namespace {

namespace fs = std::filesystem;

/// The one file in a folder.
fs::path only_file(const fs::path& folder) {
    const fs::directory_iterator first{folder};
    if (first == fs::directory_iterator{}) throw std::runtime_error{"fft.transform kept no plan"};
    return first->path();
}

struct Example {
    const char* dimensions;
    const char* points;
    const char* batch;
    const char* type;
};
constexpr std::array examples{
    Example{"1", "1048576", "1", "c2c"},
    Example{"1", "1024", "1024", "c2c"},
    Example{"3", "128", "1", "c2c"},
    Example{"3", "128", "1", "r2c"},
};

Ratio take_turns(const Options& options, const Example& e, const fs::path& state) {
    const auto ours =
        start_ours(options, "fftw",
                   {"fft.transform", std::string{"dimensions="} + e.dimensions + 'd',
                    std::string{"points="} + e.points, std::string{"batch="} + e.batch,
                    std::string{"type="} + e.type, "precision=fp64", "planning=measured",
                    "state.folder=" + state.string()});
    const auto bare = start_child(options, {options.peer("peer_fftw"), only_file(state).string(),
                                            std::to_string(options.threads), e.dimensions, e.points,
                                            e.batch, e.type});
    return compare_children(*ours, *bare, options);
}

/// The pages that a process gets change a transform by 5 to 10%, and stays for its life: many short comparisons,
/// each of fresh processes.
Row compare(const Options& options, const Example& e) {
    const made::TemporaryFolder state;
    Options one_pair = options;
    one_pair.plan.pairs = 2; // the fewest that have a ratio
    one_pair.plan.turn_seconds = options.plan.turn_seconds / 4;
    const std::size_t processes = 3 * options.plan.pairs;
    std::vector<double> ratios;
    double seconds = 0; // of an operation
    std::size_t repeated = 0;
    std::size_t disturbed = 0;
    for (std::size_t i = 0; i < processes; ++i) {
        const Ratio ratio = take_turns(one_pair, e, state.path());
        ratios.push_back(ratio.value);
        seconds += ratio.a_seconds / static_cast<double>(processes);
        repeated += ratio.repeated;
        disturbed += ratio.disturbed;
    }
    Ratio all = mean_ratio(ratios);
    all.repeated = repeated;
    all.disturbed = disturbed;
    return row_of(fmt::format("fft {}-D {} x {} {} fp64 / bare FFTW, same plan", e.dimensions,
                              e.points, e.batch, e.type),
                  all, 0.98, fmt::format("ours {:.1f} GFLOP/s", 1e-9 / seconds));
}

} // namespace

std::vector<Row> compare_fft(const Options& options) {
    std::vector<Row> rows;
    for (const Example& example : examples) rows.push_back(compare(options, example));
    return rows;
}

} // namespace assay::peers
