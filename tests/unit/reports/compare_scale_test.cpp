// SPDX-License-Identifier: Apache-2.0

#include "compare/alternatives.hpp"
#include "compare/document.hpp"
#include "export/comparison_data.hpp"
#include "support/collection_maker.hpp"
#include "write/terminal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace assay::report {
namespace {

using test::CollectionMaker;
using test::gemm;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::StartsWith;

MachinePrice priced(const std::string& id, double hour) {
    Offer offer;
    offer.id = id;
    offer.provider = "aws";
    offer.instance = id;
    offer.tariff = Tariff::on_demand;
    offer.date = "2026-11-01";
    offer.source = "list";
    return {.offer = offer, .price = {.currency = "USD", .exchanged = {}, .hour = hour}};
}
/// "big" is three times as fast at four times the price.
CollectionMaker market() {
    CollectionMaker maker;
    for (const char* label : {"small", "big"}) {
        const double times = label[0] == 'b' ? 3 : 1;
        for (int machine = 0; machine < 3; ++machine) {
            const auto run = maker.run(
                {.label = label, .machine = label + std::to_string(machine), .instance = label});
            const double spread = 1 + 0.001 * machine;
            maker.observe(run, gemm("openblas", 1024), {3600e9 * times * spread});
            maker.observe(run, test::latency(64), {1e-6 / times * spread});
        }
    }
    return maker;
}
CompareOptions per_currency() {
    CompareOptions how;
    how.scale = Scale::currency;
    how.prices = {.currency = "USD", .machines = {}};
    for (int i = 0; i < 6; ++i)
        how.prices.machines.push_back(i < 3 ? priced("small", 2) : priced("big", 8));
    return how;
}
const ComparedRow& row_of(const Comparison& comparison, const std::string& benchmark) {
    for (const auto& table : comparison.tables)
        for (const auto& row : table.rows)
            if (row.benchmark == benchmark) return row;
    throw std::runtime_error{benchmark};
}

TEST(CompareScale, RatesAreDividedByThePriceAndTimesMultiplied) {
    const auto found = compare_scaled(market().collection(), per_currency());
    ASSERT_TRUE(found) << found.error().message;
    const auto& rate = row_of(*found, "gemm.square");
    EXPECT_EQ(rate.unit, "FLOP/USD");
    EXPECT_NEAR(*rate.cells[0].value, 3600e9 * 3600 / 2, 1e14);
    EXPECT_NEAR(*rate.cells[1].contrast->ratio, 3.0 / 4, 1e-9);
    EXPECT_EQ(rate.cells[1].contrast->outcome, ContrastOutcome::worse);
    const auto& time = row_of(*found, "memory.latency");
    EXPECT_EQ(time.unit, "USD");
    EXPECT_NEAR(*time.cells[0].value, 1e-6 * 2 / 3600, 1e-12);
    EXPECT_NEAR(*time.cells[1].contrast->ratio, 3.0 / 4, 1e-9);
}

TEST(CompareScale, ATeamCostsAllOfItsNodes) {
    auto maker = market();
    auto& all = maker.collection();
    all.settings.push_back({{"job.hosts", std::string{"n1 n2"}}});
    for (auto& seen : all.observations)
        if (all.runs[seen.run].label == "small")
            seen.settings = static_cast<std::uint32_t>(all.settings.size() - 1);
    const auto found = compare_scaled(all, per_currency());
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_NEAR(*row_of(*found, "gemm.square").cells[1].contrast->ratio, 2 * 3.0 / 4, 1e-9);
}

TEST(CompareScale, WhatHasNoPriceOrNoRateIsLeftOutAndNamed) {
    auto maker = market();
    auto how = per_currency();
    how.prices.machines[4] = {};
    how.prices.machines[5].price = {
        .state = PriceState::stale, .currency = "USD", .exchanged = {}, .hour = {}};
    auto energy = test::series_of("gemm.square", "openblas", {}, "energy");
    maker.observe(0, energy, {5});
    const auto found = compare_scaled(maker.collection(), how);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->sides[1].machines, 1U);
    EXPECT_THAT(found->not_compared, Contains(Field(&NotCompared::reason, "no offer on demand")));
    EXPECT_THAT(found->not_compared, Contains(Field(&NotCompared::reason, "price too old")));
    EXPECT_THAT(found->not_compared,
                Contains(Field(&NotCompared::reason, StartsWith("neither a rate nor a time"))));
    for (auto& price : how.prices.machines)
        if (price.offer && price.offer->id == "big") price = {};
    const auto none = compare_scaled(maker.collection(), how);
    ASSERT_FALSE(none);
    EXPECT_THAT(none.error().message, HasSubstr("no offer on demand"));
}

TEST(CompareScale, PricesStandBesideTheRankingAndThePageCanSwitch) {
    auto how = per_currency();
    how.scale = Scale::machine;
    const auto maker = market();
    const auto found = compare_scaled(CollectionMaker{maker}.collection(), how);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->sides[0].price, 2);
    const auto shown = write::to_terminal(std::vector{make_document(*found)});
    EXPECT_THAT(shown, HasSubstr("times per USD"));
    EXPECT_THAT(shown, HasSubstr("0.750x"));
    EXPECT_THAT(shown, HasSubstr("big (on demand)"));
    how.scale = Scale::currency;
    const auto priced = compare_scaled(CollectionMaker{maker}.collection(), how);
    const auto document = make_document(*priced);
    EXPECT_THAT(document.verdict, StartsWith("Per USD: "));
    EXPECT_EQ(document.scale, "currency");
    const auto json = to_json(*priced);
    EXPECT_THAT(json, HasSubstr(R"("scale": "currency")"));
    EXPECT_THAT(json, HasSubstr(R"("offer": "big")"));
}

} // namespace
} // namespace assay::report
