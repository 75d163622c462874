// SPDX-License-Identifier: Apache-2.0
//
// Makes a plan: the cases requested, their order, the estimated time, and the reduction to fit
// a budget.

#pragma once

#include "base/result.hpp"
#include "plan/manifest.hpp"
#include "plan/plan.hpp"
#include "plan/suite.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay::plan {

/// Usage errors name the item, and for an unknown name the nearest known one.
Result<Plan> make_plan(const Catalogue& catalogue, const PlanRequest& request);

/// Derives the rest of a plan from its cases: protocols within the budget, estimated time,
/// digest.
void finish_plan(Plan& plan, std::optional<double> budget_seconds, const record::Machine& machine);

/// Groups cases that one worker process can measure one after the other (a benchmark, a number of threads or
/// ranks), with roofline bounds right before the cases they bound, at the same number of threads.
void order_cases(std::vector<PlannedCase>& cases);

/// Estimates, from cases of the shipped suites: for the whole plan, and for a step of each case,
/// which is one replica.
double expected_seconds(const Plan& plan);
std::vector<double> expected_steps(const Plan& plan);

/// Shortens measuring and warm-up until the plan fits `seconds`, but not below a useful minimum; a
/// note reports it.
void fit_budget(Plan& plan, double seconds);

// --- selection -----------------------------------------------------------------------------------
// From the request to a list of cases: which benchmarks of which modules, with which values of each
// parameter. planner.cpp decides order and effort.

struct Selection {
    std::vector<PlannedCase> cases;    ///< each once
    std::vector<PlannedCase> not_here; ///< those that cannot run on this machine
    std::vector<std::string> left_out; ///< modules and hardware that are missing, for the record
    std::string not_installed;         ///< the modules in one sentence; empty if none is missing
    std::string no_hardware;           ///< the hardware in one sentence; the same
    std::vector<std::string> notes;    ///< what else was left out and why
};

/// More cases than this are refused: a typing error, and weeks of measuring.
inline constexpr std::size_t most_cases = 100'000;
/// Limit for the values of all parameters before they are combined, ranges written out.
inline constexpr std::size_t most_values = 100'000;

/// All cases of `suite`, or of the benchmarks in request.what if it is null, after --set, --only and --exclude.
Result<Selection> select_cases(const Catalogue& catalogue, const PlanRequest& request,
                               const Suite* suite);

} // namespace assay::plan
