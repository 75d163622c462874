// SPDX-License-Identifier: Apache-2.0
//
// Programs of others over two hosts: an MPI program, a server and its client, and what is left of them.

#include "cluster.hpp"

#include <gmock/gmock.h>

#include <fstream>

namespace assay::cluster_test {
namespace {

using record::Status;
using testing::HasSubstr;

/// Processes of this name on h2, after survivors() has waited for the end of daemons.
std::string left_on_h2(const std::string& program) {
    return on_host("h2", "pgrep -r R,S,D -f " + program);
}

// Not hpcc: its random updates spin, and take minutes where hosts share CPUs.
TEST_F(Cluster, AnMpiProgramOfOthersRunsOverItsHosts) {
    const auto c =
        measure_one({"lammps.atoms", "--hosts", "h1:1,h2:1", "--set", "lammps.atoms.input=lj",
                     "--set", "lammps.atoms.cells=8", "--set", "lammps.atoms.steps=20"});
    if (c.status == Status::skipped) GTEST_SKIP() << c.reason;
    EXPECT_TRUE(has_values(c)) << c.reason;
    EXPECT_EQ(record::text(c.settings, "ranks"), "2");
    EXPECT_EQ(record::text(c.settings, "machines"), "2");
    EXPECT_EQ(record::text(c.settings, "job.hosts"), "node0:1 node1:1");
    EXPECT_THAT(record::text(c.settings, "command"), HasSubstr("--host node0:1,node1:1"));
    EXPECT_EQ(survivors() + left_on_h2("[l]mp"), "");
}

TEST_F(Cluster, AServerOfOthersRunsOnTheSecondHost) {
    set_switch("rate h2 100mbit");
    const auto c =
        measure_one({"iperf3.tcp", "--hosts", "h1:1,h2:1", "--set", "iperf3.tcp.peer=team", "--set",
                     "iperf3.tcp.streams=1", "--set", "iperf3.tcp.seconds=2", "--replicas", "2"});
    set_switch("rate h2");
    if (c.status == Status::skipped) GTEST_SKIP() << c.reason;
    EXPECT_TRUE(has_values(c)) << c.reason;
    constexpr double limit = 100e6 / 8; // bytes per second
    EXPECT_NEAR(value_of(c, "bandwidth"), limit, (0.1 + slack(c)) * limit);
    EXPECT_EQ(survivors() + left_on_h2("[i]perf3"), "");
}

TEST_F(Cluster, AProgramThatHangsOnAnotherHostIsEndedThere) {
    std::ofstream{folder_.path() / "hangs.json"} << R"json({
      "schema": "assay.external/1", "id": "test.hangs", "question": "How?", "method": "It hangs.", "caveats": "None.",
      "program": {"name": "sleep", "packages": ["coreutils"], "licence": "GPL-3.0-or-later"},
      "parameters": [{"name": "processes", "help": "how many", "range": [1, 9], "choices": ["all"], "defaults": ["all"]}],
      "team": "processes", "command": ["{launch}", "{tool}", "1000.78"], "time_limit": 2,
      "metrics": [{"metric": "bandwidth", "match": "rate: (.*)", "unit": "B/s"}],
      "checks": [{"notices": "an error", "match": "errors: (.*)", "equals": 0}]})json";
    const auto c = measure_one({"test.hangs", "--hosts", "h1:1,h2:1"},
                               {"ASSAY_EXTERNAL_PATH=" + folder_.path().string()});
    EXPECT_EQ(c.status, Status::failed);
    EXPECT_THAT(c.reason, HasSubstr("mpirun did not end within 2 s"));
    EXPECT_EQ(survivors() + left_on_h2("1000[.]78"), "");
}

TEST_F(Cluster, AHostThatDoesNotAnswerIsSaidBeforeAnythingRuns) {
    set_switch("link h2 down");
    const auto c =
        measure_one({"lammps.atoms", "--hosts", "h1:1,h2:1", "--set", "lammps.atoms.input=lj"});
    set_switch("link h2 up");
    if (c.status == Status::skipped) GTEST_SKIP() << c.reason;
    EXPECT_EQ(c.status, Status::failed);
    EXPECT_THAT(c.reason, HasSubstr("the hosts of the team cannot be used: mpirun"));
    EXPECT_EQ(survivors() + left_on_h2("[l]mp"), "");
}

} // namespace
} // namespace assay::cluster_test
