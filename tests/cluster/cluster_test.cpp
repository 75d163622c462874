// SPDX-License-Identifier: Apache-2.0
//
// Teams that span hosts: with_hosts 5 cluster_test. This process is on h1 and sees nothing of the others
// but the network, so that what is cleaned up there was cleaned up over it.

#include "cli/program.hpp"
#include "core/runner.hpp"
#include "record/reader.hpp"
#include "stats/culprits.hpp"
#include "trouble_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace assay;
using namespace std::chrono_literals;
using cli_test::Folder;
using record::Status;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

std::filesystem::path cluster() { return std::getenv("ASSAY_CLUSTER"); }

void command(const std::string& text) {
    ASSERT_EQ(std::system(text.c_str()), 0) << text; // NOLINT: our own words
}
void set_switch(const std::string& what) { command((cluster() / "switch").string() + " " + what); }

/// Runs it on another host and waits until it has ended.
std::string on_host(const std::string& host, const std::string& what) {
    const auto output = cluster() / "output";
    const auto ended = cluster() / "ended";
    std::filesystem::remove(ended);
    command((cluster() / "agent").string() + " " + host + " '(" + what + ") > " + output.string() +
            " 2>&1; touch " + ended.string() + "'");
    for (int i = 0; i < 1000 && !std::filesystem::exists(ended); ++i)
        std::this_thread::sleep_for(10ms);
    std::ifstream file{output};
    return {std::istreambuf_iterator<char>{file}, {}};
}

class Cluster : public testing::Test {
protected:
    /// `what` of rank 1, which is on h2.
    record::Case trouble(const std::string& what, double limit) {
        trouble_test::Silent observer;
        return trouble(what, limit, observer);
    }
    record::Case trouble(const std::string& what, double limit, core::Observer& observer) {
        const auto trouble = trouble_test::load_trouble(TROUBLE_TEAM_MODULE);
        auto plan = trouble.plan({what});
        plan.cases[0].protocol.limit_seconds = limit;
        plan.job = {.hosts = {{"h1", 1}, {"h2", 1}}, .launcher = "mpirun", .show_names = true};
        const auto outcome =
            core::run(plan, {.out = folder_.path(), .program = TROUBLE_PROGRAM}, observer);
        EXPECT_TRUE(outcome) << outcome.error().message;
        return outcome ? outcome->run.cases.at(0) : record::Case{};
    }
    /// Workers and daemons of the launcher on h2, which this process could not kill.
    static std::string survivors() {
        std::string left;
        for (int i = 0; i < 600; ++i) {
            left = on_host("h2", "grep -sl ASSAY_TOKEN /proc/[0-9]*/environ; pgrep -r R,S,D orted");
            if (left.empty()) break;
            std::this_thread::sleep_for(20ms);
        }
        return left;
    }
    record::Run measure(std::vector<std::string> arguments,
                        const std::vector<std::string>& environment = {}) {
        arguments.insert(arguments.begin(), "run");
        for (const char* more : {"--out", folder_.path().c_str(), "--replicas", "1", "--quiet"})
            arguments.emplace_back(more);
        const auto outcome = cli_test::run(arguments, {.environment = environment});
        for (const auto& entry : std::filesystem::recursive_directory_iterator{folder_.path()})
            if (entry.path().filename() == "run.json") {
                auto run = record::read_run(entry.path());
                EXPECT_TRUE(run) << run.error().message;
                if (run) return *run;
            }
        ADD_FAILURE() << outcome.error;
        return {};
    }

    Folder folder_;
};

double value_of(const record::Case& c, const std::string& metric) {
    for (const auto& m : c.metrics)
        if (m.name == metric) return m.value.value_or(0);
    return 0;
}

TEST_F(Cluster, ALimitedLinkIsMeasuredAndItsPathProved) {
    set_switch("rate h2 100mbit");
    const auto run = measure({"collective.send_receive", "--hosts", "h1:1,h2:1", "--budget", "3s",
                              "--set", "*.bytes=1MiB", "--set", "*.transport=tcp,shared_memory"});
    set_switch("rate h2");
    ASSERT_EQ(run.cases.size(), 2U);
    const auto& tcp = run.cases[0];
    EXPECT_TRUE(record::is_finished(tcp.status)) << tcp.reason;
    constexpr double limit = 100e6 / 8; // bytes per second
    EXPECT_NEAR(value_of(tcp, "bus_bandwidth"), limit, 0.05 * limit);
    const auto setting = [&](const char* name) {
        const auto* value = record::find(tcp.settings, name);
        return value == nullptr ? "" : record::to_string(*value);
    };
    EXPECT_EQ(setting("path"), "tcp");
    EXPECT_EQ(setting("machines"), "2");
    EXPECT_EQ(setting("job.hosts"), "node0:1 node1:1") << "no name unless asked for";
    EXPECT_EQ(run.cases[1].status, Status::skipped);
    EXPECT_THAT(run.cases[1].reason, HasSubstr("shared memory does not reach another host"));
}

TEST_F(Cluster, ASlowHostShowsInTheMatrix) {
    set_switch("rate h3 100mbit");
    const auto run = measure({"collective.pairs", "--hosts", "h1:1,h2:1,h3:1,h4:1,h5:1", "--budget",
                              "5s", "--set", "*.bytes=1MiB"});
    set_switch("rate h3");
    ASSERT_EQ(run.cases.size(), 1U);
    const auto& c = run.cases[0];
    EXPECT_TRUE(record::is_finished(c.status)) << c.reason;
    ASSERT_FALSE(c.replicas.empty());
    const auto& tables = c.replicas[0].tables;
    const auto matrix = std::ranges::find(tables, "bandwidth", &record::Table::metric);
    ASSERT_NE(matrix, tables.end());
    ASSERT_EQ(matrix->rows,
              (std::vector<std::string>{"node0", "node1", "node2", "node3", "node4"}));
    constexpr double limit = 100e6 / 8; // bytes per second
    for (std::size_t from = 0; from < 5; ++from)
        for (std::size_t to = 0; to < 5; ++to) {
            const auto value = matrix->values[5 * from + to];
            EXPECT_EQ(value.has_value(), from != to);
            if (from == to) continue;
            if (from == 2 || to == 2)
                EXPECT_NEAR(*value, limit, 0.2 * limit) << "a burst goes through at once";
            else
                EXPECT_GT(*value, 2 * limit);
        }
    std::vector<double> values;
    for (const auto& value : matrix->values) values.push_back(value.value_or(std::nan("")));
    const auto culprits =
        stats::find_culprits({.nodes = 5, .values = values, .higher_is_better = true});
    ASSERT_FALSE(culprits.nodes.empty());
    EXPECT_EQ(culprits.nodes.front().node, 2U);
}

TEST_F(Cluster, ARankThatDiesIsNamedWithItsHost) {
    const auto c = trouble("segv", 30);
    EXPECT_EQ(c.status, Status::crashed);
    EXPECT_THAT(c.reason, AllOf(HasSubstr("rank 1 on h2"), HasSubstr("SIGSEGV")));
    EXPECT_EQ(survivors(), "");
}

TEST_F(Cluster, ARankThatHangsIsNamedWithItsHost) {
    const auto c = trouble("hang", 2);
    EXPECT_EQ(c.status, Status::timed_out);
    EXPECT_THAT(c.reason, HasSubstr("rank 1 on h2 sleeps"));
    EXPECT_EQ(survivors(), "") << "nobody could kill it from here";
}

TEST_F(Cluster, ARankThatNeverStartsIsNamedWithItsHost) {
    const std::string agent = std::getenv("OMPI_MCA_plm_rsh_agent");
    ::setenv("OMPI_MCA_plm_rsh_agent", "/bin/true", 1);
    const auto c = trouble("fine", 1);
    ::setenv("OMPI_MCA_plm_rsh_agent", agent.c_str(), 1);
    EXPECT_EQ(c.status, Status::timed_out);
    EXPECT_THAT(c.reason, AllOf(HasSubstr("never started"), HasSubstr("rank 1 on h2")));
}

/// Takes h2 off the network when its rank is there and works.
struct CutOff : trouble_test::Silent {
    void progress(const core::Progress& progress) override {
        const bool works = progress.phase != before_ && progress.phase == "running";
        before_ = progress.phase;
        if (works) set_switch("link h2 down");
    }

private:
    std::string before_;
};

TEST_F(Cluster, AHostThatIsCutOffIsNamed) {
    CutOff observer;
    const auto c = trouble("hang", 2, observer);
    set_switch("link h2 up");
    EXPECT_EQ(c.status, Status::timed_out);
    EXPECT_THAT(c.reason, HasSubstr("rank 1 on h2 does not answer"));
    EXPECT_EQ(survivors(), "") << "when the network is back, nobody is there any more";
}

TEST_F(Cluster, AnotherProgramOnAHostIsRefused) {
    on_host("h2", std::string{"mount --bind " ASSAY_PROGRAM " "} + TROUBLE_PROGRAM);
    const auto c = trouble("fine", 20);
    on_host("h2", std::string{"umount "} + TROUBLE_PROGRAM);
    EXPECT_EQ(c.status, Status::failed);
    EXPECT_THAT(c.reason, AllOf(HasSubstr("runs another build of assay"), HasSubstr(" on h")));
}

TEST_F(Cluster, AProgramThatAHostLacksIsSaid) {
    const auto programs = std::filesystem::path{TROUBLE_PROGRAM}.parent_path().string();
    on_host("h2", "mount -t tmpfs tmpfs " + programs);
    const auto c = trouble("fine", 20);
    on_host("h2", "umount " + programs);
    EXPECT_EQ(c.status, Status::crashed);
    EXPECT_THAT(c.reason, HasSubstr("assay must be installed at the same path on every host"));
}

TEST_F(Cluster, NoCommonTransportIsSaid) {
    const auto run =
        measure({"collective.send_receive", "--hosts", "h1:1,h2:1", "--set", "*.bytes=8"},
                {"OMPI_MCA_btl=self"});
    ASSERT_EQ(run.cases.size(), 1U);
    EXPECT_FALSE(record::is_finished(run.cases[0].status));
    EXPECT_THAT(run.cases[0].reason, HasSubstr("no common transport"));
}

TEST_F(Cluster, HostsThatCannotBeAreRefusedBeforeAnythingRuns) {
    const auto refused = [&](const std::string& option, const std::string& value) {
        return cli_test::run(
            {"run", "collective.send_receive", option, value, "--out", folder_.path().string()});
    };
    auto outcome = refused("--hosts", "h1:1,h9:1");
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.error, HasSubstr("there is no host h9"));
    EXPECT_EQ(refused("--hosts", "h1:1,h1:1").code, 2);
    outcome = refused("--hosts", "h1:1,10.77.0.1:1");
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.error, HasSubstr("are one host (10.77.0.1): name it once"));
    const auto file = folder_.write("hosts", "h1 slots=1 # here\n\nh2 slots=many\n");
    outcome = refused("--hostfile", file.string());
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.error, HasSubstr(file.string() + ":3: \"slots=many\" after h2"));
    command("ip link set eth0 down");
    outcome = refused("--hosts", "h1:1,h2:1");
    command("ip link set eth0 up");
    EXPECT_EQ(outcome.code, 4);
    EXPECT_THAT(outcome.error, HasSubstr("no network leads to the host h2 (10.77.0.2)"));
}

} // namespace
