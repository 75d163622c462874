// SPDX-License-Identifier: Apache-2.0

#include "offers/calculation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace assay::report {
namespace {

using testing::ElementsAre;

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
    lines.input("rate", "FLOP/s", {10, 8, 20}, Basis::measured, "");
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
} // namespace assay::report
