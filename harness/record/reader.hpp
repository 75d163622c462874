// SPDX-License-Identifier: Apache-2.0
//
// Reads run.json into the model, fast (simdjson) and without trusting it: the result is a Run, or one
// message with file, key and what would be right.

#pragma once

#include "base/result.hpp"
#include "record/model.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace assay::record {

struct ReadOptions {
    /// False: the replicas' `values` stay empty. They are most of a file, and a report needs only the
    /// summaries. Skipped values are not checked.
    bool values = true;
    /// False: without the parts that only a report of a single run shows: warnings, details of
    /// distributions, and most of the telemetry. For reading thousands of files at once.
    bool details = true;
    /// True: texts, and cases of older rules, stay as they are, for those who check or continue a file. Otherwise texts are
    /// made plain (plain.hpp) and such cases concluded again (summary.hpp).
    bool as_stored = false;
    std::size_t bytes = std::size_t{1} << 30U; ///< a larger file is refused; a normal one has 1 MB
    /// Gets the first section that does not have its digest (record/convert.hpp); null: none is looked at. By read_run.
    std::string* stale = nullptr;
};

/// Reads schemas assay.run/1 and /2, and a file of the name journal.ndjson as the run that died while it wrote it. A newer one gets a message that names both. Unknown keys are ignored,
/// except at the top level and in `place`.
Result<Run> read_run(const std::filesystem::path& path, const ReadOptions& options = {});

/// The same from memory.
Result<Run> parse_run(std::string_view text, std::string_view source,
                      const ReadOptions& options = {});

} // namespace assay::record
