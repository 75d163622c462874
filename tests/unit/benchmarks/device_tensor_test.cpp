// SPDX-License-Identifier: Apache-2.0
//
// What the tensor cores must compute, by plain products on the host from the registers of all lanes.
#include "peak/device_tensor_data.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace assay::peak {
namespace {

constexpr std::array formats{TensorFormat::fp64,     TensorFormat::tf32,
                             TensorFormat::fp16,     TensorFormat::bf16,
                             TensorFormat::int8,     TensorFormat::fp8_e4m3,
                             TensorFormat::fp8_e5m2, TensorFormat::fp16_accumulate};

/// Every kind that NVIDIA's devices have.
std::vector<TensorKind> kinds() {
    std::vector<TensorKind> all;
    for (const TensorFormat format : formats)
        for (const bool is_sparse : {false, true})
            for (const bool promotes : {false, true})
                if ((!is_sparse || can_be_sparse(format)) && (!promotes || is_fp8(format)))
                    all.push_back({format, is_sparse, promotes});
    return all;
}

/// A number of a small format, decoded by its definition; only normal ones and zero.
int decoded(std::uint64_t bits, unsigned exponent, unsigned fraction) {
    const std::uint64_t power = (bits >> fraction) & ((1U << exponent) - 1);
    if (power == 0) return 0;
    const double size = std::ldexp(1 + static_cast<double>(bits & ((1U << fraction) - 1)) *
                                           std::ldexp(1.0, -static_cast<int>(fraction)),
                                   static_cast<int>(power) - ((1 << (exponent - 1)) - 1));
    return static_cast<int>((bits >> (exponent + fraction)) != 0 ? -size : size);
}
int decoded(std::uint64_t bits, TensorFormat format) {
    switch (format) {
    case TensorFormat::fp64:
        return static_cast<int>(std::bit_cast<double>(bits));
    case TensorFormat::fp32:
    case TensorFormat::tf32:
        return static_cast<int>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    case TensorFormat::fp16:
    case TensorFormat::fp16_accumulate:
        return decoded(bits, 5, 10);
    case TensorFormat::bf16:
        return decoded(bits, 8, 7);
    case TensorFormat::fp8_e4m3:
        return decoded(bits, 4, 3);
    case TensorFormat::fp8_e5m2:
        return decoded(bits, 5, 2);
    case TensorFormat::fp8_e4m3fnuz: // half of what OCP's code says
        return decoded(bits, 4, 3) / 2;
    case TensorFormat::fp8_e5m2fnuz:
        return decoded(bits, 5, 2) / 2;
    case TensorFormat::int8:
        break;
    }
    return static_cast<std::int8_t>(bits);
}

/// By a warp on older and newer devices, and by a warpgroup where there is such an instruction.
std::vector<TensorShape> shapes_of(const TensorKind& kind) {
    std::vector<TensorShape> shapes{tensor_shape(kind, 80), tensor_shape(kind, 90)};
    if (kind.format != TensorFormat::fp64) shapes.push_back(wgmma_shape(kind));
    return shapes;
}

TEST(DeviceTensor, registers_are_those_of_the_instruction) {
    const TensorShape half = tensor_shape(TensorFormat::fp16, 80);
    EXPECT_EQ(half.a_registers(), 4U);
    EXPECT_EQ(half.b_registers(), 2U);
    EXPECT_EQ(half.sums(), 4U);
    EXPECT_EQ(half.operations(), 4096.0);
    // PTX ISA, m16n8k16: elements 4 and 5 of a are in row groupID, columns 2 * threadID + 8 and + 9.
    EXPECT_EQ(half.a_row(5, 2), 1U);
    EXPECT_EQ(half.a_k(5, 2, 1), 11U);
    // "Register fragments for wgmma.mma_async.m64nNk16": the second warp has rows 16 to 31; d5 is in column 9.
    const TensorShape group = wgmma_shape({TensorFormat::bf16});
    EXPECT_EQ(group.a_registers(), 4U);
    EXPECT_EQ(group.sums(), 128U);
    EXPECT_EQ(group.a_row(32, 1), 24U);
    EXPECT_EQ(group.sum_row(37, 2), 25U);
    EXPECT_EQ(group.sum_column(32, 5), 9U);
    const TensorShape wide = tensor_shape(TensorFormat::fp64, 90);
    EXPECT_EQ(wide.a_registers(), 8U);
    EXPECT_EQ(wide.b_registers(), 4U);
    EXPECT_EQ(tensor_shape(TensorFormat::fp64, 80).a_registers(), 1U);
    EXPECT_EQ(tensor_shape(TensorFormat::fp64, 89).sums(), 2U);
}

TEST(DeviceTensor, formats_of_others_are_not_asked_for) {
    for (const TensorFormat format : formats) EXPECT_TRUE(has_instruction(format, 90));
    for (const auto format :
         {TensorFormat::fp32, TensorFormat::fp8_e4m3fnuz, TensorFormat::fp8_e5m2fnuz})
        EXPECT_FALSE(has_instruction(format, 94));
    const TensorKind sparse{TensorFormat::fp8_e4m3, true};
    EXPECT_TRUE(is_emulated(sparse, 90) && is_emulated(sparse, 100));
    EXPECT_FALSE(is_emulated(sparse, 89) || is_emulated(sparse, 120));
}

TEST(DeviceTensor, formats_hold_every_value_exactly) {
    std::vector<TensorFormat> all{formats.begin(), formats.end()};
    all.insert(all.end(),
               {TensorFormat::fp32, TensorFormat::fp8_e4m3fnuz, TensorFormat::fp8_e5m2fnuz});
    for (const TensorFormat format : all) {
        const TensorPlan plan = tensor_plan({format}, true);
        const int most = std::max(plan.most_a, plan.most_b + 1);
        for (int value = -most; value <= most; ++value)
            EXPECT_EQ(decoded(element_bits(value, format), format), value);
    }
    EXPECT_EQ(element_bits(1, TensorFormat::fp16), 0x3c00U);
    EXPECT_EQ(element_bits(-2, TensorFormat::bf16), 0xc000U);
    EXPECT_EQ(element_bits(1, TensorFormat::fp8_e4m3), 0x38U);
    EXPECT_EQ(element_bits(1, TensorFormat::fp8_e5m2), 0x3cU);
    EXPECT_EQ(element_bits(1, TensorFormat::fp8_e4m3fnuz), 0x40U);
    EXPECT_EQ(element_bits(1, TensorFormat::fp8_e5m2fnuz), 0x40U);
    EXPECT_EQ(element_bits(-1, TensorFormat::int8), 0xffU);
}

/// Where element `kept` of a row of a is, as PTX ISA's figures of metadata have it: "Sparse MMA .m16n8k32 metadata layout
/// for .f16/.bf16 type" (bits 0 to 15 of the first two threads are for row 0, bits 16 to 31 for row 8) and
/// ".m16n8k64 for .u8/.s8 type" (threads 0 and 2 for row 0, 1 and 3 for row 8). 0b0100 and 0b1110 are tf32's.
unsigned place_of(const TensorShape& shape, unsigned kept, unsigned row, const auto& metadata_of) {
    const unsigned half = kept / (shape.k / 4);
    const unsigned eighth_below = row / 8 % 2;
    const unsigned quad = row / 16 * 32 + row % 8 * 4;
    const bool is_tf32 = shape.packed == 1;
    const unsigned chunk = kept % (shape.k / 4) / (is_tf32 ? 1 : 2);
    const std::uint64_t bits = shape.packed == 4
                                   ? metadata_of(quad + eighth_below + 2 * half) >> (4 * chunk)
                                   : metadata_of(quad + half) >> (16 * eighth_below + 4 * chunk);
    if (is_tf32) return 2 * kept + ((bits & 15U) == 0b1110U ? 1 : 0);
    EXPECT_LT(bits & 3U, bits >> 2U & 3U);
    return kept / 2 * 4 + static_cast<unsigned>(bits >> (kept % 2 * 2) & 3U);
}

/// a * b of one warp, from the registers of its lanes, as an integer for each sum.
std::vector<std::int64_t> product(const TensorShape& shape, TensorFormat format,
                                  const std::vector<std::uint64_t>& a, std::size_t operand,
                                  const std::vector<std::uint64_t>& b, std::size_t step) {
    const unsigned bits = 32 / shape.packed;
    const auto element = [&](std::uint64_t word, unsigned e) {
        if (shape.packed == 1) return decoded(word, format);
        return decoded(word >> (e * bits) & ((std::uint64_t{1} << bits) - 1), format);
    };
    std::vector<int> left(shape.m * shape.k);
    std::vector<int> right(shape.n * shape.k);
    const auto word_of_a = [&](unsigned lane, unsigned r) {
        return a.at((operand * shape.a_words() + r) * shape.lanes + lane);
    };
    for (unsigned lane = 0; lane < shape.lanes; ++lane) {
        for (unsigned r = 0; r < shape.a_registers(); ++r)
            for (unsigned e = 0; e < shape.packed; ++e) {
                const unsigned row = shape.a_row(lane, r);
                const unsigned kept = shape.a_k(lane, r, e);
                const unsigned k =
                    shape.is_sparse
                        ? place_of(shape, kept, row,
                                   [&](unsigned of) { return word_of_a(of, shape.a_registers()); })
                        : kept;
                left.at(row * shape.k + k) = element(word_of_a(lane, r), e);
            }
        for (unsigned r = 0; r < shape.b_registers(); ++r)
            for (unsigned e = 0; e < shape.packed; ++e)
                right.at(shape.b_column(lane, r) * shape.k + shape.b_k(lane, r, e)) =
                    element(b.at((step * shape.b_registers() + r) * shape.lanes + lane), e);
    }
    std::vector<std::int64_t> sums(shape.m * shape.n);
    for (unsigned row = 0; row < shape.m; ++row)
        for (unsigned column = 0; column < shape.n; ++column)
            for (unsigned k = 0; k < shape.k; ++k)
                sums[row * shape.n + column] +=
                    std::int64_t{left[row * shape.k + k]} * right[column * shape.k + k];
    return sums;
}

TEST(DeviceTensor, closed_forms_are_what_products_add_up_to_and_stay_exact) {
    for (const TensorKind& kind : kinds())
        for (const TensorShape& shape : shapes_of(kind)) {
            const TensorFormat format = kind.format;
            const TensorPlan plan = tensor_plan(kind, true);
            const TensorValues values = tensor_values(shape, plan, 11);
            const auto a = a_fragments(shape, values, format);
            const auto b = b_fragments(shape, values, format);
            const auto growths = sum_growths(shape, values);
            const std::int64_t limit = format == TensorFormat::fp16_accumulate ? 1 << 11
                                       : is_fp8(format)                        ? 1 << 13
                                                                               : 1 << 24;
            const std::int64_t begun = kind.promotes ? 0 : plan.start;
            const std::int64_t added = kind.promotes ? promoted_pairs : plan.pairs;
            std::int64_t moved = 0;
            for (std::size_t operand = 0; operand < 2; ++operand) {
                const auto first = product(shape, format, a, operand, b, 0);
                const auto second = product(shape, format, a, operand, b, 1);
                for (unsigned r = 0; r < shape.sums(); ++r)
                    for (unsigned lane = 0; lane < shape.lanes; ++lane) {
                        const unsigned at =
                            shape.sum_row(lane, r) * shape.n + shape.sum_column(lane, r);
                        const std::int64_t growth =
                            growths.at((operand * shape.sums() + r) * shape.lanes + lane);
                        EXPECT_EQ(growth, first[at] + second[at]);
                        moved += growth != 0 ? 1 : 0;
                        EXPECT_LT(begun + added * std::abs(growth) + std::abs(first[at]), limit);
                        EXPECT_LT(plan.repeats * (plan.start + plan.pairs * std::abs(growth)),
                                  1 << 24);
                    }
            }
            EXPECT_GT(moved, shape.m * shape.n);               // more than half of the sums of both
            EXPECT_TRUE(!kind.promotes || plan.start > limit); // sums that need promotion
        }
}

TEST(DeviceTensor, KeepsHalfOfEachChunkOfSparseOperands) {
    for (const TensorKind& kind : kinds()) {
        const TensorShape shape = tensor_shape(kind, 90);
        const TensorValues values = tensor_values(shape, tensor_plan(kind, true), 11);
        EXPECT_EQ(values.kept.size(), (kind.is_sparse ? 1U : 2U) * shape.m * shape.k);
        const unsigned chunk = shape.packed == 1 ? 2 : 4;
        std::vector<unsigned> nonzero(values.a.size() / chunk);
        for (std::size_t i = 0; i < values.a.size(); ++i)
            nonzero.at(i / chunk) += values.a[i] != 0 ? 1 : 0;
        EXPECT_EQ(*std::ranges::max_element(nonzero), kind.is_sparse ? chunk / 2 : chunk);
        const double dense = tensor_shape(kind.format, 90).operations();
        EXPECT_EQ(shape.operations(), (kind.is_sparse ? 2 : 1) * dense); // zeros count
    }
}

TEST(DeviceTensor, sums_have_their_growth_wherever_they_stand) {
    const TensorSums sums{
        .threads = 512, .sums = 4, .lanes = warp_lanes, .start = 1000, .pairs = 3, .repeats = 2};
    std::vector<int> used(2 * 4 * warp_lanes);
    for (std::uint64_t chain = 0; chain < 8; ++chain)
        for (std::uint64_t r = 0; r < 4; ++r)
            for (std::uint64_t thread = 0; thread < 512; ++thread) {
                const std::uint64_t i = (chain * 4 + r) * 512 + thread;
                EXPECT_EQ(sums.growth_index(i), (chain % 2 * 4 + r) * warp_lanes + thread % 32);
                ++used.at(sums.growth_index(i));
            }
    EXPECT_TRUE(std::ranges::all_of(used, [](int n) { return n == 64; }));
    EXPECT_EQ(sums.expected(7, 5), 2 * (sums.start_of(7) + 15));
    EXPECT_LE(std::abs(sums.start_of(7)), 1000);
}

} // namespace
} // namespace assay::peak
