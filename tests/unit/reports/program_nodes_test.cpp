// SPDX-License-Identifier: Apache-2.0
//
// What assay-report says of nodes, from outside: verdicts, differences.

#include "json/json.hpp"
#include "program.hpp"

#include <gmock/gmock.h>

#include <string>

namespace assay::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST_F(ProgramTest, ChecksNodesAndEndsWithTheirVerdict) {
    std::ofstream{folder_ / "limits.json"} << R"({"schema": "assay.limits/1", "name": "ours",
        "expect": [{"expect": ["cores>=1"]}], "limits": []})";
    const auto parts = [&](const std::string& expected, const std::string& more) {
        std::ofstream{folder_ / "parts.json"}
            << R"({"schema": "assay.limits/1", "name": "parts", "limits": [], "expect": [{"expect": [")" +
                   expected + "\"]}]}";
        return call("check results --limits limits.json --limits parts.json " + more);
    };
    const auto failed = parts("gpu=64", "--junit v.xml --openmetrics v.prom --html v.html --md -");
    EXPECT_EQ(failed.code, 1) << failed.output;
    EXPECT_THAT(failed.output, AllOf(HasSubstr("FAIL"), HasSubstr("gpu=64")));
    EXPECT_THAT(content(folder_ / "v.xml"), HasSubstr("type=\"part_missing\""));
    EXPECT_THAT(content(folder_ / "v.prom"), HasSubstr("# EOF"));
    EXPECT_EQ(parts("gpu=64", "--exit-style nagios").code, 2);
    EXPECT_EQ(parts("gpu=64", "--exit-style npd").code, 1);
    const auto advisory = parts("gpu=64", "--advisory");
    EXPECT_EQ(advisory.code, 0);
    EXPECT_THAT(advisory.output, HasSubstr("instead of 1"));
    EXPECT_EQ(parts("gpus", "").code, 2);
    EXPECT_EQ(call("check").code, 2);
    EXPECT_EQ(call("check results --limits absent.json").code, 2);
    EXPECT_EQ(call("check results --limits absent.json --exit-style nagios").code, 3);
    EXPECT_EQ(call("check results --limits limits.json --exit-style icinga").code, 2);
    EXPECT_EQ(call("check results --limits limits.json --csv limits.json").code, 2);
    EXPECT_EQ(call("check results --limits limits.json --junit results/one/run.json").code, 2);
}

TEST_F(ProgramTest, DiffOfTwoNodes) {
    auto other = test::sample_run();
    other.id = "20260231T000000Z-0000"; // the same id is the same run
    other.machine.id = "m-fedcba9876543210";
    other.machine.huge_pages = "never";
    fs::create_directories(folder_ / "other");
    ASSERT_TRUE(record::write_run(folder_ / "other/run.json", other).has_value());
    const auto ended = call("diff results other");
    EXPECT_EQ(ended.code, 0);
    EXPECT_TRUE(ended.output.starts_with("B differs from A in 1 setting; 1 of these may change "
                                         "speed or correctness: huge pages madvise →"))
        << ended.output;
    EXPECT_THAT(ended.output, HasSubstr("None of "));
    EXPECT_EQ(call("diff results other --fail-on difference --md x.md").code, 1);
    EXPECT_THAT(call("diff golden=results other --lang zh").output,
                HasSubstr("B 与 golden 的差异"));
    const auto json = json::parse(call("diff results other --json").output, "stdout");
    ASSERT_TRUE(json);
    EXPECT_EQ((*json)["differences"][0]["key"], "huge_pages");
    other.cases.clear(); // a machine that was only looked at
    ASSERT_TRUE(record::write_run(folder_ / "other/run.json", other).has_value());
    EXPECT_EQ(call("diff results other").code, 0);
    std::ofstream{folder_ / "none.json"} << "{}";
    for (const char* wrong :
         {"results results/one", "results", "results other other", "results none.json",
          "results absent", "results other --fail-on worse", "results --this-machine"})
        EXPECT_EQ(call(std::string{"diff "} + wrong).code, 2) << wrong;
    EXPECT_THAT(call("diff results results/one").output, HasSubstr("is on both sides"));
}

} // namespace
} // namespace assay::report
