// SPDX-License-Identifier: Apache-2.0

#include "base/utc.hpp"
#include "offers/price.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay::report {
namespace {

PriceTerms today(std::string currency = "") {
    return {.now = *seconds_of("2026-11-23T12:00:00Z"),
            .max_age_days = 90,
            .currency = std::move(currency)};
}
Offer offer(Tariff tariff = Tariff::on_demand, std::string date = "2026-11-01") {
    Offer made;
    made.tariff = tariff;
    made.price = parse_amount("73").value();
    made.currency = "USD";
    made.date = std::move(date);
    return made;
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

} // namespace
} // namespace assay::report
