// SPDX-License-Identifier: Apache-2.0
//
// Prices, formulas and costs against figures by hand, written out beside them.

#include "purchase/calculation.hpp"
#include "purchase/cost.hpp"
#include "purchase/offer.hpp"
#include "support/collection_maker.hpp"
#include "support/schema.hpp"

#include <gmock/gmock.h>

namespace assay::purchase {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Offer made(Tariff tariff, const char* price) {
    Offer offer;
    offer.provider = "aws";
    offer.instance = "c7a.large";
    offer.id = std::string{"aws "} + std::string{to_string(tariff)};
    offer.tariff = tariff;
    offer.price = parse_amount(price).value();
    offer.currency = "USD";
    offer.date = "2026-11-01";
    return offer;
}
CostOptions how(Given given = {}) {
    CostOptions options;
    options.terms = {.now = *seconds_of("2026-11-23"), .max_age_days = 90, .currency = ""};
    options.given = std::move(given);
    return options;
}
double at(const Cost& cost, const char* key) {
    const auto value = cost.lines.of(key);
    return value ? value->value : NAN;
}
std::string why(const Cost& cost, const char* key) { return cost.lines.find(key)->why; }

/// 700 W x 8760 h x 1.5 = 9198 kWh.
TEST(Cost, OfEnergyIsPowerTimesTimeTimesPue) {
    const auto hardware = reference::read_hardware().value();
    auto options = how({{"pue", 1.5}, {"power_price", 0.1}, {"carbon", 400}});
    options.hardware = &hardware;
    auto offer = made(Tariff::on_demand, "3");
    offer.gpus = 1;
    offer.gpu = "NVIDIA H100 80GB HBM3";
    const auto cost = cost_of(offer, {}, options).value();
    EXPECT_DOUBLE_EQ(at(cost, "energy_term"), 9198);
    EXPECT_DOUBLE_EQ(at(cost, "power_month"), 76.65); // 9198 / 12 x 0.1
    EXPECT_DOUBLE_EQ(at(cost, "co2_term"), 3679.2);   // x 0.4 kg
    EXPECT_EQ(cost.lines.find("energy_term")->basis, Basis::assumed) << "full use is assumed";
    EXPECT_EQ(cost.lines.find("node_power")->basis, Basis::datasheet);
    offer.gpu = "H100"; // of several
    EXPECT_EQ(why(cost_of(offer, {}, options).value(), "energy_month"), "no_power");
}

/// 8 x 700 W where the offer names no GPU but its type does.
TEST(Cost, OfEnergyWithoutAGpuIsThatOfTheTypesGpus) {
    const auto hardware = reference::read_hardware().value();
    auto options = how({{"pue", 1}});
    options.hardware = &hardware;
    auto offer = made(Tariff::on_demand, "3");
    offer.provider = "Amazon";
    offer.instance = "p5.48xlarge";
    auto cost = cost_of(offer, {}, options).value();
    EXPECT_DOUBLE_EQ(at(cost, "node_power"), 5600);
    EXPECT_EQ(cost.lines.find("gpus")->basis, Basis::datasheet);
    offer.gpus = 4;
    EXPECT_DOUBLE_EQ(at(cost_of(offer, {}, options).value(), "node_power"), 2800);
    offer.gpu = "A30";
    EXPECT_DOUBLE_EQ(at(cost_of(offer, {}, options).value(), "node_power"), 4 * 165);
    offer.gpu = "H100"; // of several: none
    EXPECT_EQ(why(cost_of(offer, {}, options).value(), "node_power"), "no_power");
}

TEST(Cost, OfAMonthCountsThePartsThatAreKnown) {
    auto offer = made(Tariff::on_demand, "10");
    offer.count = 4;
    offer.storage_per_gb_month = parse_amount("0.08").value();
    offer.support_share = 0.1;
    const auto cost = cost_of(offer, {},
                              how({{"utilisation", 0.5},
                                   {"storage_gb", 1000},
                                   {"egress_gb_month", 0},
                                   {"control_plane", 73}}))
                          .value();
    EXPECT_DOUBLE_EQ(at(cost, "part_gpu"), 14600); // 10 x 4 x 365
    EXPECT_DOUBLE_EQ(at(cost, "part_storage"), 80);
    EXPECT_DOUBLE_EQ(at(cost, "part_network"), 0);
    EXPECT_DOUBLE_EQ(at(cost, "part_support"), 1475.3); // of 14753
    EXPECT_DOUBLE_EQ(at(cost, "month"), 16228.3);
    EXPECT_DOUBLE_EQ(at(cost, "term"), 194739.6);
    EXPECT_EQ(why(cost, "part_debugging"), "not_given");
    EXPECT_THAT(to_json(std::vector{cost}), HasSubstr("\"parts_known\": 5"));
}

/// A commitment is paid whether it is used or not, and to its end.
TEST(Cost, OfACommitmentIsPaidToItsEnd) {
    auto options = how({{"utilisation", 0.5}});
    options.term_months = 18;
    auto offer = made(Tariff::reserved_1y, "10");
    offer.upfront = parse_amount("8760").value();
    const auto cost = cost_of(offer, {}, options).value();
    EXPECT_DOUBLE_EQ(at(cost, "node_hour"), 11);
    EXPECT_DOUBLE_EQ(at(cost, "month"), 8030);       // 11 x 730
    EXPECT_DOUBLE_EQ(at(cost, "term"), 8030 * 24.0); // two years
}

TEST(Cost, IsNotCountedOfAWholePriceList) {
    Offers offers;
    offers.offers.resize(most_offers + 1);
    const auto costs = costs_of(offers, {});
    ASSERT_FALSE(costs);
    EXPECT_THAT(costs.error().message, HasSubstr("too many offers: 20001"));
}

TEST(Cost, IsUnavailableWithItsPrice) {
    auto offer = made(Tariff::on_demand, "10");
    offer.date = "2026-01-01";
    const auto cost = cost_of(offer, {}, how({{"storage_gb", 0}})).value();
    for (const auto* key : {"node_hour", "part_gpu", "month", "term"})
        EXPECT_EQ(why(cost, key), "stale") << key;
    EXPECT_DOUBLE_EQ(at(cost, "part_storage"), 0);
    EXPECT_THAT(in_words(Quantity{1234.5}, "USD/h"), "USD 1,234/h");
}

/// Daly: M = 1000 h / 10, delta 0.5 h: sqrt(100)(1 + sqrt(0.0025)/3 + 0.0025/9) - 0.5 = 9.669444... h between checkpoints.
TEST(Cost, OfFailuresFollowsDaly) {
    auto options = how({{"mtbf_hours", 1000}, {"checkpoint_hours", 0.5}, {"restart_hours", 1}});
    options.nodes = 10;
    const auto cost = cost_of(made(Tariff::on_demand, "1"), {}, options).value();
    EXPECT_DOUBLE_EQ(at(cost, "failure_hours"), 100);
    EXPECT_NEAR(at(cost, "interval"), 9.6694444, 1e-6);
    // 9.669444 / (100 e^0.01 (e^0.10169444 - 1))
    EXPECT_NEAR(at(cost, "goodput"), 0.8943, 1e-4);
    EXPECT_NEAR(at(cost, "part_goodput"), 7300 * (1 / at(cost, "goodput") - 1), 1e-9);
    // A checkpoint longer than twice the time between failures: no sooner than failures.
    options.given["checkpoint_hours"] = 250;
    EXPECT_DOUBLE_EQ(at(cost_of(made(Tariff::on_demand, "1"), {}, options).value(), "interval"),
                     100);
}

TEST(Cost, OfAJobIsTheMeasuredRateOfTheSameTypeOnAsManyNodes) {
    test::CollectionMaker maker;
    const auto one = maker.run({.machine = "m-1"});
    const auto other = maker.run({.machine = "m-2"});
    maker.observe(one, test::gemm("openblas", 4096), {1e12}).value = 1e12;
    maker.observe(other, test::gemm("openblas", 4096), {2e12}).value = 2e12;
    maker.observe(one, test::gemm("openblas", 64), {1e10, 1e10});
    // Named on the command line these count as primary too, but are not rates of the case.
    for (const auto* metric : {"time", "energy"}) {
        auto beside = test::gemm("openblas", 4096);
        beside.metric = metric;
        beside.unit = record::find_metric(metric)->unit;
        for (const auto run : {one, other})
            maker.observe(run, beside, {1}).value = metric == std::string_view{"time"} ? 0.1 : 5;
    }
    auto options = how();
    options.runs = &maker.collection();
    options.work = {parse_work("gemm.square* size=4096=5.4e15").value()};
    auto offer = made(Tariff::on_demand, "2");
    offer.billing_step_s = 3600;
    // 5.4e15 / 1.5e12 = 3600 s: the middle of two machines; 2700 s to 5400 s, billed in hours: 1 h to 2 h.
    const auto cost = cost_of(offer, {}, options).value();
    EXPECT_DOUBLE_EQ(at(cost, "job_hours"), 1);
    EXPECT_DOUBLE_EQ(at(cost, "job"), 2);
    EXPECT_DOUBLE_EQ(cost.lines.of("job")->high, 4);
    EXPECT_DOUBLE_EQ(cost.lines.of("job_hours")->low, 0.75);
    EXPECT_DOUBLE_EQ(at(cost, "watts"), 50); // 5 J in 0.1 s

    options.nodes = 2;
    EXPECT_EQ(why(cost_of(offer, {}, options).value(), "job"), "not_measured_on_nodes");
    options.nodes = 1;
    EXPECT_EQ(why(cost_of(made(Tariff::spot, "1"), {}, options).value(), "job"), "not_given")
        << "interruptions";
    offer.instance = "c7i.large";
    EXPECT_EQ(why(cost_of(offer, {}, options).value(), "job"), "not_measured");
    offer.instance = "c7a.large";
    options.work = {parse_work("gemm.square=1e15").value()};
    EXPECT_THAT(cost_of(offer, {}, options).error().message, HasSubstr("matches 2 cases"));
    for (const auto* text : {"", "=1", "gemm", "gemm=", "gemm=0", "gemm=-1", "gemm=x"})
        EXPECT_FALSE(parse_work(text)) << text;
}

/// Bought for 120,000, running for 1,000 a month; rent 5 x 730 x 2 nodes = 7,300: 120,000 / 6,300 months.
TEST(Cost, SaysWhenBuyingPays) {
    auto options = how({{"node_watts", 0},
                        {"pue", 1},
                        {"power_price", 0},
                        {"hosting_month", 800},
                        {"staff_month", 200},
                        {"depreciation_months", 40}});
    options.nodes = 2;
    Offers offers;
    offers.offers = {made(Tariff::purchase, "60000"), made(Tariff::on_demand, "5"),
                     made(Tariff::spot, "0.1")};
    const auto costs = costs_of(offers, options).value();
    EXPECT_DOUBLE_EQ(at(costs[0], "part_gpu"), 4000); // 120,000 / 40 + 1,000
    const auto pairs = break_evens(costs);
    ASSERT_EQ(pairs.size(), 2U);
    EXPECT_NEAR(pairs[0].lines.of("break_even_months")->value, 19.047619, 1e-6);
    EXPECT_EQ(test::broken(to_json(costs), "cost"), "");
    EXPECT_EQ(pairs[1].lines.find("break_even_months")->why, "never");
}

TEST(Cost, ListsAllMissingInputsAtOnce) {
    const auto cost = cost_of(made(Tariff::on_demand, "1"), {}, how({})).value();
    MissingInputs missing{cost_settings()};
    missing.add(cost.lines, {"part_gpu"});
    EXPECT_TRUE(missing.empty());
    missing.add(cost.lines, {"part_storage", "part_control_plane", "energy_month"});
    EXPECT_EQ(missing.text(),
              "--set storage_gb=N --set control_plane=USD/month --set pue=N --set node_watts=N; in "
              "the offers file: storage_per_gb_month");
}

TEST(Cost, TakesSettingsThatThereAre) {
    Given given;
    EXPECT_TRUE(add_setting("pue=1.3", cost_settings(), given));
    EXPECT_EQ(given.at("pue"), 1.3);
    EXPECT_THAT(add_setting("peu=1", cost_settings(), given).error().message,
                HasSubstr("did you mean \"pue\"?"));
    for (const auto* text : {"pue=0.9", "pue=1,3", "utilisation=0", "utilisation=1.1", "carbon=-1",
                             "pue", "mtbf_hours=0"})
        EXPECT_FALSE(add_setting(text, cost_settings(), given)) << text;
    Offers offers;
    offers.offers = {made(Tariff::on_demand, "1"), made(Tariff::on_demand, "1")};
    offers.offers[1].currency = "EUR";
    EXPECT_TRUE(costs_of(offers, how({{"pue", 1}})));
    EXPECT_THAT(costs_of(offers, how({{"setup", 1}})).error().message, HasSubstr("--currency"));
}

PriceTerms today(std::string currency = "") {
    return {.now = *seconds_of("2026-11-23T12:00:00Z"),
            .max_age_days = 90,
            .currency = std::move(currency)};
}
Offer offer(Tariff tariff = Tariff::on_demand, std::string date = "2026-11-01") {
    auto one = made(tariff, "73");
    one.date = std::move(date);
    return one;
}
ExchangeRate rate(std::string from, std::string in, const char* value,
                  std::string date = "2026-11-20") {
    return {.currency = std::move(from),
            .in = std::move(in),
            .rate = parse_amount(value).value(),
            .date = std::move(date),
            .source = "ECB"};
}

/// Figures by hand.
TEST(Price, OfAnHourByTariff) {
    EXPECT_EQ(price_of(offer(), {}, today()).hour, 73);
    EXPECT_DOUBLE_EQ(*price_of(offer(Tariff::monthly), {}, today()).hour, 0.1); // 73 / 730
    auto reserved = offer(Tariff::reserved_1y);
    reserved.upfront = parse_amount("8760").value();
    EXPECT_DOUBLE_EQ(*price_of(reserved, {}, today()).hour, 74); // 73 + 8760 / 8760
    EXPECT_FALSE(price_of(offer(Tariff::purchase), {}, today()).hour);
}

TEST(Price, ThatMayNotBeCountedWithHasNoHour) {
    auto fallback = offer();
    fallback.fallback = true;
    auto missing = offer();
    missing.price.reset();
    const std::vector<std::pair<Offer, PriceState>> cases{
        {offer(Tariff::on_demand, ""), PriceState::undated},
        {offer(Tariff::on_demand, "2026-08-25"), PriceState::known}, // 90 days
        {offer(Tariff::on_demand, "2026-08-24"), PriceState::stale},
        {offer(Tariff::on_demand, "2026-11-24"), PriceState::known}, // it is tomorrow elsewhere
        {offer(Tariff::on_demand, "2026-11-25"), PriceState::future},
        {fallback, PriceState::fallback},
        {missing, PriceState::missing}};
    for (const auto& [one, state] : cases) {
        const auto price = price_of(one, {}, today());
        EXPECT_EQ(price.state, state) << one.date;
        EXPECT_EQ(price.hour.has_value(), state == PriceState::known) << one.date;
    }
}

TEST(Price, IsExchangedWhenItIsShown) {
    EXPECT_DOUBLE_EQ(*price_of(offer(), {rate("USD", "EUR", "0.5")}, today("EUR")).hour, 36.5);
    EXPECT_DOUBLE_EQ(*price_of(offer(), {rate("EUR", "USD", "2")}, today("EUR")).hour, 36.5);
    const auto through =
        exchange({rate("USD", "EUR", "0.5"), rate("EUR", "CNY", "8")}, "USD", "CNY", today());
    EXPECT_DOUBLE_EQ(through.factor, 4);
    EXPECT_EQ(through.source, "0.5 EUR = 1 USD, 2026-11-20, ECB; 8 CNY = 1 EUR, 2026-11-20, ECB");
    EXPECT_DOUBLE_EQ(exchange({rate("USD", "EUR", "0.5", "2026-10-01"), rate("USD", "EUR", "0.4")},
                              "USD", "EUR", today())
                         .factor,
                     0.4);
    EXPECT_EQ(price_of(offer(), {}, today("EUR")).state, PriceState::no_rate);
    EXPECT_EQ(price_of(offer(), {rate("USD", "EUR", "0.5", "2026-01-01")}, today("EUR")).state,
              PriceState::rate_stale);
}

double value_of(std::string_view formula) {
    const auto value = evaluate(formula, [](std::string_view name) {
        return std::optional<Quantity>{name == "a" ? 3 : 2};
    });
    return value && *value ? (*value)->value : NAN;
}

TEST(Formula, IsEvaluatedAsItIsWritten) {
    EXPECT_EQ(value_of("1 + 2 * 3"), 7);
    EXPECT_EQ(value_of("(1 + 2) * 3 - 4 / 2"), 7);
    EXPECT_EQ(value_of("8 - 2 - 1"), 5);
    EXPECT_EQ(value_of("a ^ b + 1e3"), 1009);
    EXPECT_EQ(value_of("max(min(a, b), 1) * ceil(2.1)"), 6);
    EXPECT_DOUBLE_EQ(value_of("sqrt(16) * exp(log(5))"), 20);
}

TEST(Formula, IsRefusedWhereItIsNone) {
    for (const auto* text : {"", "1 +", "(1", "1 2", "f(1)", "min(1)", "a b", "1 $ 2"})
        EXPECT_FALSE(evaluate(text, [](auto) { return std::optional<Quantity>{1}; })) << text;
    EXPECT_FALSE(
        evaluate(std::string(100'000, '('), [](auto) { return std::optional<Quantity>{1}; }));
}

TEST(Calculation, CarriesIntervalsAndBases) {
    Calculation lines;
    lines.input("work", "FLOP", 100, Basis::given, "");
    lines.input("rate", "FLOP/s", Quantity{10, 8, 20}, Basis::measured, "");
    lines.input("watts", "W", 5, Basis::datasheet, "");
    lines.result("time", "s", "work / rate");
    lines.result("energy", "J", "time * watts");
    const auto time = *lines.of("time");
    EXPECT_EQ(time.value, 10);
    EXPECT_EQ(time.low, 5);
    EXPECT_EQ(time.high, 12.5);
    EXPECT_EQ(lines.find("time")->basis, Basis::given);
    EXPECT_EQ(lines.find("energy")->basis, Basis::datasheet);
    std::vector<std::string> keys;
    for (const auto* line : lines.behind("time")) keys.push_back(line->key);
    EXPECT_THAT(keys, ElementsAre("work", "rate", "time"));
}

TEST(Calculation, IsNotKnownWhereAnInputIsNot) {
    Calculation lines;
    lines.unknown("price", "USD", "stale");
    lines.input("hours", "h", 0, Basis::given, "");
    lines.result("cost", "USD", "price * hours");
    lines.result("twice", "USD", "cost * 2");
    lines.result("rate", "1/h", "1 / hours");
    EXPECT_FALSE(lines.of("twice"));
    EXPECT_EQ(lines.find("twice")->why, "stale");
    EXPECT_EQ(lines.find("twice")->missing, "price");
    EXPECT_EQ(lines.find("rate")->why, "not_finite");
}

} // namespace
} // namespace assay::purchase
