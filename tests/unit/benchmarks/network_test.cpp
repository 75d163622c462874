// SPDX-License-Identifier: Apache-2.0
#include "network/burst.hpp"
#include "network/lanes.hpp"
#include "network/pairs.hpp"
#include "network/resources.hpp"
#include "network/tail.hpp"
#include "network/way.hpp"
#include "support/fake_program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace assay::network {

/// In place of UCX's answer.
std::vector<std::string> transports_found() { return {"posix", "rc_verbs", "tcp", "udp"}; }

namespace {

using testing::HasSubstr;

// Output of UCX 1.13.1.
constexpr const char* info = R"(#
# UCP endpoint 
#
#               peer: <no debug data>
#                 lane[0]:  0:tcp/lo.0 md[0]                -> md[0]/tcp/sysdev[255] rma_bw#0 am am_bw#0
#                 lane[1]:  1:tcp/eth0.0 md[0]              -> md[0]/tcp/sysdev[255] rma_bw#1 wireup
#                 lane[2]:  7:rc_mlx5/mlx5_0:1.1 md[5]      -> md[5]/ib/sysdev[2]
#
#                tag_send: 0..<egr/short>..8185..<egr/zcopy>..8192..<rndv>..(inf)
#
#                  rma_bw: mds [0] rndv_rkey_size 10
)";

TEST(Lanes, AreReadFromUcxsWords) {
    const auto lanes = lanes_of(info);
    ASSERT_EQ(lanes.size(), 3U);
    EXPECT_EQ(lanes[0], (Lane{"tcp", "lo", "rma_bw#0 am am_bw#0"}));
    EXPECT_EQ(lanes[1], (Lane{"tcp", "eth0", "rma_bw#1 wireup"}));
    EXPECT_EQ(lanes[2], (Lane{"rc_mlx5", "mlx5_0:1", ""}));
    EXPECT_EQ(transports_of(lanes), "tcp, rc_mlx5");
    EXPECT_EQ(devices_of(lanes), "lo, eth0, mlx5_0:1");
    EXPECT_EQ(words_of(lanes), "tcp/lo (rma_bw#0 am am_bw#0); tcp/eth0 (rma_bw#1 wireup); "
                               "rc_mlx5/mlx5_0:1");
}

TEST(Lanes, OfOtherWordsAreNone) {
    const std::string whole = info;
    for (std::size_t length = 0; length < whole.size(); ++length)
        EXPECT_LE(lanes_of(whole.substr(0, length)).size(), 3U);
    for (const char* text :
         {"", "lane[", "lane[0]: ->", "-> lane[0]: 0:tcp/lo.0", "lane[0]: tcp/lo -> md",
          "lane[0]: 0:/lo ->", "lane[0]: 0:tcp/ ->", "lane[0]: 0:tcp ->"})
        EXPECT_TRUE(lanes_of(text).empty()) << text;
}

TEST(Way, IsContradictedByOtherLanes) {
    const auto of = [](const std::vector<std::string>& transports) {
        std::vector<Lane> lanes;
        for (const auto& name : transports)
            lanes.push_back({.transport = name, .device = "d", .uses = ""});
        return lanes;
    };
    EXPECT_EQ(contradiction(Way::any, of({"tcp", "posix"})), "");
    EXPECT_EQ(contradiction(Way::tcp, of({"tcp", "tcp"})), "");
    EXPECT_EQ(contradiction(Way::tcp, of({"tcp", "posix"})), "UCX uses tcp, posix on d");
    EXPECT_EQ(contradiction(Way::shared_memory, of({"sysv", "posix"})), "");
    EXPECT_NE(contradiction(Way::shared_memory, of({"posix", "cma"})), "");
    EXPECT_EQ(contradiction(Way::cma, of({"posix", "cma"})), "");
    EXPECT_NE(contradiction(Way::cma, of({"posix"})), "") << "nothing went through cma";
    EXPECT_EQ(contradiction(Way::rc, of({"rc_mlx5", "rc_verbs"})), "");
    EXPECT_NE(contradiction(Way::rc, of({"rc_mlx5", "tcp"})), "");
    EXPECT_NE(contradiction(Way::ud, of({"udp"})), "") << "another transport of a similar name";
}

TEST(Way, SaysWhatIsMissing) {
    test::FakeProgram program;
    const Machine machine{&program.services};
    EXPECT_TRUE(fit_way(Way::any, machine));
    EXPECT_TRUE(fit_way(Way::tcp, machine));
    EXPECT_TRUE(fit_way(Way::shared_memory, machine));
    EXPECT_EQ(fit_way(Way::cma, machine).why(),
              "not applicable: UCX finds no cma on this machine, only posix, rc_verbs, tcp, udp");
    program.facts["job.hosts"] = 2;
    EXPECT_THAT(fit_way(Way::shared_memory, machine).why(),
                HasSubstr("does not reach another host"));
}

TEST(Pairing, CrossesFromTheFirstHalfToTheSecond) {
    for (int ranks = 2; ranks <= 10; ranks += 2)
        for (int rank = 0; rank < ranks; ++rank) {
            const auto own = pairing_of(rank, ranks);
            const auto other = pairing_of(own.partner, ranks);
            EXPECT_EQ(other.partner, rank);
            EXPECT_NE(own.leads, other.leads);
            EXPECT_EQ(own.leads, rank < ranks / 2);
        }
}

TEST(Burst, LastsManyTimesItsEnd) {
    constexpr double end = 1e-6;
    for (const double message : {1e-9, 1e-7, 1e-5, 1e-3, 1e-1}) {
        int calls = 0;
        const auto burst = find_burst(64, [&](std::uint64_t messages) {
            // Every third call is disturbed, and the first ones are slow.
            const double disturbed = ++calls % 3 == 0 || calls < 8 ? 1e-2 : 0;
            return end + static_cast<double>(messages) * message + disturbed;
        });
        EXPECT_DOUBLE_EQ(burst.end, end);
        const double call = end + static_cast<double>(burst.messages) * message;
        EXPECT_GE(call, ends_in_a_call * end);
        EXPECT_TRUE(call >= long_call || burst.messages >= windows_in_a_call * 64);
        EXPECT_LT(call, 2.1 * long_call) << "and not much longer than needed";
    }
    // 20 ms to and fro: not six seconds for a call, but enough of its ends.
    const auto far =
        find_burst(64, [](std::uint64_t n) { return 0.02 + 1e-3 * static_cast<double>(n); });
    EXPECT_GE(0.02 + 1e-3 * static_cast<double>(far.messages), least_ends * far.end);
    EXPECT_LT(0.02 + 1e-3 * static_cast<double>(far.messages), 2.1 * least_ends * far.end);
    EXPECT_EQ(find_burst(64, [](std::uint64_t) { return 1e-3; }).messages, most_messages)
        << "messages that take no time";
}

TEST(Tail, KnowsOnlyWhatItHasSeen) {
    Tail tail;
    EXPECT_FALSE(tail.at(0.5));
    for (int i = 1; i <= 1000; ++i) tail.add(i);
    EXPECT_EQ(tail.at(0.5), 501);
    EXPECT_EQ(tail.at(0.99), 991);
    EXPECT_FALSE(tail.at(0.999)) << "one value lies above it";
    for (int i = 1001; i <= 10000; ++i) tail.add(i);
    EXPECT_EQ(tail.at(0.999), 9991);
}

} // namespace
} // namespace assay::network
