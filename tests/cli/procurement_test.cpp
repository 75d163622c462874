// SPDX-License-Identifier: Apache-2.0
//
// Offers, costs and a purchase from outside, with all that quotes get wrong: a message that names the line and the column,
// or a mark that is seen.

#include "base/file.hpp"
#include "base/utc.hpp"
#include "program.hpp"
#include "record/convert.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace {

using namespace assay;
using cli_test::expect_refusal;
using cli_test::Folder;
using cli_test::parsed;
using cli_test::run;
using ::testing::HasSubstr;

class Purchase : public ::testing::Test {
protected:
    /// A run on a machine of that type of the provider "lab".
    void measure(const std::string& instance) const { measure(instance, instance, ASSAY_SAMPLE); }
    /// `name`: of the machine.
    void measure(const std::string& instance, const std::string& name,
                 const std::filesystem::path& sample) const {
        auto text = read_whole(sample, json::Limits{}.bytes).value();
        auto recorded = json::parse(text, "sample").value();
        recorded["machine"]["provider"] = "lab";
        recorded["machine"]["instance"] = instance;
        recorded["machine"]["id"] = "m-" + name;
        recorded["run"]["id"] = "run-" + name;
        if (recorded.contains("digests"))
            recorded["digests"] = json::encode(record::digests_of(recorded));
        std::filesystem::create_directories(folder_.path() / "runs" / name);
        folder_.write("runs/" + name + "/run.json", json::to_text(recorded));
    }
    /// Real runs on a host with two cores, and on an H100, as on three machines each.
    void measure_host_and_gpu() const {
        const auto samples = std::filesystem::path{ASSAY_SAMPLE}.parent_path();
        for (const auto* number : {"1", "2", "3"}) {
            measure("host", std::string{"host-"} + number,
                    samples / "procurement" / "epyc-2cores-quick.json");
            measure("gpu", std::string{"gpu-"} + number, samples / "h100-80gb-quick.json");
        }
    }
    std::string file(const std::string& name, const std::string& text) const {
        return folder_.write(name, text).string();
    }
    /// Rows of provider, instance, tariff, price, currency, date, vcpus, cores, gpu and gpus.
    std::string offers(const std::string& rows) const {
        return file("offers.csv",
                    "provider,instance,tariff,price,currency,date,vcpus,cores,gpu,gpus\n" + rows);
    }
    cli_test::Outcome buy(std::vector<std::string> words) const {
        words.insert(words.begin(),
                     {"report", (folder_.path() / "runs").string(), "--kind", "procurement"});
        return run(words);
    }
    const std::string today_ = utc_now().substr(0, 10);
    Folder folder_;
};

TEST_F(Purchase, PricesThatAreNoneNameLineAndColumn) {
    const std::vector<std::pair<std::string, std::string>> wrong{
        {"-5,USD", "offers.csv:2: price: -5 is negative"},
        {"0,USD", "offers.csv:2: price: is 0"},
        {"\"1.234,5\",USD", "offers.csv:2: column price: \"1.234,5\" may be read in two ways"},
        {"=2*3,USD", "offers.csv:2: column price: \"=2*3\" is a formula"},
        {"5,EURO", "offers.csv:2: currency: \"EURO\" is no currency"},
        {"5,", "offers.csv:2: currency: is missing"}};
    for (const auto& [price, message] : wrong) {
        const auto path = offers("lab,a,on_demand," + price + "," + today_ + ",,,,\n");
        for (const auto* verb : {"cost", "show"}) {
            const std::vector<std::string> words =
                verb == std::string{"cost"} ? std::vector<std::string>{"cost", path}
                                            : std::vector<std::string>{"offers", verb, path};
            expect_refusal(run(words), 2, {message});
        }
        const auto lint = run({"offers", "lint", path, "--json"});
        EXPECT_EQ(lint.code, 2) << price;
        EXPECT_THAT(parsed(lint)["findings"][0]["what"], HasSubstr(message));
    }
}

TEST_F(Purchase, PricesThatNothingCanBeCountedWithAreMarked) {
    const auto path = offers("lab,a,on_demand,,USD," + today_ +
                             ",,,,\n"
                             "lab,b,on_demand,1,USD,2999-01-01,,,,\n"
                             "lab,c,on_demand,1,USD,2020-01-01,,,,\n"
                             "lab,d,on_demand,1,USD,,,,,\n");
    const auto costs = run({"cost", path, "--json"});
    EXPECT_EQ(costs.code, 3);
    const auto document = parsed(costs);
    for (const auto& cost : document["costs"])
        for (const auto& line : cost["lines"])
            if (line["key"] == "month") {
                EXPECT_TRUE(line["value"].is_null()) << cost["offer"];
            }
    EXPECT_EQ(run({"offers", "lint", path}).code, 1) << "a day that is yet to come is a slip";
    const auto json = parsed(run({"offers", "show", path, "--json"}));
    const std::vector<std::string> states{"missing", "future", "stale", "undated"};
    for (std::size_t i = 0; i < states.size(); ++i)
        EXPECT_EQ(json["offers"][i]["state"], states[i]);
}

TEST_F(Purchase, CurrenciesWithoutARateAreNotMixed) {
    measure("a");
    const auto path = offers("lab,a,on_demand,1,USD," + today_ + ",,,,\nlab,b,on_demand,1,EUR," +
                             today_ + ",,,,\n");
    expect_refusal(buy({"--offers", path}), 2, {"EUR and USD", "--currency"});
    EXPECT_EQ(run({"offers", "lint", path}).code, 1);
    const auto in_euros = buy({"--offers", path, "--currency", "EUR", "--json"});
    EXPECT_EQ(in_euros.code, 3) << "the machine that was measured has no price in euros";
    EXPECT_EQ(parsed(in_euros)["ranking"]["unranked"][0]["price"], "no_rate");
}

TEST_F(Purchase, OffersWithoutResultsAndResultsWithoutOffersAreNamed) {
    measure("a");
    measure("x");
    const auto path = offers("lab,a,on_demand,1,USD," + today_ + ",,,,\nlab,b,on_demand,1,USD," +
                             today_ + ",,,,\n");
    const auto lint = parsed(
        run({"offers", "lint", path, "--json", "--results", (folder_.path() / "runs").string()}));
    EXPECT_THAT(lint["findings"][0]["what"], HasSubstr("lab b on_demand"));
    EXPECT_THAT(lint["findings"][1]["what"], HasSubstr("lab x"));
    const auto report = parsed(buy({"--offers", path, "--json"}));
    EXPECT_EQ(report["ranking"]["unranked"][0]["offer"], "lab b on_demand");
    EXPECT_EQ(report["ranking"]["unranked"][0]["why"], "not_measured");
    EXPECT_THAT(report["not_offered"], testing::ElementsAre("lab x"));
    EXPECT_THAT(buy({"--offers", path}).output, HasSubstr("Measured, but not offered: lab x"));
}

TEST_F(Purchase, SlipsOfGpusAndCoresAreFound) {
    const auto path = offers("lab,a,on_demand,80,USD," + today_ +
                             ",,,H100,8\n"
                             "lab,b,on_demand,10,USD," +
                             today_ +
                             ",,,H100,8\n"
                             "lab,c,on_demand,80,USD," +
                             today_ +
                             ",,,H100,8\n"
                             "lab,d,on_demand,1,USD," +
                             today_ + ",64,128,,\n");
    const auto json = parsed(run({"offers", "lint", path, "--json"}));
    std::vector<std::string> found;
    for (const auto& one : json["findings"])
        if (one["severity"] == "serious")
            found.push_back(one["code"].get<std::string>() + " " +
                            one["where"].get<std::string>().substr(folder_.path().string().size()));
    EXPECT_THAT(found, testing::UnorderedElementsAre("gpu_price /offers.csv:3",
                                                     "vcpu_as_core /offers.csv:5"));
}

TEST_F(Purchase, ProfilesMustMeanSomething) {
    measure("a");
    measure("b");
    const auto path = offers("lab,a,on_demand,1,USD," + today_ + ",,,,\nlab,b,on_demand,1,USD," +
                             today_ + ",,,,\n");
    const auto with = [&](const std::string& measures, const std::string& weights) {
        const auto profile =
            file("mine.json", R"({"schema": "assay.profiles/1", "name": "mine", "measures": [)" +
                                  measures + R"(], "profiles": [{"name": "mine", "weights": {)" +
                                  weights + "}}]}");
        return buy({"--offers", path, "--profile", "mine", "--profile-file", profile, "--json"});
    };
    expect_refusal(with("", R"("fft": 0.5, "stencil": 0.4)"), 2,
                   {"mine.json", "weights sum to 0.9"});
    expect_refusal(with("", R"("fft": 0.5, "stencils": 0.5)"), 2, {"did you mean \"stencil\"?"});
    expect_refusal(buy({"--offers", path, "--profile", "trainin"}), 2,
                   {"did you mean \"training\"?"});
    const auto misspelt = with(R"({"id": "mine", "where": ["benchmark=gem.*"]})",
                               R"("mine": 0.3, "memory_bandwidth": 0.7)");
    EXPECT_EQ(misspelt.code, 0);
    const auto ranking = parsed(misspelt)["ranking"];
    EXPECT_EQ(ranking["measures"][0]["found"], false);
    EXPECT_EQ(ranking["measures"][1]["found"], true);
    EXPECT_EQ(ranking["coverage"], 0.7);
    EXPECT_THAT(buy({"--offers", path, "--profile", "mine", "--profile-file",
                     (folder_.path() / "mine.json").string()})
                    .output,
                HasSubstr("no result of any run has benchmark=gem.*"));
}

TEST_F(Purchase, NeverRecommendsAHostForTraining) {
    measure_host_and_gpu();
    const auto path = offers("lab,host,on_demand,0.09,USD," + today_ + ",2,,,\n" +
                             "lab,gpu,on_demand,3,USD," + today_ + ",,,H100,1\n");
    const std::vector<std::string> words{"--offers", path, "--profile", "training"};
    auto json_words = words;
    json_words.emplace_back("--json");
    const auto json = buy(json_words);
    EXPECT_EQ(json.code, 3);
    const auto ranking = parsed(json)["ranking"];
    EXPECT_EQ(ranking["recommends"], false);
    EXPECT_TRUE(ranking["offers"].empty()) << "they have memory bandwidth in common and no more";
    for (const auto& one : ranking["unranked"]) EXPECT_EQ(one["why"], "not_alike") << one["offer"];
    EXPECT_THAT(buy(words).output, HasSubstr("the types were measured at different work"));
}

TEST_F(Purchase, OneGpuIsNotPricedAsTheEightPromised) {
    measure_host_and_gpu();
    const auto path = offers("lab,host,on_demand,0.09,USD," + today_ + ",2,,,\n" +
                             "lab,gpu,on_demand,24,USD," + today_ + ",,,H100,8\n");
    const std::vector<std::string> words{"--offers", path, "--profile", "training"};
    const auto outcome = buy(words);
    EXPECT_EQ(outcome.code, 3) << "the host alone has nothing to be compared with";
    EXPECT_THAT(outcome.output, HasSubstr("Not ranked: lab gpu: GPUs promised 8, found 1."));
    EXPECT_THAT(outcome.output, testing::Not(HasSubstr("99.9%")));
}

TEST_F(Purchase, ALongBillIsReadInOneGo) {
    std::string bill = "ProviderName,RegionId,x_InstanceType,PricingUnit,ContractedUnitPrice,"
                       "BillingCurrency,EffectiveCost,PricingQuantity,ChargePeriodEnd\n";
    constexpr int lines = 200'000;
    for (int i = 0; i < lines; ++i)
        bill += "AWS,eu-1,p5.48xlarge,Hours,98.32,USD,98.32,1,2026-11-01T00:00:00Z\n";
    bill += "AWS,eu-1,p5.48xlarge,Hours,\"98,32\",USD,98.32,1,2026-11-01T00:00:00Z\n";
    const auto lint = run({"offers", "lint", file("bill.csv", bill), "--json"});
    EXPECT_EQ(lint.code, 2);
    const auto json = parsed(lint);
    EXPECT_EQ(json["offers"], 1) << "what is alike is one offer";
    EXPECT_THAT(json["findings"][0]["what"],
                HasSubstr("bill.csv:200002: column ContractedUnitPrice: \"98,32\" may be read in "
                          "two ways"));
}

} // namespace
