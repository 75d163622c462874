// SPDX-License-Identifier: Apache-2.0
#include "memory/device_access_shapes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

namespace assay::memory {
namespace {

TEST(DeviceStride, every_stride_touches_every_sector_it_can_and_counts_its_words) {
    for (const unsigned stride : {1U, 2U, 3U, 7U, 8U, 9U, 16U, 24U, 32U, 63U, 64U}) {
        const StrideShape shape{.blocks = 2, .stride = stride, .words = 64 * 1024};
        std::vector<int> visits(shape.words);
        for (std::uint64_t thread = 0; thread < shape.threads(); ++thread)
            stride_sum(shape, thread, [&](std::uint64_t word) {
                ++visits.at(word);
                return 0U;
            });
        EXPECT_LE(*std::ranges::max_element(visits), 1) << stride;
        const auto touched = std::accumulate(visits.begin(), visits.end(), 0);
        EXPECT_DOUBLE_EQ(shape.bytes(), 4.0 * touched);
        if (stride % sector_words != 0 || shape.words % stride != 0) continue; // has a rest
        for (std::uint64_t sector = 0; sector < shape.words / sector_words; ++sector)
            EXPECT_EQ(visits.at(sector * sector_words), 1) << stride << ", sector " << sector;
    }
}

TEST(DeviceStride, threads_take_neighbouring_words_and_sum_what_they_read) {
    const StrideShape shape{.blocks = 1, .stride = 16, .words = 16 * 1024};
    EXPECT_EQ(shape.word(0, 5), 80U);
    EXPECT_EQ(shape.word(1, 5), 88U);
    std::uint32_t sum = 0;
    for (unsigned pass = 0; pass < 2; ++pass)
        for (std::uint64_t i = 3; i < 1024; i += 256) sum += access_word(16 * i + 8 * pass);
    EXPECT_EQ(stride_sum(shape, 3, [](std::uint64_t word) { return access_word(word); }), sum);
}

constexpr std::uint64_t side = 512;

/// The contract finds the elements that the kernels visit.
TEST(DeviceMatrix, results_are_elements_or_their_mirror_images) {
    EXPECT_EQ(matrix_result(true, 7 * side + 3, side), matrix_element(3 * side + 7));
    EXPECT_EQ(matrix_result(false, 7 * side + 3, side), matrix_element(7 * side + 3));
    const Place first = copied_place(3, 0, block_width(MatrixPattern::columns), side);
    const Place next = copied_place(3, 1, block_width(MatrixPattern::columns), side);
    EXPECT_EQ(next.row, first.row + 1);
    EXPECT_EQ(next.column, first.column);
}

TEST(DeviceMatrix, sides_suit_every_block) {
    EXPECT_EQ(matrix_side(1), 256U);
    EXPECT_EQ(matrix_side(std::int64_t{1} << 30U), 11776U);
    EXPECT_EQ(matrix_side(256 * 256 * 8), 256U);
}

TEST(DeviceBanks, lanes_meet_in_banks_as_strides_have_it) {
    for (unsigned stride = 1; stride <= most_bank_stride; ++stride)
        for (const unsigned round : {0U, 1U, 511U}) {
            std::array<int, 32> lanes{};
            for (unsigned lane = 0; lane < 32; ++lane) {
                const unsigned word = bank_word(31 * 32 + lane, round, stride);
                EXPECT_LT(word + bank_loads, bank_words + 1);
                ++lanes.at(word % 32);
            }
            EXPECT_EQ(*std::ranges::max_element(lanes), static_cast<int>(std::gcd(stride, 32U)));
        }
}

TEST(DeviceBanks, sums_and_bytes_are_those_of_the_loop) {
    std::uint32_t sum = 0;
    double loads = 0;
    for (unsigned repeat = 0; repeat < bank_repeats; ++repeat)
        for (unsigned round = 0; round < bank_rounds; ++round)
            for (unsigned k = 0; k < bank_loads; ++k, ++loads)
                sum += access_word((3 * 64 + 8 * round) % 4096 + 5 * 2 + k);
    EXPECT_EQ(bank_sum(3 * 32 + 5, 2), sum);
    EXPECT_DOUBLE_EQ(bank_bytes(7), 4 * loads * 1024 * 7);
}

} // namespace
} // namespace assay::memory
