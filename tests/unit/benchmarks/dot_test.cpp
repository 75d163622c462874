// SPDX-License-Identifier: Apache-2.0
//
// Operands of peak.dot for instructions that this machine may lack: which elements a sum is made of,
// that every sum is exact in fp32, and the bytes that are given to the hardware.
#include "peak/dot_amx.hpp"
#include "peak/dot_data.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <set>
#include <vector>

namespace assay::peak {
namespace {

constexpr std::array shapes{
    DotShape{.layout = Layout::lanes, .sums = 16, .depth = 4},   // vpdpbusd zmm
    DotShape{.layout = Layout::lanes, .sums = 16, .depth = 2},   // vdpbf16ps zmm
    DotShape{.layout = Layout::tiles, .sums = 256, .depth = 64}, // tdpbusd
    DotShape{.layout = Layout::tiles, .sums = 256, .depth = 32}, // tdpbf16ps
    DotShape{.layout = Layout::pairs, .sums = 4, .depth = 8},    // smmla
    DotShape{.layout = Layout::pairs, .sums = 4, .depth = 4},    // bfmmla
};

TEST(Dot, EverySumTakesDifferentElementsOfItsOperands) {
    for (const DotShape& shape : shapes)
        for (std::size_t sum = 0; sum < shape.sums; ++sum) {
            std::set<std::size_t> a;
            std::set<std::size_t> b;
            for (std::size_t k = 0; k < shape.depth; ++k) {
                a.insert(shape.a_index(sum, k));
                b.insert(shape.b_index(sum, k));
            }
            EXPECT_EQ(a.size(), shape.depth);
            EXPECT_EQ(b.size(), shape.depth);
            EXPECT_LT(*a.rbegin(), shape.elements());
            EXPECT_LT(*b.rbegin(), shape.elements());
        }
}

TEST(Dot, OperandsFillOneRegisterOrTile) {
    const std::array bytes{64, 64, 1024, 1024, 16, 16};
    const std::array width{1, 2, 1, 2, 1, 2}; // bytes of one element
    for (std::size_t i = 0; i < shapes.size(); ++i)
        EXPECT_EQ(shapes[i].elements() * static_cast<std::size_t>(width[i]), bytes[i]);
}

// Intel SDM, TDPBUSD: element n of row m adds a.row[m].byte[4k+i] * b.row[k].byte[4n+i].
TEST(Dot, TilesAreInterleavedAsTheManualHasIt) {
    const DotShape& shape = shapes[2];
    for (std::size_t m = 0; m < 16; ++m)
        for (std::size_t n = 0; n < 16; ++n)
            for (std::size_t k = 0; k < 16; ++k)
                for (std::size_t i = 0; i < 4; ++i) {
                    EXPECT_EQ(shape.a_index(16 * m + n, 4 * k + i), m * 64 + 4 * k + i);
                    EXPECT_EQ(shape.b_index(16 * m + n, 4 * k + i), k * 64 + 4 * n + i);
                }
}

TEST(Dot, NoSumLeavesTheIntegersOfFp32) {
    for (const DotShape& shape : shapes) {
        const DotValues values = dot_values(shape, Format::bf16, 11);
        const std::size_t n = shape.elements();
        for (std::size_t sum = 0; sum < shape.sums; ++sum)
            for (std::size_t operand = 0; operand < 2; ++operand) {
                std::int64_t one_step = 0; // the largest that a partial sum can become on the way
                for (std::size_t k = 0; k < shape.depth; ++k)
                    one_step += std::abs(values.a[operand * n + shape.a_index(sum, k)] *
                                         values.b[shape.b_index(sum, k)]);
                const std::int64_t all_steps = static_cast<std::int64_t>(dot_steps / 2) *
                                               std::abs(dot_growth(shape, values, operand, sum));
                EXPECT_LT(dot_start + all_steps + 2 * one_step, std::int64_t{1} << 24U);
            }
    }
}

TEST(Dot, ElementsReachTheInstructionAsTheyAre) {
    const std::vector<int> values{0, 1, -1, 255, -255, 254};
    std::vector<std::byte> bytes(2 * values.size());
    store_elements(values, Format::bf16, bytes);
    for (std::size_t i = 0; i < values.size(); ++i) {
        std::uint16_t half = 0;
        std::memcpy(&half, &bytes[2 * i], sizeof half);
        EXPECT_EQ(std::bit_cast<float>(std::uint32_t{half} << 16U), static_cast<float>(values[i]));
    }
    const std::vector<int> small{0, 127, -63};
    store_elements(small, Format::int8, bytes);
    EXPECT_EQ(static_cast<std::int8_t>(bytes[2]), -63);
}

TEST(Dot, PairsOfInt8ProductsFitInto16Bits) {
    const DotValues values = dot_values(shapes[0], Format::int8, 11);
    for (const int a : values.a) EXPECT_TRUE(0 <= a && a <= 127);
    for (const int b : values.b) EXPECT_LE(std::abs(b), 63);
    static_assert(2 * 127 * 63 <= 32767);
}

TEST(Dot, TheTileConfigurationIsThatOfTheManual) {
    const TileConfig config = full_tiles();
    std::array<unsigned char, 64> bytes{};
    std::memcpy(bytes.data(), &config, bytes.size());
    EXPECT_EQ(bytes[0], 1); // palette
    EXPECT_EQ(bytes[1], 0); // start row
    for (std::size_t tile = 0; tile < 16; ++tile) {
        const bool used = tile < 8;
        EXPECT_EQ(bytes[16 + 2 * tile], used ? 64 : 0);
        EXPECT_EQ(bytes[17 + 2 * tile], 0);
        EXPECT_EQ(bytes[48 + tile], used ? 16 : 0);
    }
}

} // namespace
} // namespace assay::peak
