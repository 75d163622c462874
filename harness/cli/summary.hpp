// SPDX-License-Identifier: Apache-2.0
//
// The results of a run, one line per case.

#pragma once

#include "base/result.hpp"
#include "cli/console.hpp"
#include "json/json.hpp"
#include "run/runner.hpp"

#include <cstddef>
#include <string>
#include <vector>

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
/// Cases of a run that was stopped, without any replica; the text leaves them out.
std::size_t not_measured(const record::Run& run);

/// Names of statuses with which a case is not done: --fail-on.
using FailOn = std::vector<std::string>;
json::Value summary_json(const harness::Outcome& outcome, const FailOn& fail_on);

/// Did the first stage find that an expected part is missing?
bool lacks_part(const record::Run& run);
ExitCode exit_code(const harness::Outcome& outcome, const FailOn& fail_on);
/// Where both hold: the first of 2, 5, 1, 4, 3, 0.
ExitCode worse(ExitCode one, ExitCode other);

} // namespace assay::cli
