// SPDX-License-Identifier: Apache-2.0
//
// Which findings a waiver accepts, and until when.

#include "measured_node.hpp"

#include <gmock/gmock.h>

namespace assay::judge {
namespace {

using test::MeasuredNode;
using test::of_memory;

std::vector<Cause> found_causes(const Judgement& all) {
    std::vector<Cause> causes;
    for (const auto& check : all.nodes.at(0).checks)
        if (check.cause != Cause::none) causes.push_back(check.cause);
    return causes;
}

TEST(Waivers, WaiversOfCausesAndThoseThatAreOver) {
    const auto judged = [](const Waiver& waiver) {
        MeasuredNode node;
        node.add(test::triad(), 110e9);
        node.machine().platform.memory_channels = 10;
        node.machine().platform.memory_channels_most = 12;
        return node.judged(Limits{.limits = {of_memory()}, .waivers = {waiver}});
    };
    Waiver waiver{.cause = "channels_empty",
                  .machine = "m-1",
                  .owner = "ops",
                  .reason = "as ordered",
                  .expires = "2026-12-31"};
    const auto of_cause = judged(waiver);
    EXPECT_THAT(found_causes(of_cause), testing::ElementsAre(Cause::waived));
    EXPECT_EQ(of_cause.nodes[0].checks[0].waived, Cause::channels_empty);
    waiver.expires = "2026-02-01";
    EXPECT_THAT(found_causes(judged(waiver)), testing::ElementsAre(Cause::channels_empty));
    waiver.expires = "2026-02-02";
    EXPECT_EQ(judged(waiver).nodes[0].checks[0].waiver, 0U);
    waiver.cause = "ecc_off";
    EXPECT_THAT(found_causes(judged(waiver)), testing::ElementsAre(Cause::channels_empty));
}

TEST(Waivers, AWaiverOfOneLimitWaivesNoOther) {
    MeasuredNode slow;
    slow.add(test::triad(), 80e9);
    const Waiver other{.limit = "gemm",
                       .machine = "m-1",
                       .owner = "ops",
                       .reason = "known",
                       .expires = "2026-12-31"};
    const auto all = slow.judged(Limits{.limits = {of_memory()}, .waivers = {other}});
    EXPECT_EQ(all.outcome, Outcome::fail);
    EXPECT_FALSE(all.nodes[0].checks[0].waiver);
    EXPECT_FALSE(all.nodes[0].checks[0].beside.of_fleet) << "the limit is of no fleet";
    EXPECT_FALSE(all.nodes[0].checks[0].beside.of_datasheet);
}

TEST(Waivers, AWrongResultCannotBeWaived) {
    MeasuredNode wrong;
    wrong.fail(test::triad(), record::Status::incorrect);
    const Waiver of_limit{.limit = "triad",
                          .machine = "m-1",
                          .owner = "ops",
                          .reason = "known",
                          .expires = "2026-12-31"};
    const auto all = wrong.judged(Limits{.limits = {of_memory()}, .waivers = {of_limit}});
    EXPECT_EQ(all.outcome, Outcome::fail);
    EXPECT_THAT(found_causes(all), testing::ElementsAre(Cause::wrong_result));
}

TEST(Waivers, TheFirstWaiverOfACheckCounts) {
    MeasuredNode slow;
    slow.add(test::triad(), 80e9);
    const Waiver first{.limit = "triad",
                       .machine = "m-1",
                       .owner = "ops",
                       .reason = "known",
                       .expires = "2026-12-31"};
    const Waiver second{.cause = "below_limit",
                        .machine = "m-1",
                        .owner = "others",
                        .reason = "too",
                        .expires = "2026-12-31"};
    const auto all = slow.judged(Limits{.limits = {of_memory()}, .waivers = {first, second}});
    EXPECT_EQ(all.nodes[0].checks[0].waiver, 0U);
    EXPECT_EQ(all.nodes[0].checks[0].action, Action::none);
    EXPECT_EQ(all.outcome, Outcome::warn);
}

} // namespace
} // namespace assay::judge
