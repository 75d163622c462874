// SPDX-License-Identifier: Apache-2.0
//
// The verbs of the program. Each does its work through harness/core and prints what came of it.

#pragma once

#include "base/result.hpp"
#include "cli/options.hpp"
#include "json/json.hpp"
#include "plan/interleaving.hpp"
#include "plan/plan.hpp"
#include "registry/manifest.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace assay::cli {

ExitCode perform(const Options& options);

ExitCode doctor(const Options& options);
ExitCode list(const Options& options);
ExitCode describe(const Options& options);
ExitCode plan(const Options& options);
ExitCode run(const Options& options);
ExitCode run_in_turns(const Options& options);
ExitCode write_manifest(const Options& options);

/// Verbs of assay-report, which people may type after `assay` as well.
inline constexpr std::array<std::string_view, 7> report_verbs{
    "report", "compare", "history", "predict", "import", "export", "verify"};
/// Replaces this program by assay-report, which lies beside it, with the same arguments. Returns only
/// when that fails.
ExitCode hand_over(const std::vector<std::string>& arguments);
bool is_report_verb(std::string_view name);

// What several of them need.

void print(std::string_view text); ///< stdout
/// Prints `assay: ...` on stderr and returns the code for it.
ExitCode report(const Error& error);
void warn_of_problems(const harness::Catalogue& catalogue);
harness::PlanRequest request_of(const Options& options);
json::Value plan_as_json(const harness::Plan& plan);
std::string cases_as_table(const harness::Plan& plan);
void show_plan(const harness::Plan& plan, const Options& options);
Result<harness::Interleaving> interleaving_of(const harness::Catalogue& catalogue,
                                              const Options& options);
void show_turns(const harness::Interleaving& turns, const Options& options);

} // namespace assay::cli
