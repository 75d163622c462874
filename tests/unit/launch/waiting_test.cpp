// SPDX-License-Identifier: Apache-2.0
//
// Who may wait at the socket, and for how long: the clock is a number.

#include "launch/waiting.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace {

using namespace assay::harness;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::Field;

struct Peer {
    int name = 0;
    int rank = -1;
    std::chrono::steady_clock::time_point since{};
    bool closed = false;
};

constexpr std::chrono::steady_clock::time_point start{1h};

TEST(Strangers, MayWaitFiveSeconds) {
    std::vector<Peer> peers{{.name = 1, .since = start},
                            {.name = 2, .rank = 0, .since = start - 1h}, // has said who it is
                            {.name = 3, .since = start + 1s},
                            {.name = 4, .since = start + 1s, .closed = true}};
    drop_strangers(peers, start + 5s);
    EXPECT_THAT(peers,
                ElementsAre(Field(&Peer::name, 1), Field(&Peer::name, 2), Field(&Peer::name, 3)));
    drop_strangers(peers, start + 5s + 1ns);
    EXPECT_THAT(peers, ElementsAre(Field(&Peer::name, 2), Field(&Peer::name, 3)));
    drop_strangers(peers, start + 1h);
    EXPECT_THAT(peers, ElementsAre(Field(&Peer::name, 2)));
}

TEST(Strangers, TheOldestMakesRoomAndNoRankDoes) {
    std::vector<Peer> peers{{.name = -1, .rank = 0}, {.name = -2, .rank = 1}};
    for (int name = 0; name < 64; ++name) add_stranger(peers, {.name = name});
    EXPECT_EQ(peers.size(), 66U);
    add_stranger(peers, {.name = 64});
    EXPECT_EQ(peers.size(), 66U);
    EXPECT_EQ(peers[0].name, -1);
    EXPECT_EQ(peers[1].name, -2);
    EXPECT_EQ(peers[2].name, 1) << "0 was the oldest";
    EXPECT_EQ(peers.back().name, 64);
}

TEST(Strangers, KeepTheirPlaceUntilTheyHadTimeToSpeak) {
    std::vector<Peer> peers{{.name = -1, .rank = 0, .since = start}};
    for (int name = 0; name < 63; ++name) add_stranger(peers, {.name = name, .since = start});
    EXPECT_FALSE(is_full(peers, start));
    add_stranger(peers, {.name = 63, .since = start + 100ms});
    EXPECT_TRUE(is_full(peers, start + 249ms));
    EXPECT_FALSE(is_full(peers, start + 250ms));
    peers[1].rank = 1; // it has spoken
    EXPECT_FALSE(is_full(peers, start));
}

TEST(Points, ComeInTheirOrderAndOnce) {
    const Watch watch;
    Waiting waiting{.id = 7, .watch = watch, .limit_seconds = 1};
    const auto see = [&](std::uint64_t id, const char* point) {
        waiting.deadline = {};
        waiting.see(message::Reached{.id = id, .point = point});
        return waiting.deadline > std::chrono::steady_clock::now() + 1h; // it has no limit
    };
    EXPECT_FALSE(see(7, "measured"));
    EXPECT_FALSE(see(7, "elsewhere"));
    EXPECT_FALSE(see(6, "ready"));
    EXPECT_TRUE(see(7, "ready"));
    EXPECT_FALSE(see(7, "ready"));
    EXPECT_TRUE(see(7, "measured"));
    EXPECT_FALSE(see(7, "measured"));
    EXPECT_FALSE(see(7, "ready"));
    EXPECT_EQ(waiting.reached, "measured");
    waiting.restart();
    EXPECT_LE(waiting.deadline, std::chrono::steady_clock::now() + 1s);
}

} // namespace
