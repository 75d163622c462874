// SPDX-License-Identifier: Apache-2.0
//
// fft.transform against bare FFTW, which takes the plan that ours has measured and kept.
#include "child.hpp"
#include "comparison.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace assay::peers {
namespace {

namespace fs = std::filesystem;

/// A folder for plans, gone afterwards.
class StateFolder {
public:
    StateFolder() {
        std::string pattern = (fs::temp_directory_path() / "bench-peers-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr)
            throw std::runtime_error{"no folder for plans in " + pattern};
        path_ = pattern;
    }
    StateFolder(const StateFolder&) = delete;
    StateFolder& operator=(const StateFolder&) = delete;
    ~StateFolder() {
        std::error_code ignored; // what stays behind is a temporary file
        fs::remove_all(path_, ignored);
    }
    const fs::path& path() const { return path_; }
    /// The one file in it.
    fs::path only_file() const {
        const fs::directory_iterator first{path_};
        if (first == fs::directory_iterator{})
            throw std::runtime_error{"fft.transform kept no plan"};
        return first->path();
    }

private:
    fs::path path_;
};

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

Ratio take_turns(const Options& options, const Example& e, const StateFolder& state,
                 const Plan& plan, double& flops) {
    const auto environment = placed(options.threads);
    const std::string threads = std::to_string(options.threads);
    Child ours{{options.peer("peer_module"), options.module("fftw"), "fft.transform",
                std::string{"dimensions="} + e.dimensions + 'd', std::string{"points="} + e.points,
                std::string{"batch="} + e.batch, std::string{"type="} + e.type, "precision=fp64",
                "planning=measured", "threads=" + threads, "state.folder=" + state.path().string()},
               environment};
    Child bare{{options.peer("peer_fftw"), state.only_file().string(), threads, e.dimensions,
                e.points, e.batch, e.type},
               environment};
    flops = ours.flops();
    const auto turn = [](Child& child) {
        return turn_of([&child](std::size_t calls) { return child.sample(calls); });
    };
    return take_turns(turn(ours), turn(bare), plan, [&] {
        return own_cpu_seconds() + cpu_seconds_of(ours.pid()) + cpu_seconds_of(bare.pid());
    });
}

/// Which pages a process gets changes a transform by 5 to 10%, and stays for its life: many short
/// comparisons, each of fresh processes.
Row compare(const Options& options, const Example& e) {
    const StateFolder state;
    Plan one_pair = options.plan;
    one_pair.pairs = 2; // the fewest that have a ratio
    one_pair.turn_seconds = options.plan.turn_seconds / 4;
    const std::size_t processes = 3 * options.plan.pairs;
    std::vector<double> ratios;
    double seconds = 0;
    double flops = 0;
    std::size_t repeated = 0;
    std::size_t disturbed = 0;
    for (std::size_t i = 0; i < processes; ++i) {
        const Ratio ratio = take_turns(options, e, state, one_pair, flops);
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
                  all, 0.98, fmt::format("ours {:.1f} GFLOP/s", flops / seconds * 1e-9));
}

} // namespace

std::vector<Row> compare_fft(const Options& options) {
    if (!fs::exists(options.peer("peer_fftw")))
        throw std::runtime_error{options.peer("peer_fftw") + " was not built"};
    std::vector<Row> rows;
    for (const Example& example : examples) rows.push_back(compare(options, example));
    return rows;
}

} // namespace assay::peers
