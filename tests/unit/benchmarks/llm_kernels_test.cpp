// SPDX-License-Identifier: Apache-2.0
//
// Kernels of language models on hosts against fp64, for every instruction set of this CPU.
#include "gemm/bfloat16.hpp"
#include "model/llm_host_attention.hpp"
#include "model/llm_host_kernels.hpp"
#include "workload/transformer_data.hpp"

#include <assay/random.hpp>

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace assay::model {
namespace {

template <class T>
T narrow(double value) {
    if constexpr (std::is_same_v<T, float>)
        return static_cast<float>(value);
    else
        return gemm::to_bfloat16(static_cast<float>(value)).bits;
}
template <class T>
double wide(T value) {
    if constexpr (std::is_same_v<T, float>)
        return value;
    else
        return gemm::Bfloat16{value};
}
template <class T>
std::vector<T> numbers(std::uint64_t seed, std::size_t count) {
    std::vector<T> made(count);
    for (std::size_t i = 0; i < count; ++i) made[i] = narrow<T>(random_normal<double>(seed, i));
    return made;
}
/// Relative, of a number that was stored.
template <class T>
constexpr double rounding = std::is_same_v<T, float> ? 0x1p-22 : 0x1.02p-8;

/// Runs a test with each instruction set.
template <class Test>
void on_each_target(const Test& test) {
    for (std::int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
        const std::int64_t target = left & -left;
        SCOPED_TRACE(hwy::TargetName(target));
        hwy::SetSupportedTargetsForTest(target);
        hwy::GetChosenTarget().DeInit();
        test();
    }
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().DeInit();
}

template <class T>
class LlmKernels : public testing::Test {};
using Types = testing::Types<float, std::uint16_t>;
TYPED_TEST_SUITE(LlmKernels, Types);

TYPED_TEST(LlmKernels, NormaliseRows) {
    const auto in = numbers<TypeParam>(1, 144);
    const auto scales = numbers<float>(2, 144);
    double squares = 0;
    for (const auto x : in) squares += wide(x) * wide(x);
    on_each_target([&] {
        std::vector<TypeParam> out(in.size());
        llm_rows<TypeParam>().norm(in.data(), scales.data(), in.size(), out.data());
        for (std::size_t i = 0; i < in.size(); ++i) {
            const double expected =
                wide(in[i]) / std::sqrt(squares / 144 + workload::norm_epsilon) * scales[i];
            ASSERT_NEAR(wide(out[i]), expected, rounding<TypeParam> * std::fabs(expected));
        }
    });
}

TYPED_TEST(LlmKernels, PassUpsThroughGates) {
    auto gates = numbers<TypeParam>(3, 64);
    const auto ups = numbers<TypeParam>(4, 64);
    gates[5] = narrow<TypeParam>(-200); // exp(200) is beyond fp32
    gates[6] = narrow<TypeParam>(200);
    on_each_target([&] {
        std::vector<TypeParam> out(gates.size());
        llm_rows<TypeParam>().gate(gates.data(), ups.data(), gates.size(), out.data());
        for (std::size_t i = 0; i < gates.size(); ++i) {
            const double gate = wide(gates[i]);
            const double expected = gate / (1 + std::exp(-gate)) * wide(ups[i]);
            ASSERT_NEAR(wide(out[i]), expected, rounding<TypeParam> * std::fabs(expected) + 1e-30);
        }
    });
}

TYPED_TEST(LlmKernels, TurnPairsHalfAHeadApart) {
    const auto in = numbers<TypeParam>(5, 64);
    const auto scales = numbers<float>(6, 64);
    std::vector<float> cosines;
    std::vector<float> sines;
    double squares = 0;
    for (const auto x : in) squares += wide(x) * wide(x);
    for (int i = 0; i < 32; ++i) {
        cosines.push_back(std::cos(0.3F * static_cast<float>(i)));
        sines.push_back(std::sin(0.3F * static_cast<float>(i)));
    }
    for (const bool normed : {false, true})
        on_each_target([&] {
            std::vector<TypeParam> out(in.size());
            llm_rows<TypeParam>().turn(in.data(), normed ? scales.data() : nullptr, cosines.data(),
                                       sines.data(), 0.125F, 32, out.data());
            const auto number = [&](std::size_t i) {
                const double size = std::sqrt(squares / 64 + workload::norm_epsilon);
                return 0.125 * wide(in[i]) * (normed ? double{scales[i]} / size : 1);
            };
            for (std::size_t i = 0; i < 32; ++i) {
                const double low = number(i) * cosines[i] - number(i + 32) * sines[i];
                const double high = number(i + 32) * cosines[i] + number(i) * sines[i];
                ASSERT_NEAR(wide(out[i]), low, rounding<TypeParam> * std::fabs(low) + 1e-6);
                ASSERT_NEAR(wide(out[i + 32]), high, rounding<TypeParam> * std::fabs(high) + 1e-6);
            }
        });
}

TYPED_TEST(LlmKernels, FindFirstGreatest) {
    auto scores = numbers<TypeParam>(7, 160);
    scores[77] = scores[130] = narrow<TypeParam>(100);
    const std::vector<TypeParam> none(32,
                                      narrow<TypeParam>(std::numeric_limits<double>::quiet_NaN()));
    on_each_target([&] {
        EXPECT_EQ(llm_rows<TypeParam>().greatest(scores.data(), scores.size()), 77);
        EXPECT_EQ(llm_rows<TypeParam>().greatest(none.data(), none.size()), -1);
    });
}

/// Tokens of two sequences attend to all before them, and to themselves.
TYPED_TEST(LlmKernels, AttendFromPromptsAndFromNewTokens) {
    constexpr std::size_t size = 16;
    for (const std::int64_t queries : {1, 7, 16, 37}) {
        const std::int64_t context = queries == 1 ? 70 : queries;
        const LlmStep step{{1, 64, 4, 2, size, 64, 64, 4096}, 2, context, queries};
        const auto rows = static_cast<std::size_t>(context);
        const auto tokens = static_cast<std::size_t>(step.tokens());
        const auto q = numbers<TypeParam>(8, tokens * 4 * size);
        const auto keys = numbers<TypeParam>(9, 2 * 2 * rows * size);
        const auto values = numbers<TypeParam>(10, 2 * 2 * rows * size);
        for (const int threads : {1, 3}) {
            std::vector<TypeParam> results(q.size());
            HostAttention<TypeParam>{threads, step}.run(q.data(), keys.data(), values.data(),
                                                        results.data());
            for (std::size_t i = 0; i < q.size(); ++i) {
                const std::size_t token = i / (4 * size);
                const std::size_t head = i / size % 4;
                const std::size_t sequence = token / static_cast<std::size_t>(queries);
                const std::size_t first = (sequence * 2 + head / 2) * rows * size;
                const std::size_t length = rows - static_cast<std::size_t>(queries) +
                                           token % static_cast<std::size_t>(queries) + 1;
                const workload::AttentionReference reference{
                    length, size, [&](auto d) { return wide(q[i / size * size + d]); },
                    [&](auto j, auto d) { return wide(keys[first + j * size + d]); }};
                const auto expected = reference.expect(Precision::fp32, [&](auto j) {
                    return wide(values[first + j * size + i % size]);
                });
                ASSERT_NEAR(wide(results[i]), expected.value,
                            1e-5 + rounding<TypeParam> * std::fabs(expected.value))
                    << queries << " queries, " << threads << " threads, number " << i;
            }
        }
    }
}

#ifdef __x86_64__
TEST(PanelProduct, IsTheProductOfRowsAndWeights) {
    if (__builtin_cpu_supports("avx512bf16") == 0) GTEST_SKIP() << "needs AVX-512 BF16";
    constexpr std::size_t inputs = 96;
    constexpr std::size_t outputs = 128;
    const auto weights = numbers<std::uint16_t>(11, inputs * outputs);
    std::vector<std::uint16_t> panels(weights.size());
    for (std::size_t n = 0; n < outputs; ++n)
        for (std::size_t k = 0; k < inputs; ++k)
            panels[n / 64 * 64 * inputs + k / 2 * 128 + n % 64 * 2 + k % 2] =
                weights[n * inputs + k];
    for (const std::size_t rows : {1U, 5U, 8U, 11U})
        for (const bool adds : {false, true}) {
            const auto in = numbers<std::uint16_t>(12, rows * inputs);
            const auto added = numbers<std::uint16_t>(13, rows * outputs);
            std::vector<std::uint16_t> out(rows * outputs);
            const PanelProduct product{rows,      inputs,        outputs,
                                       in.data(), panels.data(), adds ? added.data() : nullptr,
                                       out.data()};
            product.run(0, 1);
            EXPECT_EQ(out[64], 0) << "not asked for";
            product.run(1, 2);
            for (std::size_t i = 0; i < out.size(); ++i) {
                double expected = adds ? wide(added[i]) : 0;
                for (std::size_t k = 0; k < inputs; ++k)
                    expected += wide(in[i / outputs * inputs + k]) *
                                wide(weights[i % outputs * inputs + k]);
                ASSERT_NEAR(wide(out[i]), expected, 1e-4 + 0x1.02p-8 * std::fabs(expected));
            }
        }
}
#endif

} // namespace
} // namespace assay::model
