// SPDX-License-Identifier: Apache-2.0
//
// Reads run.json into the model, fast (simdjson) and without trusting it: whatever the file holds, the
// answer is a Run or one message with file, key and what would be right.

#pragma once

#include "base/result.hpp"
#include "record/model.hpp"

#include <cstddef>
#include <filesystem>
#include <string_view>

namespace assay::record {

struct ReadOptions {
    /// Without: the replicas' `values` stay empty. They are most of a file, and a report needs only
    /// the summaries. What is skipped is not checked either.
    bool values = true;
    /// Without: neither what only a report of this one run shows: tables, the metrics behind the
    /// headline and all but value and interval of that one, what a replica says beyond its status, its
    /// time per call and its figures, warnings. For reading thousands of files at once.
    bool details = true;
    std::size_t bytes = std::size_t{1} << 30U; ///< a larger file is refused; a normal one has 1 MB
};

/// Reads schema assay.run/1. A newer one gets a message that names both. Keys that are not known are
/// ignored, except at the top level and in `place`.
Result<Run> read_run(const std::filesystem::path& path, const ReadOptions& options = {});

/// The same from memory.
Result<Run> parse_run(std::string_view text, std::string_view source,
                      const ReadOptions& options = {});

} // namespace assay::record
