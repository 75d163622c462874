// SPDX-License-Identifier: Apache-2.0

#include "offers/money.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::report {
namespace {

using testing::HasSubstr;

TEST(Money, KeepsTheTextAndTheNearestNumber) {
    EXPECT_EQ(parse_amount(" 98.320 ")->text, "98.320");
    EXPECT_EQ(parse_amount("0.0000166667")->value, 0.0000166667);
    EXPECT_EQ(parse_amount("-3")->value, -3);
}

TEST(Money, RefusesWhatMayBeReadInTwoWays) {
    for (const auto* text : {"1.234,5", "1,234", "1,234.50", "98,32"})
        EXPECT_THAT(parse_amount(text).error().message, HasSubstr("two ways")) << text;
    for (const auto* text : {"=1+2", "=HYPERLINK(\"http://x\")", "@SUM(A1)", "-2+cmd|'x'"})
        EXPECT_THAT(parse_amount(text).error().message, HasSubstr("formula")) << text;
    for (const auto* text : {"", "USD 5", "5 USD", "$5", "1e400", "nan", "inf", "5%"})
        EXPECT_FALSE(parse_amount(text)) << text;
}

TEST(Money, KnowsCurrencies) {
    for (const auto* code : {"USD", "EUR", "CNY", "ZWG"}) EXPECT_TRUE(is_currency(code)) << code;
    for (const auto* code : {"", "usd", "US", "D A", "XYZ", "USD "})
        EXPECT_FALSE(is_currency(code)) << code;
}

TEST(Money, IsWrittenForPeople) {
    EXPECT_EQ(money_in_words(1234567.4, "USD"), "USD 1,234,567");
    EXPECT_EQ(money_in_words(-1234.5, "EUR"), "EUR -1,234");
    EXPECT_EQ(money_in_words(98.325, "USD"), "USD 98.33");
    EXPECT_EQ(money_in_words(0.00001666, "USD"), "USD 1.666e-05");
}

} // namespace
} // namespace assay::report
