// SPDX-License-Identifier: Apache-2.0
//
// Files of offers: ours and SkyPilot's; their amounts; and what is said of those that are wrong.

#include "purchase/offer.hpp"

#include <gmock/gmock.h>

namespace assay::purchase {
namespace {

using namespace testing;

const std::string titles = "provider,instance,tariff,price,currency,date\n";

std::vector<std::string> faults_of(const std::string& text) {
    return parse_offers(text, "x.csv").faults;
}

TEST(OffersRead, TakesATableOfOurNames) {
    const auto read =
        parse_offers(titles + "aws,p5.48xlarge,on_demand,98.3200,USD,2026-11-01\n", "x.csv");
    ASSERT_THAT(read.faults, IsEmpty());
    const auto& offer = read.offers.offers.at(0);
    EXPECT_EQ(offer.id, "aws p5.48xlarge on_demand");
    EXPECT_EQ(offer.price->text, "98.3200");
    EXPECT_EQ(offer.where, "x.csv:2");
    EXPECT_THAT(faults_of(table_template()), IsEmpty());
}

TEST(OffersRead, TakesJsonWithAmountsAsTextOrNumber) {
    const auto read = parse_offers(R"({"schema": "assay.offers/1", "offers": [
        {"provider": "a", "instance": "t", "tariff": "spot", "price": "1.50", "currency": "EUR"},
        {"provider": "a", "instance": "t", "tariff": "spot", "price": 0.1, "currency": "EUR", "gpus": null}]})",
                                   "x.json");
    ASSERT_THAT(read.faults, IsEmpty());
    EXPECT_EQ(read.offers.offers[0].price->text, "1.50");
    EXPECT_EQ(read.offers.offers[1].price->value, 0.1);
    EXPECT_EQ(read.offers.offers[1].id, "a t spot (2)");
}

TEST(OffersRead, NamesLineAndColumnOfWhatIsWrong) {
    const std::vector<std::pair<std::string, std::string>> wrong{
        {"a,t,on_demand,-5,USD,2026-11-01", "x.csv:2: price: -5 is negative"},
        {"a,t,on_demand,0,USD,2026-11-01", "x.csv:2: price: is 0;"},
        {"a,t,on_demand,\"1.234,5\",USD,2026-11-01",
         "x.csv:2: column price: \"1.234,5\" may be read in two ways"},
        {"=HYPERLINK(1),t,on_demand,5,USD,2026-11-01",
         "x.csv:2: column provider: \"=HYPERLINK(1)\" is a formula"},
        {"a,t,on_demand,=A1,USD,2026-11-01", "x.csv:2: column price: \"=A1\" is a formula"},
        {"a,t,on_demand,5,US$,2026-11-01", "x.csv:2: currency: unknown currency \"US$\""},
        {"a,t,on_demand,5,,2026-11-01", "x.csv:2: currency: is missing"},
        {"a,t,ondemand,5,USD,2026-11-01", "x.csv:2: column tariff: unknown tariff \"ondemand\""},
        {"a,t,,5,USD,2026-11-01", "x.csv:2: tariff: is missing"},
        {",t,spot,5,USD,2026-11-01", "x.csv:2: provider: is missing"},
        {"a,t,on_demand,5,USD,01.11.2026", "x.csv:2: date: invalid date \"01.11.2026\""},
        {"a,t,on_demand,5,USD", "x.csv:2: 5 cells in a table of 6 columns"},
        {"a,\"t", "x.csv: missing closing quote of the cell that begins in line 2"}};
    for (const auto& [row, message] : wrong)
        EXPECT_THAT(faults_of(titles + row + "\n"), ElementsAre(StartsWith(message))) << row;
    EXPECT_THAT(faults_of("provider,prise\n"),
                ElementsAre(HasSubstr("unknown column \"prise\" (did you mean \"price\"?)")));
    EXPECT_THAT(faults_of(""), ElementsAre(HasSubstr("is empty")));
    EXPECT_THAT(faults_of("{"), ElementsAre(StartsWith("x.csv")));
    EXPECT_THAT(faults_of(R"({"schema": "assay.offers/1", "offers": [{"provider": "a"}]})"),
                ElementsAre(HasSubstr("offers[0]")));
}

/// Wrong everywhere, and long: the message stays short, and good lines are kept.
TEST(OffersRead, TakesManyLines) {
#if defined(__OPTIMIZE__)
    constexpr std::size_t lines = 100'000;
#else
    constexpr std::size_t lines = 20'000; // `scripts/test --all` tries all
#endif
    std::string text = titles;
    for (std::size_t i = 0; i < lines; ++i)
        text += i % 2 == 0 ? "a,t,spot,x,USD,2026-11-01\n" : "a,u,spot,5,USD,2026-11-01\n";
    const auto read = parse_offers(text, "x.csv");
    EXPECT_EQ(read.faults.size(), 100U);
    EXPECT_EQ(read.offers.offers.size(), lines / 2);
}

TEST(OffersRead, TakesACatalogueOfSkyPilot) {
    const std::string text =
        "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,SpotPrice,Region,"
        "GpuInfo,AvailabilityZone\n"
        "p5.48xlarge,H100,8.0,192.0,2048.0,98.32,19.5,us-east-1,\"{'Gpus': [1]}\",us-east-1a\n"
        ",tpu-v5,1,,,1.2,,us-east1,,\n";
    const auto read = parse_offers(text, "x.csv", {.provider = "aws", .date = "2026-11-01"});
    ASSERT_THAT(read.faults, IsEmpty());
    ASSERT_EQ(read.offers.offers.size(), 2U);
    EXPECT_EQ(read.offers.offers[0].tariff, Tariff::on_demand);
    EXPECT_EQ(read.offers.offers[1].price->text, "19.5");
    EXPECT_EQ(read.offers.offers[1].gpus, 8);
    EXPECT_EQ(read.offers.offers[1].currency, "USD");
    EXPECT_EQ(read.skipped, 1U);
}

/// A bill is not an offer: another price, for other hours.
TEST(OffersRead, RefusesABillByFocus) {
    EXPECT_THAT(
        parse_offers("ProviderName,BillingCurrency,ChargeCategory\nAWS,EUR,Usage\n", "x.csv")
            .faults,
        ElementsAre(HasSubstr("FOCUS bill")));
}

/// Spreadsheets of countries that write decimals with a comma.
TEST(OffersRead, TakesDecimalCommasBetweenSemicolons) {
    const auto table = [](const std::string& first, const std::string& second) {
        return parse_offers("provider;instance;tariff;price;currency\na;s;spot;" + first +
                                ";EUR\na;t;spot;" + second + ";EUR\n",
                            "x.csv");
    };
    const auto read = table("0,1875", "12.345,60");
    ASSERT_THAT(read.faults, IsEmpty());
    EXPECT_EQ(read.offers.offers[0].price->value, 0.1875);
    EXPECT_EQ(read.offers.offers[1].price->text, "12345.60");
    EXPECT_THAT(table("0,18", "1.234").faults, ElementsAre(HasSubstr("two ways")));
    EXPECT_THAT(table("0,18", "1,234").faults, ElementsAre(HasSubstr("two ways")));
    EXPECT_THAT(table("0.18", "1.234").faults, IsEmpty()) << "every amount has a point";
}

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

TEST(Number, RefusesWithoutAWordOfCurrency) {
    EXPECT_EQ(parse_number("1e3")->value, 1000);
    for (const auto* text : {"", "nan", "inf", "70%", "x"})
        EXPECT_THAT(parse_number(text).error().message, Not(HasSubstr("currency"))) << text;
    EXPECT_THAT(parse_number("70%").error().message,
                "invalid number \"70%\" (expected 0.7 for 70%)");
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
} // namespace assay::purchase
