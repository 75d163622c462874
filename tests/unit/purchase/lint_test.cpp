// SPDX-License-Identifier: Apache-2.0
//
// Slips of offers, and the codes that lint has for them; good ones have none.

#include "purchase/offer.hpp"
#include "purchase/offer_document.hpp"
#include "support/collection_maker.hpp"
#include "support/schema.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

namespace assay::purchase {
namespace {

using namespace testing;

const std::string titles = "provider,instance,tariff,gpu,gpus,vcpus,cores,price,currency,date\n";

std::vector<std::string> codes_of(const std::string& rows,
                                  const store::Collection* runs = nullptr) {
    const PriceTerms today{.now = *seconds_of("2026-11-23"), .max_age_days = 90, .currency = ""};
    std::vector<std::string> codes;
    for (const auto& one : lint(parse_offers(titles + rows, "x.csv"), today, runs))
        codes.push_back(fmt::format("{}{}{}", one.code, one.about.empty() ? "" : " ", one.about));
    return codes;
}

/// Rows, and the codes of those that are wrong.
TEST(OffersLint, NamesWhatIsWrong) {
    const std::string end = ",USD,2026-11-01\n";
    struct Case {
        std::vector<std::string> rows;
        std::vector<std::string> codes;
    };
    const std::vector<Case> cases{
        {{"aws,p5,on_demand,H100,8,192,96,55.04", "gcp,a3,on_demand,H100,8,208,104,88.49",
          "lambda,h100,on_demand,H100,1,26,,3.29"},
         {}},
        // A GPU's price where a node's should be: of two, the other one decides; spot is another tariff.
        {{"aws,p5,on_demand,H100,8,,,55.04", "gcp,a3,on_demand,H100,8,,,11.06",
          "coreweave,h100,on_demand,H100,8,,,49.24"},
         {"gpu_price gcp a3 on_demand"}},
        {{"a,x,on_demand,H100,8,,,6.88", "b,y,on_demand,H100,8,,,55.04", "b,y,spot,H100,8,,,7"},
         {"gpu_price a x on_demand"}},
        // Prices that do not grow with the GPUs; most rows decide which is wrong.
        {{"a,n1,spot,A40,1,,,0.40", "a,n2,spot,A40,2,,,0.80", "a,n4,spot,A40,4,,,1.60"}, {}},
        {{"a,n1,spot,A40,1,,,0.40", "a,n2,spot,A40,2,,,0.40", "a,n4,spot,A40,4,,,0.40"},
         {"gpu_price a n2 spot", "gpu_price a n4 spot"}},
        {{"a,n1,spot,A40,1,,,0.40", "a,n2,spot,A40,2,,,0.80", "a,n4,spot,A40,4,,,1.60",
          "a,n8,spot,A40,8,,,1.60"},
         {"gpu_price a n8 spot"}},
        {{"a,n1,spot,A40,1,,,6.40", "a,n2,spot,A40,2,,,0.80", "a,n4,spot,A40,4,,,1.60",
          "a,n8,spot,A40,8,,,3.20"},
         {"price_differs a n1 spot"}},
        {{"a,n1,spot,A40,1,,,3.20", "a,n2,spot,A40,2,,,0.80", "a,n4,spot,A40,4,,,1.60",
          "a,n8,spot,A40,8,,,3.20"},
         {"price_differs a n1 spot"}},
        // Too cheap is as suspicious as too dear; of two that nothing decides between, the cheaper one is named.
        {{"a,x,spot,A40,8,,,3.60", "b,x,spot,A40,8,,,4.00", "c,x,spot,A40,8,,,0.9"},
         {"price_differs c x spot"}},
        {{"a,x,spot,A40,8,,,3.60", "b,x,spot,A40,8,,,4.00", "c,x,spot,A40,8,,,40"},
         {"price_differs c x spot"}},
        {{"a,x,spot,A40,1,,,0.40", "b,x,spot,A40,1,,,1.60"}, {"price_differs a x spot"}},
        // Sixteen times the processors explain eight times the price.
        {{"a,s,spot,T4,1,4,,0.5", "a,m,spot,T4,1,8,,0.7", "a,l,spot,T4,1,64,,4"}, {}},
        {{"a,x,spot,,,8,,9999", "a,y,spot,Z1,1,,,0.01"},
         {"placeholder a x spot", "placeholder a y spot"}},
        {{"a,x,spot,,,2,,1.5", "a,y,spot,,,8,,1.5", "a,z,spot,,,64,,1.5", "a,w,spot,,,64,,3"},
         {"placeholder a x spot", "placeholder a y spot", "placeholder a z spot"}},
        {{"a,x,on_demand,A40,1,,,0.4", "a,x,spot,A40,1,,,0.4"}, {"spot_as_on_demand"}},
        {{"a,x,spot,A40,1,,,0.4", "a,x,spot,A40,1,,,0.4"}, {"duplicate"}},
        {{"a,x,spot,,,64,64,1"}, {"vcpu_as_core a x spot"}},
        {{"a,x,spot,,,64,65,1"}, {"vcpu_as_core a x spot"}},
        {{"a,x,spot,,,64,32,1"}, {}}};
    for (const auto& [rows, codes] : cases)
        EXPECT_THAT(codes_of(fmt::format("{}{}", fmt::join(rows, end), end)),
                    ElementsAreArray(codes))
            << rows.front();
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

/// With all columns that the catalogue has figures of; p5.48xlarge has 192 vCPUs, 2048 GiB and 8 GPUs.
std::vector<std::string> against_catalogue(const std::string& row) {
    static const auto hardware = reference::read_hardware().value();
    const PriceTerms today{.now = *seconds_of("2026-11-23"), .max_age_days = 90, .currency = ""};
    std::vector<std::string> found;
    for (const auto& one : lint(
             parse_offers("provider,instance,tariff,gpu,gpus,vcpus,cores,memory_gib,price,currency,"
                          "date\n" +
                              row + ",40,USD,2026-11-01\n",
                          "x.csv"),
             today, nullptr, &hardware))
        found.push_back(fmt::format("{} {}", one.code, one.what));
    return found;
}

TEST(OffersLint, HoldsOffersAgainstTheCatalogue) {
    const std::string start = "Amazon Web Services,p5.48xlarge,on_demand,";
    EXPECT_THAT(against_catalogue(start + "H100 SXM5,8,192,96,2048"), IsEmpty());
    EXPECT_THAT(against_catalogue(start + ",,,,"), IsEmpty())
        << "what is not given is not filled in";
    EXPECT_THAT(
        against_catalogue(start + ",4,96,,1024"),
        ElementsAre("not_node_price This is the price of a part of the node: the catalogue has 8 × "
                    "nvidia-h100-sxm5-80gb for this type.",
                    "catalog_differs vcpus is 96, but 192 in the catalogue for "
                    "aws/p5.48xlarge.",
                    "catalog_differs memory_gib is 1024, but 2048 in the catalogue for "
                    "aws/p5.48xlarge."));
    EXPECT_THAT(against_catalogue("gcp,p5.48xlarge,on_demand,,4,,,"), IsEmpty());
    EXPECT_THAT(against_catalogue("aws,p3dn.24xlarge,on_demand,,,,96,"),
                ElementsAre("catalog_differs cores is 96, but 48 in the catalogue for "
                            "aws/p3dn.24xlarge."));
}

TEST(OffersLint, SaysWhatAGpusNameMayMean) {
    const auto found = against_catalogue("a,x,on_demand,H100,1,,,");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_THAT(found.front(), HasSubstr("nvidia-h100-pcie-80gb"));
}

/// The memory of the GPU bounds its price, from below too.
TEST(OffersLint, FindsPricesThatNoMarketHas) {
    static const auto hardware = reference::read_hardware().value();
    const PriceTerms today{.now = *seconds_of("2026-11-23"), .max_age_days = 90, .currency = ""};
    const auto found =
        lint(parse_offers(titles + "a,x,on_demand,nvidia-h200-sxm-141gb,8,,,0.5,USD,2026-11-01\n"
                                   "b,y,on_demand,nvidia-h200-sxm-141gb,8,,,60,USD,2026-11-01\n"
                                   "c,z,on_demand,nvidia-h200-sxm-141gb,8,,,5000,USD,2026-11-01\n",
                          "x.csv"),
             today, nullptr, &hardware);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].code, "implausible");
    EXPECT_EQ(found[0].about, "a x on_demand");
    EXPECT_EQ(found[1].about, "c z on_demand");
}

/// A catalogue of SkyPilot lists hosts without their GPUs for some providers.
TEST(OffersLint, HostAloneHasNoPriceOfANode) {
    static const auto hardware = reference::read_hardware().value();
    const auto read =
        parse_offers("InstanceType,vCPUs,MemoryGiB,AcceleratorName,AcceleratorCount,Region,Price,"
                     "SpotPrice\n"
                     "a2-highgpu-2g,24,170,,,europe-west4,1.4,\n"
                     "c3-standard-176,176,704,,,europe-west4,9.2,\n",
                     "x.csv", {.provider = "gcp", .date = "2026-11-20"});
    PriceTerms terms{.now = *seconds_of("2026-11-23"),
                     .max_age_days = 90,
                     .currency = "",
                     .hardware = &hardware};
    EXPECT_EQ(price_of(read.offers.offers.at(0), {}, terms).state, PriceState::host_only);
    EXPECT_EQ(price_of(read.offers.offers.at(1), {}, terms).state, PriceState::known);
    const auto found = lint(read, terms, nullptr, &hardware);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].code, "not_node_price");
}

TEST(OffersLint, ProvidersGoByManyNames) {
    static const auto hardware = reference::read_hardware().value();
    Offer offer;
    offer.provider = "Amazon Web Services";
    offer.instance = "c7a.large";
    record::Machine machine;
    machine.provider = "aws";
    machine.instance = "c7a.large";
    EXPECT_TRUE(is_of(offer, machine, &hardware));
    EXPECT_FALSE(is_of(offer, machine));
    machine.provider = "gcp";
    EXPECT_FALSE(is_of(offer, machine, &hardware));
}

TEST(OffersLint, WhatIsShownObeysItsSchemaAndSaysWhatElseIsPaid) {
    const auto read = parse_offers(
        R"({"schema": "assay.offers/1", "name": "n", "offers": [
            {"provider": "a", "instance": "t", "tariff": "reserved_1y", "price": "1.50", "upfront": 500, "currency": "EUR",
             "date": "2026-11-01", "source": "quote", "egress_per_gb": "0.09", "billing_step_s": 60, "support_share": 0.03,
             "durability": 0.999999999},
            {"provider": "a", "instance": "t", "tariff": "purchase"}]})",
        "x.json");
    ASSERT_THAT(read.faults, IsEmpty());
    const PriceTerms today{.now = *seconds_of("2026-11-23"), .max_age_days = 90, .currency = ""};
    EXPECT_EQ(test::broken(to_json(read.offers, today), "offers_shown"), "");
    const auto document = make_document(read.offers, today);
    const auto& table = std::get<document::Table>(document.sections[0].blocks[0]);
    EXPECT_THAT(
        table.rows[0].cells[0].notes,
        IsSupersetOf({"EUR 500 per node upfront, billed in steps of 60 s, egress EUR 0.09 per GB, "
                      "support 3% of the bill",
                      "durability 99.9999999%"}));
}

} // namespace
} // namespace assay::purchase
