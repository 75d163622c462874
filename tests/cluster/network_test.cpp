// SPDX-License-Identifier: Apache-2.0
//
// Two processes on two hosts: with_hosts 2 cluster_test --gtest_filter=Network.*. A link with a
// known limit lets through that much, and losses are reported.

#include "cluster.hpp"
#include "support/variable.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace assay::cluster_test {
namespace {

using testing::HasSubstr;

void set_rate(const std::string& rate) { set_switch("rate h2 " + rate); }

class Network : public Cluster {
protected:
    record::Run measure(std::vector<std::string> arguments) {
        arguments.insert(arguments.end(), {"--hosts", "h1:1,h2:1"});
        return Cluster::measure(arguments);
    }
    record::Case measure_one(std::vector<std::string> arguments) {
        arguments.insert(arguments.end(), {"--hosts", "h1:1,h2:1"});
        return Cluster::measure_one(arguments);
    }
};

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
    EXPECT_EQ(record::text(tcp.settings, "path"), "tcp");
    EXPECT_EQ(record::text(tcp.settings, "transports"), "tcp");
    EXPECT_EQ(record::text(tcp.settings, "network_devices"), "eth0");
    EXPECT_EQ(record::text(tcp.settings, "machines"), "2");
    EXPECT_EQ(run.cases[1].status, record::Status::skipped);
    EXPECT_THAT(run.cases[1].reason, HasSubstr("shared memory does not reach another host"));
    const auto& by_libfabric = run.cases[2];
    EXPECT_TRUE(is_measured(by_libfabric.status)) << by_libfabric.reason;
    EXPECT_NEAR(value_of(by_libfabric, "bandwidth"), limit, slack(by_libfabric) * limit);
    EXPECT_EQ(record::text(by_libfabric.settings, "transports"), "tcp;ofi_rxm");
    EXPECT_EQ(record::text(by_libfabric.settings, "machines"), "2");
}

TEST_F(Network, ALargeMessageTakesAsLongAsTheLinkNeeds) {
    set_rate("200mbit");
    const auto c = measure_one({"network.ping_pong[ucx]", "--budget", "6s", "--set", "*.bytes=1MiB",
                                "--set", "*.transport=tcp"});
    set_rate("");
    EXPECT_TRUE(is_measured(c.status)) << c.reason;
    // A bucket of 128 KiB goes through at once, each way.
    constexpr double whole = 1048576 * 8 / 200e6; // seconds
    const double latency = value_of(c, "latency");
    EXPECT_GT(latency, 0.85 * whole);
    EXPECT_LT(latency, (1 + slack(c)) * whole);
}

TEST_F(Network, NoCommonTransportIsSaid) {
    const test::Variable transports{"UCX_TLS", "posix"};
    const auto c = measure_one({"network.put[ucx]", "--set", "*.bytes=8"});
    EXPECT_FALSE(record::is_finished(c.status));
    EXPECT_THAT(c.reason, HasSubstr("UCX"));
}

} // namespace
} // namespace assay::cluster_test
