// SPDX-License-Identifier: Apache-2.0
#include "json/json.hpp"
#include "plan/suite.hpp"
#include "support/temporary_folder.hpp"

#include <fnmatch.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <sstream>
#include <string>

namespace {

using namespace assay;
using harness::made::TemporaryFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;

const std::filesystem::path suites{ASSAY_SOURCE_SUITES};

json::Value schema() {
    auto value = json::read_file(suites / "schema.json");
    EXPECT_TRUE(value);
    return value ? *value : json::Value{};
}

TEST(Suite, ShippedOnesAreReadAndFollowTheirSchema) {
    for (const char* name : {"acceptance", "cores", "external", "fabric", "quarterly", "quick",
                             "soak", "standard", "sustained"}) {
        const auto path = suites / (std::string{name} + ".json");
        const auto suite = harness::read_suite(path);
        ASSERT_TRUE(suite) << suite.error().message;
        EXPECT_EQ(suite->name, name);
        const auto value = json::read_file(path);
        ASSERT_TRUE(value);
        const auto checked = json::check_schema(*value, schema(), path.string());
        EXPECT_TRUE(checked) << checked.error().message;
    }
}

/// Do the parameters of a suite's case admit what a limit selects? Lists hold alternatives.
bool is_for(const json::Value& limit, const json::Value& entry) {
    const auto& own = entry.value("parameters", json::Value::object());
    for (const auto& [key, pattern] : limit.items()) {
        if (key == "place") continue;
        if (key == "together" && !entry.contains(key)) return false;
        const auto& found = entry.contains(key) ? entry[key] : own.value(key, json::Value{});
        if (found.is_null()) continue; // all of its defaults
        const auto words = [](const json::Value& value) {
            return value.is_string() ? value.get<std::string>() : value.dump();
        };
        const auto list = found.is_array() ? found : json::Value::array({found});
        std::istringstream alternatives{words(pattern)};
        bool any = false;
        for (std::string one; std::getline(alternatives, one, '|');)
            for (const auto& value : list) {
                auto text = words(value) == "1GiB" ? "1073741824" : words(value);
                if (key == "together") text += ":2"; // of a machine with two
                any = any || fnmatch(one.c_str(), text.c_str(), 0) == 0;
            }
        if (!any) return false;
    }
    return true;
}

TEST(Suite, AcceptanceMeasuresWhatTheLimitsOfSpecAskFor) {
    const auto suite = json::read_file(suites / "acceptance.json").value();
    const auto limits = json::read_file(suites / "../limits/spec.json").value();
    std::set<std::string> without;
    const auto name_of = [](const json::Value& entry) {
        const auto& library = entry["library"];
        return entry["benchmark"].get<std::string>() + " " +
               (library.is_array() ? library[0] : library).get<std::string>();
    };
    for (const auto& entry : suite["cases"]) without.insert(name_of(entry));
    for (const auto& limit : limits["limits"]) {
        bool any = false;
        for (const auto& entry : suite["cases"]) {
            if (!is_for(limit["case"], entry)) continue;
            any = true;
            without.erase(name_of(entry));
        }
        EXPECT_TRUE(any || limit["id"] == "network-write") << limit["id"]; // between hosts
    }
    // No data sheet bounds it, and no source says what all hosts reach.
    EXPECT_EQ(without, std::set<std::string>{"latency.context_switch host"});
}

struct Mistake {
    const char* text;
    const char* expected; ///< part of the message
};

std::string whole(const std::string& more) {
    return R"({"schema":"assay.suite/1","name":"x","description":"y","cases":[{"benchmark":"a.b"}])" +
           more + "}";
}

class Wrong : public ::testing::TestWithParam<Mistake> {};

TEST_P(Wrong, IsRefusedByReaderAndSchema) {
    const TemporaryFolder folder;
    const auto path = folder.write("suite.json", GetParam().text);
    const auto suite = harness::read_suite(path);
    ASSERT_FALSE(suite);
    EXPECT_THAT(suite.error().message,
                AllOf(HasSubstr("suite.json"), HasSubstr(GetParam().expected)));
    EXPECT_EQ(suite.error().fault, Fault::usage);
    const auto value = json::read_file(path);
    ASSERT_TRUE(value);
    EXPECT_FALSE(json::check_schema(*value, schema(), "suite.json"));
}

INSTANTIATE_TEST_SUITE_P(
    Suite, Wrong,
    ::testing::Values(
        Mistake{"[]", "object"}, Mistake{R"({"schema":"assay.run/1"})", "assay.suite/1"},
        Mistake{R"({"schema":"assay.suite/1","name":"x","description":"y"})", "cases"},
        Mistake{R"({"schema":"assay.suite/1","name":"x","description":"y","cases":[]})", "cases"},
        Mistake{R"({"schema":"assay.suite/1","name":"x","description":"y","cases":[{}]})",
                "benchmark"},
        Mistake{R"({"schema":"assay.suite/1","name":"x","description":"y","cases":[7]})",
                "cases[0]"},
        Mistake{
            R"({"schema":"assay.suite/1","name":"x","description":"y","cases":[{"benchmark":"a.b"}],"protcol":{}})",
            "protocol"},
        Mistake{
            R"({"schema":"assay.suite/1","name":"x","description":"y","cases":[{"benchmark":"a.b"}],"protocol":{"target":0}})",
            "protocol.target"},
        Mistake{
            R"({"schema":"assay.suite/1","name":"x","description":"y","cases":[{"benchmark":"a.b"}],"protocol":{"min_second":1}})",
            "min_seconds"},
        Mistake{
            R"({"schema":"assay.suite/1","name":"x","description":"y","cases":[{"benchmark":"a.b"}],"replicas":0})",
            "replicas"},
        Mistake{
            R"({"schema":"assay.suite/1","name":"x","description":"y","cases":[{"benchmark":"a.b","parameters":{"n":[]}}]})",
            "parameters.n"},
        Mistake{
            R"({"schema":"assay.suite/1","name":"x","description":"y","cases":[{"benchmark":"a.b","parameters":{"n":null}}]})",
            "parameters.n"},
        Mistake{
            R"({"schema":"assay.suite/1","name":"x","description":"y","cases":[{"benchmark":"a.b","parameters":{"n":[[1]]}}]})",
            "parameters.n"},
        Mistake{
            R"({"schema":"assay.suite/1","name":"x","description":"y","cases":[{"benchmark":"a.b","needs":["gpu"]}]})",
            "needs"},
        Mistake{
            R"({"schema":"assay.suite/1","name":"x","description":"y","cases":[{"benchmark":"a.b","library":[]}]})",
            "library"},
        Mistake{
            R"({"schema":"assay.suite/1","name":"x","description":"y","cases":[{"benchmark":"a.b","library":["cuda",""]}]})",
            "library"},
        Mistake{
            R"({"schema":"assay.suite/1","name":"x","description":"y","cases":[{"benchmark":"a.b","together":"cpus:2"}]})",
            "parts of the CPUs"},
        Mistake{
            R"({"schema":"assay.suite/1","name":"x","description":"y","cases":[{"benchmark":"a.b","together":1}]})",
            "parts of the CPUs"},
        Mistake{
            R"({"schema":"assay.suite/1","name":"x","description":"y","cases":[{"benchmark":"a.b","together":[2]}]})",
            "together"},
        Mistake{
            R"({"schema":"assay.suite/1","name":"x","description":"y","stages":1,"cases":[{"benchmark":"a.b"}]})",
            "stages"},
        Mistake{
            R"({"schema":"assay.suite/1","name":"x","description":"y","stages":true,"cases":[{"benchmark":"a.b","stress":"yes"}]})",
            "stress"},
        Mistake{
            R"({"schema":"assay.suite/1","name":"x","description":"y","cases":[{"benchmark":"a.b","paramters":{}}]})",
            "parameters"}));

TEST(Suite, BudgetsThatContradictEachOtherAreRefused) {
    const TemporaryFolder folder;
    const auto below = harness::read_suite(
        folder.write("s.json", whole(R"(,"protocol":{"min_seconds":5,"budget_seconds":2})")));
    ASSERT_FALSE(below);
    EXPECT_THAT(below.error().message, HasSubstr("budget_seconds"));
    const auto limit =
        harness::read_suite(folder.write("s.json", whole(R"(,"protocol":{"limit_seconds":5})")));
    ASSERT_FALSE(limit);
    EXPECT_THAT(limit.error().message, HasSubstr("limit_seconds"));
}

TEST(Suite, OnlyOneWithStagesHasCasesOfStress) {
    const std::string text =
        R"({"schema":"assay.suite/1","name":"x","description":"y",%"cases":[{"benchmark":"a.b","stress":true}]})";
    auto staged = text;
    staged.replace(staged.find('%'), 1, R"("stages":true,)");
    const auto suite = harness::parse_suite(staged, "x");
    ASSERT_TRUE(suite) << suite.error().message;
    EXPECT_TRUE(suite->has_stages);
    EXPECT_TRUE(suite->cases[0].is_stress);
    auto plain = text;
    plain.erase(plain.find('%'), 1);
    const auto wrong = harness::parse_suite(plain, "x.json");
    ASSERT_FALSE(wrong);
    EXPECT_THAT(wrong.error().message, HasSubstr("\"stages\": true"));
}

TEST(Suite, FrozenOnesAreAsTheyWereFrozen) {
    const auto frozen = harness::read_frozen(suites / "frozen.json");
    ASSERT_TRUE(frozen) << frozen.error().message;
    for (const auto& [name, digest] : *frozen) {
        const auto suite = harness::read_suite(suites / (name + ".json"));
        ASSERT_TRUE(suite) << suite.error().message;
        EXPECT_EQ(suite->digest, digest) << "a changed suite needs a new name: " << name;
    }
}

TEST(Suite, ItsDigestIsOfItsContent) {
    const auto digest = [](const std::string& text) {
        const auto suite = harness::parse_suite(text, "s");
        return suite ? suite->digest : suite.error().message;
    };
    const auto text = whole(R"(,"replicas":2)");
    EXPECT_EQ(digest(text).size(), 64U);
    EXPECT_EQ(digest(text), digest(" " + text + "\n"));
    EXPECT_NE(digest(text), digest(whole(R"(,"replicas":3)")));
    const harness::FrozenSuites frozen{{"x", digest(text)}, {"z", "other"}};
    EXPECT_TRUE(harness::parse_suite(text, "s", frozen)->is_frozen);
    const auto edited = harness::parse_suite(whole(R"(,"replicas":3)"), "s", frozen);
    ASSERT_FALSE(edited);
    EXPECT_EQ(edited.error().fault, Fault::usage);
    EXPECT_THAT(edited.error().message, AllOf(HasSubstr("\"x\""), HasSubstr("new name")));
}

TEST(Suite, EveryTruncationIsAnErrorAndNoneACrash) {
    const TemporaryFolder folder;
    const std::string text = whole(R"(,"protocol":{"target":0.03},"replicas":2)");
    for (std::size_t length = 0; length < text.size(); ++length)
        EXPECT_FALSE(harness::read_suite(folder.write("s.json", text.substr(0, length)))) << length;
    EXPECT_TRUE(harness::read_suite(folder.write("s.json", text)));
}

TEST(Suite, IsAtMostAMebibyte) {
    const TemporaryFolder folder;
    constexpr std::size_t most = std::size_t{1} << 20U;
    auto text = whole("");
    text.resize(most, ' ');
    EXPECT_TRUE(harness::read_suite(folder.write("s.json", text)));
    const auto refused = harness::read_suite(folder.write("s.json", text + ' '));
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, AllOf(HasSubstr("s.json"), HasSubstr("larger than")));
}

TEST(Suite, IsFoundByPathOrNotAtAll) {
    EXPECT_EQ(harness::find_suite("./x"), "./x");
    EXPECT_EQ(harness::find_suite("x.json"), "x.json");
    EXPECT_EQ(harness::find_suite("gemm.square"), "");
}

} // namespace
