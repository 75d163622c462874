// SPDX-License-Identifier: Apache-2.0

#include "store/collection.hpp"

#include "base/on_all_cores.hpp"
#include "report/input.hpp"
#include "report/text.hpp"
#include "store/find.hpp"
#include "store/gather.hpp"
#include "store/index.hpp"
#include "store/load.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>

namespace assay::report {
namespace {

/// Clocks of machines differ by minutes, and a date without its time may be of a zone ahead of UTC.
constexpr double leeway = 86400; // seconds

double seconds_now() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
}

using Files = std::vector<FoundFile>;

/// The index of a folder and what its rows say; nothing in the place of a row that says nothing.
struct Indexed {
    std::filesystem::path folder;
    std::filesystem::path path; ///< of the index
    Index index;
    std::vector<std::optional<RunDigest>> digests;
};
Indexed read_indexed(const std::filesystem::path& folder) {
    Indexed indexed{.folder = folder, .path = index_path(folder)};
    if (indexed.path.empty()) return indexed;
    indexed.index = read_index(indexed.path);
    indexed.digests.resize(indexed.index.rows.size());
    on_all_cores(indexed.digests.size(), [&](std::size_t i) {
        auto& digest = indexed.digests[i];
        digest = unpacked<RunDigest>(std::exchange(indexed.index.rows[i].digest, {}));
        if (digest && !refers_to(*digest, indexed.index.pools)) digest.reset();
    });
    return indexed;
}

/// Indexes of the folders among the inputs, read while these are searched: each takes as long.
using Reading = std::map<std::filesystem::path, std::future<Indexed>>;
Reading begin_reading(const std::vector<std::string>& inputs) {
    Reading reading;
    std::error_code ignored;
    for (const auto& input : inputs) {
        const auto folder = split_label(input);
        if (!folder || !std::filesystem::is_directory(folder->file, ignored)) continue;
        if (!reading.contains(folder->file))
            reading.emplace(folder->file,
                            std::async(std::launch::async, &read_indexed, folder->file));
    }
    return reading;
}

Result<void> check_metrics(const Collection& collection, const std::vector<std::string>& wanted) {
    for (const auto& name : wanted)
        if (name != "all" && name != "primary" && !collection.metrics.contains(name))
            return fail(fmt::format("--metric \"{}\": no case has this metric; there are {}",
                                    plain(name),
                                    plain(fmt::format("{}", fmt::join(collection.metrics, ", ")))));
    return {};
}

class Collecting {
public:
    explicit Collecting(std::vector<Problem> problems) : problems_{std::move(problems)} {}

    /// Reads all of them.
    void add(Files files) {
        Batch batch;
        std::vector<std::size_t> all(files.size());
        std::iota(all.begin(), all.end(), 0);
        read(files, all, batch);
        batches_.push_back(std::move(batch));
    }

    /// Takes from the index of their folder what has not changed and reads the rest.
    void add_indexed(Files files, Indexed indexed) {
        if (indexed.path.empty()) return add(std::move(files));
        Batch batch;
        std::vector<std::string> gone;
        const auto changed = known(files, indexed, batch, gone);
        Index& index = indexed.index;
        batch.pools = std::move(index.pools);
        const auto added = read(files, changed, batch);
        if (!added.empty() || !gone.empty()) {
            index.pools = std::move(batch.pools);
            write_index(indexed.path, index, added, gone);
            batch.pools = std::move(index.pools);
        }
        batches_.push_back(std::move(batch));
    }

    Collection finish(const CollectOptions& options) && {
        Collection all = gather(std::move(batches_), options);
        all.problems.insert(all.problems.begin(), std::make_move_iterator(problems_.begin()),
                            std::make_move_iterator(problems_.end()));
        return all;
    }

private:
    /// Puts what the index has of the files into the batch; returns the files that have to be read, and
    /// the rows of files that are no more.
    static std::vector<std::size_t> known(Files& files, Indexed& indexed, Batch& batch,
                                          std::vector<std::string>& gone) {
        batch.candidates.reserve(files.size());
        std::unordered_map<std::string_view, std::size_t> numbers;
        for (std::size_t i = 0; i < files.size(); ++i) numbers.emplace(files[i].within, i);
        std::vector<bool> is_known(files.size());
        for (std::size_t i = 0; i < indexed.digests.size(); ++i) {
            IndexRow& row = indexed.index.rows[i];
            const auto found = numbers.find(row.within);
            if (found == numbers.end()) {
                // It may be there and have come by an earlier input.
                std::error_code unknown;
                if (!std::filesystem::exists(indexed.folder / row.within, unknown))
                    gone.push_back(std::move(row.within));
                continue;
            }
            FoundFile& file = files[found->second];
            if (file.stamp != row.stamp || !indexed.digests[i]) continue;
            take(file, *std::move(indexed.digests[i]), batch);
            is_known[found->second] = true;
        }
        std::vector<std::size_t> changed;
        for (std::size_t i = 0; i < files.size(); ++i)
            if (!is_known[i]) changed.push_back(i);
        return changed;
    }

    /// Reads some of the files into the batch; returns their rows for an index. A file that cannot be
    /// read is a problem, now and next time.
    std::vector<IndexRow> read(Files& files, const std::vector<std::size_t>& which, Batch& batch) {
        std::vector<std::filesystem::path> paths;
        for (const auto i : which) paths.push_back(files[i].path);
        auto loaded = load(paths, batch.pools);
        std::vector<IndexRow> rows;
        for (std::size_t k = 0; k < which.size(); ++k) {
            FoundFile& file = files[which[k]];
            if (auto digest = unpacked<RunDigest>(loaded[k].digest)) {
                rows.push_back({.within = file.within,
                                .stamp = file.stamp,
                                .digest = std::move(loaded[k].digest)});
                take(file, *std::move(digest), batch);
            } else {
                problems_.push_back(
                    {.where = plain(paths[k].string()),
                     .reason = std::move(loaded[k].problem),
                     .code = loaded[k].is_stale ? ProblemCode::stale : ProblemCode::unreadable});
            }
        }
        return rows;
    }

    static void take(FoundFile& file, RunDigest digest, Batch& batch) {
        batch.candidates.push_back({.label = std::move(file.label),
                                    .input = file.input,
                                    .file = std::move(file.path),
                                    .written = static_cast<double>(file.stamp.modified) * 1e-9,
                                    .digest = std::move(digest)});
    }

    std::vector<Problem> problems_;
    std::vector<Batch> batches_;
};

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
    Reading reading;
    if (options.index) reading = begin_reading(inputs);
    const auto journals = !options.unfinished ? Journals::ended
                          : options.ended     ? Journals::living
                                              : Journals::all;
    auto found = find_files(inputs, journals);
    if (!found) return tl::unexpected{found.error()};
    std::vector<Files> by_folder(found->folders.size());
    Files others;
    for (auto& file : found->files)
        (file.within.empty() ? others : by_folder[file.folder]).push_back(std::move(file));
    Collecting collecting{std::move(found->problems)};
    for (std::size_t i = 0; i < by_folder.size(); ++i) {
        const auto& folder = found->folders[i];
        if (options.index && by_folder[i].size() >= options.index_from) {
            const auto early = reading.find(folder);
            const bool is_early = early != reading.end() && early->second.valid();
            collecting.add_indexed(std::move(by_folder[i]),
                                   is_early ? early->second.get() : read_indexed(folder));
        } else {
            std::ranges::move(by_folder[i], std::back_inserter(others));
        }
    }
    collecting.add(std::move(others));
    auto with_time = options;
    with_time.now = options.now.value_or(seconds_now()) + leeway;
    auto all = std::move(collecting).finish(with_time);
    all.unfinished = std::move(found->unfinished);
    if (options.metrics_may_be_missing) return all;
    if (auto found_all = check_metrics(all, options.metrics); !found_all)
        return tl::unexpected{found_all.error()};
    return all;
}

} // namespace assay::report
