// SPDX-License-Identifier: Apache-2.0
//
// Slips of offers, and the codes that lint has for them; good ones have none.

#include "base/utc.hpp"
#include "offers/document.hpp"
#include "offers/lint.hpp"
#include "offers/read.hpp"
#include "support/collection_maker.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string titles = "provider,instance,tariff,gpu,gpus,vcpus,cores,price,currency,date\n";

std::vector<std::string> codes_of(const std::string& rows, const Collection* runs = nullptr) {
    const PriceTerms today{.now = *seconds_of("2026-11-23"), .max_age_days = 90, .currency = ""};
    std::vector<std::string> codes;
    for (const auto& one : lint(parse_offers(titles + rows, "x.csv"), today, runs))
        codes.push_back(
            fmt::format("{}{}{}", to_string(one.code), one.offer.empty() ? "" : " ", one.offer));
    return codes;
}

TEST(OffersLint, SaysNothingOfGoodOffers) {
    EXPECT_THAT(codes_of("aws,p5,on_demand,H100,8,192,96,55.04,USD,2026-11-01\n"
                         "gcp,a3,on_demand,H100,8,208,104,88.49,USD,2026-11-01\n"
                         "lambda,h100,on_demand,H100,1,26,,3.29,USD,2026-11-01\n"),
                IsEmpty());
}

TEST(OffersLint, FindsAGpusPriceWhereANodesShouldBe) {
    EXPECT_THAT(codes_of("aws,p5,on_demand,H100,8,,,55.04,USD,2026-11-01\n"
                         "gcp,a3,on_demand,H100,8,,,11.06,USD,2026-11-01\n"
                         "coreweave,h100,on_demand,H100,8,,,49.24,USD,2026-11-01\n"),
                ElementsAre("gpu_price gcp a3 on_demand"));
    // Of two, the other one is what it is held against; spot is another tariff.
    EXPECT_THAT(codes_of("a,x,on_demand,H100,8,,,6.88,USD,2026-11-01\n"
                         "b,y,on_demand,H100,8,,,55.04,USD,2026-11-01\n"
                         "b,y,spot,H100,8,,,7,USD,2026-11-01\n"),
                ElementsAre("gpu_price a x on_demand", "price_differs b y on_demand"));
}

TEST(OffersLint, FindsThreadsForCores) {
    EXPECT_THAT(codes_of("a,x,spot,,,64,64,1,USD,2026-11-01\n"),
                ElementsAre("vcpu_as_core a x spot"));
    EXPECT_THAT(codes_of("a,x,spot,,,64,65,1,USD,2026-11-01\n"),
                ElementsAre("vcpu_as_core a x spot"));
    EXPECT_THAT(codes_of("a,x,spot,,,64,32,1,USD,2026-11-01\n"), IsEmpty());
}

TEST(OffersLint, FindsPricesThatNothingIsCountedWith) {
    EXPECT_THAT(codes_of("a,x,spot,,,,,1,USD,2026-01-01\n"
                         "a,y,spot,,,,,1,USD,2026-12-24\n"
                         "a,z,spot,,,,,,,\n"),
                ElementsAre("unpriced", "unpriced", "unpriced"));
    EXPECT_THAT(codes_of("a,x,spot,,,,,1,USD,2026-11-01\na,y,spot,,,,,1,EUR,2026-11-01\n"),
                ElementsAre("mixed_currencies"));
}

TEST(OffersLint, FindsOffersThatNobodyMeasuredAndTheReverse) {
    test::CollectionMaker maker;
    const auto run = maker.run({.label = "a", .instance = "c7a.large"});
    maker.observe(run, test::triad(), {1e11, 1e11});
    const auto& collection = maker.collection();
    EXPECT_THAT(codes_of("AWS,c7a.large,spot,,,,,1,USD,2026-11-01\n", &collection), IsEmpty());
    EXPECT_THAT(codes_of("aws,c7i.large,spot,,,,,1,USD,2026-11-01\n", &collection),
                ElementsAre("no_results", "no_offer"));
}

TEST(OffersLint, IsSeriousWhereAFileHasFaults) {
    const auto read = parse_offers(titles + "a,x,spot,,,,,-1,USD,2026-11-01\n", "x.csv");
    const std::vector<LintedOffers> files{
        {.file = "x.csv", .offers = 0, .findings = lint(read, {}, nullptr)}};
    EXPECT_TRUE(any_serious(files));
    EXPECT_THAT(to_json(files), HasSubstr("x.csv:2: price: -1 is negative"));
    EXPECT_FALSE(any_serious({}));
}

} // namespace
} // namespace assay::report
