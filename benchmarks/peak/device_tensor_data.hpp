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

#include <array>
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
    fp8_e5m2fnuz,
    fp16_accumulate ///< fp16 whose sums are fp16, too; of NVIDIA's devices alone
};

using device::warp_lanes;
inline constexpr bool is_amd = warp_lanes == 64;

constexpr bool is_fp8(TensorFormat format) {
    return format == TensorFormat::fp8_e4m3 || format == TensorFormat::fp8_e5m2;
}
/// With 2:4 sparsity.
constexpr bool can_be_sparse(TensorFormat format) {
    using enum TensorFormat;
    return !is_amd && format != fp64 && format != fp32 && format != fp8_e4m3fnuz &&
           format != fp8_e5m2fnuz;
}

/// What is multiplied, and how.
struct TensorKind {
    TensorFormat format;
    bool is_sparse = false; ///< two of four neighbours in a row of a are zero; tf32: one of two
    bool promotes = false;  ///< after two pairs of steps sums are added to others, of fp32
};
inline constexpr unsigned promoted_pairs = 2;

/// d = a * b + d of one warp: a is m x k, b is k x n. Lanes hold registers of 32 bits (64 for fp64) with `packed`
/// elements of a or b that follow each other along k, or one sum. NVIDIA: PTX ISA, "Matrix fragments for
/// mma.m8n8k4 ... mma.m16n8k32", one rule for all shapes used here. AMD: CDNA2 and CDNA3 ISA, "Matrix
/// arithmetic instructions": a lane of sixteen has a row of a or a column of b, each group of sixteen a quarter of k.
/// With sparsity ("Matrix fragments for sparse mma.m16n8k16 ... m16n8k64", "... for sparse wgmma.mma_async") the
/// registers of a hold the elements that are kept, and one more register the places of these: its metadata.
struct TensorShape {
    unsigned m;
    unsigned n;
    unsigned k;
    unsigned packed;
    bool is_fp64 = false;
    unsigned lanes = warp_lanes; ///< threads that execute it together
    bool is_sparse = false;

    /// Elements of a row of a that the instruction gets.
    constexpr unsigned kept() const { return is_sparse ? k / 2 : k; }
    /// Neighbours of which half are kept.
    constexpr unsigned chunk() const { return packed == 1 ? 2 : 4; }
    constexpr unsigned a_registers() const { return m * kept() / packed / lanes; }
    /// With the metadata, which comes last.
    constexpr unsigned a_words() const { return a_registers() + (is_sparse ? 1 : 0); }
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
        if (is_of_warpgroup()) return (lane / 32 % b_parts() * 4 + lane % 4) * packed + element;
        return (lane % 4 + 4 * reg) * packed + element;
    }
    constexpr unsigned b_column(unsigned lane, unsigned reg) const {
        if (is_of_warpgroup())
            return (reg * 4 / b_parts() + lane / 32 / b_parts()) * 8 + lane / 4 % 8;
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
    /// Which row and which first k the four bits number `chunk` of a lane's metadata are for. Of four lanes, two have all
    /// of it for elements of 16 and 32 bits: the first two ("sparsity selector" 0), which the other two repeat.
    constexpr unsigned metadata_row(unsigned lane, unsigned chunk_of_lane) const {
        return row_of_warp(lane) + 8 * (packed == 4 ? lane % 2 : chunk_of_lane / 4);
    }
    constexpr unsigned metadata_k(unsigned lane, unsigned chunk_of_lane) const {
        return packed == 4 ? lane / 2 % 2 * (k / 2) + chunk_of_lane * chunk()
                           : lane % 2 * (k / 2) + chunk_of_lane % 4 * chunk();
    }
    /// wgmma: parts of 16 bytes that k has in b.
    constexpr unsigned b_parts() const { return k / packed / 4; }
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
        case TensorFormat::fp16_accumulate:
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
    case TensorFormat::fp16_accumulate:
        return {16, 8, 16, 2};
    default:
        return {16, 8, 32, 4};
    }
}

/// With sparsity k is twice as long, in as much time.
constexpr TensorShape tensor_shape(const TensorKind& kind, int compiled_for) {
    TensorShape shape = tensor_shape(kind.format, compiled_for);
    shape.is_sparse = kind.is_sparse;
    if (kind.is_sparse) shape.k *= 2;
    return shape;
}

/// wgmma: b is not in registers, but in shared memory, as its descriptor says. Word i of it is that of "register" i /
/// 128 and lane i % 128: 8 columns of 4 words, the same columns' next 16 bytes of k, then the next 8 columns. Promoted
/// sums need registers of their own, hence half of the columns.
inline constexpr unsigned wgmma_lanes = 128;
constexpr TensorShape wgmma_shape(const TensorKind& kind) {
    TensorShape shape = tensor_shape(kind, 90);
    shape.m = 64;
    shape.n = kind.promotes ? 128 : 256;
    shape.lanes = wgmma_lanes;
    return shape;
}

/// The oldest compute capability with the instruction; of AMD's, 90 is gfx90a, 94 gfx942, 95 gfx950.
constexpr int tensor_capability(TensorFormat format) {
    using enum TensorFormat;
    if constexpr (is_amd)
        return is_fp8(format)                                                       ? 95
               : format == tf32 || format == fp8_e4m3fnuz || format == fp8_e5m2fnuz ? 94
                                                                                    : 90;
    return is_fp8(format) ? 89 : 80;
}
/// Has what `compiled_for` says it, too? NVIDIA has none of AMD's formats; CDNA4 has lost three of CDNA3.
constexpr bool has_instruction(TensorFormat format, int compiled_for) {
    using enum TensorFormat;
    const bool is_of_cdna3 = format == fp8_e4m3fnuz || format == fp8_e5m2fnuz;
    if constexpr (is_amd)
        return format != fp16_accumulate &&
               (compiled_for == 94 || !(is_of_cdna3 || format == tf32));
    return !is_of_cdna3 && format != fp32;
}

/// Chips whose tensor cores take fp8 by instructions of a warpgroup alone: those of a warp are emulated.
constexpr bool is_emulated(const TensorKind& kind, int compiled_for) {
    return !is_amd && kind.is_sparse && is_fp8(kind.format) && compiled_for >= 90 &&
           compiled_for < 120;
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
/// stay below 2^13, because Hopper's tensor cores keep some 13 bits of sums of fp8 products; promoted ones begin
/// beyond that. Those of fp16 stay below 2^11. With sparsity a pair adds up to twice as much. Devices that are not
/// made for fp64 get less of it.
constexpr TensorPlan tensor_plan(const TensorKind& kind, bool fast_fp64) {
    TensorPlan plan{
        .most_a = 255, .most_b = 254, .start = 1000, .pairs = 4096, .repeats = 2, .chains = 8};
    switch (kind.format) {
    case TensorFormat::fp8_e4m3:
    case TensorFormat::fp8_e5m2:
    case TensorFormat::fp8_e4m3fnuz:
    case TensorFormat::fp8_e5m2fnuz:
        plan.most_a = 7;
        plan.most_b = 6;
        if (kind.promotes) {
            plan.start = 1'000'000;
            return plan;
        }
        plan.start = 100;
        plan.pairs = kind.is_sparse ? 400 : 512;
        plan.repeats = kind.is_sparse ? 20 : 16;
        return plan;
    case TensorFormat::fp16_accumulate:
        return {.most_a = 3,
                .most_b = 2,
                .start = 100,
                .pairs = kind.is_sparse ? 288 : 512,
                .repeats = kind.is_sparse ? 28 : 16,
                .chains = 8};
    case TensorFormat::int8:
        plan.most_a = 127;
        plan.most_b = 126;
        return plan;
    case TensorFormat::fp64:
        plan.pairs = fast_fp64 ? 2048 : 64;
        plan.repeats = 1;
        plan.chains = 4;
        return plan;
    default:
        return plan;
    }
}

/// Operands as integers: two a, row by row, and two b, column by column; and which k of each row of a are kept.
struct TensorValues {
    std::vector<int> a;
    std::vector<int> b;
    std::vector<unsigned> kept;
};

/// All of them, or with sparsity a random half of each chunk.
inline std::vector<unsigned> kept_elements(const TensorShape& shape, std::uint64_t seed) {
    constexpr std::array<std::array<unsigned, 2>, 6> pairs{
        {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}};
    std::vector<unsigned> kept;
    const unsigned step = shape.is_sparse ? shape.chunk() : 1;
    for (unsigned at = 0; at < 2 * shape.m * shape.k; at += step) {
        const std::uint64_t pick = random_bits(seed, at);
        const unsigned k = at % shape.k;
        if (step == 4)
            for (const unsigned place : pairs.at(pick % pairs.size())) kept.push_back(k + place);
        else
            kept.push_back(step == 2 ? k + static_cast<unsigned>(pick % 2) : k);
    }
    return kept;
}

inline TensorValues tensor_values(const TensorShape& shape, const TensorPlan& plan,
                                  std::uint64_t seed) {
    const std::size_t of_a = std::size_t{shape.m} * shape.k;
    const std::size_t of_b = std::size_t{shape.n} * shape.k;
    TensorValues values{.a = std::vector<int>(2 * of_a),
                        .b = std::vector<int>(2 * of_b),
                        .kept = kept_elements(shape, seed + 3)};
    for (std::size_t i = 0; i < values.kept.size(); ++i) {
        const std::size_t at = i / shape.kept() * shape.k + values.kept[i];
        values.a[at] = random_integer<int>(seed, at, -plan.most_a, plan.most_a);
    }
    for (std::size_t i = 0; i < of_b; ++i) {
        values.b[i] = random_integer<int>(seed + 1, i, -plan.most_b, plan.most_b);
        values.b[of_b + i] = -values.b[i];
    }
    for (std::size_t column = 0; column < shape.n; ++column) {
        const std::size_t pick = random_bits(seed + 2, column) % shape.k;
        values.b[of_b + column * shape.k + pick] += 1;
        // Its neighbour, too, because of most neighbours one is kept; by another number, so that it matters which.
        if (shape.is_sparse) values.b[of_b + column * shape.k + (pick ^ 1U)] -= 1;
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
    case TensorFormat::fp16_accumulate:
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

/// Registers of two operands as lanes hold them: [operand][register][lane]. word(operand, register, lane): its bits.
template <class Word>
std::vector<std::uint64_t> fragments(unsigned registers, unsigned lanes, const Word& word) {
    std::vector<std::uint64_t> words;
    for (unsigned operand = 0; operand < 2; ++operand)
        for (unsigned reg = 0; reg < registers; ++reg)
            for (unsigned lane = 0; lane < lanes; ++lane) words.push_back(word(operand, reg, lane));
    return words;
}
/// value(element): an integer of this register.
template <class Value>
std::uint64_t packed_word(unsigned packed, TensorFormat format, const Value& value) {
    std::uint64_t word = 0;
    for (unsigned e = 0; e < packed; ++e)
        word |= element_bits(value(e), format) << (e * 32 / packed);
    return word;
}

/// Metadata of a lane for rows of a from `first_row` on: of each chunk the places of the two elements that are kept,
/// 2 bits each, the smaller one first; an element of 32 bits is kept as two of 16.
inline std::uint64_t metadata_word(const TensorShape& shape, const TensorValues& values,
                                   unsigned first_row, unsigned lane) {
    std::uint64_t word = 0;
    for (unsigned chunk = 0; chunk < 8; ++chunk) {
        const unsigned row = first_row + shape.metadata_row(lane, chunk);
        const std::size_t at = row * shape.kept() + shape.metadata_k(lane, chunk) / 2;
        const unsigned place = values.kept[at] % shape.chunk();
        const unsigned code =
            shape.chunk() == 2 ? 0b0100U + place * 0b1010U : place | values.kept[at + 1] % 4 << 2U;
        word |= std::uint64_t{code} << (4 * chunk);
    }
    return word;
}

inline std::vector<std::uint64_t> a_fragments(const TensorShape& shape, const TensorValues& values,
                                              TensorFormat format) {
    return fragments(
        shape.a_words(), shape.lanes, [&](unsigned operand, unsigned reg, unsigned lane) {
            if (reg == shape.a_registers())
                return metadata_word(shape, values, operand * shape.m, lane);
            const std::size_t row = operand * shape.m + shape.a_row(lane, reg);
            return packed_word(shape.packed, format, [&](unsigned e) {
                return values
                    .a[row * shape.k + values.kept[row * shape.kept() + shape.a_k(lane, reg, e)]];
            });
        });
}
inline std::vector<std::uint64_t> b_fragments(const TensorShape& shape, const TensorValues& values,
                                              TensorFormat format) {
    return fragments(shape.b_registers(), shape.lanes,
                     [&](unsigned operand, unsigned reg, unsigned lane) {
                         const std::size_t column = operand * shape.n + shape.b_column(lane, reg);
                         return packed_word(shape.packed, format, [&](unsigned e) {
                             return values.b[column * shape.k + shape.b_k(lane, reg, e)];
                         });
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
