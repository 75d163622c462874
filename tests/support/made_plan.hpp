// SPDX-License-Identifier: Apache-2.0
//
// Plans of a catalogue, and why there is none.

#pragma once

#include "plan/planner.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace assay::harness::made {

inline Plan plan_of(const Catalogue& all, const PlanRequest& request) {
    auto made = make_plan(all, request);
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    return made ? *made : Plan{};
}
inline std::string refusal(const Catalogue& all, const PlanRequest& request) {
    const auto made = make_plan(all, request);
    EXPECT_FALSE(made);
    return made ? "" : made.error().message;
}
/// "memory.copy[host] bytes=1024 threads=all"
inline std::vector<std::string> names_of(const Plan& plan) {
    std::vector<std::string> names;
    for (const auto& planned : plan.cases) names.push_back(record::identity(empty_case(planned)));
    return names;
}
/// The values of this parameter, case by case.
inline std::vector<std::string> values_of(const Plan& plan, std::string_view parameter) {
    std::vector<std::string> values;
    for (const auto& planned : plan.cases)
        values.push_back(record::text(planned.parameters, parameter));
    return values;
}

} // namespace assay::harness::made
