// SPDX-License-Identifier: Apache-2.0
#include "transfer/peers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace assay::transfer {
namespace {

using Pairs = std::vector<DevicePair>;

Reach everywhere(std::size_t count) {
    Reach reach{.count = count, .reaches = std::vector<bool>(count * count, true)};
    for (std::size_t i = 0; i < count; ++i) reach.reaches[i * count + i] = false;
    return reach;
}
Reach nowhere(std::size_t count) {
    return {.count = count, .reaches = std::vector<bool>(count * count, false)};
}

TEST(DevicePairs, are_all_ordered_ones_or_each_once_both_ways) {
    const Pairs pairs = pairs_of(everywhere(3), Path::peer, false);
    EXPECT_EQ(pairs, (Pairs{{0, 1}, {0, 2}, {1, 0}, {1, 2}, {2, 0}, {2, 1}}));
    EXPECT_EQ(pairs_of(everywhere(8), Path::peer, false).size(), 56U);
    EXPECT_EQ(pairs_of(everywhere(3), Path::peer, true), (Pairs{{0, 1}, {0, 2}, {1, 2}}));
    EXPECT_EQ(pairs_of(everywhere(8), Path::host, true).size(), 28U);
}

TEST(DevicePairs, are_those_that_reach_each_other) {
    Reach reach = nowhere(3);
    reach.reaches[0 * 3 + 1] = true; // 0 reaches 1
    EXPECT_EQ(pairs_of(reach, Path::peer, false), (Pairs{{0, 1}}));
    EXPECT_TRUE(pairs_of(reach, Path::peer, true).empty()) << "1 does not reach 0";
    reach.reaches[1 * 3 + 0] = true;
    EXPECT_EQ(pairs_of(reach, Path::peer, true), (Pairs{{0, 1}}));
}

TEST(DevicePairs, always_get_through_the_host) {
    EXPECT_TRUE(pairs_of(nowhere(4), Path::peer, false).empty());
    EXPECT_EQ(pairs_of(nowhere(4), Path::host, false).size(), 12U);
}

TEST(DevicePairs, need_two_devices) {
    for (const bool both : {false, true})
        for (const std::size_t count : {0U, 1U})
            EXPECT_TRUE(pairs_of(everywhere(count), Path::host, both).empty());
}

TEST(DeviceMatrix, has_senders_as_rows) {
    const Pairs pairs{{0, 1}, {2, 0}};
    const std::vector<double> values{10, 20};
    const auto matrix = matrix_of(3, pairs, values, false);
    ASSERT_EQ(matrix.size(), 9U);
    for (std::size_t i = 0; i < matrix.size(); ++i) {
        if (i == 0 * 3 + 1)
            EXPECT_EQ(matrix[i], 10);
        else if (i == 2 * 3 + 0)
            EXPECT_EQ(matrix[i], 20);
        else
            EXPECT_TRUE(std::isnan(matrix[i])) << i;
    }
}

TEST(DeviceMatrix, is_symmetric_both_ways) {
    const Pairs pairs = pairs_of(everywhere(4), Path::peer, true);
    std::vector<double> values;
    for (std::size_t i = 0; i < pairs.size(); ++i) values.push_back(static_cast<double>(i + 1));
    const auto matrix = matrix_of(4, pairs, values, true);
    for (std::size_t row = 0; row < 4; ++row)
        for (std::size_t column = 0; column < 4; ++column) {
            const double value = matrix[row * 4 + column];
            EXPECT_EQ(std::isnan(value), row == column);
            if (row != column) {
                EXPECT_EQ(value, matrix[column * 4 + row]);
            }
        }
    EXPECT_EQ(matrix[1 * 4 + 3], 5);
}

TEST(DeviceLabels, name_devices_that_differ) {
    const std::vector<std::string> alike(2, "NVIDIA H200");
    EXPECT_EQ(device_labels(alike), (std::vector<std::string>{"0", "1"}));
    const std::vector<std::string> mixed{"NVIDIA A100", "NVIDIA H200", "NVIDIA A100"};
    EXPECT_EQ(device_labels(mixed),
              (std::vector<std::string>{"0 NVIDIA A100", "1 NVIDIA H200", "2 NVIDIA A100"}));
    EXPECT_TRUE(device_labels({}).empty());
}

} // namespace
} // namespace assay::transfer
