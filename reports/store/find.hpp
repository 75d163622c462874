// SPDX-License-Identifier: Apache-2.0
//
// The result files that inputs name.

#pragma once

#include "base/result.hpp"
#include "store/collection.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace assay::report {

/// What tells whether a file is still the same one.
struct Stamp {
    std::uint64_t inode = 0;
    std::int64_t size = 0;
    std::int64_t modified = 0; ///< nanoseconds since 1970
    std::int64_t changed = 0;  ///< of the inode: what sets `modified` back cannot set this back
    bool operator==(const Stamp&) const = default;
};

struct FoundFile {
    std::string label;
    std::size_t input = 0; ///< which of the arguments it came by
    std::filesystem::path path;
    Stamp stamp;
    std::string within;     ///< path below its folder; empty for files named themselves
    std::size_t folder = 0; ///< index into FoundFiles::folders
};

struct FoundFiles {
    std::vector<FoundFile> files;               ///< each once, by input, then by path
    std::vector<std::filesystem::path> folders; ///< that were searched
    std::vector<Problem> problems;
    std::vector<std::filesystem::path> unfinished; ///< journals of runs without a result
};

/// Journals of runs that have no result.
enum class Journals : std::uint8_t {
    none,
    ended,  // files, where no process here writes them: their runs died
    living, // the same, and the others in FoundFiles::unfinished
    all,    // in FoundFiles::unfinished
};

/// A folder stands for every run.json in it and at any depth below it; links to folders are not followed.
/// Files named themselves or by a glob may have any name. Fails where an input names nothing at all.
Result<FoundFiles> find_files(const std::vector<std::string>& inputs,
                              Journals journals = Journals::ended);

} // namespace assay::report
