// SPDX-License-Identifier: Apache-2.0
//
// What can be measured, as the program says it: suites, plans, lists, and the formats of its JSON.
#include "program.hpp"
#include "support/fake_nvml.hpp"
#include "support/results.hpp"

namespace assay::cli_test {
namespace {

using namespace testing;
namespace fs = std::filesystem;

const fs::path share = fs::path{ASSAY_PROGRAM}.parent_path().parent_path() / "share" / "assay";

TEST(Suites, AFrozenOneCannotChangeUnderItsName) {
    const Folder folder;
    const auto changed = folder.write("mine.json", R"({"schema": "assay.suite/1",
        "name": "quarterly", "description": "d", "cases": [{"benchmark": "peak.fma"}]})");
    for (const auto* verb : {"plan", "run"})
        refuses({verb, changed}, {"mine.json", "differs from the frozen suite", "new name"});
}

TEST(Suites, AreListedWithWhatCanRunHere) {
    const auto document = parsed(run({"list", "--suites", "--json"}));
    std::vector<std::string> names;
    for (const auto& item : document["suites"]) {
        names.push_back(item["name"]);
        if (item["cases"] == 0) { // fabric, which needs hosts
            refuses({"plan", item["name"].get<std::string>()}, {});
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
    refuses({"list", "--suites", "--metrics"}, {"--metrics"});
    EXPECT_EQ(parsed(run({"plan", "quarterly-draft", "--json"}))["suite"], "quarterly")
        << "its old name";
}

TEST(Plans, MeasureAllDevicesOfTheNodeInAboutTheTimeOfOne) {
    if (run({"list"}).output.find("cublaslt") == std::string::npos)
        GTEST_SKIP() << "this build has no modules for devices";
    const auto plan_with = [](int devices) {
        const test::FakeNvml nvml{test::h200s(devices)};
        return parsed(
            run({"plan", "acceptance", "--json"},
                {.environment = {"LD_LIBRARY_PATH=" + nvml.library().parent_path().string()}}));
    };
    const auto one = plan_with(1);
    const auto eight = plan_with(8);
    EXPECT_LE(one["expected_seconds"], 180);
    EXPECT_LE(eight["expected_seconds"], 360);
    std::map<std::string, std::set<int>> places;
    for (const auto& c : eight["cases"])
        if (c["place"]["kind"] == "cuda" && c["parameters"].value("alone", false) == false)
            places[c["benchmark"].get<std::string>()].insert(c["place"].value("index", 0));
    for (const char* id : {"memory.stream", "gemm.square", "fft.transform", "transfer.host"})
        EXPECT_THAT(places[id], SizeIs(8)) << id;
    // On one device the cases are those of older files.
    for (const auto& c : one["cases"])
        for (const char* name : {"together", "alone"})
            EXPECT_FALSE(c["parameters"].contains(name) && c["place"]["kind"] == "cuda") << c;
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
    EXPECT_NEAR(sweep["seconds"][1].get<double>(),
                std::max(plan["expected_seconds"].get<double>(), 55.0), 1e-6)
        << "patience is part of the time that quick may take";
    const auto text = run({"plan", "quick", "--nodes", "1000", "--price", "24"}).output;
    EXPECT_THAT(text, AllOf(HasSubstr("1000 nodes"), HasSubstr("node-hours"), HasSubstr("at 24")));
    EXPECT_FALSE(
        parsed(run({"plan", "quick", "--nodes", "2", "--json"}))["sweep"].contains("cost"));
    for (const auto* nodes : {"0", "-1", "many"})
        refuses({"plan", "quick", "--nodes", nodes}, {"--nodes", nodes});
    refuses({"plan", "quick", "--price", "-1"}, {"--price"});
    refuses({"plan", "quick", "--nodes", "2", "--interleave", "a:", "--interleave", "b:"},
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
    EXPECT_THAT(run({"plan", file}).output,
                HasSubstr("1 case cannot run on this machine: it needs several hosts (--hosts)\n"));
    EXPECT_THAT(run({"run", file, "--budget", "1s", "--out", folder.path()}).error,
                Not(HasSubstr("cannot run on this machine")))
        << "nobody asked for what is not there";
    EXPECT_THAT(run({"plan", file, "--all"}).output, HasSubstr("CANNOT RUN "));
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
    refuses({"plan", "peak.fma", "--exclude", "peak"}, {"nothing is left"});
    refuses({"plan", "quick", "--exclude", "memry"}, {"--exclude", "memry"});
    refuses({"run", "quick", "--only", "peak.fma threads=1Kx.."}, {"1Kx", "Ki"});
    refuses({"plan", "memory.latency", "--set", "memory.latency.footprint=64Kx"},
            {"64Kx", "Ki, Mi"});
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
    ASSERT_THAT(name, MatchesRegex("assay\\.[a-z]+/1"));
    name = name.substr(6, name.size() - 8);
    const auto schema = must(json::read_file(share / "schema" / (name + ".json")));
    EXPECT_EQ(schema["properties"]["schema"]["const"], document["schema"]);
    const auto checked = json::check_schema(document, schema, name);
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
} // namespace assay::cli_test
