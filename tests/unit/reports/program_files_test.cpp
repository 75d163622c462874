// SPDX-License-Identifier: Apache-2.0
//
// What assay-report says of nodes, and does with files that are not what they should be: pipes, devices, results that
// were changed.

#include "json/json.hpp"
#include "program.hpp"

#include <sys/stat.h>

namespace assay::report {
namespace {

using namespace testing;

constexpr const char* limits = R"({"schema": "assay.limits/1", "name": "ours", "limits": [
    {"id": "gemm", "title": "GEMM", "kind": "contract", "case": {"benchmark": "gemm.square"},
     "unit": "FLOP/s", "at_least": 2e11, "source": "the contract"}]})";

/// Twice as fast as the limit.
record::Run good_run() {
    auto run = test::sample_run();
    run.cases.clear();
    run.cases.push_back(test::small_case());
    return run;
}

class FilesTest : public ProgramTest {
protected:
    void SetUp() override {
        ProgramTest::SetUp();
        write("limits.json", limits);
        put("results/one", good_run());
    }
    /// 124 where it waits for somebody who writes into a pipe.
    Ended in_time(const std::string& arguments) const {
        return call(arguments, "timeout --kill-after=1 60");
    }
    void make_pipe(const std::string& name) const {
        fs::create_directories((folder_ / name).parent_path());
        ASSERT_EQ(::mkfifo((folder_ / name).c_str(), 0600), 0);
    }
    json::Value document() const { return json::parse(content(run_), "run.json").value(); }
};

TEST_F(FilesTest, NothingWaitsForPipesAndDevices) {
    make_pipe("results/two/run.json");
    make_pipe("results/three/journal.ndjson");
    make_pipe("results/sweep/list.tsv");
    make_pipe("pipe/run.json");
    make_pipe("one.json");
    fs::create_symlink("/dev/zero", folder_ / "results/zero.json");
    for (const char* arguments :
         {"check results --limits limits.json", "fleet results", "compare results --column library",
          "history results", "predict allreduce --nodes 4 results",
          "limits derive results --out derived.json", "export results --to csv --out r.csv",
          "verify results"}) {
        const auto ended = in_time(arguments);
        EXPECT_THAT(ended.code, AnyOf(0, 1, 2, 3)) << arguments << ended.output;
    }
    for (const char* arguments : {"check results --limits limits.json", "fleet results"}) {
        const auto ended = in_time(arguments);
        EXPECT_EQ(ended.code, 3) << arguments << ended.output;
        EXPECT_THAT(ended.output, AllOf(HasSubstr("two/run.json"), HasSubstr("not a regular file")))
            << arguments;
    }
    EXPECT_EQ(in_time("report results").code, 0);
    for (const char* arguments :
         {"check one.json", "fleet one.json", "report one.json", "report pipe", "diff results pipe",
          "export one.json --to csv", "verify one.json", "check results --limits one.json",
          "limits lint one.json", "limits show one.json", "import one.json --out i",
          "offers lint one.json", "check results/zero.json", "report results/zero.json"}) {
        const auto ended = in_time(arguments);
        EXPECT_THAT(ended.code, AnyOf(1, 2, 3)) << arguments << ended.output;
        EXPECT_THAT(ended.output, HasSubstr("regular file")) << arguments;
    }
}

TEST_F(FilesTest, WhatAKilledExportLeftIsNoRunAndGoesWithTheNext) {
    const std::string left = "results/.assay-0123456789abcdef0123456789abcdef.tmp";
    auto other = good_run();
    other.id = "other";
    put(left + "/results/0001", other);
    EXPECT_THAT(call("history results --json").output, Not(HasSubstr("other")));
    EXPECT_THAT(call("report results").output, Not(HasSubstr("assay-0123")));
    ASSERT_EQ(call("export results --to csv --out results/r.csv").code, 0);
    EXPECT_FALSE(fs::exists(folder_ / left));
    put(left + "/results/0001", other);
    ASSERT_EQ(call("export results --bundle results/b --limits limits.json").code, 0);
    EXPECT_FALSE(fs::exists(folder_ / left));
}

TEST_F(FilesTest, AChangedResultIsNotUsed) {
    EXPECT_EQ(call("check results --limits limits.json").code, 0);
    auto changed = document();
    changed["cases"][0]["metrics"][0]["value"] = 1e15;
    write("results/one/run.json", json::to_text(changed));
    const auto checked = call("check results --limits limits.json");
    EXPECT_EQ(checked.code, 3) << checked.output;
    EXPECT_THAT(checked.output, AllOf(HasSubstr("cases[0] does not match its digest"),
                                      HasSubstr("one/run.json"), StartsWith("INCONCLUSIVE: ")));
    for (const char* arguments :
         {"report results", "diff results results/one/run.json", "compare results"})
        EXPECT_EQ(call(arguments).code, 2) << arguments << call(arguments).output;
    for (const char* arguments :
         {"history results", "fleet results", "export results --to csv --out r.csv",
          "report results/one/run.json", "limits derive results --out derived.json",
          "predict allreduce --nodes 4 results"})
        EXPECT_THAT(call(arguments).output, HasSubstr("does not match its digest")) << arguments;
    EXPECT_THAT(call("fleet results --json").output, HasSubstr("\"changed\""));
    // Where the digests are made again, it is another result: only a signature tells.
    changed["digests"] = json::encode(record::digests_of(changed));
    write("results/one/run.json", json::to_text(changed));
    EXPECT_EQ(call("check results --limits limits.json").code, 0);
    changed.erase("digests");
    write("results/one/run.json", json::to_text(changed));
    EXPECT_EQ(call("check results --limits limits.json").code, 3) << "its version has digests";
    changed["schema"] = "assay.run/1";
    write("results/one/run.json", json::to_text(changed));
    EXPECT_EQ(call("check results --limits limits.json").code, 0) << "that of before has none";
}

TEST_F(FilesTest, ANodeMayJudgeItselfInAFolderOfMany) {
    const auto write_run = [&](const std::string& name, const std::string& machine) {
        auto run = good_run();
        run.id = name;
        run.machine.id = machine;
        for (auto& c : run.cases) // no two processes measure the same
            for (auto& replica : c.replicas)
                *replica.high *= 1 + 1e-9 * static_cast<double>(name.size());
        put("all/baseline/" + machine + "/" + name, run);
    };
    const auto own = good_run().machine.id;
    write_run("first", own);
    write_run("second", own);
    write_run("third", "m-fedcba9876543210");
    make_pipe("all/baseline/m-fedcba9876543210/fourth/run.json");
    const auto newest = "all/baseline/" + own + "/second/run.json";
    const auto ended = call("check all --limits limits.json --json --machine-of " + newest);
    EXPECT_EQ(ended.code, 0) << ended.output;
    const auto verdict = json::parse(ended.output, "stdout").value();
    ASSERT_EQ(verdict["nodes"].size(), 1U);
    EXPECT_EQ(verdict["nodes"][0]["runs"].size(), 2U);
    EXPECT_TRUE(verdict["problems"].empty());
    expect(call("check all --limits limits.json --machine-of results/one/run.json"), 2,
           {"not among the inputs"});
    // In the node's own folder an unusable file counts.
    make_pipe("all/baseline/" + own + "/fifth/run.json");
    EXPECT_EQ(call("check all --limits limits.json --machine-of " + newest).code, 3);
}

TEST_F(ProgramTest, ChecksNodesAndEndsWithTheirVerdict) {
    write("limits.json", R"({"schema": "assay.limits/1", "name": "ours",
        "expect": [{"expect": ["cores>=1"]}], "limits": []})");
    const auto parts = [&](const std::string& expected, const std::string& more) {
        write(
            "parts.json",
            R"({"schema": "assay.limits/1", "name": "parts", "limits": [], "expect": [{"expect": [")" +
                expected + "\"]}]}");
        return call("check results --limits limits.json --limits parts.json " + more);
    };
    expect(parts("gpu=64", "--junit v.xml --openmetrics v.prom --html v.html --md -"), 1,
           {"FAIL", "gpu=64"});
    EXPECT_THAT(content(folder_ / "v.xml"), HasSubstr("type=\"part_missing\""));
    EXPECT_THAT(content(folder_ / "v.prom"), HasSubstr("# EOF"));
    EXPECT_EQ(parts("gpu=64", "--exit-style nagios").code, 2);
    EXPECT_EQ(parts("gpu=64", "--exit-style npd").code, 1);
    expect(parts("gpu=64", "--advisory"), 0, {"instead of 1"});
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
    test::measure_again(other, other.id);
    put("other", other);
    const auto ended = call("diff results other");
    EXPECT_EQ(ended.code, 0);
    EXPECT_TRUE(ended.output.starts_with("B differs from A in 1 fact, which may change speed or "
                                         "correctness: huge pages madvise →"))
        << ended.output;
    EXPECT_THAT(ended.output, HasSubstr("1 could not be compared"));
    EXPECT_EQ(call("diff results other --fail-on difference --md x.md").code, 1);
    EXPECT_THAT(call("diff golden=results other --lang zh").output,
                HasSubstr("B 与 golden 的差异"));
    const auto json = json::parse(call("diff results other --json").output, "stdout").value();
    EXPECT_EQ(json["differences"][0]["key"], "huge_pages");
    other.cases.clear(); // a machine that was only looked at
    put("other", other);
    EXPECT_EQ(call("diff results other").code, 0);
    write("none.json", "{}");
    for (const char* wrong :
         {"results results/one", "results", "results other other", "results none.json",
          "results absent", "results other --fail-on worse", "results --this-machine"})
        EXPECT_EQ(call(std::string{"diff "} + wrong).code, 2) << wrong;
    EXPECT_THAT(call("diff results results/one").output, HasSubstr("is on both sides"));
}

} // namespace
} // namespace assay::report
