// SPDX-License-Identifier: Apache-2.0
//
// Queries that share keys and values, against softmax in fp64: groups and rows that fill no block, sizes that fill no
// pair of vectors, and scores that grow, so that what was summed up is scaled down.
#include "workload/attention_kernels.hpp"
#include "workload/decoding_spans.hpp"

#include <assay/random.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace assay::workload {
namespace {

template <class T>
struct Example {
    Example(std::size_t count, std::size_t rows_, std::size_t size_)
        : rows{rows_}, size{size_}, queries(count * size), keys(rows * size), values(rows * size) {
        for (std::size_t i = 0; i < queries.size(); ++i)
            queries[i] = random_uniform<float>(1, i, -0.2F, 0.2F);
        for (std::size_t i = 0; i < keys.size(); ++i) {
            // Whole numbers fit into every type; those of later rows are larger.
            const auto most = static_cast<std::int64_t>(1 + 7 * (i / size) / rows);
            keys[i] = number(random_integer<int>(2, i, -most, most));
            values[i] = number(random_integer<int>(3, i, -8, 8));
        }
        for (std::size_t row = 0; row < rows; ++row) {
            key_scales.push_back(random_uniform<float>(4, row, 0.5F, 1.5F));
            value_scales.push_back(random_uniform<float>(5, row, 0.5F, 1.5F));
        }
    }
    static T number(int value) {
        if constexpr (std::is_same_v<T, std::uint16_t>)
            return static_cast<T>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16U);
        else
            return static_cast<T>(value);
    }
    static double plain(T value) {
        if constexpr (std::is_same_v<T, std::uint16_t>)
            return std::bit_cast<float>(std::uint32_t{value} << 16U);
        else
            return value;
    }
    double scale(const std::vector<float>& of, std::size_t row) const {
        return std::is_same_v<T, std::int8_t> ? double{of[row]} : 1.0;
    }
    void attend(const Group& group) const {
        if constexpr (std::is_same_v<T, std::int8_t>)
            workload::attend(group, ScaledRows{keys.data(), key_scales.data()},
                             ScaledRows{values.data(), value_scales.data()}, rows, size);
        else
            workload::attend(group, keys.data(), values.data(), rows, size);
    }
    /// Expected for one query: the largest score, exp(score - largest) summed up, and times the values.
    struct Expected {
        double largest = -std::numeric_limits<double>::infinity();
        double sum = 0;
        std::vector<double> result;
    };
    Expected expected(std::size_t query) const {
        std::vector<double> scores(rows);
        Expected to{.result = std::vector<double>(size)};
        for (std::size_t row = 0; row < rows; ++row) {
            for (std::size_t d = 0; d < size; ++d)
                scores[row] += double{queries[query * size + d]} * plain(keys[row * size + d]);
            scores[row] *= scale(key_scales, row);
            to.largest = std::fmax(to.largest, scores[row]);
        }
        for (std::size_t row = 0; row < rows; ++row) {
            const double weight = std::exp(scores[row] - to.largest);
            to.sum += weight;
            for (std::size_t d = 0; d < size; ++d)
                to.result[d] += weight * scale(value_scales, row) * plain(values[row * size + d]);
        }
        return to;
    }

    std::size_t rows;
    std::size_t size;
    std::vector<float> queries;
    std::vector<T> keys;
    std::vector<T> values;
    std::vector<float> key_scales;
    std::vector<float> value_scales;
};

template <class T>
class Attention : public testing::Test {};
using Types = testing::Types<float, std::uint16_t, std::int8_t>;
TYPED_TEST_SUITE(Attention, Types);

TYPED_TEST(Attention, OfAGroupIsThatOfEachQuery) {
    for (const std::size_t count : {2U, 4U, 5U, 8U, 12U, 16U})
        for (const std::size_t rows : {1U, 2U, 31U, 64U, 65U, 200U})
            for (const std::size_t size : {16U, 48U, 128U}) {
                const Example<TypeParam> example{count, rows, size};
                std::vector<float> results(count * size);
                std::vector<Attended> states(count);
                std::vector<float> scratch(attention_scratch(count, size));
                example.attend(
                    {count, example.queries.data(), results.data(), states.data(), scratch.data()});
                for (std::size_t query = 0; query < count; ++query) {
                    SCOPED_TRACE(testing::Message()
                                 << count << " x " << rows << " x " << size << ", query " << query);
                    const auto expected = example.expected(query);
                    EXPECT_NEAR(states[query].largest, expected.largest, 1e-4);
                    EXPECT_NEAR(states[query].sum, expected.sum, 1e-4 * expected.sum);
                    for (std::size_t d = 0; d < size; ++d)
                        ASSERT_NEAR(results[query * size + d], expected.result[d],
                                    1e-3 * expected.sum);
                }
            }
}

TYPED_TEST(Attention, OfOneQueryIsThatOfTheSimpleLoop) {
    const Example<TypeParam> example{1, 100, 64};
    std::vector<float> results(64);
    Attended state{};
    std::vector<float> scratch(attention_scratch(1, 64));
    example.attend({1, example.queries.data(), results.data(), &state, scratch.data()});
    const auto expected = example.expected(0);
    for (std::size_t d = 0; d < 64; ++d)
        EXPECT_NEAR(results[d], expected.result[d], 1e-3 * expected.sum);
}

constexpr std::uint32_t at_once = 64;

/// 132 multiprocessors with three blocks each, 16 sequences of 4096 tokens.
TEST(DecodingSpans, FillTheDeviceOnce) {
    constexpr std::size_t blocks = 396;
    const auto blocks_of = [](std::size_t tiles, std::uint32_t span) {
        return tiles * ((4096 + span - 1) / span);
    };
    const auto shared = spans_of(4096, 64, blocks, at_once); // 4 key heads
    EXPECT_EQ(shared, (std::vector<std::uint32_t>{4096, 1408, 704, 384, 192, 128}));
    EXPECT_EQ(blocks_of(64, shared[2]), 384U); // 97%
    // With 32 key heads there are more tiles than blocks at once: four times is 97%, too.
    const auto apart = spans_of(4096, 512, blocks, at_once);
    EXPECT_EQ(apart, (std::vector<std::uint32_t>{4096, 1408, 704}));
    EXPECT_EQ(blocks_of(512, apart[1]), 1536U);
}

TEST(DecodingSpans, AreWholeAndCoverAnyContext) {
    for (const std::uint32_t context : {1U, 63U, 64U, 65U, 1000U, 1U << 20U})
        for (const std::size_t tiles : {1U, 7U, 100'000U})
            for (const std::size_t blocks : {1U, 396U, 5000U}) {
                const auto spans = spans_of(context, tiles, blocks, at_once);
                ASSERT_FALSE(spans.empty());
                EXPECT_TRUE(std::ranges::is_sorted(spans, std::greater{}));
                for (const std::uint32_t span : spans) {
                    EXPECT_EQ(span % at_once, 0U);
                    EXPECT_GE(span, at_once);
                    EXPECT_LT(span, context + at_once);
                }
            }
}

} // namespace
} // namespace assay::workload
