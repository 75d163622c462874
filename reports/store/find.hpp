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

struct FoundFile {
    std::string label;
    std::size_t input = 0; ///< which of the arguments it came by
    std::filesystem::path path;
    double modified = 0; ///< seconds since 1970
    std::string within;  ///< path below its folder; empty for files named themselves
};

struct FoundFiles {
    std::vector<FoundFile> files; ///< each once, by input, then by path
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
