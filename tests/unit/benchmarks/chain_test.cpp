// SPDX-License-Identifier: Apache-2.0
#include "memory/chain.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <set>
#include <vector>

namespace assay::memory {
namespace {

// Nothing, hardly anything, primes, squares and what lies next to them, powers of two.
constexpr std::uint64_t sizes[] = {1,    2,    3,    4,    5,    7,     8,     9,     15,    16,
                                   17,   63,   64,   65,   97,   120,   121,   122,   1021,  1024,
                                   1025, 4095, 4096, 4097, 9973, 65536, 65537, 99991, 100000};

TEST(Shuffle, depends_on_the_seed) {
    const Shuffle one{1000, 1};
    const Shuffle two{1000, 2};
    int same = 0;
    for (std::uint64_t i = 0; i < 1000; ++i) same += one(i) == two(i) ? 1 : 0;
    EXPECT_LT(same, 15); // of a random permutation, one; ten more is 1e-8 likely
}

TEST(Shuffle, handles_counts_far_beyond_memory) {
    constexpr std::uint64_t count = 1ULL << 38U; // lines of 16 TiB
    const Shuffle shuffle{count, 3};
    std::set<std::uint64_t> seen;
    for (std::uint64_t i = 0; i < 10000; ++i) {
        const std::uint64_t at = shuffle(count - 1 - i);
        ASSERT_LT(at, count);
        ASSERT_TRUE(seen.insert(at).second);
    }
}

/// Steps are far and go everywhere: a prefetcher that guesses neighbours, and a translation buffer that
/// remembers pages, gain nothing but chance.
TEST(Shuffle, leads_to_far_and_unforeseen_places) {
    constexpr std::int64_t count = 1 << 18;    // lines of 16 MiB
    constexpr std::int64_t lines_of_page = 64; // 4 KiB
    const Shuffle shuffle{count, 4};
    double distance = 0;
    std::int64_t same_page = 0;
    std::int64_t neighbours = 0;
    std::set<std::int64_t> differences;
    auto from = static_cast<std::int64_t>(shuffle(0));
    for (std::int64_t i = 1; i < count; ++i) {
        const auto to = static_cast<std::int64_t>(shuffle(static_cast<std::uint64_t>(i)));
        distance += static_cast<double>(std::abs(to - from));
        same_page += to / lines_of_page == from / lines_of_page ? 1 : 0;
        neighbours += std::abs(to - from) <= 2 ? 1 : 0;
        differences.insert(to - from);
        from = to;
    }
    // Two random points of a line of length n are n/3 apart; the mean of so many is known to 0.15%.
    EXPECT_NEAR(distance / count, count / 3.0, count * 0.005);
    EXPECT_LT(same_page, 130); // 64 expected, eight standard deviations more
    EXPECT_LT(neighbours, 30); // 4 expected
    // Random differences repeat, a pattern's repeat all the time.
    EXPECT_GT(differences.size(), 150000U);
}

/// So a shuffle visits every position once.
TEST(Link, makes_one_chain_of_all_nodes) {
    for (const std::uint64_t count : sizes) {
        std::vector<Node> nodes(count);
        link(nodes);
        EXPECT_TRUE(check_chain(nodes).passed) << count;
        std::set<const Node*> seen;
        const Node* node = nodes.data();
        for (std::uint64_t i = 0; i < count; ++i) {
            ASSERT_TRUE(seen.insert(node).second) << count;
            node = node->next;
        }
        EXPECT_EQ(node, nodes.data()) << count;
    }
}

TEST(CheckChain, sees_every_kind_of_broken_link) {
    std::vector<Node> nodes(100);
    link(nodes);
    Node& node = nodes[17];
    Node* const right = node.next;
    Node other{};
    for (Node* const wrong : std::initializer_list<Node*>{
             nullptr, &node, right->next, nodes.data() - 1, nodes.data() + nodes.size(), &other,
             reinterpret_cast<Node*>(reinterpret_cast<std::uintptr_t>(right) + 8)}) {
        node.next = wrong;
        EXPECT_FALSE(check_chain(nodes).passed) << wrong;
    }
    node.next = right;
    EXPECT_TRUE(check_chain(nodes).passed);
    // Two chains, each a circle of its own.
    std::swap(nodes[3].next, nodes[50].next);
    EXPECT_FALSE(check_chain(nodes).passed);
}

TEST(CheckChain, refuses_no_nodes) { EXPECT_FALSE(check_chain({}).passed); }

TEST(Follow, takes_as_many_steps_as_it_is_told) {
    std::vector<Node> nodes(13);
    link(nodes);
    for (const std::uint64_t steps : {0U, 8U, 16U, 1024U})
        EXPECT_EQ(follow(nodes.data(), steps)->rank, (nodes[0].rank + steps) % 13);
}

} // namespace
} // namespace assay::memory
