// SPDX-License-Identifier: Apache-2.0
//
// Plans of a catalogue, or the reason for a refusal.

#pragma once

#include "plan/planner.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace assay::made {

inline plan::Plan plan_of(const plan::Catalogue& all, const plan::PlanRequest& request) {
    auto made = make_plan(all, request);
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    return made ? *made : plan::Plan{};
}
inline std::string refusal(const plan::Catalogue& all, const plan::PlanRequest& request) {
    const auto made = make_plan(all, request);
    EXPECT_FALSE(made);
    return made ? "" : made.error().message;
}
/// "memory.copy[host] bytes=1024 threads=all"
inline std::vector<std::string> names_of(const plan::Plan& plan) {
    std::vector<std::string> names;
    for (const auto& planned : plan.cases) names.push_back(record::identity(empty_case(planned)));
    return names;
}
/// The values of this parameter, case by case.
inline std::vector<std::string> values_of(const plan::Plan& plan, std::string_view parameter) {
    std::vector<std::string> values;
    for (const auto& planned : plan.cases)
        values.push_back(record::text(planned.parameters, parameter));
    return values;
}

} // namespace assay::made
