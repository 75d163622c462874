// SPDX-License-Identifier: Apache-2.0
//
// What can be measured, as the program says it: suites, plans, lists, and the formats of its JSON.
#include "program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

namespace {

using namespace assay;
using cli_test::expect_refusal;
using cli_test::Folder;
using cli_test::parsed;
using cli_test::run;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

namespace fs = std::filesystem;

const fs::path share = fs::path{ASSAY_PROGRAM}.parent_path().parent_path() / "share" / "assay";

/// A tree of programs with suites of its own.
class Tree {
public:
    Tree() {
        fs::create_directories(root() / "bin");
        fs::create_directories(suites());
        std::error_code other_disk;
        fs::create_hard_link(ASSAY_PROGRAM, program(), other_disk);
        if (other_disk) fs::copy_file(ASSAY_PROGRAM, program());
        fs::create_directory_symlink(share.parent_path().parent_path() / "lib", root() / "lib");
    }
    fs::path program() const { return root() / "bin" / "assay"; }
    fs::path suites() const { return root() / "share" / "assay" / "suites"; }
    fs::path write(const std::string& name, const std::string& text) const {
        std::ofstream{suites() / name} << text;
        return suites() / name;
    }

private:
    const fs::path& root() const { return folder_.path(); }
    Folder folder_;
};

std::string suite(const std::string& name, int replicas) {
    return R"({"schema": "assay.suite/1", "name": ")" + name +
           R"(", "description": "d", "replicas": )" + std::to_string(replicas) +
           R"(, "cases": [{"benchmark": "peak.fma"}]})";
}

json::Value suites_of(const Tree& tree) {
    return parsed(run({"list", "--suites", "--json"}, {.program = tree.program()}))["suites"];
}

TEST(Suites, AFrozenOneCannotChangeUnderItsName) {
    const Tree tree;
    const cli_test::Options here{.program = tree.program()};
    tree.write("quarter.json", suite("quarter", 3));
    EXPECT_EQ(run({"plan", "quarter"}, here).code, 0) << "nothing is frozen yet";
    const auto digest = suites_of(tree)[0]["digest"].get<std::string>();
    ASSERT_EQ(digest.size(), 64U);
    tree.write("frozen.json",
               R"({"schema": "assay.frozen/1", "suites": {"quarter": ")" + digest + "\"}}");
    EXPECT_EQ(run({"plan", "quarter"}, here).code, 0);
    EXPECT_EQ(suites_of(tree)[0]["frozen"], true);

    // Blanks are no change; a replica more is one, also in a file elsewhere.
    tree.write("quarter.json", "\n " + suite("quarter", 3));
    EXPECT_EQ(run({"plan", "quarter"}, here).code, 0);
    tree.write("quarter.json", suite("quarter", 4));
    for (const auto* verb : {"plan", "run"})
        expect_refusal(run({verb, "quarter"}, here), 2,
                       {"quarter.json", "differs from the frozen suite", "new name"});
    expect_refusal(run({"list", "--suites"}, here), 2, {"quarter.json", "new name"});
    const Folder folder;
    expect_refusal(run({"plan", folder.write("mine.json", suite("quarter", 4))}, here), 2,
                   {"mine.json", "frozen"});
    EXPECT_EQ(run({"plan", folder.write("mine.json", suite("quarter-2", 4))}, here).code, 0);

    for (const auto* broken : {"", "[]", R"({"schema": "assay.frozen/1"})",
                               R"({"schema": "assay.frozen/1", "suites": {"quarter": 7}})"}) {
        tree.write("frozen.json", broken);
        expect_refusal(run({"plan", "quarter"}, here), 2, {"frozen.json"});
    }
}

TEST(Suites, AreListedWithWhatCanRunHere) {
    const auto document = parsed(run({"list", "--suites", "--json"}));
    std::vector<std::string> names;
    for (const auto& item : document["suites"]) {
        names.push_back(item["name"]);
        if (item["cases"] == 0) { // fabric, which needs hosts
            expect_refusal(run({"plan", item["name"].get<std::string>()}), 2, {});
            continue;
        }
        const auto plan = parsed(run({"plan", item["name"].get<std::string>(), "--json"}));
        EXPECT_EQ(item["cases"], plan["cases"].size());
        EXPECT_EQ(item["not_here"], plan["not_here"].size());
        EXPECT_EQ(item["expected_seconds"], plan["expected_seconds"]);
    }
    EXPECT_THAT(names, IsSupersetOf({"acceptance", "quick", "standard", "quarterly"}));
    EXPECT_THAT(
        run({"list", "--suites"}).output,
        AllOf(HasSubstr("quarterly "), Not(HasSubstr("quarterly-draft")), HasSubstr("PURPOSE")));
    expect_refusal(run({"list", "--suites", "--metrics"}), 2, {"--metrics"});
    EXPECT_EQ(parsed(run({"plan", "quarterly-draft", "--json"}))["suite"], "quarterly")
        << "its old name";
}

TEST(Plans, AreSummedUpByFamily) {
    const auto plan = parsed(run({"plan", "standard", "--json"}));
    std::size_t cases = 0;
    double seconds = 0;
    for (const auto& family : plan["families"]) {
        cases += family["cases"].get<std::size_t>();
        seconds += family["expected_seconds"].get<double>();
    }
    EXPECT_EQ(cases, plan["cases"].size());
    EXPECT_NEAR(seconds, plan["expected_seconds"].get<double>(), 1e-6);
    const auto text = run({"plan", "standard"}).output;
    EXPECT_THAT(text, AllOf(HasSubstr("FAMILY"), HasSubstr("\nmemory "), HasSubstr("--all")));
    EXPECT_THAT(text, Not(HasSubstr("PARAMETERS"))) << "more cases than a screen has lines";
    EXPECT_THAT(run({"plan", "standard", "--all"}).output, HasSubstr("PARAMETERS"));
}

TEST(Plans, CostWhatAllNodesCost) {
    const auto plan = parsed(run({"plan", "quick", "--nodes", "1000", "--price", "24", "--json"}));
    const auto& sweep = plan["sweep"];
    const double hours = 1000 * plan["expected_seconds"].get<double>() / 3600;
    EXPECT_NEAR(sweep["node_hours"][0].get<double>(), hours, 1e-6);
    EXPECT_NEAR(sweep["cost"][0].get<double>(), 24 * hours, 1e-6);
    EXPECT_NEAR(sweep["seconds"][1].get<double>(), plan["expected_seconds"].get<double>() + 30,
                1e-6)
        << "quick has half a minute of patience";
    const auto text = run({"plan", "quick", "--nodes", "1000", "--price", "24"}).output;
    EXPECT_THAT(text, AllOf(HasSubstr("1000 nodes"), HasSubstr("node-hours"), HasSubstr("at 24")));
    EXPECT_FALSE(
        parsed(run({"plan", "quick", "--nodes", "2", "--json"}))["sweep"].contains("cost"));
    for (const auto* nodes : {"0", "-1", "many"})
        expect_refusal(run({"plan", "quick", "--nodes", nodes}), 2, {"--nodes", nodes});
    expect_refusal(run({"plan", "quick", "--price", "-1"}), 2, {"--price"});
    expect_refusal(
        run({"plan", "quick", "--nodes", "2", "--interleave", "a:", "--interleave", "b:"}), 2,
        {"--nodes", "--interleave"});
}

TEST(Plans, SayWhatOfASuiteCannotRunHere) {
    const Folder folder;
    const auto file =
        folder.write("needs.json",
                     R"({"schema": "assay.suite/1", "name": "n", "description": "d", "cases": [
            {"benchmark": "peak.fma", "library": "host",
             "parameters": {"precision": "fp64", "threads": "one"}},
            {"benchmark": "peak.fma", "library": "host", "needs": ["hosts"],
             "parameters": {"precision": ["fp32", "fp64"], "threads": "one"}}]})");
    const auto plan = parsed(run({"plan", file, "--json"}));
    EXPECT_EQ(plan["cases"].size(), 1U);
    ASSERT_EQ(plan["not_here"].size(), 1U) << "what is measured anyway lacks nothing";
    EXPECT_THAT(plan["not_here"][0]["needs"], HasSubstr("several hosts"));
    EXPECT_THAT(run({"plan", file}).output, HasSubstr("several hosts (--hosts): 1\n"));
    EXPECT_THAT(run({"plan", file, "--all"}).output, HasSubstr("CANNOT RUN HERE"));
    expect_refusal(run({"plan", folder.write("odd.json", R"({"schema": "assay.suite/1",
        "name": "n", "description": "d", "cases": [{"benchmark": "peak.fma", "needs": ["gpu"]}]})")}),
                   2, {"odd.json", "needs", "rdma"});
}

TEST(Plans, LeaveOutWhatIsExcluded) {
    const auto cases = [](std::vector<std::string> options) {
        options.insert(options.begin(), {"plan", "peak.fma", "memory.latency", "--json"});
        return parsed(run(options))["cases"].size();
    };
    const auto all = cases({});
    EXPECT_EQ(cases({"--exclude", "memory"}) + cases({"--only", "memory"}), all);
    EXPECT_EQ(cases({"--exclude", "peak.fma threads=one"}) +
                  cases({"--only", "peak.fma threads=one"}),
              all);
    EXPECT_EQ(cases({"--exclude", "memory.latency footprint=..64Ki,peak.fma"}) +
                  cases({"--exclude", "memory.latency footprint=65537..", "--exclude", "peak"}),
              cases({"--only", "memory"}));
    expect_refusal(run({"plan", "peak.fma", "--exclude", "peak"}), 2, {"nothing is left"});
    expect_refusal(run({"plan", "quick", "--exclude", "memry"}), 2, {"--exclude", "memry"});
    expect_refusal(run({"run", "quick", "--only", "peak.fma threads=1Kx.."}), 2, {"1Kx", "Ki"});
    expect_refusal(run({"plan", "memory.latency", "--set", "memory.latency.footprint=64Kx"}), 2,
                   {"64Kx", "Ki, Mi"});
}

TEST(List, MarksWhatCanRunHere) {
    const auto document = parsed(run({"list", "--json"}));
    for (const auto& benchmark : document["benchmarks"])
        if (benchmark["library"] == "host") {
            EXPECT_EQ(benchmark["available"], true) << benchmark["reason"];
        }
    EXPECT_THAT(run({"list"}).output, AllOf(HasSubstr("HERE"), HasSubstr(" yes ")));
}

TEST(List, TheTableOfMetricsIsInstalled) {
    const auto outcome = run({"list", "--metrics", "--json"});
    std::ifstream file{share / "metrics.json"};
    const std::string installed{std::istreambuf_iterator<char>{file}, {}};
    EXPECT_EQ(outcome.output, installed);
    EXPECT_THAT(run({"list", "--metrics"}).output,
                AllOf(HasSubstr("flop_rate"), HasSubstr("FLOP/s")));
}

/// stdout follows the schema that its name stands for.
void expect_format(const std::vector<std::string>& arguments) {
    const auto document = parsed(run(arguments));
    ASSERT_TRUE(document.contains("schema")) << arguments.front();
    auto name = document["schema"].get<std::string>();
    ASSERT_THAT(name, ::testing::MatchesRegex("assay\\.[a-z]+/1"));
    name = name.substr(6, name.size() - 8);
    const auto schema = json::read_file(share / "schema" / (name + ".json"));
    ASSERT_TRUE(schema) << schema.error().message;
    EXPECT_EQ((*schema)["properties"]["schema"]["const"], document["schema"]);
    const auto checked = json::check_schema(document, *schema, name);
    EXPECT_TRUE(checked) << checked.error().message;
}

TEST(Formats, AllJsonFollowsItsSchema) {
    const Folder folder;
    const std::vector<std::string> one_case{
        "peak.fma", "--set", "peak.fma.threads=one", "--set", "peak.fma.precision=fp64", "--json"};
    const auto with = [&](std::vector<std::string> verb, const std::vector<std::string>& more) {
        verb.insert(verb.end(), one_case.begin(), one_case.end());
        verb.insert(verb.end(), more.begin(), more.end());
        return verb;
    };
    const std::vector<std::string> two{"--interleave", "a:", "--interleave", "b:"};
    expect_format({"doctor", "--json"});
    expect_format({"list", "--json"});
    expect_format({"list", "--suites", "--json"});
    expect_format({"list", "--metrics", "--json"});
    expect_format({"describe", "--all", "--json"});
    expect_format({"plan", "quarterly", "--nodes", "4", "--price", "2.5", "--json"});
    expect_format(with({"plan"}, two));
    expect_format(with({"run"}, {"--replicas", "1", "--budget", "1s", "--out", folder.path()}));
    auto pairs = with({"run"}, {"--pairs", "1", "--budget", "2s", "--out", folder.path()});
    pairs.insert(pairs.end(), two.begin(), two.end());
    expect_format(pairs);
}

} // namespace
