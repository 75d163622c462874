// SPDX-License-Identifier: Apache-2.0
//
// Two processes on two hosts: with_hosts 2 network_test. What a link with a known limit lets through is
// known, and what it does not let through is said.

#include "cli/program.hpp"
#include "record/reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace assay {
namespace {

using testing::HasSubstr;

void set_rate(const std::string& rate) {
    const auto command = std::string{std::getenv("ASSAY_CLUSTER")} + "/switch rate h2 " + rate;
    ASSERT_EQ(std::system(command.c_str()), 0) << command; // NOLINT: our own words
}

class Network : public testing::Test {
protected:
    record::Run measure(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), "run");
        for (const char* more : {"--hosts", "h1:1,h2:1", "--out", folder_.path().c_str(),
                                 "--replicas", "1", "--patience", "0", "--quiet"})
            arguments.emplace_back(more);
        const auto outcome = cli_test::run(arguments, {});
        for (const auto& entry : std::filesystem::recursive_directory_iterator{folder_.path()})
            if (entry.path().filename() == "run.json") {
                auto run = record::read_run(entry.path());
                EXPECT_TRUE(run) << run.error().message;
                if (run) return *run;
            }
        ADD_FAILURE() << outcome.error;
        return {};
    }

    cli_test::Folder folder_;
};

double value_of(const record::Case& c, const std::string& metric) {
    for (const auto& m : c.metrics)
        if (m.name == metric) return m.value.value_or(0);
    return 0;
}

/// As for the teams of tests/cluster/cluster.hpp.
double slack(const record::Case& c) { return c.status == record::Status::disturbed ? 0.2 : 0.05; }

std::string setting(const record::Case& c, const char* name) {
    const auto* value = record::find(c.settings, name);
    return value == nullptr ? "" : record::to_string(*value);
}

TEST_F(Network, PutsFillALimitedLinkAndNoMore) {
    set_rate("200mbit");
    const auto run = measure({"network.put[ucx]", "network.put[ofi]", "--budget", "9s", "--set",
                              "*.bytes=256KiB", "--set", "*.transport=tcp,shared_memory"});
    set_rate("");
    ASSERT_EQ(run.cases.size(), 4U);
    const auto& tcp = run.cases[0];
    EXPECT_TRUE(is_measured(tcp.status)) << tcp.reason; // whatever else this machine does
    // The link counts whole frames: of 1514 bytes 1448 are data.
    constexpr double limit = 200e6 / 8 * 1448 / 1514; // bytes per second
    EXPECT_NEAR(value_of(tcp, "bandwidth"), limit, slack(tcp) * limit);
    EXPECT_EQ(setting(tcp, "path"), "tcp");
    EXPECT_EQ(setting(tcp, "transports"), "tcp");
    EXPECT_EQ(setting(tcp, "network_devices"), "eth0");
    EXPECT_EQ(setting(tcp, "machines"), "2");
    EXPECT_EQ(run.cases[1].status, record::Status::skipped);
    EXPECT_THAT(run.cases[1].reason, HasSubstr("shared memory does not reach another host"));
    const auto& by_libfabric = run.cases[2];
    EXPECT_TRUE(is_measured(by_libfabric.status)) << by_libfabric.reason;
    EXPECT_NEAR(value_of(by_libfabric, "bandwidth"), limit, slack(by_libfabric) * limit);
    EXPECT_EQ(setting(by_libfabric, "transports"), "tcp;ofi_rxm");
    EXPECT_EQ(setting(by_libfabric, "machines"), "2");
}

TEST_F(Network, ALargeMessageTakesAsLongAsTheLinkNeeds) {
    set_rate("200mbit");
    const auto run = measure({"network.ping_pong[ucx]", "--budget", "6s", "--set", "*.bytes=1MiB",
                              "--set", "*.transport=tcp"});
    set_rate("");
    ASSERT_EQ(run.cases.size(), 1U);
    EXPECT_TRUE(is_measured(run.cases[0].status)) << run.cases[0].reason;
    // A bucket of 128 KiB goes through at once, each way.
    constexpr double whole = 1048576 * 8 / 200e6; // seconds
    const double latency = value_of(run.cases[0], "latency");
    EXPECT_GT(latency, 0.85 * whole);
    EXPECT_LT(latency, (1 + slack(run.cases[0])) * whole);
}

TEST_F(Network, NoCommonTransportIsSaid) {
    ::setenv("UCX_TLS", "posix", 1);
    const auto run = measure({"network.put[ucx]", "--set", "*.bytes=8"});
    ::unsetenv("UCX_TLS");
    ASSERT_EQ(run.cases.size(), 1U);
    EXPECT_FALSE(record::is_finished(run.cases[0].status));
    EXPECT_THAT(run.cases[0].reason, HasSubstr("UCX"));
}

} // namespace
} // namespace assay
