// SPDX-License-Identifier: Apache-2.0
//
// Checks a result file against the published schema and its digests, and recomputes every summary from the batch
// values in the file. Used by `assay verify`.

#pragma once

#include "base/result.hpp"
#include "json/json.hpp"
#include "record/model.hpp"
#include "record/reader.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::decide {

/// One error in a file.
struct Finding {
    std::string path; ///< "cases[2].metrics[0].value"
    std::string text;
    std::string
        code{}; ///< of what is wrong with a clock: "clock_was_set", "before_build", "future"; else empty
};

struct Checked {
    std::vector<Finding> findings; ///< none: the file is consistent
    bool has_digests = false;      ///< files of version 1 have none: damage may go unnoticed
};

/// An error when it cannot be read as a result at all.
Result<Checked> verify_run(const std::filesystem::path& path,
                           const record::ReadOptions& options = {});
Result<Checked> verify_text(std::string_view text, std::string_view source,
                            const record::ReadOptions& options = {});

/// Times that cannot be right. `now`: seconds since 1970; runs more than a day later are of the future.
std::vector<Finding> check_clock(const record::Run& run, std::optional<double> now = {});
/// The summaries alone, without the schema.
std::vector<Finding> check_summaries(const record::Run& run);
/// The digests alone: names each section that does not have its own. `run` was read from `document`.
std::vector<Finding> check_digests(const json::Value& document, const record::Run& run);

} // namespace assay::decide
