// SPDX-License-Identifier: Apache-2.0
#include "collective/fabric_rounds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <utility>
#include <vector>

namespace {

using namespace assay::collective;
using testing::IsEmpty;

using Link = std::pair<int, int>;

TEST(FabricRounds, NobodyIsInTwoPairsAtATimeAndNoPairPlaysTwice) {
    for (const int ranks : {2, 3, 5, 16, 17, 18, 40, 41, 100, 1000, 1001}) {
        std::set<Link> played;
        for (const auto& round : fabric_rounds(ranks, 8)) {
            std::set<int> busy;
            for (const auto& [first, second] : round) {
                EXPECT_GE(first, 0);
                EXPECT_LT(first, second);
                EXPECT_LT(second, ranks);
                EXPECT_TRUE(busy.insert(first).second && busy.insert(second).second);
                EXPECT_TRUE(played.emplace(first, second).second);
            }
        }
    }
}

TEST(FabricRounds, FewNodesAllMeetAndManyMeetEnough) {
    EXPECT_EQ(fabric_rounds(12, 8).size(), 11U) << "everybody plays everybody";
    const auto rounds = fabric_rounds(1000, 8);
    EXPECT_EQ(rounds.size(), 18U) << "ten distances, eight times at random";
    std::vector<int> partners(1000, 0);
    std::size_t pairs = 0;
    for (const auto& round : rounds) {
        pairs += round.size();
        EXPECT_GE(round.size(), 480U);
        for (const auto& [first, second] : round) {
            ++partners[static_cast<std::size_t>(first)];
            ++partners[static_cast<std::size_t>(second)];
        }
    }
    EXPECT_GE(*std::ranges::min_element(partners), 16);
    EXPECT_LT(pairs, 9001U) << "of 499,500";
    EXPECT_EQ(fabric_rounds(1000, 8), rounds) << "every rank comes to the same";
}

/// The trial of a fabric: one second for all, except for what `slower` says.
std::vector<Pair> suspects_of(int ranks, const std::function<double(int, int)>& slower) {
    std::vector<Seen> seen;
    for (const auto& round : fabric_rounds(ranks, 8))
        for (const auto& pair : round)
            seen.push_back({.pair = pair,
                            .seconds = slower(pair.first, pair.second) *
                                       (1 + 0.02 * static_cast<double>(seen.size() % 5))});
    return Search{ranks, seen}.pairs();
}
bool has(const std::vector<Pair>& pairs, int rank) {
    return std::ranges::any_of(
        pairs, [&](const Pair& pair) { return pair.first == rank || pair.second == rank; });
}

TEST(FabricSearch, AsksNobodyWhereNothingIsSlow) {
    EXPECT_THAT(suspects_of(1000, [](int, int) { return 1.0; }), IsEmpty());
}

TEST(FabricSearch, ASlowNodePlaysTwoGoodOnesAlone) {
    const auto pairs =
        suspects_of(1000, [](int a, int b) { return a == 333 || b == 333 ? 2.0 : 1.0; });
    EXPECT_EQ(pairs.size(), 2U) << "its partners are not suspected";
    for (const auto& pair : pairs) EXPECT_TRUE(pair.first == 333 || pair.second == 333);
}

TEST(FabricSearch, ASlowLinkPlaysAgainAndSoDoItsEndsWithOthers) {
    const auto link = fabric_rounds(1000, 8).back().front();
    const auto pairs =
        suspects_of(1000, [&](int a, int b) { return Pair{a, b} == link ? 3.0 : 1.0; });
    ASSERT_EQ(pairs.size(), 3U);
    EXPECT_EQ(pairs[0], link);
    EXPECT_TRUE(has({pairs[1]}, link.first) && !has({pairs[1]}, link.second));
    EXPECT_TRUE(has({pairs[2]}, link.second) && !has({pairs[2]}, link.first));
}

TEST(FabricSearch, IsBoundedWhateverIsSlow) {
    const auto slow = [](int a, int b) { return a % 4 == 0 || b % 4 == 0 ? 2.0 : 1.0; };
    const auto pairs = suspects_of(1000, slow);
    EXPECT_EQ(pairs.size(), most_suspects);
    std::vector<std::size_t> times(1000, 0);
    for (const auto& [first, second] : pairs) {
        EXPECT_NE(first % 4 == 0, second % 4 == 0) << "a suspect and a good one";
        EXPECT_LE(++times[static_cast<std::size_t>(first)], most_alone_of_rank);
        EXPECT_LE(++times[static_cast<std::size_t>(second)], most_alone_of_rank);
    }
    // Where most are slow, that is how the fabric is.
    EXPECT_LE(suspects_of(100, [](int a, int b) { return 1.0 + (a + b) % 7; }).size(),
              most_suspects);
}

} // namespace
