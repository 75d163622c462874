// SPDX-License-Identifier: Apache-2.0
#include "store/collection.hpp"

#include "base/console.hpp"
#include "base/on_all_cores.hpp"
#include "base/utc.hpp"
#include "document/language.hpp"
#include "document/texts/store.hpp"
#include "record/reader.hpp"
#include "reference/sheet_bounds.hpp"
#include "store/digest.hpp"
#include "store/find.hpp"
#include "store/input.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <mutex>
#include <span>
#include <system_error>
#include <utility>

namespace assay::store {
namespace {

// --- load ----------------------------------------------------------------------------------------

// Digests of result files, read by as many threads as there are cores.

struct Loaded {
    std::optional<RunDigest> digest; ///< nothing where the file cannot be read
    std::string problem;
    bool is_stale = false; ///< that is the problem
};

/// Reading is half waiting for memory: more threads than this gain nothing.
constexpr std::size_t most_threads = 16;
/// Files that are worth another thread: starting one takes about as long as reading one.
constexpr std::size_t files_a_thread = 4;

/// The reader's message without the file's name in front, which a Problem has apart.
std::string reason_of(const Error& error, const std::filesystem::path& file) {
    std::string_view text = error.message;
    const std::string name = file.string() + ": ";
    if (text.starts_with(name)) text.remove_prefix(name.size());
    return plain(text);
}

class Loader {
public:
    Loader(std::span<const std::filesystem::path> files, const MetricChoice& choice, Pools& pools)
        : files_{files}, choice_{choice}, pools_{pools}, loaded_(files.size()) {}

    std::vector<Loaded> run() {
        on_all_cores(
            files_.size(), [this](std::size_t i) { read(i); },
            std::min(most_threads, files_.size() / files_a_thread + 1));
        return std::move(loaded_);
    }

private:
    void read(std::size_t i) {
        std::string stale;
        auto run =
            record::read_run(files_[i], {.values = false, .details = false, .stale = &stale});
        if (!run) {
            loaded_[i].problem = reason_of(run.error(), files_[i]);
            return;
        }
        if (!stale.empty()) {
            loaded_[i].problem = document::say<text::store::stale>(stale);
            loaded_[i].is_stale = true;
            return;
        }
        reference::add_missing_bounds(*run);
        Digester digester{*std::move(run), choice_};
        const std::scoped_lock lock{mutex_};
        loaded_[i].digest = digester.finish(pools_);
    }

    std::span<const std::filesystem::path> files_;
    const MetricChoice& choice_;
    Pools& pools_;
    std::vector<Loaded> loaded_;
    std::mutex mutex_; ///< of pools_
};

/// One for each file, in their order.
std::vector<Loaded> load(std::span<const std::filesystem::path> files, const MetricChoice& choice,
                         Pools& pools) {
    return Loader{files, choice, pools}.run();
}

// -------------------------------------------------------------------------------------------------

/// Clocks of machines differ by minutes, and a date without its time may be of a zone ahead of UTC.
constexpr double leeway = 86400; // seconds

Result<void> check_metrics(const Collection& collection, const std::vector<std::string>& wanted) {
    for (const auto& name : wanted)
        if (name != "all" && name != "primary" && !collection.metrics.contains(name))
            return fail(fmt::format("--metric: no case has \"{}\" (expected one of {})",
                                    plain(name),
                                    plain(fmt::format("{}", fmt::join(collection.metrics, ", ")))));
    return {};
}

Collection read(std::vector<FoundFile> files, std::vector<Problem> problems,
                const CollectOptions& options) {
    std::vector<std::filesystem::path> paths;
    for (const auto& file : files) paths.push_back(file.path);
    Pools pools;
    auto loaded = load(paths, MetricChoice{options.metrics, options.others}, pools);
    std::vector<Candidate> candidates;
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (!loaded[i].digest) {
            problems.push_back(
                {.where = plain(paths[i].string()),
                 .reason = std::move(loaded[i].problem),
                 .code = loaded[i].is_stale ? ProblemCode::stale : ProblemCode::unreadable});
            continue;
        }
        auto& run = loaded[i].digest->run;
        run.label = std::move(files[i].label);
        run.file = std::move(files[i].path);
        run.written_seconds = files[i].modified;
        candidates.push_back({.input = files[i].input, .digest = *std::move(loaded[i].digest)});
    }
    loaded.clear();
    Collection all = gather(std::move(candidates), std::move(pools), options);
    all.problems.insert(all.problems.begin(), std::make_move_iterator(problems.begin()),
                        std::make_move_iterator(problems.end()));
    return all;
}

bool is_file(const std::string& input) {
    const auto named = split_label(input);
    std::error_code ignored;
    return named && std::filesystem::is_regular_file(named->file, ignored);
}

} // namespace

bool are_soaks(const Collection& collection) {
    return !collection.runs.empty() && std::ranges::all_of(collection.runs, [](const RunInfo& run) {
        return run.soak.has_value();
    });
}

double nodes_of(const decide::Observation& seen, const Collection& runs) {
    if (seen.settings < runs.settings.size())
        for (const auto& [name, value] : runs.settings[seen.settings])
            if (name == "job.hosts")
                if (const auto* hosts = std::get_if<std::string>(&value))
                    return 1 + static_cast<double>(std::ranges::count(*hosts, ' '));
    return 1;
}

Result<Collection> collect(const std::vector<std::string>& inputs, const CollectOptions& options) {
    const auto journals = !options.unfinished ? Journals::ended
                          : options.ended     ? Journals::living
                                              : Journals::all;
    ASSAY_TRY(auto found, find_files(inputs, journals));
    auto with_time = options;
    with_time.now = options.now.value_or(seconds_now()) + leeway;
    auto all = read(std::move(found.files), std::move(found.problems), with_time);
    all.unfinished = std::move(found.unfinished);
    if (all.runs.empty() && all.unfinished.empty() && !all.problems.empty() &&
        std::ranges::all_of(
            all.problems, [](const Problem& one) { return one.code == ProblemCode::unreadable; }) &&
        std::ranges::all_of(inputs, is_file)) // named one by one: the command is wrong, not a node
        return fail(fmt::format("{}: {}", all.problems.front().where, all.problems.front().reason));
    if (options.metrics_may_be_missing) return all;
    ASSAY_TRY(check_metrics(all, options.metrics));
    return all;
}

} // namespace assay::store
