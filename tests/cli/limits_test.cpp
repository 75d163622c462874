// SPDX-License-Identifier: Apache-2.0
//
// The guide to limits does what it says, and lint knows the benchmarks that there are.

#include "base/text.hpp"
#include "base/utc.hpp"
#include "program.hpp"
#include "support/results.hpp"

#include <regex>

namespace assay::cli_test {
namespace {

using namespace testing;
namespace fs = std::filesystem;

/// Between lines of ``` in the guide.
std::vector<std::string> blocks_of(const std::string& guide) {
    std::vector<std::string> blocks;
    const std::regex block{"```[a-z]*\n([^`]*)```"};
    for (std::sregex_iterator at{guide.begin(), guide.end(), block}, end; at != end; ++at)
        blocks.push_back((*at)[1]);
    return blocks;
}

/// The file with limits changed by their id.
json::Value edited(json::Value file, const json::Value& changes) {
    for (const auto& change : changes.at("limits"))
        for (auto& limit : file["limits"])
            if (limit.at("id") == change.at("id")) limit.update(change);
    file["waivers"] = changes.at("waivers");
    file["waivers"][0]["expires"] = utc_of(seconds_now() + 30 * 86400.0).substr(0, 10);
    return file;
}

TEST(LimitsGuide, EveryCommandRuns) {
    const auto blocks = blocks_of(test::content_of(ASSAY_LIMITS_GUIDE));
    ASSERT_EQ(blocks.size(), 2U);
    const auto changes = must(json::parse(blocks[0], "guide"));
    const Folder folder;
    folder.write("results/one/run.json", test::content_of(ASSAY_SAMPLE));
    std::vector<Outcome> outcomes;
    for (const auto line : split(blocks[1], '\n')) {
        if (trim(line).empty()) continue;
        const auto command = line.substr(0, line.find("   "));
        const auto parts = assay::words(command);
        ASSERT_EQ(parts.at(0), "assay") << command;
        outcomes.push_back(run({parts.begin() + 1, parts.end()}, {.folder = folder.path()}));
        EXPECT_EQ(outcomes.back().code, 0) << command << outcomes.back().error;
        if (outcomes.size() == 1) {
            const auto mine = folder.path() / "mine.json";
            const auto file = edited(must(json::read_file(mine)), changes);
            EXPECT_EQ(file.at("limits").size(), 22U);
            std::ofstream{mine} << file.dump();
        }
    }
    ASSERT_EQ(outcomes.size(), 4U);
    EXPECT_THAT(outcomes[1].output, HasSubstr("read as 6e+10 B/s. (unit_converted)"));
    EXPECT_THAT(outcomes[2].output, AllOf(HasSubstr("22 limits apply to this machine"),
                                          HasSubstr("-8.6%"), HasSubstr("DIMM ordered")));
    EXPECT_THAT(outcomes[3].output, StartsWith("WARN: "));
}

/// To write it anew: add what is missing to configs/limits/benchmarks.json.
TEST(LimitsGuide, LintKnowsEveryBenchmarkAndParameter) {
    const auto share = fs::path{ASSAY_PROGRAM}.parent_path().parent_path() / "share" / "assay";
    const auto known = must(json::read_file(share / "benchmarks.json"))["benchmarks"];
    const auto metrics = must(json::read_file(share / "metrics.json"))["metrics"];
    const auto described = parsed(run({"describe", "--all", "--json"}));
    for (const auto& one : described["benchmarks"]) {
        const auto id = one["id"].get<std::string>();
        ASSERT_TRUE(known.contains(id)) << id;
        std::string unit;
        for (const auto& metric : metrics)
            if (metric["name"] == one["headline"]) unit = metric["unit"].get<std::string>();
        if (one["headline"] == "item_rate" && one["items"].is_string())
            unit = one["items"].get<std::string>() + "/s";
        EXPECT_EQ(known[id]["unit"], unit) << id;
        for (const auto& parameter : one["parameters"]) {
            const auto name = parameter["name"].get<std::string>();
            ASSERT_TRUE(known[id]["parameters"].contains(name)) << id << " " << name;
            const auto values = known[id]["parameters"][name].get<std::vector<std::string>>();
            EXPECT_THAT(values, IsSupersetOf(parameter["names"].get<std::vector<std::string>>()))
                << id << " " << name;
            const auto kind = parameter["kind"].get<std::string>();
            if (kind == "integer" || kind == "real") EXPECT_THAT(values, Contains("#")) << name;
            if (kind == "text") EXPECT_THAT(values, Contains("*")) << name;
        }
    }
}

} // namespace
} // namespace assay::cli_test
