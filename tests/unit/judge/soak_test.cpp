// SPDX-License-Identifier: Apache-2.0
//
// A soak that went well passes; wrong results, lost speed, too little time and results that nobody looked at do not.

#include "judge/parts.hpp"
#include "measured_node.hpp"
#include "record/soak.hpp"
#include "support/made_soak.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace assay::report {
namespace {

using record::Soak;
using test::check_of;
using test::flip_in;
using test::made_soak;
using testing::AllOf;
using testing::ElementsAre;
using testing::Field;

/// What it said of one of them: "corrupted 1: gemm, ...".
std::vector<std::string> said(const Soak& soak) {
    std::vector<std::string> all;
    for (const auto& found : findings_of(soak)) {
        auto text = found.id + " " + std::string{to_string(found.cause)};
        if (!found.detail.empty()) text += " " + found.detail;
        all.push_back(std::move(text));
    }
    return all;
}
/// Of the whole node, whose only run it is.
Judgement judged(const Soak& soak) {
    test::MeasuredNode node;
    node.add(test::triad(), 110e9); // no limit is of it
    node.run().soak = soak;
    return node.judged(Limits{});
}

TEST(PartFindings, AllIsRight) {
    EXPECT_THAT(said(made_soak("gemm")), ElementsAre("soak:results none", "soak:speed none gemm"));
    auto by_check = made_soak("gemm");
    by_check.phases[0].checked = std::exchange(by_check.phases[0].compared, 0);
    EXPECT_EQ(findings_of(by_check)[0].cause, Cause::none) << "its check saw them";
    const auto all = judged(made_soak("gemm"));
    EXPECT_EQ(all.outcome, Outcome::pass) << "no limit is needed for that";
    EXPECT_EQ(all.nodes.at(0).required, 2U);
}

TEST(PartFindings, OneWrongResultIsAFaultOfTheNode) {
    auto soak = made_soak("gemm");
    flip_in(soak);
    soak.seconds = 1200; // it stopped there
    EXPECT_THAT(
        said(soak),
        ElementsAre("soak:results corrupted 1: gemm, array 1, element 12345, 0x0000000000020000",
                    "soak:speed none gemm"))
        << "that it is short is no news";
    const auto all = judged(soak);
    EXPECT_EQ(all.outcome, Outcome::fail);
    const auto& check = check_of(all, "soak:results");
    EXPECT_EQ(check.action, Action::isolate);
    EXPECT_TRUE(check.required);

    soak.corruptions[0].element.reset();
    soak.corruptions[0].bits.clear();
    EXPECT_EQ(findings_of(soak)[0].detail, "1: gemm, block 2");
    soak.corruptions[0].block.reset();
    EXPECT_EQ(findings_of(soak)[0].detail, "1: gemm, not known");
    soak.corruptions.clear();
    EXPECT_EQ(findings_of(soak)[0].detail, "1");
}

TEST(PartFindings, WhatNobodyLookedAtIsNotRight) {
    auto soak = made_soak("gemm");
    soak.phases.push_back(made_soak("stream").phases[0]);
    soak.phases[1].compared = 0;
    EXPECT_EQ(said(soak)[0], "soak:results not_compared stream");
    EXPECT_EQ(judged(soak).outcome, Outcome::inconclusive);
    soak.phases.clear();
    EXPECT_THAT(said(soak), ElementsAre("soak:results not_compared"));
}

TEST(PartFindings, LessTimeThanWasAskedForIsOpen) {
    auto soak = made_soak("gemm");
    soak.asked_seconds = 86'400;
    EXPECT_THAT(said(soak),
                ElementsAre("soak:results none", "soak:time soak_short 1:00:00 / 24:00:00",
                            "soak:speed none gemm"));
    EXPECT_EQ(judged(soak).outcome, Outcome::inconclusive);
}

TEST(PartFindings, SpeedThatIsLostIsAWarningOrAFault) {
    struct Case {
        std::function<double(int)> factor; ///< of the time of a call
        Cause cause;
        Outcome outcome;
    };
    const Case cases[] = {
        {[](int i) { return i < 30 ? 1.0 : 1.02; }, Cause::none, Outcome::pass},
        {[](int i) { return i < 30 ? 1.0 : 1.06; }, Cause::slowing_down, Outcome::warn},
        {[](int i) { return i < 20 || i > 35 ? 1.0 : 1.25; }, Cause::slowed_down, Outcome::fail},
        {[](int i) { return 1 + (0.0025 * i); }, Cause::slowed_down, Outcome::fail},
    };
    for (const auto& [factor, cause, outcome] : cases) {
        const auto all = judged(made_soak("gemm", factor));
        const auto& check = check_of(all, "soak:speed");
        EXPECT_EQ(check.cause, cause) << check.detail;
        EXPECT_EQ(all.outcome, outcome) << check.detail;
        EXPECT_EQ(check.detail != "gemm", cause != Cause::none) << check.detail;
    }
    EXPECT_THAT(findings_of(made_soak("gemm", [](int i) { return i < 30 ? 1.0 : 1.25; }))[1].detail,
                testing::MatchesRegex("gemm, -(19|20)\\.[0-9]%"));
}

TEST(PartFindings, OfTooFewVisitsNoSpeedIsSaid) {
    auto soak = made_soak("gemm");
    soak.phases[0].points.resize(record::fewest_points - 1);
    EXPECT_THAT(findings_of(soak),
                ElementsAre(Field(&PartFinding::cause, Cause::none),
                            AllOf(Field(&PartFinding::id, "soak:speed"),
                                  Field(&PartFinding::cause, Cause::too_few_replicas),
                                  Field(&PartFinding::detail, "gemm, 7 / 8"))));
    EXPECT_EQ(judged(soak).outcome, Outcome::inconclusive);
}

} // namespace
} // namespace assay::report
