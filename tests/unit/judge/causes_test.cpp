// SPDX-License-Identifier: Apache-2.0
//
// What each cause means: no cause but none passes, and what it asks for fits who is to blame.

#include "judge/causes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

namespace assay::report {
namespace {

std::vector<Cause> all_causes() {
    std::vector<Cause> all;
    for (std::size_t i = 0; i <= static_cast<std::size_t>(last_cause); ++i)
        all.push_back(static_cast<Cause>(i));
    return all;
}

TEST(Causes, OnlyNoneIsAPass) {
    for (const auto cause : all_causes()) {
        const auto meaning = meaning_of(cause);
        EXPECT_EQ(meaning.outcome == Outcome::pass, cause == Cause::none) << to_string(cause);
        EXPECT_NE(meaning.outcome, Outcome::skip) << to_string(cause);
    }
}

TEST(Causes, AskForWhatFitsTheirBlame) {
    for (const auto cause : all_causes()) {
        const auto [outcome, blame, action] = meaning_of(cause);
        const std::string name{to_string(cause)};
        if (blame == Blame::none) {
            EXPECT_LE(outcome, Outcome::warn) << name;
        }
        if (blame == Blame::user) {
            EXPECT_EQ(outcome, Outcome::inconclusive) << name;
            EXPECT_EQ(action, cause == Cause::driver_silent ? Action::reboot : Action::fix_setup)
                << name;
        }
        if (blame == Blame::node) {
            EXPECT_EQ(outcome == Outcome::fail, action > Action::retest) << name;
            EXPECT_EQ(action == Action::retest, cause == Cause::throttled) << name;
        }
        if (blame == Blame::none) {
            EXPECT_EQ(action, Action::none) << name;
        }
        if (outcome == Outcome::error) {
            EXPECT_EQ(action, Action::retest) << name;
        }
    }
    // Another measurement of the same kind would find the same.
    for (const auto cause : {Cause::no_limits, Cause::no_datasheet, Cause::unsettled,
                             Cause::limit_expired, Cause::executed_on_cpu})
        EXPECT_EQ(meaning_of(cause).action, Action::none) << to_string(cause);
    for (const auto cause :
         {Cause::not_measured, Cause::undecided, Cause::disturbed, Cause::throttled})
        EXPECT_EQ(meaning_of(cause).action, Action::retest) << to_string(cause);
}

TEST(Causes, AreReadBackByTheirNames) {
    for (const auto cause : all_causes()) {
        Cause read{};
        ASSERT_TRUE(from_text(to_string(cause), read)) << to_string(cause);
        EXPECT_EQ(read, cause);
    }
    Cause unchanged = Cause::ecc_off;
    EXPECT_FALSE(from_text("no_such_cause", unchanged));
    EXPECT_EQ(unchanged, Cause::ecc_off);
}

} // namespace
} // namespace assay::report
