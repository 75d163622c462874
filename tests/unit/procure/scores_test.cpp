// SPDX-License-Identifier: Apache-2.0
#include "made.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace assay::report {
namespace {

using made::Market;
using made::offer;
using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<Offer> two{offer("x", "1"), offer("y", "1")};

TEST(Scores, AreLogarithmsOfRatesByMachineAndMeasure) {
    Market market;
    market.machine("x", 100, 10);
    market.machine("x", 110, 10);
    market.machine("y", 50, 40);
    const auto scores = market.scores(two);
    EXPECT_DOUBLE_EQ(scores.coverage, 1);
    ASSERT_EQ(scores.types[0].machines.size(), 2U);
    EXPECT_THAT(scores.types[0].machines[1].logs,
                ElementsAre(DoubleEq(std::log(110)), DoubleEq(std::log(10))));
    EXPECT_THAT(scores.types[1].machines[0].logs,
                ElementsAre(DoubleEq(std::log(50)), DoubleEq(std::log(40))));
}

TEST(Scores, WhatOneTypeLacksCountsForNone) {
    Market market;
    market.machine("x", 100, 10);
    market.machine("y", 50, 0);
    const auto scores = market.scores(two);
    EXPECT_DOUBLE_EQ(scores.coverage, 0.5);
    EXPECT_TRUE(scores.measures[0].counts);
    EXPECT_FALSE(scores.measures[1].counts);
    EXPECT_EQ(scores.types[0].machines[0].logs.size(), 1U);
    EXPECT_TRUE(scores.types[1].ranked);
    EXPECT_DOUBLE_EQ(scores.types[1].coverage, 0.5);
}

TEST(Scores, ATypeWithTooLittleTakesNothingFromOthers) {
    Market market;
    market.profiles().profiles[0].weights = {{"a", 0.3}, {"b", 0.7}};
    market.machine("x", 100, 10);
    market.machine("y", 50, 0);
    const auto scores = market.scores(two);
    EXPECT_DOUBLE_EQ(scores.coverage, 1);
    EXPECT_FALSE(scores.types[1].ranked);
}

TEST(Scores, AMachineThatLacksWhatItsTypeHasIsLeftOut) {
    Market market;
    market.machine("x", 100, 10);
    market.machine("x", 100, 0);
    market.machine("y", 50, 40);
    const auto scores = market.scores(two);
    EXPECT_EQ(scores.types[0].machines.size(), 1U);
    EXPECT_EQ(scores.types[0].partial, 1U);
}

TEST(Scores, RunsOfOneMachineAreOneValueTheirMedian) {
    Market market;
    const auto run = market.machine("x", 100, 10);
    for (const double rate : {50.0, 120.0}) {
        const auto again = market.maker.run({.machine = "m-1", .instance = "x"});
        market.maker.observe(again, Market::series("a"), {rate});
        market.maker.observe(again, Market::series("b"), {10});
    }
    static_cast<void>(run);
    const auto scores = market.scores({offer("x", "1")});
    ASSERT_EQ(scores.types[0].machines.size(), 1U);
    EXPECT_DOUBLE_EQ(scores.types[0].machines[0].logs[0], std::log(100));
    EXPECT_EQ(scores.types[0].machines[0].runs, 3U);
}

TEST(Scores, TheBestOfHostAndDevicesIsThatOfTheNode) {
    Market market;
    market.profiles().measures[0].per_device = true;
    const auto run = market.machine("x", 100, 10);
    auto& machine = market.runs().machines[market.runs().runs[run].machine];
    machine.devices.resize(8);
    market.maker.observe(run, Market::series("a", "cuda"), {90});
    const auto scores = market.scores({offer("x", "1")});
    EXPECT_DOUBLE_EQ(scores.types[0].machines[0].logs[0], std::log(8 * 90));
    EXPECT_TRUE(scores.measures[0].multiplied);
}

TEST(Scores, DevicesMeasuredTogetherAreNotMarked) {
    Market market;
    market.profiles().measures[0].per_device = true;
    const auto run = market.machine("x", 0, 10);
    market.runs().machines[market.runs().runs[run].machine].devices.resize(2);
    auto together = Market::series("a", "cuda");
    market.maker.observe(run, together, {100}); // alone
    together.parameters.push_back({"together", std::string{"devices:2"}});
    market.maker.observe(run, together, {80});
    market.maker.observe(run, together, {60});
    const auto scores = market.scores({offer("x", "1")});
    EXPECT_DOUBLE_EQ(scores.types[0].machines[0].logs[0], std::log(140));
    EXPECT_FALSE(scores.measures[0].multiplied);
}

TEST(Scores, TimesAreBetterWhenTheyAreShorter) {
    Market market;
    market.profiles().profiles[0].weights = {{"a", 1}};
    market.profiles().measures[0].where = {"benchmark=memory.latency"};
    const auto run = market.machine("x", 0, 0);
    market.maker.observe(run, test::latency(64), {1e-7});
    EXPECT_DOUBLE_EQ(market.scores({offer("x", "1")}).types[0].machines[0].logs[0], std::log(1e7));
}

TEST(Scores, TeamsCountOnAsManyNodesAsAreOffered) {
    Market market;
    market.profiles().profiles[0].weights = {{"a", 1}};
    const auto run = market.machine("x", 0, 0);
    auto team = Market::series("a");
    team.parameters.push_back({"ranks", std::string{"all"}});
    market.maker.observe(run, team, {100});
    auto four = offer("x", "1");
    four.count = 4;
    EXPECT_FALSE(market.scores({four}).types[0].ranked);
    EXPECT_TRUE(market.scores({offer("x", "1")}).types[0].ranked);
}

TEST(Scores, TheBestOfDifferentUnitsIsRefused) {
    Market market;
    market.profiles().measures[0].where = {"benchmark=a.rate|memory.stream"};
    const auto run = market.machine("x", 100, 10);
    market.maker.observe(run, test::triad(), {1e11});
    const auto found =
        score({offer("x", "1")}, market.profiles().profiles[0], market.profiles(), market.runs());
    ASSERT_FALSE(found);
    EXPECT_THAT(found.error().message, HasSubstr("B/s and FLOP/s"));
}

TEST(Scores, ProvidersGoByAnyNameThatTheCatalogueKnows) {
    Market market;
    market.machine("x", 100, 10);
    datasheet::Hardware hardware;
    hardware.providers.push_back(
        {.id = "aws", .name = "Amazon Web Services", .aliases = {"Amazon"}});
    auto alias = offer("x", "1");
    alias.provider = "Amazon";
    const auto& profiles = market.profiles();
    const auto ranked = [&](const datasheet::Hardware* known) {
        return score({alias}, profiles.profiles[0], profiles, market.runs(), 0.5, known)
            ->types[0]
            .ranked;
    };
    EXPECT_TRUE(ranked(&hardware));
    EXPECT_FALSE(ranked(nullptr));
}

TEST(Scores, WrongOrDisturbedResultsDoNotCount) {
    Market market;
    market.machine("x", 100, 10);
    for (auto& seen : market.runs().observations) seen.status = record::Status::incorrect;
    EXPECT_FALSE(market.scores({offer("x", "1")}).types[0].ranked);
}

} // namespace
} // namespace assay::report
