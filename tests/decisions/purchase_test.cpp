// SPDX-License-Identifier: Apache-2.0
//
// Rows about purchases: what a buyer needs is asked first, like meets like, and nothing is recommended by too little.

#include "cli/program.hpp"
#include "good_machines.hpp"
#include "good_nodes.hpp"
#include "situation.hpp"
#include "verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace assay::decisions {
namespace {

using cli_test::Folder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

/// A type of node, so many machines of it, and what one costs an hour.
struct Kind {
    std::string instance;
    record::Run run;
    std::string price;
    std::string more{}; ///< of the offer: "\"gpus\": 8"
    unsigned machines = 1;
};

record::Run host(const char* name) {
    for (const auto& kind : host_kinds())
        if (kind.name == name) return good_host(kind).run;
    ADD_FAILURE() << name;
    return {};
}
const record::Run& h100() {
    static const auto run = good_chip("nvidia-h100-sxm5-80gb").run;
    return run;
}
const record::Run& h200() {
    static const auto run = good_chip("nvidia-h200-sxm-141gb").run;
    return run;
}

class Purchase : public ::testing::Test {
protected:
    void offer(Kind kind) {
        for (unsigned i = 0; i < kind.machines; ++i) {
            auto run = later(kind.run, i);
            rename_machine(run, kind.instance + std::to_string(i));
            run.machine.provider = "shop";
            run.machine.instance = kind.instance;
            write(folder_.path() / "runs", kind.instance + std::to_string(i), run);
        }
        also(kind.instance, kind.price, kind.more);
    }
    /// Offered, and not measured.
    void also(const std::string& instance, const std::string& price, const std::string& more) {
        offers_ +=
            (offers_.empty() ? "" : ",") +
            (R"({"provider": "shop", "tariff": "on_demand", "currency": "USD",
                       "date": "2026-11-20", "source": "list", "instance": ")" +
             instance + R"(", "price": ")" + price + '"' + (more.empty() ? "" : ", " + more) + "}");
    }
    Answer answer(const std::string& profile, const Words& more = {}) {
        const auto file = folder_.path() / "offers.json";
        std::ofstream{file} << R"({"schema": "assay.offers/1", "offers": [)" << offers_ << "]}";
        Words words{"report",    (folder_.path() / "runs").string(),
                    "--kind",    "procurement",
                    "--offers",  file.string(),
                    "--max-age", "3650d",
                    "--profile", profile,
                    "--json"};
        words.insert(words.end(), more.begin(), more.end());
        return ask(words);
    }
    static std::vector<std::string> ranked(const Answer& answer) {
        std::vector<std::string> names;
        if (answer.json.is_object())
            for (const auto& one : answer.json.at("ranking").at("offers"))
                names.push_back(one.at("instance"));
        return names;
    }
    /// "small need", "big broken_promise"
    static std::vector<std::string> unranked(const Answer& answer) {
        std::vector<std::string> names;
        if (answer.json.is_object())
            for (const auto& one : answer.json.at("ranking").at("unranked"))
                names.push_back(one.at("instance").get<std::string>() + ' ' +
                                one.at("why").get<std::string>());
        return names;
    }

    Folder folder_;
    std::string offers_;
};

/// Divided by its price the host would win by far: it cannot do the work at all.
TEST_F(Purchase, ATwoCoreHostDoesNotTrainLargeModels) {
    offer({.instance = "small", .run = host("x86-2-guest"), .price = "0.09", .machines = 3});
    offer({.instance = "h100", .run = h100(), .price = "3", .machines = 3});
    offer({.instance = "h200", .run = h200(), .price = "4", .machines = 3});
    const auto found = answer("training");
    EXPECT_EQ(found.code, 0) << found.error;
    EXPECT_THAT(ranked(found), UnorderedElementsAre("h100", "h200"));
    EXPECT_THAT(unranked(found), ElementsAre("small need"));
}

/// One candidate is compared with nothing.
TEST_F(Purchase, OneCandidateIsNotRecommended) {
    offer({.instance = "small", .run = host("x86-2-guest"), .price = "0.09", .machines = 3});
    offer({.instance = "h100", .run = h100(), .price = "3", .machines = 3});
    const auto found = answer("training");
    EXPECT_EQ(found.code, 3);
    EXPECT_FALSE(found.json.at("ranking").at("recommends").get<bool>());
}

TEST_F(Purchase, WhereNothingMeetsTheNeedsThatIsTheAnswer) {
    offer({.instance = "h100", .run = h100(), .price = "3", .machines = 3});
    offer({.instance = "h200", .run = h200(), .price = "4", .machines = 3});
    const auto found = answer("mixed", {"--needs", "devices>=8"});
    EXPECT_EQ(found.code, 3);
    EXPECT_THAT(ranked(found), IsEmpty());
    EXPECT_THAT(unranked(found), ElementsAre("h100 need", "h200 need"));
}

/// The price is of eight, the speed of one.
TEST_F(Purchase, OneMeasuredDeviceOfEightPromisedIsNotRanked) {
    offer({.instance = "big", .run = h200(), .price = "32", .more = R"("gpus": 8)"});
    offer({.instance = "h100", .run = h100(), .price = "3"});
    EXPECT_THAT(unranked(answer("training")), ElementsAre("big broken_promise"));
}
TEST_F(Purchase, AnotherDeviceThanThePromisedOneIsNotRanked) {
    offer({.instance = "x",
           .run = h100(),
           .price = "3",
           .more = R"("gpu": "NVIDIA H200 SXM 141GB")"});
    offer({.instance = "h200", .run = h200(), .price = "4", .more = R"("gpu": "H200")"});
    const auto found = answer("training");
    EXPECT_THAT(unranked(found), ElementsAre("x broken_promise"));
    EXPECT_EQ(found.json.at("ranking").at("unranked")[0].at("promise").at("what"), "device");
}

/// 70.6 billion parameters: 141 GB at 16 bits, 71 GB at 8, with the cache of 32,768 tokens beside.
TEST_F(Purchase, AModelHasToFit) {
    offer({.instance = "h100", .run = h100(), .price = "3"});
    offer({.instance = "h200", .run = h200(), .price = "4"});
    offer({.instance = "small", .run = host("x86-2-guest"), .price = "0.09"});
    const auto model = [&](const char* precision) {
        return ranked(answer(
            "inference",
            {"--needs", std::string{"model=llama-3-70b,context=32k,precision="} + precision}));
    };
    EXPECT_THAT(model("fp8"), ElementsAre("h200"));
    EXPECT_THAT(model("bf16"), IsEmpty());
    EXPECT_THAT(model("fp4"), UnorderedElementsAre("h100", "h200"));
}

/// A data sheet may say what a need asks for, but an offer that nobody measured is not ranked by it.
TEST_F(Purchase, WhatNobodyMeasuredIsShownBesideByItsDataSheet) {
    offer({.instance = "h100", .run = h100(), .price = "3"});
    also("new", "3", R"("gpu": "NVIDIA H200 SXM 141GB", "gpus": 1)");
    also("old", "1", R"("gpu": "NVIDIA A10", "gpus": 1)");
    const auto found = answer("training");
    EXPECT_THAT(unranked(found), ElementsAre("new not_measured", "old need"));
}

TEST_F(Purchase, NeedsOfOffersAndCosts) {
    offer({.instance = "h100",
           .run = h100(),
           .price = "3",
           .more = R"("region": "us-1")",
           .machines = 3});
    offer({.instance = "h200",
           .run = h200(),
           .price = "4",
           .more = R"("region": "eu-1", "startup_minutes": 20)",
           .machines = 3});
    const auto left = [&](const std::string& need) {
        return ranked(answer("training", {"--needs", need}));
    };
    EXPECT_THAT(left("region=us-*|ap-*"), ElementsAre("h100"));
    EXPECT_THAT(left("budget<=2500"), ElementsAre("h100")) << "730 hours: USD 2,190 and 2,920";
    EXPECT_THAT(left("startup<=30m"), ElementsAre("h200")) << "not known meets nothing";
    EXPECT_THAT(left("device=H200"), ElementsAre("h200"));
    EXPECT_THAT(left("gpus>=1,gpu_memory>=100GB"), ElementsAre("h200"));
    EXPECT_THAT(left("interruptible=no"), UnorderedElementsAre("h100", "h200"));
    const auto by_rate = answer("training", {"--needs", "memory.stream kernel=triad>=4TB/s"});
    EXPECT_THAT(ranked(by_rate), ElementsAre("h200"))
        << by_rate.json.at("ranking").at("unranked").dump(1);
}

TEST_F(Purchase, ATieIsSaidToBeOne) {
    offer({.instance = "one", .run = h100(), .price = "3"});
    offer({.instance = "other", .run = h100(), .price = "3"});
    const auto found = answer("training");
    EXPECT_TRUE(found.json.at("ranking").at("tie").get<bool>());
    EXPECT_EQ(ranked(found).size(), 2U);
}

/// 14 times dearer than any market: the first line is about the price.
/// The same machine, cheaper by a fifth: surely the better; next quarter the other has the better price.
TEST_F(Purchase, OfEqualMachinesTheCheaperWinsAndANewPriceTurnsIt) {
    offer({.instance = "one", .run = h100(), .price = "3", .machines = 3});
    offer({.instance = "other", .run = h100(), .price = "2.4", .machines = 3});
    const auto found = answer("training");
    EXPECT_THAT(ranked(found), ElementsAre("other", "one"));
    EXPECT_TRUE(found.json.at("ranking").at("sure").get<bool>());
    offers_.replace(offers_.find("\"3\""), 3, "\"1.9\"");
    EXPECT_THAT(ranked(answer("training")), ElementsAre("one", "other"));
}

/// Results of another machine do not belong to this offer.
TEST_F(Purchase, MissingResultsAreSaid) {
    offer({.instance = "h100", .run = h100(), .price = "3"});
    also("unmeasured", "1", R"("gpus": 1, "gpu": "NVIDIA H100 SXM5 80GB")");
    const auto found = answer("mixed");
    EXPECT_EQ(found.code, 3) << "one candidate";
    EXPECT_THAT(unranked(found), ElementsAre("unmeasured not_measured"));
}

/// Two guests alike at their best, one of which is at half of its speed in half of its replicas: overselling shows.
TEST_F(Purchase, GuestsAreRankedByWhatTheyDeliver) {
    auto oversold = host("x86-16-guest");
    slow_down(
        oversold, [](const record::Case& c) { return measured_replicas(c) > 0; }, 2,
        half_of_replicas());
    offer({.instance = "calm", .run = host("x86-16-guest"), .price = "1.1"});
    offer({.instance = "oversold", .run = oversold, .price = "1"});
    const auto found = answer("mixed");
    EXPECT_THAT(ranked(found), ElementsAre("calm", "oversold"));
    for (const auto& type : found.json.at("ranking").at("types"))
        EXPECT_EQ(type.at("fast_share") < 0.9, type.at("instance") == "oversold");
}

TEST_F(Purchase, TooCheapIsSaidFirst) {
    offer({.instance = "one",
           .run = h100(),
           .price = "0.02",
           .more = R"("gpu": "NVIDIA H100 SXM5 80GB", "gpus": 1)"});
    offer({.instance = "other",
           .run = h100(),
           .price = "3",
           .more = R"("gpu": "NVIDIA H100 SXM5 80GB", "gpus": 1)"});
    const auto found = answer("training");
    EXPECT_EQ(found.code, 3) << "nothing is recommended by such a price";
    ASSERT_FALSE(found.json.at("doubts").empty());
    EXPECT_EQ(found.json.at("doubts")[0].at("code"), "implausible");
    EXPECT_EQ(found.json.at("doubts")[0].at("offer"), "shop one on_demand");
}

TEST_F(Purchase, BadNeedsAreRefusedWithWhatWouldBeRight) {
    offer({.instance = "h100", .run = h100(), .price = "3"});
    const std::pair<const char*, const char*> bad[] = {
        {"devises>=8", "did you mean \"devices\"?"},
        {"device_memory>=80", "80GB or 80GiB"},
        {"device_memory>=80GB,device_memory<=40GB", "contradict"},
        {"model=lama-3-70b,context=8k", "llama-3-70b"},
        {"model=llama-3-70b", "context=8k"},
        {"gemm.squar precision=bf16>=400e12", "did you mean \"gemm.square\"?"},
        {"gemm.square precision=bf16<=400e12", "write >="},
        {"gemm.square precision=bf16>=400GB/s", "is measured in FLOP/s"},
        {"gemm.square", "invalid need"},
        {"availability>=99", "99.9%"},
        {"", "empty"}};
    for (const auto& [need, right] : bad) {
        const auto found = answer("training", {"--needs", need});
        EXPECT_EQ(found.code, 2) << need;
        EXPECT_THAT(found.error, HasSubstr(right)) << need;
    }
}

} // namespace
} // namespace assay::decisions
