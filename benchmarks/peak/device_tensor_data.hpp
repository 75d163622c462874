// SPDX-License-Identifier: Apache-2.0
//
// Operands of the matrix instructions of peak.tensor, how a warp holds them, and what the sums must be.
// Operands as for peak.dot (decision 0121): small integers, two operands b that take turns, the second the negated
// first but for one element of each column, so that every sum is exact whatever the order and the rounding.

#pragma once

#include "device/narrow_float.hpp"
#include "device/warp.hpp"

#include <assay/host_device.hpp>
#include <assay/random.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::peak {

enum class TensorFormat : std::uint8_t {
    fp64,
    tf32,
    fp16,
    bf16,
    int8,
    fp8_e4m3,
    fp8_e5m2,
    fp32,         ///< of AMD's devices alone, as the next ones
    fp8_e4m3fnuz, ///< other codes than OCP's, of CDNA3
    fp8_e5m2fnuz
};

using device::warp_lanes;
inline constexpr bool is_amd = warp_lanes == 64;

/// d = a * b + d of one warp: a is m x k, b is k x n. Lanes hold registers of 32 bits (64 for fp64) with `packed`
/// elements of a or b that follow each other along k, or one sum. NVIDIA: PTX ISA, "Matrix fragments for
/// mma.m8n8k4 ... mma.m16n8k32", one rule for all shapes used here. AMD: CDNA2 and CDNA3 ISA, "Matrix
/// arithmetic instructions": a lane of sixteen has a row of a or a column of b, each group of sixteen a quarter of k.
struct TensorShape {
    unsigned m;
    unsigned n;
    unsigned k;
    unsigned packed;
    bool is_fp64 = false;
    unsigned lanes = warp_lanes; ///< threads that execute it together

    constexpr unsigned a_registers() const { return m * k / packed / lanes; }
    constexpr unsigned b_registers() const { return k * n / packed / lanes; }
    constexpr unsigned sums() const { return m * n / lanes; }

    constexpr unsigned a_row(unsigned lane, unsigned reg) const {
        return is_amd ? lane % 16 : row_of_warp(lane) + 8 * (reg % 2);
    }
    constexpr unsigned a_k(unsigned lane, unsigned reg, unsigned element) const {
        if constexpr (is_amd) return b_k(lane, reg, element);
        return (lane % 4 + 4 * (reg / 2)) * packed + element;
    }
    constexpr unsigned b_k(unsigned lane, unsigned reg, unsigned element) const {
        if constexpr (is_amd) return (lane / 16 * b_registers() + reg) * packed + element;
        if (is_of_warpgroup()) return (lane / 32 % 2 * 4 + lane % 4) * packed + element;
        return (lane % 4 + 4 * reg) * packed + element;
    }
    constexpr unsigned b_column(unsigned lane, unsigned reg) const {
        if (is_of_warpgroup()) return reg * 16 + lane / 64 * 8 + lane / 4 % 8;
        return is_amd ? lane % 16 : lane / 4;
    }
    constexpr unsigned sum_row(unsigned lane, unsigned reg) const {
        if constexpr (is_amd) return is_fp64 ? lane / 16 + 4 * reg : lane / 16 * 4 + reg;
        return row_of_warp(lane) + 8 * (reg / 2 % 2);
    }
    constexpr unsigned sum_column(unsigned lane, unsigned reg) const {
        if constexpr (is_amd) return lane % 16;
        return reg / 4 * 8 + lane % 4 * 2 + reg % 2;
    }
    constexpr bool is_of_warpgroup() const { return lanes == 4 * warp_lanes; }
    /// Each warp of a warpgroup has sixteen rows.
    static constexpr unsigned row_of_warp(unsigned lane) { return lane / 32 * 16 + lane % 32 / 4; }
    constexpr double operations() const { return 2.0 * m * n * k; }
};

/// fp64 has a larger instruction from compute capability 9.0 on. `compiled_for` is what the code that runs was
/// compiled for, which may be less than what the device has.
constexpr TensorShape tensor_shape(TensorFormat format, int compiled_for) {
    if constexpr (is_amd) {
        switch (format) {
        case TensorFormat::fp64:
            return {16, 16, 4, 1, true};
        case TensorFormat::fp32:
            return {16, 16, 4, 1};
        case TensorFormat::tf32:
            return {16, 16, 8, 1};
        case TensorFormat::fp16:
        case TensorFormat::bf16:
            return {16, 16, 16, 2};
        case TensorFormat::int8:
            return {16, 16, compiled_for >= 94 ? 32U : 16U, 4};
        default:
            return {16, 16, 32, 4};
        }
    }
    switch (format) {
    case TensorFormat::fp64:
        return compiled_for >= 90 ? TensorShape{16, 8, 16, 1, true} : TensorShape{8, 8, 4, 1, true};
    case TensorFormat::tf32:
        return {16, 8, 8, 1};
    case TensorFormat::fp16:
    case TensorFormat::bf16:
        return {16, 8, 16, 2};
    default:
        return {16, 8, 32, 4};
    }
}

/// wgmma: b is not in registers, but in shared memory, as its descriptor says. Word i of it is that of "register" i /
/// 128 and lane i % 128: 8 columns of 4 words, the same columns' other half of k, then the next 8 columns.
inline constexpr unsigned wgmma_lanes = 128;
constexpr TensorShape wgmma_shape(TensorFormat format) {
    const TensorShape by_warp = tensor_shape(format, 90);
    return {64, 256, by_warp.k, by_warp.packed, false, wgmma_lanes};
}

/// The oldest compute capability with the instruction; of AMD's, 90 is gfx90a, 94 gfx942, 95 gfx950.
constexpr int tensor_capability(TensorFormat format) {
    using enum TensorFormat;
    if constexpr (is_amd)
        return format == fp8_e4m3 || format == fp8_e5m2                             ? 95
               : format == tf32 || format == fp8_e4m3fnuz || format == fp8_e5m2fnuz ? 94
                                                                                    : 90;
    return format == fp8_e4m3 || format == fp8_e5m2 ? 89 : 80;
}
/// Has what `compiled_for` says it, too? NVIDIA has none of AMD's formats; CDNA4 has lost three of CDNA3.
constexpr bool has_instruction(TensorFormat format, int compiled_for) {
    using enum TensorFormat;
    const bool is_of_cdna3 = format == fp8_e4m3fnuz || format == fp8_e5m2fnuz;
    if constexpr (is_amd) return compiled_for == 94 || !(is_of_cdna3 || format == tf32);
    return !is_of_cdna3 && format != fp32;
}

/// Sizes of the integers, all of which the format holds exactly, and of a call.
struct TensorPlan {
    int most_a;
    int most_b;           ///< leaves room for one more
    std::int64_t start;   ///< sums begin between this and its negative
    std::int64_t pairs;   ///< of steps with the first and the second b
    std::int64_t repeats; ///< of all that from the start; their sums are added up
    unsigned chains;      ///< of a warp; even and odd ones have an a of their own
};

/// Sums of fp32 stay below 2^24, where it holds every integer: 255 a pair, and k * 255^2 within one. Those of fp8
/// stay below 2^13, because Hopper's tensor cores keep some 13 bits of sums of fp8 products. Devices that
/// are not made for fp64 get less of it.
constexpr TensorPlan tensor_plan(TensorFormat format, bool fast_fp64) {
    switch (format) {
    case TensorFormat::fp8_e4m3:
    case TensorFormat::fp8_e5m2:
    case TensorFormat::fp8_e4m3fnuz:
    case TensorFormat::fp8_e5m2fnuz:
        return {.most_a = 7, .most_b = 6, .start = 100, .pairs = 512, .repeats = 16, .chains = 8};
    case TensorFormat::int8:
        return {
            .most_a = 127, .most_b = 126, .start = 1000, .pairs = 4096, .repeats = 2, .chains = 8};
    case TensorFormat::fp64:
        return {.most_a = 255,
                .most_b = 254,
                .start = 1000,
                .pairs = fast_fp64 ? 2048 : 64,
                .repeats = 1,
                .chains = 4};
    default:
        return {
            .most_a = 255, .most_b = 254, .start = 1000, .pairs = 4096, .repeats = 2, .chains = 8};
    }
}

/// Operands as integers: two a, row by row, and two b, column by column.
struct TensorValues {
    std::vector<int> a;
    std::vector<int> b;
};

inline TensorValues tensor_values(const TensorShape& shape, const TensorPlan& plan,
                                  std::uint64_t seed) {
    const std::size_t of_a = std::size_t{shape.m} * shape.k;
    const std::size_t of_b = std::size_t{shape.n} * shape.k;
    TensorValues values{.a = std::vector<int>(2 * of_a), .b = std::vector<int>(2 * of_b)};
    for (std::size_t i = 0; i < values.a.size(); ++i)
        values.a[i] = random_integer<int>(seed, i, -plan.most_a, plan.most_a);
    for (std::size_t i = 0; i < of_b; ++i) {
        values.b[i] = random_integer<int>(seed + 1, i, -plan.most_b, plan.most_b);
        values.b[of_b + i] = -values.b[i];
    }
    for (std::size_t column = 0; column < shape.n; ++column) {
        const std::size_t pick = random_bits(seed + 2, column) % shape.k;
        values.b[of_b + column * shape.k + pick] += 1;
    }
    return values;
}

/// Growth by one pair of steps of a sum of the chains that use the a number `operand`.
inline std::int64_t tensor_growth(const TensorShape& shape, const TensorValues& values,
                                  std::size_t operand, unsigned row, unsigned column) {
    const std::size_t of_a = std::size_t{shape.m} * shape.k;
    const std::size_t of_b = std::size_t{shape.n} * shape.k;
    std::int64_t growth = 0;
    for (std::size_t k = 0; k < shape.k; ++k) {
        const std::size_t at = column * shape.k + k;
        growth += std::int64_t{values.a[operand * of_a + row * shape.k + k]} *
                  (values.b[at] + values.b[of_b + at]);
    }
    return growth;
}

/// One element as the instruction reads it; the format holds the integer.
inline std::uint64_t element_bits(int value, TensorFormat format) {
    switch (format) {
    case TensorFormat::fp64:
        return std::bit_cast<std::uint64_t>(static_cast<double>(value));
    case TensorFormat::fp32:
    case TensorFormat::tf32: // fp32, of which the lowest 13 bits are not looked at
        return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    case TensorFormat::fp16:
        return device::encode(device::fp16_format(), value);
    case TensorFormat::bf16:
        return device::encode(device::bf16_format(), value);
    case TensorFormat::fp8_e4m3:
        return device::encode(device::e4m3_format(), value);
    case TensorFormat::fp8_e5m2:
        return device::encode(device::e5m2_format(), value);
    case TensorFormat::fp8_e4m3fnuz:
        return device::encode(device::e4m3fnuz_format(), value);
    case TensorFormat::fp8_e5m2fnuz:
        return device::encode(device::e5m2fnuz_format(), value);
    case TensorFormat::int8:
        break;
    }
    return static_cast<std::uint8_t>(value);
}

/// Registers of two operands as lanes hold them: [operand][register][lane]. at(lane, register, element): its place.
template <class At>
std::vector<std::uint64_t> fragments(const std::vector<int>& values, TensorFormat format,
                                     unsigned registers, unsigned packed, unsigned lanes,
                                     const At& at) {
    std::vector<std::uint64_t> words;
    for (std::size_t operand = 0; operand < 2; ++operand)
        for (unsigned reg = 0; reg < registers; ++reg)
            for (unsigned lane = 0; lane < lanes; ++lane) {
                std::uint64_t word = 0;
                for (unsigned e = 0; e < packed; ++e)
                    word |=
                        element_bits(values[operand * values.size() / 2 + at(lane, reg, e)], format)
                        << (e * 32 / packed);
                words.push_back(word);
            }
    return words;
}
inline std::vector<std::uint64_t> a_fragments(const TensorShape& shape, const TensorValues& values,
                                              TensorFormat format) {
    return fragments(values.a, format, shape.a_registers(), shape.packed, shape.lanes,
                     [&](unsigned lane, unsigned reg, unsigned e) {
                         return shape.a_row(lane, reg) * shape.k + shape.a_k(lane, reg, e);
                     });
}
inline std::vector<std::uint64_t> b_fragments(const TensorShape& shape, const TensorValues& values,
                                              TensorFormat format) {
    return fragments(values.b, format, shape.b_registers(), shape.packed, shape.lanes,
                     [&](unsigned lane, unsigned reg, unsigned e) {
                         return shape.b_column(lane, reg) * shape.k + shape.b_k(lane, reg, e);
                     });
}
/// Growth of each sum in a pair of steps: [operand a][register][lane].
inline std::vector<std::int64_t> sum_growths(const TensorShape& shape, const TensorValues& values) {
    std::vector<std::int64_t> growths;
    for (std::size_t operand = 0; operand < 2; ++operand)
        for (unsigned reg = 0; reg < shape.sums(); ++reg)
            for (unsigned lane = 0; lane < shape.lanes; ++lane)
                growths.push_back(tensor_growth(shape, values, operand, shape.sum_row(lane, reg),
                                                shape.sum_column(lane, reg)));
    return growths;
}

/// On the device: operands are registers as a_fragments() and b_fragments() have them, start and result one sum each.
struct TensorArrays {
    const std::byte* a;
    const std::byte* b;
    std::byte* start;
    std::byte* result;
    const std::int64_t* growths;
};

inline constexpr std::uint64_t tensor_start_seed = 21;

/// Sum `i` of all threads is [chain][register][thread].
struct TensorSums {
    std::uint64_t threads;
    unsigned sums;  ///< of one chain in one thread
    unsigned lanes; ///< TensorShape's
    std::int64_t start;
    std::int64_t pairs;
    std::int64_t repeats;

    ASSAY_HOST_DEVICE std::int64_t start_of(std::uint64_t i) const {
        return random_integer<std::int64_t>(tensor_start_seed, i, -start, start);
    }
    /// Where its growth stands.
    ASSAY_HOST_DEVICE std::uint64_t growth_index(std::uint64_t i) const {
        const std::uint64_t place = i / threads;
        const std::uint64_t operand = place / sums % 2;
        return (operand * sums + place % sums) * lanes + i % threads % lanes;
    }
    ASSAY_HOST_DEVICE std::int64_t expected(std::uint64_t i, std::int64_t growth) const {
        return repeats * (start_of(i) + pairs * growth);
    }
};

} // namespace assay::peak
