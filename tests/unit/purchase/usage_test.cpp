// SPDX-License-Identifier: Apache-2.0
//
// How many nodes to reserve, with figures by hand, and tables of hours that are
// wrong.

#include "made.hpp"
#include "purchase/cost.hpp"
#include "support/schema.hpp"

#include <gmock/gmock.h>

#include <functional>

namespace assay::purchase {
namespace {

using testing::HasSubstr;

/// Usage of the type "a", from January 2023 on.
Usage used(std::size_t months, const std::function<double(std::size_t)>& nodes) {
    Usage one{.provider = {}, .region = {}, .instance = "a", .first = "2023-01", .hours = {}};
    for (std::size_t i = 0; i < months; ++i) one.hours.push_back(hours_a_month * nodes(i));
    return one;
}
std::vector<Cost> priced(const std::vector<Offer>& offers) {
    Offers all;
    all.offers = offers;
    CostOptions options;
    options.terms.now = seconds_of("2026-11-20").value();
    return costs_of(all, options).value();
}
double ten(std::size_t) { return 10; }
double quarter_of_a_year(std::size_t month) { return month % 12 < 3 ? 10 : 0; }

TEST(Usage, ReservesWithLeastExpectedCost) {
    struct Row {
        const char* what;
        Usage used;
        std::vector<Offer> offers;
        UsageState state;
        double nodes = 0;
    };
    const auto on_demand = made::offer("a", "2");
    const auto reserved = made::offer("a", "1", Tariff::reserved_1y);
    const auto equal = made::offer("a", "2", Tariff::reserved_1y);
    auto few = reserved;
    few.count = 4;
    auto old = reserved;
    old.date = "2020-01-01";
    const std::vector<Row> rows{
        {"flat", used(24, ten), {on_demand, reserved}, UsageState::planned, 10},
        {"flat, few offered", used(24, ten), {on_demand, few}, UsageState::planned, 4},
        {"flat, 3 years",
         used(24, ten),
         {on_demand, made::offer("a", "1", Tariff::reserved_3y)},
         UsageState::planned,
         10},
        {"flat, by the month",
         used(24, ten),
         {on_demand, made::offer("a", "700", Tariff::monthly)},
         UsageState::planned,
         10},
        {"flat, same price", used(24, ten), {on_demand, equal}, UsageState::nothing},
        {"a quarter of the year",
         used(36, quarter_of_a_year),
         {on_demand, reserved},
         UsageState::nothing},
        {"no offer of the type", used(24, ten), {made::offer("b", "1")}, UsageState::not_offered},
        {"spot is not on demand",
         used(24, ten),
         {made::offer("a", "1", Tariff::spot), reserved},
         UsageState::no_on_demand},
        {"old price", used(24, ten), {on_demand, old}, UsageState::no_commitment}};
    for (const auto& row : rows) {
        const auto costs = priced(row.offers);
        const auto plans = plan_usage({row.used}, costs).value();
        EXPECT_EQ(to_string(plans[0].state), to_string(row.state)) << row.what;
        EXPECT_EQ(plans[0].plan.empty() ? 0 : plans[0].plan[0].nodes, row.nodes) << row.what;
    }
}

/// 10 nodes x 8760 h: 175,200 on demand at 2, 87,600 reserved at 1.
TEST(Usage, CountsCostsOverTheTerm) {
    const auto costs = priced({made::offer("a", "2"), made::offer("a", "1", Tariff::reserved_1y)});
    const auto plan = plan_usage({used(36, ten)}, costs).value()[0];
    const auto& best = plan.plan[0];
    EXPECT_DOUBLE_EQ(plan.nodes_used, 10);
    EXPECT_DOUBLE_EQ(best.without, 175'200);
    EXPECT_DOUBLE_EQ(best.with, 87'600);
    EXPECT_DOUBLE_EQ(*best.saving_low, 87'600);
    EXPECT_DOUBLE_EQ(*best.saving_high, 87'600);
    EXPECT_EQ(test::broken(to_json(costs, to_json(std::vector{plan})), "cost"), "");
}

/// A node in use half of the year pays for itself below half the price on
/// demand, and not above.
TEST(Usage, BreaksEvenAtItsShareOfHours) {
    const auto half = used(36, [](std::size_t month) { return month % 12 < 6 ? 10.0 : 0.0; });
    for (const auto& [price, nodes] : {std::pair{"0.99", 10.0}, {"1.01", 0.0}}) {
        const auto costs =
            priced({made::offer("a", "2"), made::offer("a", price, Tariff::reserved_1y)});
        const auto best = plan_usage({half}, costs).value()[0].plan[0];
        EXPECT_DOUBLE_EQ(best.break_even, std::stod(price) / 2);
        EXPECT_EQ(best.nodes, nodes) << price;
    }
}

TEST(Usage, ReservesMoreWhereUseRises) {
    const auto costs = priced({made::offer("a", "2"), made::offer("a", "1", Tariff::reserved_1y)});
    const auto rising = used(24, [](std::size_t month) { return 10 + static_cast<double>(month); });
    const auto plan = plan_usage({rising}, costs).value()[0];
    EXPECT_DOUBLE_EQ(plan.nodes_used, 27.5);
    EXPECT_NEAR(plan.plan[0].nodes, 39, 3) << "34 to 45 nodes are to come";
    EXPECT_GT(*plan.plan[0].saving_high, *plan.plan[0].saving_low);
}

TEST(Usage, RefusesCurrenciesWithoutRate) {
    auto euro = made::offer("a", "1", Tariff::reserved_1y);
    euro.currency = "EUR";
    const auto costs = priced({made::offer("a", "2"), euro});
    EXPECT_THAT(plan_usage({used(24, ten)}, costs).error().message, HasSubstr("--currency"));
}

TEST(Usage, RefusesTooFewMonths) {
    EXPECT_THAT(plan_usage({used(5, ten)}, {}).error().message, HasSubstr("6 months"));
}

TEST(Usage, SumsRowsOfOneMonth) {
    const auto found =
        parse_usage("instance,month,hours\na,2026-02,5\na,2026-01,1\na,2026-01,2\n", "u.csv")
            .value();
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].first, "2026-01");
    EXPECT_EQ(found[0].hours, (std::vector<double>{3, 5}));
}

TEST(Usage, RefusesTablesThatAreWrong) {
    const std::string titles = "month,instance,hours\n";
    for (const auto& [text, message] : std::vector<std::pair<std::string, std::string>>{
             {"", "column month is missing"},
             {titles, "no rows"},
             {"month,instance,hour\n",
              "u.csv:1: unknown column \"hour\" (did you mean \"hours\"?)"},
             {"month,instance,hours,month\n", "occurs twice"},
             {titles + "2026-13,a,1\n", "u.csv:2: column month: invalid month \"2026-13\""},
             {titles + "2026-1,a,1\n", "invalid month"},
             {titles + "2026-01,,1\n", "instance is empty"},
             {titles + "2026-01,a\n", "2 cells in a table of 3 columns"},
             {titles + "2026-01,a,-1\n", "out of range"},
             {titles + "2026-01,a,1e300\n", "out of range"},
             {titles + "2026-01,a,nan\n", "column hours"},
             {titles + "2026-01,a,=1+1\n", "formula"},
             {titles + "2026-01,=a(),1\n", "formula"},
             {titles + "2026-01,a,1\n2026-03,a,1\n", "a has no hours for 2026-02; write 0"},
             {titles + "2026-01,a,1\n2026-01,b,1\n2026-02,b,1\n", "a has no hours for 2026-02"}}) {
        const auto read = parse_usage(text, "u.csv");
        ASSERT_FALSE(read) << text;
        EXPECT_THAT(read.error().message, HasSubstr(message)) << text;
    }
}

} // namespace
} // namespace assay::purchase
