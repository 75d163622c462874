// SPDX-License-Identifier: Apache-2.0
//
// Profiles, and the scores of types by them.

#include "made.hpp"
#include "purchase/profile.hpp"

#include <gmock/gmock.h>

namespace assay::purchase {
namespace {

using namespace testing;
using made::Market;
using made::offer;

const std::vector<purchase::Offer> two{offer("x", "1"), offer("y", "1")};

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

/// The first benchmark, in that precision and size.
decide::Series work(const std::string& precision, std::int64_t size,
                    const std::string& place = "host") {
    auto series = test::series_of("a.rate", place == "host" ? "lib" : "cudalib",
                                  {{"precision", precision}, {"size", size}}, "flop_rate");
    series.place = place;
    series.question = precision + std::to_string(size) + place;
    return series;
}
/// Its measure has all of the weight.
Market of_works() {
    Market market;
    market.profiles().profiles[0].weights = {{"a", 1}};
    return market;
}

TEST(Scores, AnotherPrecisionIsNotTheSameWork) {
    auto market = of_works();
    const auto host = market.machine("x", 0, 0);
    const auto gpu = market.machine("y", 0, 0);
    market.maker.observe(host, work("fp64", 64), {100});
    market.maker.observe(gpu, work("fp32", 256, "cuda"), {17400});
    const auto apart = market.scores(two);
    EXPECT_FALSE(apart.types[0].ranked) << "fp64 of 64 cubed is not fp32 of 256 cubed";
    EXPECT_FALSE(apart.types[1].ranked);
    EXPECT_EQ(apart.types[0].in_common, 0.0);
    market.maker.observe(gpu, work("fp64", 64, "cuda"), {800});
    const auto meet = market.scores(two);
    EXPECT_DOUBLE_EQ(meet.types[0].machines.at(0).logs[0], std::log(100));
    EXPECT_DOUBLE_EQ(meet.types[1].machines.at(0).logs[0], std::log(800));
    ASSERT_EQ(meet.measures[0].left_out.size(), 1U);
    EXPECT_THAT(meet.measures[0].left_out[0], HasSubstr("fp32"));
}

TEST(Scores, SizesThatAllHaveAreAveragedAndOthersAreNot) {
    for (const auto take : {Take::best, Take::each}) {
        auto market = of_works();
        market.profiles().measures[0].take = take;
        const auto x = market.machine("x", 0, 0);
        const auto y = market.machine("y", 0, 0);
        for (const std::int64_t size : {1, 2}) {
            market.maker.observe(x, work("fp64", size), {100.0 * static_cast<double>(size)});
            market.maker.observe(y, work("fp64", size), {50.0 * static_cast<double>(size)});
        }
        market.maker.observe(x, work("fp64", 4), {9e9}); // at which only x is measured
        const auto scores = market.scores(two);
        EXPECT_DOUBLE_EQ(scores.types[0].machines.at(0).logs[0], std::log(100 * std::sqrt(2.0)));
        EXPECT_DOUBLE_EQ(scores.types[1].machines.at(0).logs[0], std::log(50 * std::sqrt(2.0)));
        EXPECT_EQ(scores.measures[0].series.size(), 2U);
        ASSERT_EQ(scores.measures[0].left_out.size(), 1U);
        EXPECT_THAT(scores.measures[0].left_out[0], HasSubstr("size=4"));
    }
}

TEST(Scores, PrecisionsThatAllHaveAreNotAveragedTheFastestCounts) {
    for (const auto take : {Take::best, Take::each}) {
        auto market = of_works();
        market.profiles().measures[0].take = take;
        for (const auto* instance : {"x", "y"}) {
            const auto run = market.machine(instance, 0, 0);
            market.maker.observe(run, work("bf16", 8), {400});
            market.maker.observe(run, work("fp16", 8), {500});
        }
        market.maker.observe(0, work("fp8", 8), {9e9}); // x alone
        const auto scores = market.scores(two);
        for (const auto& type : scores.types)
            EXPECT_DOUBLE_EQ(type.machines.at(0).logs[0], std::log(500));
        EXPECT_EQ(scores.measures[0].left_out.size(), 2U);
    }
}

TEST(Scores, WaysOfDoingTheSameWorkMeet) {
    auto market = of_works();
    const auto host = market.machine("x", 0, 0);
    const auto gpu = market.machine("y", 0, 0);
    auto packed = work("bf16", 8192);
    packed.parameters.push_back({"threads", std::string{"all"}});
    packed.parameters.push_back({"weights", std::string{"packed"}});
    auto device = work("bf16", 8192, "cuda");
    device.parameters.insert(device.parameters.begin(), {"accumulation", std::string{"exact"}});
    market.maker.observe(host, packed, {1});
    market.maker.observe(gpu, device, {700});
    EXPECT_TRUE(market.scores(two).types[0].ranked);
    auto one = work("bf16", 8192);
    one.parameters.push_back({"threads", std::string{"one"}});
    Market other = of_works();
    other.maker.observe(other.machine("x", 0, 0), one, {1});
    other.maker.observe(other.machine("y", 0, 0), device, {700});
    EXPECT_FALSE(other.scores(two).types[0].ranked) << "one core is not a node";
}

TEST(Scores, TheTypeThatWasMeasuredByOtherWorkIsLeftOut) {
    auto market = of_works();
    for (const auto* instance : {"x", "y"})
        market.maker.observe(market.machine(instance, 0, 0), work("bf16", 8192, "cuda"), {700});
    market.maker.observe(market.machine("z", 0, 0), work("bf16", 1024), {1});
    const auto scores = market.scores({offer("x", "1"), offer("y", "1"), offer("z", "1")});
    EXPECT_TRUE(scores.types[0].ranked);
    EXPECT_TRUE(scores.types[1].ranked);
    EXPECT_FALSE(scores.types[2].ranked);
    EXPECT_EQ(scores.types[2].in_common, 0.0);
    EXPECT_DOUBLE_EQ(scores.coverage, 1);
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

TEST(Scores, WrongOrDisturbedResultsDoNotCount) {
    Market market;
    market.machine("x", 100, 10);
    for (auto& seen : market.runs().observations) seen.status = record::Status::incorrect;
    EXPECT_FALSE(market.scores({offer("x", "1")}).types[0].ranked);
}

Profiles installed() { return must(read_profiles({})); }

std::string refusal(const std::string& text) {
    auto profiles = installed();
    const auto added = add_profiles(text, "mine.json", profiles);
    return added ? "" : added.error().message;
}

TEST(Profiles, AreInstalledForTheWorkThatPeopleDo) {
    const auto profiles = installed();
    for (const auto* name :
         {"training", "inference", "hpc-md", "weather", "rendering", "data", "mixed", "storage"})
        EXPECT_TRUE(find_profile(profiles, name)) << name;
    const auto missing = find_profile(profiles, "trainig");
    ASSERT_FALSE(missing);
    EXPECT_THAT(missing.error().message, HasSubstr("training"));
}

TEST(Profiles, OwnOnesUseInstalledMeasuresAndReplaceThem) {
    auto profiles = installed();
    const auto added = add_profiles(R"({"schema": "assay.profiles/1", "name": "mine",
        "measures": [{"id": "fft", "title": "Ours", "where": ["benchmark=fft.*"], "take": "each"}],
        "profiles": [{"name": "mine", "weights": {"fft": 0.25, "memory_bandwidth": 0.75}}]})",
                                    "mine.json", profiles);
    ASSERT_TRUE(added) << added.error().message;
    const auto profile = find_profile(profiles, "mine");
    ASSERT_TRUE(profile);
    EXPECT_EQ(title_of(*profile), "mine");
    EXPECT_EQ(title_of(measure_of(profiles, profile->weights[0])), "Ours");
    EXPECT_EQ(measure_of(profiles, profile->weights[0]).take, Take::each);
}

TEST(Profiles, RefuseWhatMeansNothing) {
    const auto profile = [](const std::string& weights) {
        return R"({"schema": "assay.profiles/1", "name": "x", "profiles": [{"name": "p", "weights": {)" +
               weights + "}}]}";
    };
    EXPECT_THAT(refusal(profile(R"("fft": 0.5, "stencil": 0.4)")), HasSubstr("sum to 0.9"));
    EXPECT_THAT(refusal(profile(R"("fft": 0.5, "stencils": 0.5)")),
                HasSubstr("unknown measure \"stencils\""));
    EXPECT_THAT(refusal(profile(R"("fft": -1)")), HasSubstr("mine.json"));
    EXPECT_THAT(refusal(profile("")), HasSubstr("weights"));
    EXPECT_THAT(refusal(R"({"schema": "assay.profiles/1", "name": "x",
        "measures": [{"id": "m", "where": ["gemm"]}]})"),
                HasSubstr("invalid filter"));
    EXPECT_THAT(refusal(R"({"schema": "assay.profiles/1", "name": "x",
        "measures": [{"id": "m", "where": ["benchmark=a"], "take": "all"}]})"),
                HasSubstr("take"));
    EXPECT_THAT(refusal("{"), HasSubstr("mine.json"));
}

} // namespace
} // namespace assay::purchase
