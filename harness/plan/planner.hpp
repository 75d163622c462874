// SPDX-License-Identifier: Apache-2.0
//
// In which order a plan is measured, how long that takes, and how it is made to fit a budget.

#pragma once

#include "plan/plan.hpp"

#include <vector>

namespace assay::harness {

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
