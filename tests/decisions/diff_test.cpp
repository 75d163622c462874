// SPDX-License-Identifier: Apache-2.0
//
// Rows about `diff`: what could not be compared is counted, and nothing is said to be alike that was not compared.

#include "cli/program.hpp"
#include "good_nodes.hpp"
#include "record/summary.hpp"
#include "situation.hpp"
#include "verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>

namespace assay::decisions {
namespace {

using cli_test::Folder;
using record::DisturbanceCode;
using record::Run;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

/// Measured on devices alone: of these runs at other times differ by little.
const Run& golden() {
    static const auto run = [] {
        auto whole = good_chip("nvidia-h100-sxm5-80gb").run;
        std::erase_if(whole.cases, [](const auto& c) {
            return c.place.kind == "host" || measured_replicas(c) == 0;
        });
        return whole;
    }();
    return run;
}

struct Told {
    int code = -1; ///< with --fail-on difference
    std::string verdict;
    std::size_t compared = 0;
    std::map<std::string, std::size_t> not_compared;
    std::map<std::string, std::size_t> outcomes; ///< of values that differ
    json::Value json;
};
Told told_of(const std::filesystem::path& a, const std::filesystem::path& b) {
    const auto answer = ask({"diff", a.string(), b.string(), "--json", "--fail-on", "difference"});
    EXPECT_TRUE(answer.json.is_object()) << answer.error;
    if (!answer.json.is_object()) return {.code = answer.code};
    Told told{.code = answer.code,
              .verdict = verdict_of(answer),
              .compared = answer.json.at("values_compared"),
              .not_compared = answer.json.at("values_not_compared"),
              .json = answer.json};
    for (const auto& value : answer.json.at("values"))
        ++told.outcomes[value.at("outcome").get<std::string>()];
    return told;
}
/// B five hours later.
Told told_of(const Run& a, const Run& b) {
    const Folder folder;
    return told_of(write(folder.path(), "a", a), write(folder.path(), "b", later(b, 5)));
}

Run without(Run run, const Wanted& unwanted) {
    std::erase_if(run.cases, unwanted);
    return run;
}
const Wanted is_product = on_devices("gemm.square");
const Wanted is_no_product = [](const auto& c) { return !is_product(c); };
/// Cases from the first-th on, so many.
Wanted some(std::size_t first, std::size_t count) {
    return [=](const record::Case& c) {
        const auto at = std::ranges::find(golden().cases, record::identity(c),
                                          [](const auto& own) { return record::identity(own); });
        const auto place = static_cast<std::size_t>(at - golden().cases.begin());
        return place >= first && place < first + count;
    };
}

TEST(Diff, ComparesNothingWithoutACommonCase) {
    const auto all = golden().cases.size();
    const auto told = told_of(without(golden(), is_product), without(golden(), is_no_product));
    EXPECT_EQ(told.compared, 0U);
    EXPECT_THAT(told.not_compared, UnorderedElementsAre(Pair("one_side", all)));
    EXPECT_THAT(told.verdict, HasSubstr("No values could be compared"));
    EXPECT_EQ(told.code, 3);
}

TEST(Diff, ComparesFactsWhereOneSideHasNoCases) {
    auto b = golden();
    b.cases.clear();
    const auto same = told_of(golden(), b);
    EXPECT_THAT(same.not_compared, UnorderedElementsAre(Pair("one_side", golden().cases.size())));
    EXPECT_THAT(same.verdict, HasSubstr("No values could be compared"));
    EXPECT_EQ(same.code, 0) << "its facts were compared";
    EXPECT_GT(same.json.at("facts_compared"), 5);
    b.machine.kernel += "-other";
    EXPECT_EQ(told_of(golden(), b).code, 1);
}

TEST(Diff, ComparesNothingUnderLoadOnBothSides) {
    auto busy = golden();
    const Wanted every = [](const auto&) { return true; };
    mark(busy, every, DisturbanceCode::device_shared);
    const auto told = told_of(busy, busy);
    EXPECT_EQ(told.compared, 0U);
    EXPECT_THAT(told.not_compared, UnorderedElementsAre(Pair("under_load", busy.cases.size())));
    EXPECT_THAT(told.verdict, HasSubstr("No values could be compared"));
    EXPECT_EQ(told.code, 3);
}

TEST(Diff, ComparesWhatAPartialSideMeasured) {
    auto b = golden();
    interrupt(b, 4); // of 5 replicas
    const auto early = told_of(golden(), b);
    EXPECT_EQ(early.compared, golden().cases.size());
    EXPECT_THAT(early.not_compared, IsEmpty());
    EXPECT_THAT(early.outcomes, IsEmpty());
    EXPECT_THAT(early.verdict, HasSubstr("interrupted"));
    for (auto& c : b.cases)
        if (is_product(c)) {
            c.replicas.clear();
            record::conclude(c, 5);
        }
    const auto products =
        static_cast<std::size_t>(std::ranges::count_if(golden().cases, is_product));
    const auto earlier = told_of(golden(), b);
    EXPECT_EQ(earlier.compared, golden().cases.size() - products);
    EXPECT_THAT(earlier.not_compared, UnorderedElementsAre(Pair("one_side", products)));
    EXPECT_EQ(earlier.json.at("b").at("status"), "interrupted");
}

TEST(Diff, ComparesNoCopies) {
    const Folder folder;
    const auto a = write(folder.path(), "a", golden());
    const auto told = told_of(a, write(folder.path(), "b", golden()));
    EXPECT_EQ(told.compared, 0U);
    EXPECT_THAT(told.not_compared, UnorderedElementsAre(Pair("left_out", golden().cases.size())));
    EXPECT_EQ(told.code, 3);
    EXPECT_EQ(ask({"diff", a.string(), a.string()}).code, 2);
}

TEST(Diff, NamesTheDeviceThenTheValues) {
    const auto sample = std::filesystem::path{ASSAY_SAMPLES} / "h100-80gb-device.json";
    const auto other_suite = told_of(sample, real("h200-acceptance"));
    EXPECT_THAT(other_suite.verdict, HasSubstr("device NVIDIA H100 80GB HBM3 → NVIDIA H200"));
    EXPECT_THAT(other_suite.verdict, HasSubstr("None of "));
    EXPECT_GT(other_suite.compared, 5U);
    EXPECT_GT(other_suite.not_compared.at("one_side"), 100U);
    EXPECT_EQ(other_suite.code, 1);
    const auto told = told_of(real("h100-acceptance-interrupted"), real("h200-acceptance"));
    EXPECT_EQ(told.json.at("same_machine"), false);
    EXPECT_THAT(told.verdict, HasSubstr("The run of A was interrupted."));
    std::map<std::string, std::string> outcomes; // of a family: all the same
    for (const auto& value : told.json.at("values")) {
        const auto name = value.at("name").get<std::string>();
        outcomes[name.substr(0, name.find_first_of(" ,"))] +=
            value.at("outcome").get<std::string>();
    }
    EXPECT_EQ(outcomes["Memory"], "betterbetter");
    EXPECT_THAT(outcomes["Matrix"], Not(HasSubstr("better")));
}

TEST(Diff, CountsSlowCasesAndThoseNotCompared) {
    const auto all = golden().cases.size();
    auto a = golden();
    auto b = golden();
    slow_down(b, some(0, 4), 1.1);
    const auto slow = told_of(a, b);
    EXPECT_THAT(slow.outcomes, UnorderedElementsAre(Pair("worse", 4U)));
    EXPECT_EQ(slow.compared, all);
    EXPECT_EQ(slow.code, 1);
    EXPECT_THAT(slow.verdict, StartsWith("All "));
    EXPECT_THAT(slow.verdict, HasSubstr("4 of " + std::to_string(all) + " cases are slower on B."));
    for (auto* run : {&a, &b}) mark(*run, some(4, 5), DisturbanceCode::device_shared);
    const auto told = told_of(without(a, some(9, 1)), without(b, some(10, 1)));
    EXPECT_THAT(told.outcomes, UnorderedElementsAre(Pair("worse", 4U)));
    EXPECT_EQ(told.compared, all - 7);
    EXPECT_THAT(told.not_compared,
                UnorderedElementsAre(Pair("under_load", 5U), Pair("one_side", 2U)));
    EXPECT_THAT(told.verdict,
                HasSubstr("4 of " + std::to_string(all) +
                          " cases are slower on B; 7 could not be "
                          "compared (5 measured under load, 2 measured on one side only)."));
    EXPECT_THAT(told_of(golden(), golden()).verdict, Not(HasSubstr("slower on B;")));
}

} // namespace
} // namespace assay::decisions
