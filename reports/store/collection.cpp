// SPDX-License-Identifier: Apache-2.0

#include "store/collection.hpp"

#include "model/text.hpp"
#include "store/find.hpp"
#include "store/gather.hpp"
#include "store/load.hpp"

#include <chrono>
#include <utility>

namespace assay::report {
namespace {

/// Clocks of machines differ by minutes, and a date without its time may be of a zone ahead of UTC.
constexpr double leeway = 86400; // seconds

double seconds_now() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
}

/// Reads the files, all of one batch.
Batch read(std::vector<FoundFile> files, std::vector<Problem>& problems) {
    std::vector<std::filesystem::path> paths;
    for (const auto& file : files) paths.push_back(file.path);
    Batch batch;
    auto loaded = load(paths, batch.pools);
    for (std::size_t i = 0; i < files.size(); ++i) {
        auto digest = unpacked<RunDigest>(loaded[i].digest);
        if (digest)
            batch.candidates.push_back({.label = std::move(files[i].label),
                                        .input = files[i].input,
                                        .file = std::move(files[i].path),
                                        .digest = *std::move(digest)});
        else
            problems.push_back(
                {.where = plain(paths[i].string()), .reason = std::move(loaded[i].problem)});
    }
    return batch;
}

} // namespace

Result<Collection> collect(const std::vector<std::string>& inputs, const CollectOptions& options) {
    auto found = find_files(inputs);
    if (!found) return tl::unexpected{found.error()};
    std::vector<Problem> problems = std::move(found->problems);
    std::vector<Batch> batches;
    batches.push_back(read(std::move(found->files), problems));
    Collection all = gather(std::move(batches), options.now.value_or(seconds_now()) + leeway);
    all.problems.insert(all.problems.begin(), std::make_move_iterator(problems.begin()),
                        std::make_move_iterator(problems.end()));
    return all;
}

} // namespace assay::report
