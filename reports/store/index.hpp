// SPDX-License-Identifier: Apache-2.0
//
// Digests of the runs below a folder, kept between calls in an SQLite file under the user's cache: reading
// 10,000 of them takes a tenth of reading the runs. It is a cache. What is missing, damaged or of another
// build is as good as absent; what cannot be written is not; neither is an error.

#pragma once

#include "store/digest.hpp"
#include "store/find.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace assay::report {

struct IndexRow {
    std::string within; ///< path below the folder
    Stamp stamp;        ///< of the file when it was read
    std::string digest; ///< packed; its numbers are those of the pools
};

struct Index {
    Pools pools;
    std::vector<IndexRow> rows;
    std::int64_t generation = 0; ///< counts the writers, to notice others
    bool usable = false;
};

/// Where the index of a folder is: $XDG_CACHE_HOME/assay or ~/.cache/assay. Empty where there is neither.
std::filesystem::path index_path(const std::filesystem::path& folder);

/// Empty where there is none, or something is wrong with it.
Index read_index(const std::filesystem::path& path);

/// Puts `rows` in (replacing those of the same files), takes `gone` out and keeps what was added to the
/// index's pools since it was read. Where it is not usable it is made anew. Nothing happens when somebody
/// else has written since then.
void write_index(const std::filesystem::path& path, const Index& index,
                 std::span<const IndexRow> rows, std::span<const std::string> gone);

} // namespace assay::report
