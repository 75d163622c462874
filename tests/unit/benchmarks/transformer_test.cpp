// SPDX-License-Identifier: Apache-2.0
//
// The pieces that transformer stages are recomputed with: right by hand, loose enough for fp32, too
// tight for bf16 passed off as fp32.
#include "workload/transformer_data.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace assay::workload {
namespace {

std::vector<float> normals(std::uint64_t seed, std::size_t count) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = random_normal<float>(seed, i);
    return values;
}
float narrowed(float value) { return gemm::to_bfloat16(value); }

TEST(Transformer, CountsAsTheLiteratureDoes) {
    // BERT base: 12 layers, width 768. 12 x 768^2 weights per layer, 2 x that per token and more for
    // attention.
    const TransformerShape shape{1, 128, 768};
    EXPECT_EQ(shape.heads(), 12);
    EXPECT_EQ(shape.weights(), 7'077'888);
    EXPECT_EQ(shape.flops(), 128 * (2.0 * 7'077'888 + 4.0 * 128 * 768));
}

TEST(Transformer, ProductsInFp32AreAcceptedAndOfBf16NotInItsPlace) {
    constexpr std::size_t terms = 768;
    int seen = 0;
    for (std::uint64_t row = 0; row < 50; ++row) {
        const auto in = normals(2 * row, terms);
        const auto weight = normals(2 * row + 1, terms);
        float whole = 0.5F;
        float narrow = 0.5F;
        for (std::size_t k = 0; k < terms; ++k) {
            whole = std::fma(in[k], weight[k], whole);
            narrow = std::fma(narrowed(in[k]), narrowed(weight[k]), narrow);
        }
        const Expected expected = expect_stored(
            expect_product(
                terms, [&](auto k) { return in[k]; }, [&](auto k) { return weight[k]; }, 0.5),
            Precision::fp32);
        EXPECT_LE(std::fabs(expected.error(whole)), 1);
        EXPECT_GT(std::fabs(expected.error(damaged(Precision::fp32, whole))), 1);
        seen += std::fabs(expected.error(narrow)) > 1 ? 1 : 0;
    }
    EXPECT_GT(seen, 45);
}

TEST(Transformer, Int8IsHeldToTheStepAndToItsOwnScale) {
    const TransformerShape shape{1, 16, 256};
    const TransformerData data{shape, Precision::int8, Precision::bf16};
    using Kind = TransformerData::Kind;
    EXPECT_NEAR(data.step(Kind::qkv) * 127, std::sqrt(3.0), 1e-6) << "the largest input";
    for (std::uint64_t i = 0; i < 1000; ++i) {
        const float weight = data.weight(Kind::inner, i);
        ASSERT_EQ(weight, std::floor(weight));
        ASSERT_LE(std::fabs(weight), 127);
    }
    // Stored values differ from the sum by rounding only; a neighbour's scale is far off.
    const auto in = [](auto k) { return static_cast<float>(k % 255) - 127; };
    const auto weight = [&](auto k) { return data.weight(Kind::qkv, k); };
    const double scale = data.product_scale(Kind::qkv, 5);
    const auto right = expect_int8_product(256, in, weight, 0.05, scale);
    const auto neighbour =
        expect_int8_product(256, in, weight, 0.05, data.product_scale(Kind::qkv, 6));
    EXPECT_GT(std::fabs(right.error(neighbour.value)), 1000);
    EXPECT_LT(std::fabs(right.error(right.value * (1 + 0x1p-24))), 1);
}

TEST(Transformer, StepsAreTheNearestAndTwoStepsOffAreSeen) {
    const auto at = [](double value) { return expect_steps({.value = value, .allowed = 0}, 0.25); };
    EXPECT_LE(std::fabs(at(0.30).error(1)), 1);
    EXPECT_GT(std::fabs(at(0.30).error(2)), 1);
    EXPECT_LE(std::fabs(at(0.375).error(1)), 1) << "a tie may go either way";
    EXPECT_LE(std::fabs(at(0.375).error(2)), 1);
    EXPECT_LE(std::fabs(at(1000).error(127)), 1) << "saturated";
    EXPECT_GT(std::fabs(at(1000).error(125)), 1);
    for (const float step : {-128.0F, -3.0F, 0.0F, 1.0F, 127.0F}) {
        const float wrong = damaged(Precision::int8, step);
        EXPECT_GT(std::fabs(at(0.25 * double{step}).error(wrong)), 1);
        EXPECT_LE(std::fabs(wrong), 128);
    }
}

TEST(Transformer, GeluIsTheOneWithTheErrorFunction) {
    const auto gelu = [](double x) {
        return expect_gelu({.value = x, .allowed = 0}, Precision::fp32).value;
    };
    EXPECT_EQ(gelu(0), 0);
    EXPECT_NEAR(gelu(1), 0.8413447460685429, 1e-15);
    EXPECT_NEAR(gelu(-1), -0.15865525393145707, 1e-15);
    EXPECT_NEAR(gelu(10), 10, 1e-15);
}

TEST(Transformer, AttentionOfEqualScoresIsTheMeanAndElseFollowsTheLargest) {
    const std::array values{1.0, 2.0, 6.0};
    const auto value = [&](auto j) { return values.at(j); };
    const AttentionReference equal{3, 64, [](auto) { return 0.0; }, [](auto, auto) { return 1.0; }};
    EXPECT_NEAR(equal.expect(Precision::fp32, value).value, 3.0, 1e-15);
    const AttentionReference second{2, 64, [](auto d) { return d == 0 ? 100.0 : 0.0; },
                                    [](auto j, auto) { return j == 1 ? 1.0 : 0.0; }};
    EXPECT_NEAR(second.expect(Precision::fp32, value).value, 2, 1e-12); // scores 0 and 100
}

TEST(Transformer, AttentionInFp32IsAcceptedAndProbabilitiesInBf16AreNot) {
    constexpr std::size_t length = 128;
    int seen = 0;
    for (std::uint64_t head = 0; head < 30; ++head) {
        const auto query = normals(3 * head, head_size);
        const auto keys = normals(3 * head + 1, length * head_size);
        const auto values = normals(3 * head + 2, length);
        const auto compute = [&](auto&& store) {
            std::vector<float> p(length);
            float total = 0;
            for (std::size_t j = 0; j < length; ++j) {
                float sum = 0;
                for (std::size_t d = 0; d < head_size; ++d)
                    sum = std::fma(query[d], keys[j * head_size + d], sum);
                p[j] = std::exp(sum / 8);
                total += p[j];
            }
            float result = 0;
            for (std::size_t j = 0; j < length; ++j)
                result = std::fma(store(p[j] / total), values[j], result);
            return result;
        };
        const AttentionReference reference{length, head_size, [&](auto d) { return query[d] / 8; },
                                           [&](auto j, auto d) { return keys[j * head_size + d]; }};
        const Expected expected =
            reference.expect(Precision::fp32, [&](auto j) { return values[j]; });
        EXPECT_LE(std::fabs(expected.error(compute([](float p) { return p; }))), 1);
        seen += std::fabs(expected.error(compute(narrowed))) > 1 ? 1 : 0;
    }
    EXPECT_GT(seen, 25);
}

/// The change of `of` per change of argument number i, at `at`.
template <class Of>
double slope(Of&& of, std::vector<double> at, std::size_t i) {
    constexpr double step = 1e-5;
    at[i] += step;
    const double above = of(at);
    at[i] -= 2 * step;
    return (above - of(at)) / (2 * step);
}

TEST(Transformer, GradientsAreTheSlopesOfWhatTheyBelongTo) {
    constexpr std::size_t length = 12;
    std::vector<double> x;
    std::vector<double>
        with; // gradients of the results: what is summed up is the results times these
    for (std::size_t i = 0; i < length; ++i) {
        x.push_back(random_normal<double>(1, i));
        with.push_back(random_normal<double>(2, i));
    }
    const auto sum_of = [&](auto&& results) {
        return [&](const std::vector<double>& at) {
            double sum = 0;
            for (std::size_t k = 0; k < length; ++k) sum += with[k] * results(at, k);
            return sum;
        };
    };
    const auto gelu = [](const std::vector<double>& at, std::size_t k) {
        return expect_gelu({.value = at[k], .allowed = 0}, Precision::fp32).value;
    };
    const auto softmax = [](const std::vector<double>& at, std::size_t k) {
        double total = 0;
        for (const double score : at) total += std::exp(score);
        return std::exp(at[k]) / total;
    };
    const auto norm = [](const std::vector<double>& at, std::size_t k) {
        return expect_norm(
                   at.size(), Precision::fp32, [&](auto j) { return at[j]; }, k, 1, 0)
            .value;
    };
    double mean = 0;
    double squares = 0;
    for (const double number : x) mean += number / length;
    for (const double number : x) squares += (number - mean) * (number - mean) / length;
    const double deviation = std::sqrt(squares + norm_epsilon);
    for (std::size_t i = 0; i < length; ++i) {
        SCOPED_TRACE(i);
        const auto of = [&](auto k) { return with[k]; };
        EXPECT_NEAR(expect_gelu_gradient(x[i], with[i], Precision::fp32).value,
                    slope(sum_of(gelu), x, i), 1e-8);
        EXPECT_NEAR(expect_softmax_gradient(
                        length, Precision::fp32, [&](auto k) { return softmax(x, k); }, of, i)
                        .value,
                    slope(sum_of(softmax), x, i), 1e-8);
        const auto normal = [&](auto k) { return (x[k] - mean) / deviation; };
        EXPECT_NEAR(expect_norm_gradient(length, Precision::fp32, normal, of, i, deviation).value,
                    slope(sum_of(norm), x, i), 1e-8);
    }
}

TEST(Transformer, NormalisedRowsHaveMeanZeroAndDeviationOne) {
    const auto row = normals(9, 64);
    double sum = 0;
    double squares = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
        const Expected expected = expect_norm(
            row.size(), Precision::fp32, [&](auto k) { return 3 * row[k] + 7; }, i, 2, 5);
        sum += expected.value - 5;
        squares += (expected.value - 5) * (expected.value - 5) / 4;
        EXPECT_GT(
            std::fabs(expected.error(damaged(Precision::fp32, static_cast<float>(expected.value)))),
            1);
    }
    EXPECT_NEAR(sum, 0, 1e-12);
    EXPECT_NEAR(squares / 64, 1, 1e-4);
}

} // namespace
} // namespace assay::workload
