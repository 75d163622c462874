// SPDX-License-Identifier: Apache-2.0

// Highway compiles this file once per instruction set by including it again.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "workload/attention_group_kernels.cpp" // NOLINT: Highway's design
// clang-format off: foreach_target.h must come before highway.h.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>
// clang-format on

#include "attention_kernels.hpp"

#include <hwy/cache_control.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace assay::workload::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#include "workload/attention_load.inc"

#if HWY_HAVE_SCALABLE || HWY_TARGET == HWY_SCALAR

// Vectors of unknown length fit into no array, and single numbers into no lanes: each query reads the rows by itself.
template <class Rows>
void attend_alone(const Group& group, const Rows& keys, const Rows& values, std::size_t rows,
                  std::size_t size) {
    for (std::size_t q = 0; q < group.count; ++q)
        group.states[q] =
            attend(group.queries + q * size, keys, values, rows, size, group.results + q * size);
}
void attend_fp32(const Group& group, const float* keys, const float* values, std::size_t rows,
                 std::size_t size) {
    attend_alone(group, keys, values, rows, size);
}
void attend_bf16(const Group& group, const std::uint16_t* keys, const std::uint16_t* values,
                 std::size_t rows, std::size_t size) {
    attend_alone(group, keys, values, rows, size);
}
void attend_int8(const Group& group, const ScaledRows& keys, const ScaledRows& values,
                 std::size_t rows, std::size_t size) {
    attend_alone(group, keys, values, rows, size);
}

#else

/// Queries at a time: sums of two rows times eight queries fill half of 32 registers.
constexpr std::size_t most_queries = HWY_ARCH_X86 && HWY_MAX_BYTES < 64 ? 4 : 8;

/// Two vectors of a row. Numbers of bf16 are taken apart as pairs, the even ones first: one operation for each vector,
/// where neighbours in order would take two. Queries are arranged in the same order.
template <class T>
HWY_INLINE void load_two(const T* from, Vector& a, Vector& b) {
    a = load(from);
    b = load(from + hn::Lanes(Floats{}));
}
HWY_INLINE void load_two(const std::uint16_t* from, Vector& a, Vector& b) {
    const Floats d;
    const hn::RebindToUnsigned<Floats> words;
    const auto pairs =
        hn::BitCast(words, hn::LoadU(hn::Repartition<std::uint16_t, Floats>{}, from));
    a = hn::BitCast(d, hn::ShiftLeft<16>(pairs));
    b = hn::BitCast(d, hn::And(pairs, hn::Set(words, 0xFFFF'0000U)));
}
template <class T>
constexpr bool is_in_pairs = std::is_same_v<T, std::uint16_t>;

template <class T>
void arrange(const float* from, std::size_t size, float* to) {
    const Floats d;
    const std::size_t lanes = hn::Lanes(d);
    std::copy_n(from, size, to);
    if constexpr (is_in_pairs<T>)
        for (std::size_t i = 0; i + 2 * lanes <= size; i += 2 * lanes) {
            Vector even;
            Vector odd;
            hn::LoadInterleaved2(d, from + i, even, odd);
            hn::StoreU(even, d, to + i);
            hn::StoreU(odd, d, to + i + lanes);
        }
}
template <class T>
void restore(const float* from, std::size_t size, float* to) {
    const Floats d;
    const std::size_t lanes = hn::Lanes(d);
    std::copy_n(from, size, to);
    if constexpr (is_in_pairs<T>)
        for (std::size_t i = 0; i + 2 * lanes <= size; i += 2 * lanes)
            hn::StoreInterleaved2(load(from + i), load(from + i + lanes), d, to + i);
}

/// While a block of rows is used for all queries, the next comes from memory.
template <class T>
HWY_INLINE void prefetch_two(const T* from) {
    constexpr std::size_t line = 64 / sizeof(T);
    for (std::size_t i = 0; i < 2 * hn::Lanes(Floats{}); i += line) hwy::Prefetch(from + i);
}

/// The sum over the lanes of each of four vectors, side by side in every block of four lanes; blocks have parts of it.
HWY_INLINE Vector sums_by_block(Vector a, Vector b, Vector c, Vector e) {
    const Floats d;
    const hn::Repartition<double, Floats> pairs;
    const auto in_turns = [&](Vector x, Vector y) HWY_ATTR {
        return hn::Add(hn::InterleaveLower(d, x, y), hn::InterleaveUpper(d, x, y));
    };
    const auto first = hn::BitCast(pairs, in_turns(a, b));
    const auto second = hn::BitCast(pairs, in_turns(c, e));
    return hn::Add(hn::BitCast(d, hn::InterleaveLower(pairs, first, second)),
                   hn::BitCast(d, hn::InterleaveUpper(pairs, first, second)));
}
/// The sums over the lanes of as many vectors as two rows have queries, side by side: as many blocks as sums_by_block()
/// has results, where vectors have so many.
template <std::size_t queries>
HWY_INLINE void store_sums(const Vector* a, const Vector* b, float* to) {
    const Floats d;
    const auto by_block = [](const Vector* of)
                              HWY_ATTR { return sums_by_block(of[0], of[1], of[2], of[3]); };
    if constexpr (hn::MaxLanes(Floats{}) == 16) {
        static_assert(queries == 8 || queries == 4);
        // Blocks 0 and 1, and 2 and 3, of x and of y in turns.
        const auto in_turns = [&](Vector x, Vector y) HWY_ATTR {
            return hn::Add(hn::OddEvenBlocks(y, x),
                           hn::SwapAdjacentBlocks(hn::OddEvenBlocks(x, y)));
        };
        if constexpr (queries == 8) {
            const Vector first = in_turns(by_block(a), by_block(a + 4));
            const Vector second = in_turns(by_block(b), by_block(b + 4));
            hn::StoreU(hn::Add(hn::ConcatLowerLower(d, second, first),
                               hn::ConcatUpperUpper(d, second, first)),
                       d, to);
        } else {
            const hn::Half<Floats> half;
            const Vector both = in_turns(by_block(a), by_block(b));
            hn::StoreU(hn::Add(hn::LowerHalf(half, both), hn::UpperHalf(half, both)), half, to);
        }
    } else if constexpr (hn::MaxLanes(Floats{}) == 8) {
        static_assert(queries == 4);
        const Vector first = by_block(a);
        const Vector second = by_block(b);
        hn::StoreU(
            hn::Add(hn::ConcatLowerLower(d, second, first), hn::ConcatUpperUpper(d, second, first)),
            d, to);
    } else {
        for (std::size_t q = 0; q < queries; q += 4) {
            hn::StoreU(by_block(a + q), d, to + q);
            hn::StoreU(by_block(b + q), d, to + queries + q);
        }
    }
}

// Loops over queries have a constant length; without being unrolled, their sums would be in memory.
#define ASSAY_EACH_QUERY _Pragma("GCC unroll 8") for (std::size_t q = 0; q < queries; ++q)

/// Scores of two rows, row by row; `ahead` is fetched meanwhile.
template <std::size_t queries, class T>
HWY_INLINE void score_two(const float* arranged, const T* first, const T* second, std::size_t size,
                          const T* ahead, float* to) {
    const Floats d;
    const std::size_t lanes = hn::Lanes(d);
    Vector a[queries]; // NOLINT(*-avoid-c-arrays): of vectors
    Vector b[queries]; // NOLINT(*-avoid-c-arrays)
    ASSAY_EACH_QUERY a[q] = b[q] = hn::Zero(d);
    std::size_t i = 0;
    for (; i + 2 * lanes <= size; i += 2 * lanes) {
        Vector k0;
        Vector k1;
        Vector l0;
        Vector l1;
        load_two(first + i, k0, k1);
        load_two(second + i, l0, l1);
        prefetch_two(ahead + i);
        prefetch_two(ahead + size + i);
        ASSAY_EACH_QUERY {
            const Vector x = load(arranged + q * size + i);
            const Vector y = load(arranged + q * size + i + lanes);
            a[q] = hn::MulAdd(x, k0, a[q]);
            b[q] = hn::MulAdd(x, l0, b[q]);
            a[q] = hn::MulAdd(y, k1, a[q]);
            b[q] = hn::MulAdd(y, l1, b[q]);
        }
    }
    for (; i < size; i += lanes) {
        const Vector k = load(first + i);
        const Vector l = load(second + i);
        ASSAY_EACH_QUERY {
            const Vector x = load(arranged + q * size + i);
            a[q] = hn::MulAdd(x, k, a[q]);
            b[q] = hn::MulAdd(x, l, b[q]);
        }
    }
    store_sums<queries>(a, b, to);
}

/// Adds rows times their weights to two vectors of each query's sums, which stay in registers.
template <std::size_t queries, class T>
HWY_INLINE void add_two(const float* weights, const T* values, std::size_t rows, std::size_t size,
                        const T* ahead, float* sums) {
    const Floats d;
    const std::size_t lanes = hn::Lanes(d);
    Vector a[queries]; // NOLINT(*-avoid-c-arrays)
    Vector b[queries]; // NOLINT(*-avoid-c-arrays)
    ASSAY_EACH_QUERY {
        a[q] = load(sums + q * size);
        b[q] = load(sums + q * size + lanes);
    }
    for (std::size_t row = 0; row < rows; ++row) {
        Vector v;
        Vector w;
        load_two(values + row * size, v, w);
        prefetch_two(ahead + 2 * lanes * row);
        ASSAY_EACH_QUERY {
            const Vector weight = hn::Set(d, weights[row * queries + q]);
            a[q] = hn::MulAdd(weight, v, a[q]);
            b[q] = hn::MulAdd(weight, w, b[q]);
        }
    }
    ASSAY_EACH_QUERY {
        hn::StoreU(a[q], d, sums + q * size);
        hn::StoreU(b[q], d, sums + q * size + lanes);
    }
}
/// The same of the last vector, where there is one.
template <std::size_t queries, class T>
HWY_INLINE void add_last(const float* weights, const T* values, std::size_t rows, std::size_t size,
                         float* sums) {
    const Floats d;
    ASSAY_EACH_QUERY {
        Vector sum = load(sums + q * size);
        for (std::size_t row = 0; row < rows; ++row)
            sum =
                hn::MulAdd(hn::Set(d, weights[row * queries + q]), load(values + row * size), sum);
        hn::StoreU(sum, d, sums + q * size);
    }
}
#undef ASSAY_EACH_QUERY

/// Softmax over a block, as in attend_rows(): scores, row by row those of all queries, become weights.
template <std::size_t queries>
// NOLINTNEXTLINE(readability-function-cognitive-complexity): loops over queries and lanes
HWY_INLINE void weigh(float* scores, std::size_t count, std::size_t size, Attended* states,
                      float* sums) {
    const Floats d;
    const std::size_t lanes = hn::Lanes(d);
    const std::size_t span = std::max(lanes, queries); // after which queries repeat
    HWY_ALIGN float of_query[16];                      // NOLINT(*-avoid-c-arrays)
    for (std::size_t at = 0; at < span; at += lanes) {
        Vector largest = load(scores + at);
        for (std::size_t i = at + span; i < count; i += span)
            largest = hn::Max(largest, load(scores + i));
        hn::StoreU(largest, d, of_query + at);
    }
    for (std::size_t q = 0; q < queries; ++q) {
        float largest = states[q].largest;
        for (std::size_t i = q; i < span; i += queries) largest = std::max(largest, of_query[i]);
        if (largest > states[q].largest) {
            const float scale = std::exp(states[q].largest - largest);
            for (std::size_t i = 0; i < size; ++i) sums[q * size + i] *= scale;
            states[q] = {.largest = largest, .sum = states[q].sum * scale};
        }
    }
    for (std::size_t i = 0; i < span; ++i) of_query[i] = states[i % queries].largest;
    for (std::size_t at = 0; at < span; at += lanes) {
        const Vector largest = load(of_query + at);
        Vector sum = hn::Zero(d);
        for (std::size_t i = at; i < count; i += span) {
            const Vector weight = hn::Exp(d, hn::Sub(load(scores + i), largest));
            hn::StoreU(weight, d, scores + i);
            sum = hn::Add(sum, weight);
        }
        hn::StoreU(sum, d, of_query + at);
    }
    for (std::size_t i = 0; i < span; ++i) states[i % queries].sum += of_query[i];
}

template <std::size_t queries>
HWY_INLINE void multiply_rows(float* /*numbers*/, NoScales /*scales*/, std::size_t /*rows*/) {}
template <std::size_t queries>
HWY_INLINE void multiply_rows(float* numbers, const float* scales, std::size_t rows) {
    for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t q = 0; q < queries; ++q) numbers[row * queries + q] *= scales[row];
}

/// A block of rows for some of the queries; it is in the first cache for the next ones.
template <std::size_t queries, std::size_t most_rows, class T, class Scales>
void attend_block(const float* arranged, const T* keys, Scales key_scales, const T* values,
                  Scales value_scales, std::size_t rows, std::size_t size, Attended* states,
                  float* sums) {
    const std::size_t lanes = hn::Lanes(Floats{});
    HWY_ALIGN float scores[most_rows * queries]; // NOLINT(*-avoid-c-arrays)
    for (std::size_t row = 0; row < rows; row += 2) {
        const std::size_t next = std::min(row + 1, rows - 1); // the last one twice
        score_two<queries>(arranged, keys + row * size, keys + next * size, size,
                           values + row * size, scores + row * queries);
    }
    multiply_rows<queries>(scores, key_scales, rows);
    // Padding, to whole vectors: exp() of it is zero.
    const std::size_t count = (rows * queries + 15) / 16 * 16;
    std::fill(scores + rows * queries, scores + count, -std::numeric_limits<float>::max());
    weigh<queries>(scores, count, size, states, sums);
    multiply_rows<queries>(scores, value_scales, rows);
    std::size_t i = 0;
    for (; i + 2 * lanes <= size; i += 2 * lanes)
        add_two<queries>(scores, values + i, rows, size, keys + rows * (size + i), sums + i);
    for (; i < size; i += lanes) add_last<queries>(scores, values + i, rows, size, sums + i);
}

HWY_INLINE NoScales from_row(NoScales scales, std::size_t /*row*/) { return scales; }
HWY_INLINE const float* from_row(const float* scales, std::size_t row) { return scales + row; }

template <class T, class Scales>
void attend_rows(const Group& group, const T* keys, Scales key_scales, const T* values,
                 Scales value_scales, std::size_t rows, std::size_t size) {
    // A block of keys and one of values in a first cache of 32 KiB, where a row has 128 numbers.
    constexpr std::size_t most_rows = sizeof(T) == 4 ? 32 : 64;
    const std::size_t padded = padded_group(group.count);
    float* const arranged = group.scratch;
    float* const sums = arranged + padded * size;
    std::fill_n(arranged, 2 * padded * size, 0.0F);
    std::array<Attended, padded_group(largest_group)> states;
    states.fill({.largest = -std::numeric_limits<float>::infinity(), .sum = 0});
    for (std::size_t q = 0; q < group.count; ++q)
        arrange<T>(group.queries + q * size, size, arranged + q * size);
    for (std::size_t first = 0; first < rows; first += most_rows) {
        const auto some = [&]<std::size_t queries>(std::size_t q) {
            attend_block<queries, most_rows>(
                arranged + q * size, keys + first * size, from_row(key_scales, first),
                values + first * size, from_row(value_scales, first),
                std::min(most_rows, rows - first), size, states.data() + q, sums + q * size);
            return q + queries;
        };
        std::size_t q = 0;
        while (q + most_queries <= padded) q = some.template operator()<most_queries>(q);
        while (q < padded) q = some.template operator()<4>(q);
    }
    for (std::size_t q = 0; q < group.count; ++q) {
        restore<T>(sums + q * size, size, group.results + q * size);
        group.states[q] = states.at(q);
    }
}
void attend_fp32(const Group& group, const float* keys, const float* values, std::size_t rows,
                 std::size_t size) {
    attend_rows(group, keys, NoScales{}, values, NoScales{}, rows, size);
}
void attend_bf16(const Group& group, const std::uint16_t* keys, const std::uint16_t* values,
                 std::size_t rows, std::size_t size) {
    attend_rows(group, keys, NoScales{}, values, NoScales{}, rows, size);
}
void attend_int8(const Group& group, const ScaledRows& keys, const ScaledRows& values,
                 std::size_t rows, std::size_t size) {
    attend_rows(group, keys.numbers, keys.scales, values.numbers, values.scales, rows, size);
}

#endif

} // namespace
} // namespace assay::workload::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::workload {

HWY_EXPORT(attend_fp32);
HWY_EXPORT(attend_bf16);
HWY_EXPORT(attend_int8);

void attend(const Group& group, const float* keys, const float* values, std::size_t rows,
            std::size_t size) {
    HWY_DYNAMIC_DISPATCH(attend_fp32)(group, keys, values, rows, size);
}
void attend(const Group& group, const std::uint16_t* keys, const std::uint16_t* values,
            std::size_t rows, std::size_t size) {
    HWY_DYNAMIC_DISPATCH(attend_bf16)(group, keys, values, rows, size);
}
void attend(const Group& group, const ScaledRows& keys, const ScaledRows& values, std::size_t rows,
            std::size_t size) {
    HWY_DYNAMIC_DISPATCH(attend_int8)(group, keys, values, rows, size);
}

} // namespace assay::workload
#endif
