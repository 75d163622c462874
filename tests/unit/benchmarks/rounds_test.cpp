// SPDX-License-Identifier: Apache-2.0
#include "collective/rounds.hpp"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace {

using namespace assay::collective;

TEST(Rounds, EverybodyPlaysEverybodyOnceAndNobodyTwiceAtATime) {
    for (int ranks = 2; ranks <= 17; ++ranks) {
        const auto rounds = rounds_of(ranks, true);
        EXPECT_EQ(rounds.size(), static_cast<std::size_t>(ranks - 1 + ranks % 2));
        std::set<std::pair<int, int>> played;
        for (const auto& round : rounds) {
            std::set<int> busy;
            for (const auto& [first, second] : round) {
                EXPECT_LT(first, second);
                EXPECT_LT(second, ranks);
                EXPECT_TRUE(busy.insert(first).second && busy.insert(second).second);
                EXPECT_TRUE(played.emplace(first, second).second);
            }
        }
        EXPECT_EQ(played.size(), static_cast<std::size_t>(ranks * (ranks - 1) / 2));
        EXPECT_EQ(rounds_of(ranks, false).size(), played.size()) << "one at a time";
    }
}

} // namespace
