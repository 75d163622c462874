// SPDX-License-Identifier: Apache-2.0
//
// Offers, costs, a purchase and the catalogue of hardware from outside, with all that quotes get wrong: a message that names
// the line and the column, or a mark that is seen.

#include "base/file.hpp"
#include "base/hash.hpp"
#include "base/utc.hpp"
#include "program.hpp"
#include "record/convert.hpp"

#include <fmt/format.h>

namespace assay::cli_test {
namespace {

using namespace testing;

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
        const double own = 1 - 1e-16 * crc32(name); // no two measure the same
        for (auto& one : recorded["cases"])
            for (auto& replica : one["replicas"])
                if (auto& low = replica["low"]; low.is_number()) low = low.get<double>() * own;
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
    Outcome buy(std::vector<std::string> words) const {
        words.insert(words.begin(),
                     {"report", (folder_.path() / "runs").string(), "--kind", "procurement"});
        return run(words);
    }
    /// On demand at a price in USD, with vcpus, cores, gpu and gpus.
    std::string offer(const std::string& instance, const std::string& price,
                      const std::string& rest = ",,,") const {
        return "lab," + instance + ",on_demand," + price + ",USD," + today_ + "," + rest + "\n";
    }
    const std::string today_ = utc_now().substr(0, 10);
    Folder folder_;
};

TEST_F(Purchase, APriceThatIsNoneNamesLineAndColumn) {
    const auto path = offers(offer("a", "\"1.234,5\""));
    const std::string message = "offers.csv:2: column price: \"1.234,5\" may be read in two ways";
    refuses({"cost", path}, {message});
    refuses({"offers", "show", path}, {message});
    const auto lint = run({"offers", "lint", path, "--json"});
    EXPECT_EQ(lint.code, 2);
    EXPECT_THAT(parsed(lint)["findings"][0]["what"], HasSubstr(message));
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
    const auto path = offers(offer("a", "1") + offer("b", "1"));
    const auto lint = parsed(
        run({"offers", "lint", path, "--json", "--results", (folder_.path() / "runs").string()}));
    EXPECT_THAT(lint["findings"][0]["what"], HasSubstr("lab b on_demand"));
    EXPECT_THAT(lint["findings"][1]["what"], HasSubstr("lab x"));
    const auto report = parsed(buy({"--offers", path, "--json"}));
    EXPECT_EQ(report["ranking"]["unranked"][0]["offer"], "lab b on_demand");
    EXPECT_EQ(report["ranking"]["unranked"][0]["why"], "not_measured");
    EXPECT_THAT(report["not_offered"], ElementsAre("lab x"));
    EXPECT_THAT(buy({"--offers", path}).output, HasSubstr("Measured, but not offered: lab x"));
}

TEST_F(Purchase, ProfilesMustMeanSomething) {
    measure("a");
    measure("b");
    const auto path = offers(offer("a", "1") + offer("b", "1"));
    const auto with = [&](const std::string& measures, const std::string& weights) {
        const auto profile =
            file("mine.json", R"({"schema": "assay.profiles/1", "name": "mine", "measures": [)" +
                                  measures + R"(], "profiles": [{"name": "mine", "weights": {)" +
                                  weights + "}}]}");
        return buy({"--offers", path, "--profile", "mine", "--profile-file", profile, "--json"});
    };
    expect_refusal(with("", R"("fft": 0.5, "stencils": 0.5)"), 2, {"did you mean \"stencil\"?"});
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
                HasSubstr("no run has a result for benchmark=gem.*"));
}

TEST_F(Purchase, NeverRecommendsAHostForTraining) {
    measure_host_and_gpu();
    const auto path = offers(offer("host", "0.09", "2,,,") + offer("gpu", "3", ",,H100,1"));
    const std::vector<std::string> words{"--offers", path, "--profile", "training"};
    auto json_words = words;
    json_words.emplace_back("--json");
    const auto json = buy(json_words);
    EXPECT_EQ(json.code, 3);
    const auto ranking = parsed(json)["ranking"];
    EXPECT_EQ(ranking["recommends"], false);
    for (const auto& one : ranking["offers"]) EXPECT_EQ(one["instance"], "gpu");
    ASSERT_EQ(ranking["unranked"].size(), 1U);
    EXPECT_EQ(ranking["unranked"][0]["why"], "need");
    EXPECT_THAT(buy(words).output, HasSubstr("lab host (on demand, 0 measured"));
}

TEST_F(Purchase, OneGpuIsNotPricedAsTheEightPromised) {
    measure_host_and_gpu();
    const auto path = offers(offer("host", "0.09", "2,,,") + offer("gpu", "24", ",,H100,8"));
    const std::vector<std::string> words{"--offers", path, "--profile", "training"};
    const auto outcome = buy(words);
    EXPECT_EQ(outcome.code, 3) << "the host alone has nothing to be compared with";
    EXPECT_THAT(outcome.output, HasSubstr("Not ranked: lab gpu: GPUs promised 8, found 1."));
    EXPECT_THAT(outcome.output, Not(HasSubstr("99.9%")));
}

/// Ten nodes in every hour of two years: 10 x 8760 h x (2 - 1) saved in a year.
TEST_F(Purchase, ReservesWhatIsAlwaysInUse) {
    const auto path = offers(offer("a", "2") + "lab,a,reserved_1y,1,USD," + today_ + ",,,,\n");
    std::string rows = "month,instance,hours\n";
    for (const auto* year : {"2024", "2025"})
        for (int month = 1; month <= 12; ++month)
            rows += fmt::format("{}-{:02},a,7300\n", year, month);
    const auto usage = file("hours.csv", rows);
    const auto plan =
        parsed(run({"cost", path, "--usage", usage, "--json"}))["usage"][0]["plan"][0];
    EXPECT_EQ(plan["nodes"], 10);
    EXPECT_EQ(plan["saving"], 87'600);
    EXPECT_THAT(run({"cost", path, "--usage", usage}).output,
                HasSubstr("Reserve 10 nodes of a (reserved, 1 year) to save USD 87,600"));
    refuses({"cost", path, "--usage", file("wrong.csv", rows + "2026-13,a,1\n")},
            {"wrong.csv:26: column month: invalid month \"2026-13\""});
}

/// Half the memory of p5.48xlarge, by a source of its own.
const char* const ours =
    R"({"schema":"assay.hardware/1","sources":{"we":"our contract"},"instances":[)"
    R"({"provider":"aws","type":"p5.48xlarge","memory_gib":1024,"gpus":8,)"
    R"("figures":[{"of":["*"],"source":"we","sure":"retrieved"}]}]})";

TEST(CatalogVerb, ShowsEntriesSideBySide) {
    const auto shown = run({"catalog", "show", "AWS p5.48xlarge", "H100 SXM5", "l40s"});
    EXPECT_EQ(shown.code, 0) << shown.error;
    EXPECT_THAT(shown.output, AllOf(HasSubstr("NVIDIA L40S"), HasSubstr("3200 Gb/s"),
                                    HasSubstr("Other sources"), HasSubstr("[1]")));
    EXPECT_THAT(run({"catalog", "show", "--kind", "processors", "--lang", "zh"}).output,
                HasSubstr("处理器"));
}

TEST(CatalogVerb, LaysFilesOverIt) {
    const Folder folder;
    const auto file = folder.write("ours.json", ours).string();
    const auto json = parsed(run({"catalog", "show", "p5.48xlarge", "--catalog", file, "--json"}));
    const auto& replaced = json["entries"][0]["replaced"];
    ASSERT_EQ(replaced.size(), 1U);
    EXPECT_EQ(replaced[0]["of"], "memory_gib");
    EXPECT_EQ(replaced[0]["value"], 2048);

    const auto offers =
        folder
            .write("offers.csv", "provider,instance,tariff,memory_gib,price,currency,date\n"
                                 "Amazon,p5.48xlarge,spot,1024,1,USD,2026-11-01\n")
            .string();
    EXPECT_THAT(run({"offers", "lint", offers}).output, HasSubstr("memory_gib is 1024, but 2048"));
    EXPECT_THAT(run({"offers", "lint", offers, "--catalog", file}).output,
                Not(HasSubstr("catalog_differs")));
}

TEST(CatalogVerb, RefusesWhatItDoesNotKnow) {
    const Folder folder;
    const auto none = folder.write("none.json", "{").string();
    refuses({"catalog", "show", "H100"}, {"nvidia-h100-pcie-80gb"});
    refuses({"catalog", "absent"}, {"\"absent\""});
    refuses({"catalog", "show", "--kind", "gpus"}, {"accelerators"});
    refuses({"catalog", "show", "--catalog", none}, {"none.json"});
    refuses({"capacity", "H100", "--set", "parameters=7e9"}, {"nvidia-h100-sxm5-80gb"});
}

TEST(CatalogVerb, CapacityKnowsPublishedModelsAndAssumesNoHeads) {
    refuses({"capacity", "--model", "llama-9-1b"}, {"llama-3-70b", "deepseek-r1", "--set"});
    const auto shown = run({"capacity", "--model", "Llama-3.3-70B", "--set", "sequence=8192"});
    EXPECT_EQ(shown.code, 0);
    EXPECT_THAT(shown.output, AllOf(HasSubstr("320 KiB"), HasSubstr("kv_bits=16")));
    const auto unknown = run({"capacity", "--set", "parameters=70e9", "--set", "layers=80", "--set",
                              "hidden=8192", "--set", "heads=64", "--set", "sequence=8192"});
    EXPECT_EQ(unknown.code, 3) << "inconclusive";
    EXPECT_THAT(unknown.output, HasSubstr("--set kv_heads=N"));
}

TEST(CatalogVerb, CapacityIsAboutTheInstancesThatAreNamed) {
    const auto shown =
        run({"capacity", "p5.48xlarge", "--set", "parameters=7e9", "--set", "layers=32", "--set",
             "kv_heads=32", "--set", "head_size=128", "--set", "sequence=4096"});
    EXPECT_EQ(shown.code, 0);
    EXPECT_THAT(shown.output,
                AllOf(HasSubstr("aws/p5.48xlarge"), HasSubstr("8 × NVIDIA H100 SXM5 80GB")));
}

} // namespace
} // namespace assay::cli_test
