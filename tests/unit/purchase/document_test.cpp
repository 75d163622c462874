// SPDX-License-Identifier: Apache-2.0
#include "made.hpp"
#include "support/document.hpp"
#include "support/schema.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <array>

namespace assay::purchase {
namespace {

using made::Market;
using made::offer;
using namespace testing;

Market two_types(int machines) {
    Market market;
    for (int i = 0; i < machines; ++i) {
        market.machine("x", 300 + i, 30);
        market.machine("y", 100 + i, 20);
    }
    return market;
}

std::string markdown(const Procurement& found) {
    EXPECT_EQ(test::broken(to_json(found), "procurement"), "") << "whatever it says";
    return write::to_markdown(std::array{make_document(found)});
}

TEST(ProcurementDocument, SaysFirstWhatToBuyAndHowSureThatIs) {
    auto market = two_types(3);
    const auto found = market.procurement({offer("x", "1"), offer("y", "1")});
    const auto document = make_document(found);
    EXPECT_THAT(document.verdict, StartsWith("Buy aws x (on demand): 111% better value"));
    EXPECT_THAT(document.lead,
                ElementsAre("Probability that it is the best offer: over 99.9%.",
                            "aws y (on demand) is as good if its price falls by 53%."));
    EXPECT_EQ(document.tone, document::Tone::good);
    // The costs of the same work are in the currency, and the second costs as much more as the first is better.
    const auto charts = test::blocks_of<document::Chart>(document);
    const auto& costs = std::get<document::RatioChart>(charts.front().data);
    EXPECT_EQ(costs.unit, "USD");
    EXPECT_NEAR(costs.ratios[0].ratio, 1, 1e-9);
    EXPECT_NEAR(costs.ratios[1].ratio, 2.11, 0.01);
}

/// One probability, whose name says of what, and what to do about it.
TEST(ProcurementDocument, SaysHowToBecomeSure) {
    Market market;
    for (int i = 0; i < 3; ++i) {
        market.machine("x", 103 + 2 * i, 20 + i);
        market.machine("y", 100 + 2 * i, 20 + i);
    }
    const auto found = market.procurement({offer("x", "1"), offer("y", "1")});
    ASSERT_FALSE(found.ranking.sure);
    const auto best = chance(*found.ranking.offers.front().best);
    const auto text = write::to_terminal({{make_document(found)}}, {.width = 400});
    EXPECT_THAT(text,
                HasSubstr("Probability that it is the best offer: " + best + "; 97.8% or more"));
    EXPECT_THAT(text, Not(HasSubstr("runner-up")));
    const auto needed = machines_for_sure(found.ranking, 0, *found.ranking.runner_up);
    if (needed) {
        EXPECT_GT(*needed, 3U);
        EXPECT_THAT(text, HasSubstr(fmt::format(
                              "measure about {} machines of each type (now 3 and 3): assay run "
                              "standard --provider aws --instance x, and the same on aws y.",
                              *needed)));
    } else {
        EXPECT_THAT(text, HasSubstr("even 100 machines"));
    }
}

TEST(ProcurementDocument, IsProvisionalBelowThreeMachines) {
    auto market = two_types(2);
    const auto found = market.procurement({offer("x", "1"), offer("y", "1")});
    const auto document = make_document(found);
    EXPECT_THAT(document.verdict, StartsWith("aws x (on demand) leads for now: 11"));
    EXPECT_EQ(document.tone, document::Tone::weak);
    const auto text = markdown(found);
    EXPECT_THAT(text, HasSubstr("x was measured on 2 machines"));
    EXPECT_THAT(text, HasSubstr("assay run standard --provider aws --instance x"));
    EXPECT_THAT(text, Not(HasSubstr("99.9%")));
    EXPECT_THAT(text, Not(HasSubstr("Recommended")));
    const auto json = json::parse(to_json(found), "report").value();
    EXPECT_TRUE(json["ranking"]["provisional"].get<bool>());
    for (const auto& one : json["ranking"]["offers"]) {
        EXPECT_TRUE(one["probability_best"].is_null());
        EXPECT_TRUE(one["next_machine"].is_null());
    }
    EXPECT_TRUE(json["ranking"]["difference"]["probability"].is_null());
}

TEST(ProcurementDocument, RecommendsNothingWithOneCandidate) {
    auto market = two_types(3);
    const auto found = market.procurement({offer("x", "1"), offer("z", "1")});
    EXPECT_THAT(make_document(found).verdict, HasSubstr("nothing to compare it with"));
    EXPECT_THAT(markdown(found), Not(HasSubstr("Recommended")));
    EXPECT_THAT(to_json(found), HasSubstr("\"recommends\": false"));
}

TEST(ProcurementDocument, SaysFirstThatMachinesAreNotThosePromised) {
    auto market = two_types(3);
    for (auto& machine : market.runs().machines) machine.devices.resize(1);
    market.machine("z", 1, 1);
    auto eight = offer("x", "8");
    eight.gpus = 8;
    auto reserved = eight;
    reserved.tariff = purchase::Tariff::reserved_1y;
    const auto found = market.procurement({eight, reserved, offer("y", "1"), offer("z", "1")});
    const auto document = make_document(found);
    EXPECT_THAT(document.verdict, StartsWith("Not ranked: aws x: GPUs promised 8, found 1. aws y"));
    EXPECT_EQ(document.tone, document::Tone::weak);
    EXPECT_THAT(markdown(found), HasSubstr("machines of this type are not as promised"));
    const auto json = json::parse(to_json(found), "report").value();
    EXPECT_EQ(json["ranking"]["unranked"][0]["promise"]["measured"], 1);
}

TEST(ProcurementDocument, SaysThatTypesWereMeasuredByDifferentWork) {
    Market market;
    auto small = Market::series("a");
    auto large = Market::series("a");
    large.parameters = {{"size", std::int64_t{8192}}};
    market.maker.observe(market.machine("x", 0, 10), small, {100});
    market.maker.observe(market.machine("y", 0, 10), large, {200});
    market.profiles().profiles[0].weights = {{"a", 0.75}, {"b", 0.25}};
    const auto found = market.procurement({offer("x", "1"), offer("y", "1")});
    EXPECT_THAT(make_document(found).verdict, HasSubstr("were measured at different work"));
    EXPECT_THAT(markdown(found), HasSubstr("only 25% of the profile is in common"));
}

TEST(ProcurementDocument, NamesWhatWasLeftOutOfAMeasure) {
    auto market = two_types(3);
    auto large = Market::series("a");
    large.parameters = {{"size", std::int64_t{8192}}};
    market.maker.observe(0, large, {9e9});
    EXPECT_THAT(markdown(market.procurement({offer("x", "1"), offer("y", "1")})),
                HasSubstr("not counted (some types lack it"));
}

TEST(ProcurementDocument, HoldsPromisesAgainstMachines) {
    auto market = two_types(1);
    for (auto& machine : market.runs().machines) machine.cores = 32;
    auto x = offer("x", "1");
    x.cores = 64; // hardware threads, taken for cores
    x.network_gbps = 100;
    const auto found = market.procurement({x, offer("y", "1")});
    ASSERT_EQ(found.promises.size(), 2U);
    EXPECT_FALSE(found.promises[0].kept());
    EXPECT_FALSE(found.promises[1].measured); // nobody measured the network
    EXPECT_THAT(markdown(found), HasSubstr("physical cores promised 64, found 32"));
    EXPECT_EQ(found.ranking.offers.size(), 1U) << "the other is not ranked";
}

TEST(ProcurementDocument, PromisesThatNoRunCanFindAreNotKept) {
    auto market = two_types(1);
    auto x = offer("x", "1");
    x.availability = 0.9995;
    x.durability = 0.99999;
    x.replacement_hours = 4;
    auto spot = offer("x", "1", purchase::Tariff::spot); // promises less, and as much
    spot.availability = 0.9;
    spot.replacement_hours = 4;
    const auto found = market.procurement({x, spot});
    ASSERT_EQ(found.promises.size(), 4U);
    for (const auto& promise : found.promises) EXPECT_FALSE(promise.kept()) << promise.code;
    EXPECT_EQ(found.promises[3].promised, 0.9);
    EXPECT_THAT(markdown(found), HasSubstr("| availability | 99.95% | not measured |"));
}

TEST(ProcurementDocument, ProgramsGetWhatTheSchemaSays) {
    auto market = two_types(3);
    market.runs().problems = {{.where = "bad/run.json", .reason = "is cut short"}};
    auto stale = offer("x", "1", purchase::Tariff::monthly);
    stale.date = "2020-01-01";
    auto y = offer("y", "1");
    y.vcpus = 2;
    const auto found =
        market.procurement({offer("x", "1"), y, stale, offer("z", "1")}, {{"support", 73}});
    EXPECT_THAT(markdown(found), HasSubstr("1 file was left out: bad/run.json"));
    EXPECT_EQ(found.ranking.unranked.size(), 2U);
    EXPECT_TRUE(found.ranking.runner_up);
    EXPECT_EQ(test::broken(to_json(market.procurement({})), "procurement"), "");
}

TEST(ProcurementDocument, TextsOfFilesStayTexts) {
    auto market = two_types(1);
    auto x = offer("x", "1");
    x.id = "\x1b[31m=HYPERLINK(\"http://evil\")";
    EXPECT_THAT(markdown(market.procurement({x})), Not(HasSubstr("\x1b")));
}

} // namespace
} // namespace assay::purchase
