// SPDX-License-Identifier: Apache-2.0
#include "made.hpp"

#include <gmock/gmock.h>

#include <numeric>

namespace assay::purchase {
namespace {

using made::Market;
using made::offer;
using ::testing::ElementsAre;

std::vector<std::string> order(const Ranking& ranking) {
    std::vector<std::string> ids;
    for (const auto& one : ranking.offers) ids.push_back(one.cost.offer.id);
    return ids;
}
const UnrankedOffer* unranked(const Ranking& ranking, std::string_view id) {
    const auto found =
        std::ranges::find_if(ranking.unranked, [&](const auto& one) { return one.offer.id == id; });
    return found == ranking.unranked.end() ? nullptr : &*found;
}
/// x is twice as fast at a, y at b.
Market market_of(int machines) {
    Market market;
    for (int i = 0; i < machines; ++i) {
        market.machine("x", 200 + i, 10);
        market.machine("y", 100 + i, 20);
    }
    return market;
}

TEST(OfferRanking, IsByScoreForTheMoney) {
    Market market;
    market.machine("x", 400, 10);
    market.machine("y", 100, 10);
    const auto ranking = market.ranking({offer("y", "1"), offer("x", "1.5")});
    EXPECT_THAT(order(ranking), ElementsAre("x on_demand", "y on_demand"));
    // sqrt(4) times as fast at 1.5 times the price.
    EXPECT_NEAR(std::exp(ranking.offers[0].value() - ranking.offers[1].value()), 2 / 1.5, 1e-12);
    EXPECT_EQ(ranking.currency, "USD");
}

TEST(OfferRanking, GivesNoProbabilityBelowThreeMachinesOfAType) {
    for (const int machines : {1, 2}) {
        auto market = market_of(machines);
        const auto few = market.ranking({offer("x", "1"), offer("y", "50")});
        EXPECT_TRUE(few.provisional);
        EXPECT_FALSE(few.sure);
        EXPECT_FALSE(few.above);
        for (const auto& one : few.offers) {
            EXPECT_FALSE(one.best);
            EXPECT_FALSE(one.next);
        }
    }
    auto market = market_of(3);
    const auto three = market.ranking({offer("x", "1"), offer("y", "5")});
    EXPECT_FALSE(three.provisional);
    EXPECT_TRUE(three.sure);
    EXPECT_GT(three.above.value(), 0.999);
    EXPECT_GT(three.offers[0].best.value(), 0.999);
}

TEST(OfferRanking, OneTypeOfFewMachinesMakesTheRankingProvisional) {
    auto market = market_of(3);
    market.machine("z", 1, 1);
    const auto ranking = market.ranking({offer("x", "1"), offer("y", "5"), offer("z", "9")});
    EXPECT_TRUE(ranking.provisional);
    EXPECT_FALSE(ranking.offers[0].best);
    EXPECT_TRUE(ranking.offers[0].next)
        << "three machines of its own type show what a fourth may do";
    EXPECT_FALSE(ranking.offers[2].next);
}

TEST(OfferRanking, RecommendsNothingWithoutAnotherType) {
    auto market = market_of(3);
    const auto alone = market.ranking(
        {offer("x", "1"), offer("x", "0.6", purchase::Tariff::reserved_1y), offer("z", "1")});
    EXPECT_EQ(alone.offers.size(), 2U);
    EXPECT_FALSE(alone.recommends());
    EXPECT_FALSE(alone.sure);
    EXPECT_FALSE(alone.offers[0].best);
    EXPECT_TRUE(market.ranking({offer("x", "1"), offer("y", "1")}).recommends());
}

TEST(OfferRanking, LeavesOutOffersWhoseMachinesHaveOtherCounts) {
    auto market = market_of(3);
    for (auto& machine : market.runs().machines) {
        machine.devices.resize(1);
        machine.threads = 16;
        machine.cores = 8;
        machine.memory_bytes = std::int64_t{61} << 30U;
        machine.platform.network = {{.name = "eth0", .address = "0000:01:00.0"},
                                    {.name = "mlx5_0:1", .address = "0000:01:00.0"}};
    }
    auto eight = offer("x", "8");
    eight.gpus = 8;
    const auto few = market.ranking({eight, offer("y", "9")});
    EXPECT_THAT(order(few), ElementsAre("y on_demand"));
    const auto* const left = unranked(few, "x on_demand");
    ASSERT_NE(left, nullptr);
    EXPECT_EQ(left->why, Unranked::broken_promise);
    EXPECT_EQ(left->broken.value().code, "devices");
    EXPECT_EQ(left->broken->promised, 8);
    EXPECT_EQ(left->broken->measured, 1.0);

    const auto ranks = [&](auto&& promise) {
        auto x = offer("x", "1");
        promise(x);
        return unranked(market.ranking({x, offer("y", "9")}), "x on_demand") == nullptr;
    };
    EXPECT_TRUE(ranks([](purchase::Offer& x) { x.network_cards = 1; }));
    EXPECT_FALSE(ranks([](purchase::Offer& x) { x.network_cards = 2; })) << "two ports of one card";
    EXPECT_TRUE(ranks([](purchase::Offer& x) { x.gpus = 1; }));
    EXPECT_TRUE(ranks([](purchase::Offer& x) { x.gpus = 0.5; }))
        << "half of a GPU is seen as a device";
    EXPECT_FALSE(ranks([](purchase::Offer& x) { x.gpus = 0; })) << "a GPU too many is another type";
    EXPECT_TRUE(ranks([](purchase::Offer& x) { x.vcpus = 16; }));
    EXPECT_FALSE(ranks([](purchase::Offer& x) { x.vcpus = 17; }));
    EXPECT_FALSE(ranks([](purchase::Offer& x) { x.cores = 16; })) << "threads, taken for cores";
    EXPECT_TRUE(ranks([](purchase::Offer& x) { x.memory_gib = 64; }))
        << "the firmware has some of it";
    EXPECT_FALSE(ranks([](purchase::Offer& x) { x.memory_gib = 128; }));
}

TEST(OfferRanking, OneNodeThatLacksAGpuLeavesOutItsOffer) {
    auto market = market_of(3);
    for (auto& machine : market.runs().machines) machine.devices.resize(8);
    market.runs().machines[2].devices.resize(7); // the second x
    auto x = offer("x", "1");
    x.gpus = 8;
    EXPECT_EQ(unranked(market.ranking({x, offer("y", "1")}), x.id)->broken.value().measured, 7.0);
}

TEST(OfferRanking, GpusOfATypeAreTheCataloguesWhereTheOfferNamesNone) {
    auto market = market_of(1);
    reference::Hardware hardware;
    hardware.providers.push_back({.id = "aws", .name = "Amazon Web Services", .aliases = {}});
    auto& type = hardware.instances.emplace_back();
    type.provider = "aws";
    type.type = "x";
    type.gpus = 8;
    const auto broken =
        broken_promises({offer("x", "1"), offer("y", "1")}, Measured{&market.runs(), &hardware});
    ASSERT_EQ(broken.size(), 2U);
    ASSERT_TRUE(broken[0]);
    EXPECT_EQ(broken[0]->promised, 8);
    EXPECT_EQ(broken[0]->measured, 0.0);
    EXPECT_FALSE(broken[1]);
}

TEST(OfferRanking, OfOneTypeTheCheapestIsBestAndTheRunnerUpIsAnother) {
    auto market = market_of(3);
    const auto ranking = market.ranking(
        {offer("x", "1"), offer("x", "0.6", purchase::Tariff::reserved_1y), offer("y", "3")});
    EXPECT_THAT(order(ranking), ElementsAre("x reserved_1y", "x on_demand", "y on_demand"));
    EXPECT_EQ(ranking.runner_up, 2U);
    EXPECT_EQ(ranking.offers[1].best, 0);
}

TEST(OfferRanking, WhatIsNotKnownTakesAnOfferOutWithTheReason) {
    auto market = market_of(1);
    market.machine("part", 0, 10);
    market.profiles().profiles[0].weights = {{"a", 0.6}, {"b", 0.4}};
    auto old = offer("x", "1", purchase::Tariff::monthly);
    old.date = "2020-01-01";
    const auto ranking = market.ranking(
        {offer("y", "1"), old, offer("x", "0.2", purchase::Tariff::spot), offer("z", "1"),
         offer("part", "1"), offer("x", "36000", purchase::Tariff::purchase)});
    EXPECT_THAT(order(ranking), ElementsAre("y on_demand"));
    EXPECT_EQ(unranked(ranking, "x purchase")->why, Unranked::no_cost);
    EXPECT_EQ(unranked(ranking, "x monthly")->why, Unranked::no_price);
    EXPECT_EQ(unranked(ranking, "x monthly")->price, purchase::PriceState::stale);
    EXPECT_EQ(unranked(ranking, "x spot")->why, Unranked::spot_risk);
    EXPECT_EQ(unranked(ranking, "z on_demand")->why, Unranked::not_measured);
    EXPECT_EQ(unranked(ranking, "part on_demand")->why, Unranked::coverage);
}

TEST(OfferRanking, PartsOfTheBillCountWhereAllAreKnown) {
    auto market = market_of(1);
    auto x = offer("x", "1");
    x.support_per_month = purchase::Amount{.text = "73", .value = 73};
    const auto one = market.ranking({x, offer("y", "1")});
    EXPECT_TRUE(one.parts.empty());
    EXPECT_EQ(one.offers[0].hour.other, 0);
    const auto all = market.ranking({x, offer("y", "1")}, {{"support", 73.0}});
    EXPECT_THAT(all.parts, ElementsAre("part_support"));
    EXPECT_NEAR(all.offers[0].hour.other, 0.1, 1e-12);
}

TEST(OfferRanking, FactorsMakeUpTheDifference) {
    auto market = market_of(3);
    auto spot = offer("y", "0.5", purchase::Tariff::spot);
    spot.interruptions_per_hour = 0.01;
    const auto ranking =
        market.ranking({offer("x", "0.8"), spot},
                       {{"checkpoint_hours", 0.1}, {"restart_hours", 0.2}, {"support", 100.0}});
    ASSERT_EQ(ranking.offers.size(), 2U);
    const auto factors = factors_of(ranking, 0, 1);
    const double sum = std::accumulate(factors.begin(), factors.end(), 0.0,
                                       [](double all, const auto& one) { return all + one.log; });
    EXPECT_NEAR(sum, ranking.offers[0].value() - ranking.offers[1].value(), 1e-12);
    EXPECT_EQ(factors.back().code, "failures");
}

TEST(OfferRanking, FlipsMakeBothAsGood) {
    auto market = market_of(3);
    auto cheaper = offer("y", "1.2");
    const auto ranking = market.ranking({offer("x", "1"), cheaper});
    const auto flips = flips_of(ranking, 0, 1);
    ASSERT_EQ(flips.size(), 3U); // the price, and either weight
    cheaper.price->value *= 1 - *flips[0].price_falls;
    const auto level = market.ranking({offer("x", "1"), cheaper});
    EXPECT_NEAR(level.offers[0].value(), level.offers[1].value(), 1e-9);
    market.profiles().profiles[0].weights = {{"a", flips[1].weight}, {"b", 1 - flips[1].weight}};
    const auto shifted = market.ranking({offer("x", "1"), offer("y", "1.2")});
    EXPECT_NEAR(shifted.offers[0].value(), shifted.offers[1].value(), 1e-9);
    EXPECT_NEAR(flips[1].weight + flips[2].weight, 1, 1e-12); // there are only two
}

TEST(OfferRanking, ExplicitNodesOfOneTypeAreTheSameMachines) {
    auto market = market_of(3);
    auto eight = offer("x", "0.9");
    eight.count = 8;
    eight.id = "eight";
    const auto ranking = market.ranking({offer("x", "1"), eight, offer("y", "9")});
    EXPECT_EQ(ranking.offers[0].cost.offer.id, "eight");
    EXPECT_EQ(ranking.offers[1].best, 0); // cheaper is better for sure: no chance between them
}

} // namespace
} // namespace assay::purchase
