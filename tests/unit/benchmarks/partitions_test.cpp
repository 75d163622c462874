// SPDX-License-Identifier: Apache-2.0
//
// The two partitions of a second level cache, found in made latencies.
#include "latency/partitions.hpp"

#include <assay/random.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::latency {
namespace {

constexpr std::size_t rows = 132;
constexpr std::size_t columns = 512;

/// -1 to 1
double noise(std::uint64_t seed, std::uint64_t i) { return random_uniform(seed, i, -1.0, 1.0); }
bool side(std::uint64_t seed, std::uint64_t i, double share) {
    return random_uniform(seed, i, 0.0, 1.0) < share;
}

struct Made {
    double far_more = 0;     ///< cycles
    double position = 15;    ///< of each multiprocessor and of each line
    double scatter = 3;      ///< of each pair
    double side_share = 0.5; ///< of the multiprocessors on one side
    std::size_t rows = latency::rows;
};
std::vector<float> latencies(const Made& of) {
    std::vector<float> made;
    for (std::size_t i = 0; i < of.rows; ++i)
        for (std::size_t j = 0; j < columns; ++j) {
            const bool is_far = side(1, i, of.side_share) != side(2, j, 0.5);
            made.push_back(static_cast<float>(200 + (is_far ? of.far_more : 0) +
                                              of.position * (noise(3, i) + noise(4, j)) +
                                              of.scatter * noise(5, i * columns + j)));
        }
    return made;
}

TEST(Partitions, FindsTwoWithinThePositionsOfTheirMembers) {
    const auto found = partitions_of(latencies({.far_more = 60}), columns);
    ASSERT_TRUE(found.are_two);
    EXPECT_NEAR(found.near, 200, 3);
    EXPECT_NEAR(found.far, 260, 3);
    EXPECT_NEAR(found.far_share, 0.5, 0.05);
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < columns; ++j)
            ASSERT_EQ(found.rows[i] != found.columns[j], side(1, i, 0.5) != side(2, j, 0.5));
}

TEST(Partitions, ListsTheNearAndTheFarColumnsOfEachRow) {
    const auto values = latencies({.far_more = 60, .scatter = 0});
    const auto found = partitions_of(values, columns);
    for (const bool far : {false, true}) {
        const Lists lists = lists_of(found, far);
        ASSERT_EQ(lists.columns.size(), columns);
        for (std::size_t i = 0; i < rows; ++i) {
            std::size_t right = 0;
            for (unsigned k = lists.of_row[i].first; k < lists.of_row[i].last; ++k)
                right += (found.rows[i] != found.columns[lists.columns[k]]) == far ? 1 : 0;
            EXPECT_EQ(right, lists.of_row[i].last - lists.of_row[i].first);
        }
        EXPECT_EQ(lists.of_row[0].last - lists.of_row[0].first +
                      lists_of(found, !far).of_row[0].last - lists_of(found, !far).of_row[0].first,
                  columns);
    }
    const auto means = means_of(found, values);
    for (std::size_t i = 0; i < rows; ++i)
        EXPECT_NEAR(std::abs(means[2 * i + 1] - means[2 * i]), 60, 5);
    const Lists all = lists_of(partitions_of(latencies({}), columns), true);
    EXPECT_EQ(all.of_row[5].last - all.of_row[5].first, columns);
    EXPECT_EQ(means_of(partitions_of(latencies({}), columns), values).size(), rows);
}

TEST(Partitions, FindsTwoOfUnequalSize) {
    const auto found =
        partitions_of(latencies({.far_more = 200, .scatter = 20, .side_share = 0.4}), columns);
    ASSERT_TRUE(found.are_two);
    EXPECT_NEAR(found.far - found.near, 200, 5);
}

TEST(Partitions, FindsOneInNoise) {
    const auto found = partitions_of(latencies({.scatter = 40}), columns);
    EXPECT_FALSE(found.are_two);
    EXPECT_EQ(found.near, found.far);
    EXPECT_EQ(found.far_share, 0);
    EXPECT_NEAR(found.near, 200, 3);
}

TEST(Partitions, FindsOneWithoutNoise) {
    EXPECT_FALSE(partitions_of(latencies({.scatter = 0}), columns).are_two);
    EXPECT_FALSE(partitions_of(latencies({.position = 0, .scatter = 0}), columns).are_two);
}

TEST(Partitions, FindsOneWhereTheDifferenceIsSmall) {
    EXPECT_FALSE(partitions_of(latencies({.far_more = 4, .scatter = 1}), columns).are_two);
}

TEST(Partitions, FindsOneWhereLatencyFollowsTheDistanceAlongAChip) {
    std::vector<float> made;
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < columns; ++j)
            made.push_back(static_cast<float>(200 + 60 * noise(6, i) * noise(7, j)));
    EXPECT_FALSE(partitions_of(made, columns).are_two);
}

TEST(Partitions, DoesNotJudgeFewMultiprocessors) {
    const auto found = partitions_of(latencies({.far_more = 60, .rows = 2}), columns);
    EXPECT_FALSE(found.are_two);
    EXPECT_EQ(found.rows.size(), 2U);
}

} // namespace
} // namespace assay::latency
