// SPDX-License-Identifier: Apache-2.0

#include "base/utc.hpp"
#include "offers/machines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay::report {
namespace {

using ::testing::HasSubstr;

Offer offered(std::string id, const char* price, std::string region = "") {
    Offer offer;
    offer.id = std::move(id);
    offer.provider = "aws";
    offer.instance = "c7a.large";
    offer.region = std::move(region);
    offer.tariff = Tariff::on_demand;
    offer.price = parse_amount(price).value();
    offer.currency = "USD";
    offer.date = "2026-11-01";
    return offer;
}
record::Machine machine(std::string region = "", std::string instance = "c7a.large") {
    record::Machine made;
    made.provider = "aws";
    made.instance = std::move(instance);
    made.platform.region = std::move(region);
    return made;
}
MachinePrice price_for(const record::Machine& one, std::vector<Offer> offers) {
    Offers all;
    all.offers = std::move(offers);
    const auto found = prices_of({one}, all, Tariff::on_demand,
                                 {.now = *seconds_of("2026-11-23T12:00:00Z"), .currency = {}});
    return found ? found->machines.front() : MachinePrice{};
}

TEST(MachinePrices, AreTheCheapestInTheRegionOfTheMachine) {
    const std::vector offers{offered("far", "1", "us-east-1"), offered("dear", "3", "eu-central-1"),
                             offered("near", "2", "eu-central-1")};
    EXPECT_EQ(price_for(machine("eu-central-1"), offers).offer->id, "near");
    EXPECT_EQ(price_for(machine("ap-south-1"), offers).offer->id, "far");
    EXPECT_EQ(price_for(machine(), offers).price.hour, 1);
}

TEST(MachinePrices, AreOfTheTariffAndTypeAlone) {
    auto spot = offered("spot", "1");
    spot.tariff = Tariff::spot;
    EXPECT_FALSE(price_for(machine(), {spot}).offer);
    EXPECT_FALSE(price_for(machine("", "c7i.large"), {offered("a", "1")}).offer);
}

TEST(MachinePrices, ThatMayNotBeCountedWithGiveWayOrSayWhy) {
    auto old = offered("old", "1");
    old.date = "2025-01-01";
    EXPECT_EQ(price_for(machine(), {old, offered("new", "2")}).offer->id, "new");
    const auto alone = price_for(machine(), {old});
    EXPECT_EQ(alone.price.state, PriceState::stale);
    EXPECT_FALSE(alone.price.hour);
}

TEST(MachinePrices, OfSeveralCurrenciesAreRefused) {
    Offers all;
    all.offers = {offered("a", "1"), offered("b", "1")};
    all.offers[1].instance = "c7i.large";
    all.offers[1].currency = "EUR";
    const auto found = prices_of({machine(), machine("", "c7i.large")}, all, Tariff::on_demand,
                                 {.now = *seconds_of("2026-11-23T12:00:00Z"), .currency = {}});
    ASSERT_FALSE(found);
    EXPECT_THAT(found.error().message, HasSubstr("--currency"));
}

} // namespace
} // namespace assay::report
