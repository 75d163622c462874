// SPDX-License-Identifier: Apache-2.0
//
// The verbs of the program. Each one works through the rooms and prints the result.

#pragma once

#include "base/result.hpp"
#include "cli/console.hpp"
#include "cli/options.hpp"
#include "json/json.hpp"
#include "plan/interleaving.hpp"
#include "plan/manifest.hpp"
#include "plan/plan.hpp"
#include "run/runner.hpp"

#include <string>
#include <vector>

namespace assay::cli {

ExitCode perform(const Options& options);

ExitCode doctor(const Options& options);
ExitCode list(const Options& options);
ExitCode describe(const Options& options);
ExitCode plan(const Options& options);
ExitCode run(const Options& options);
ExitCode write_manifest(const Options& options);

// Helpers of several verbs.

void warn_of_problems(const plan::Catalogue& catalogue);
/// The same; an error if the machine did not let a manifest be read: its benchmarks would be absent unnoticed.
Result<void> check_problems(const plan::Catalogue& catalogue);
/// `assay list --suites`, in suites.cpp.
ExitCode list_suites(const plan::Catalogue& catalogue, const Options& options);
json::Value plan_as_json(const plan::Plan& plan);
std::string cases_as_table(const plan::Plan& plan);
/// One run, or those of --interleave.
Result<plan::Interleaving> runs_of(const plan::Catalogue& catalogue, const Options& options);
void show_plan(const plan::Interleaving& turns, const Options& options);
// Output for several runs, in turns.cpp.
void show_turns(const plan::Interleaving& turns, const Options& options);
ExitCode show_outcomes(const plan::Interleaving& turns, const std::vector<run::Outcome>& outcomes,
                       const Options& options);

} // namespace assay::cli
