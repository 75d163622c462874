// SPDX-License-Identifier: Apache-2.0
//
// The results of a run, one line per case.

#pragma once

#include "base/result.hpp"
#include "cli/console.hpp"
#include "json/json.hpp"
#include "run/runner.hpp"

#include <string>

namespace assay::cli {

struct SummaryRow {
    std::string name;
    std::string value;    ///< of the primary metric, with prefix and unit; "" if there is none
    std::string interval; ///< "±0.8%", the wider side
    std::string ceiling;  ///< "97%"
    std::string status;
};
SummaryRow summary_row(const record::Case& c);

std::string summary_text(const record::Run& run, const Terminal& terminal);
json::Value summary_json(const harness::Outcome& outcome);

/// 5 when it was stopped, 1 when a case went wrong, 0 otherwise.
ExitCode exit_code(const harness::Outcome& outcome);

} // namespace assay::cli
