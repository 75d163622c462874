// SPDX-License-Identifier: Apache-2.0
//
// Checks a result file against the published schema and recomputes every summary from the batch values in
// the file. Used by `assay verify`.

#pragma once

#include "base/result.hpp"
#include "record/model.hpp"
#include "record/reader.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace assay::record {

/// One error in a file.
struct Finding {
    std::string path; ///< "cases[2].metrics[0].value"
    std::string text;
};

/// Empty: the file is consistent. An error when it cannot be read as a result at all.
Result<std::vector<Finding>> verify_run(const std::filesystem::path& path,
                                        const ReadOptions& options = {});
Result<std::vector<Finding>> verify_text(std::string_view text, std::string_view source,
                                         const ReadOptions& options = {});

/// The summaries alone, without the schema.
std::vector<Finding> check_summaries(const Run& run);

} // namespace assay::record
