// SPDX-License-Identifier: Apache-2.0
//
// A plan is made: of what was asked for, in which order it is measured, how long that takes, and how it is made to
// fit a budget.

#pragma once

#include "base/result.hpp"
#include "plan/plan.hpp"
#include "registry/catalogue.hpp"

#include <optional>
#include <vector>

namespace assay::harness {

/// Usage errors name the item, and for an unknown name the nearest known one.
Result<Plan> make_plan(const Catalogue& catalogue, const PlanRequest& request);

/// What follows from the cases of a plan: what a budget leaves of their protocols, how long it takes,
/// the digest.
void finish_plan(Plan& plan, std::optional<double> budget_seconds);

/// Cases that one worker process can take in turn come together (a benchmark, a number of threads or
/// ranks), and ceilings stand right before what they judge, at the same number of threads.
void order_cases(std::vector<PlannedCase>& cases);

/// Estimates, from what cases of the shipped suites take: the whole plan, and of each case a step,
/// which is one replica of it.
double expected_seconds(const Plan& plan);
std::vector<double> expected_steps(const Plan& plan);

/// Cuts measuring and warming up until the plan fits `seconds`, never below what still gives a figure;
/// a note says what was done.
void fit_budget(Plan& plan, double seconds);

} // namespace assay::harness
