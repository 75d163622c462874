// SPDX-License-Identifier: Apache-2.0

#include "store/collection.hpp"

#include "base/console.hpp"
#include "base/utc.hpp"
#include "store/find.hpp"
#include "store/gather.hpp"
#include "store/load.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace assay::report {
namespace {

/// Clocks of machines differ by minutes, and a date without its time may be of a zone ahead of UTC.
constexpr double leeway = 86400; // seconds

Result<void> check_metrics(const Collection& collection, const std::vector<std::string>& wanted) {
    for (const auto& name : wanted)
        if (name != "all" && name != "primary" && !collection.metrics.contains(name))
            return fail(fmt::format("--metric \"{}\": no case has this metric; there are {}",
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

} // namespace

std::string name_of(const Series& series) {
    record::Case entry; // as one expression GCC 12 warns of members that it has not
    entry.benchmark = series.benchmark;
    entry.version = series.version;
    entry.place.kind = series.place;
    entry.library = series.library;
    entry.parameters = series.parameters;
    return record::identity(entry);
}

bool are_soaks(const Collection& collection) {
    return !collection.runs.empty() && std::ranges::all_of(collection.runs, [](const RunInfo& run) {
        return run.soak.has_value();
    });
}

double nodes_of(const Observation& seen, const Collection& runs) {
    if (seen.settings < runs.settings.size())
        for (const auto& [name, value] : runs.settings[seen.settings])
            if (name == "job.hosts")
                if (const auto* hosts = std::get_if<std::string>(&value))
                    return 1 + static_cast<double>(std::ranges::count(*hosts, ' '));
    return 1;
}

bool is_good(const Observation& seen) {
    return seen.value && std::isfinite(*seen.value) && *seen.value > 0 &&
           (seen.status == record::Status::ok || seen.status == record::Status::unstable);
}

std::vector<ReplicaValue> counted(const Observation& seen) {
    std::vector<ReplicaValue> quiet;
    std::ranges::copy_if(seen.replicas, std::back_inserter(quiet),
                         [](const ReplicaValue& one) { return !one.disturbed; });
    return quiet.empty() ? seen.replicas : quiet;
}

bool is_partial(const Observation& seen) {
    return !seen.replicas.empty() && std::cmp_less(seen.replicas.size(), seen.planned);
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
    if (options.metrics_may_be_missing) return all;
    ASSAY_TRY(check_metrics(all, options.metrics));
    return all;
}

} // namespace assay::report
