// SPDX-License-Identifier: Apache-2.0
//
// Does the test of a matrix product accept what rounding does, and nothing else? The products are
// computed here by plain loops, narrowed and damaged in the ways that libraries do it.
#include "gemm/square.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace assay::gemm {
namespace {

/// One accumulator per element, in order: more rounding error than any library makes.
template <class Sum, class M>
void multiply(M& m) {
    for (std::size_t i = 0; i < m.size; ++i) {
        std::vector<Sum> row(m.size);
        for (std::size_t k = 0; k < m.size; ++k)
            for (std::size_t j = 0; j < m.size; ++j)
                row[j] +=
                    static_cast<Sum>(m.a[i * m.size + k]) * static_cast<Sum>(m.b[k * m.size + j]);
        for (std::size_t j = 0; j < m.size; ++j)
            m.c[i * m.size + j] = static_cast<std::remove_cvref_t<decltype(m.c[0])>>(row[j]);
    }
}

using Double = Matrices<double, double, double>;
using Single = Matrices<float, float, float>;
using Brain = Matrices<Bfloat16, Bfloat16, float>;
using Byte = Matrices<std::uint8_t, std::int8_t, std::int32_t>;

template <class M>
class RealProduct : public testing::Test {};
using Real = testing::Types<Double, Single, Brain>;
TYPED_TEST_SUITE(RealProduct, Real);

TYPED_TEST(RealProduct, accepts_a_right_result_with_room_to_spare) {
    using Sum = std::remove_cvref_t<decltype(TypeParam{1}.c[0])>;
    for (const std::int64_t size : {16, 17, 100, 257}) {
        TypeParam m{size};
        multiply<Sum>(m);
        const Check check = m.check();
        EXPECT_TRUE(check.passed) << check.detail;
        EXPECT_GT(check.error, 0.05) << "the unit is far too large: size " << size;
        EXPECT_LT(check.error, freivalds_bound / 1.5)
            << "too close to a false alarm: size " << size;
    }
}

TYPED_TEST(RealProduct, rejects_an_output_that_was_not_written) {
    const TypeParam fresh{32};
    EXPECT_FALSE(fresh.check().passed);

    using Sum = std::remove_cvref_t<decltype(fresh.c[0])>;
    for (const std::size_t hole : {std::size_t{0}, std::size_t{517}, std::size_t{1023}}) {
        TypeParam m{32};
        multiply<Sum>(m);
        m.c[hole] = std::numeric_limits<Sum>::quiet_NaN();
        EXPECT_FALSE(m.check().passed);
        m.c[hole] = std::numeric_limits<Sum>::infinity();
        EXPECT_FALSE(m.check().passed);
        m.c[hole] = 0;
        EXPECT_FALSE(m.check().passed);
    }
}

TYPED_TEST(RealProduct, rejects_two_elements_that_changed_places) {
    using Sum = std::remove_cvref_t<decltype(TypeParam{1}.c[0])>;
    TypeParam m{64};
    multiply<Sum>(m);
    std::swap(m.c[130], m.c[131]);
    EXPECT_FALSE(m.check().passed);
}

TEST(Fp32Product, rejects_bf16_and_tf32_inputs) {
    for (const int digits : {8, 11}) { // bf16, tf32
        Single m{256};
        m.narrow_inputs(digits);
        multiply<float>(m);
        m.fill_inputs();
        EXPECT_FALSE(m.check().passed) << digits;
    }
}

TEST(Fp32Product, would_see_bf16_inputs_at_the_largest_size) {
    Single m{256};
    m.narrow_inputs(8);
    multiply<float>(m);
    m.fill_inputs();
    // The error of narrowed inputs per element does not depend on the size, the unit grows with its
    // square root.
    const double error = m.check().error * std::sqrt(256.0 / 65536.0);
    EXPECT_GT(error, 5 * freivalds_bound);
}

TEST(Fp64Product, rejects_fp32_inputs_and_fp32_sums) {
    Double inputs{128};
    inputs.narrow_inputs(24);
    multiply<double>(inputs);
    inputs.fill_inputs();
    EXPECT_FALSE(inputs.check().passed);

    Double sums{128};
    multiply<float>(sums);
    EXPECT_FALSE(sums.check().passed);
}

TEST(Bf16Product, rejects_results_that_went_through_bf16) {
    Brain m{128};
    multiply<float>(m);
    m.narrow_result();
    EXPECT_FALSE(m.check().passed);
}

TEST(Int8Product, is_exact) {
    for (const std::int64_t size : {16, 33, 128}) {
        Byte m{size};
        EXPECT_FALSE(m.check().passed) << "poisoned";
        multiply<std::int32_t>(m);
        const Check check = m.check();
        EXPECT_TRUE(check.passed) << check.detail;
        EXPECT_EQ(check.error, 0);
    }
}

TEST(Int8Product, rejects_every_single_error) {
    Byte m{32};
    multiply<std::int32_t>(m);
    for (std::size_t at = 0; at < 32 * 32; at += 37)
        for (const std::int32_t off : {1, -1, 256, 1 << 30}) {
            m.c[at] += off;
            EXPECT_FALSE(m.check().passed) << at << ' ' << off;
            m.c[at] -= off;
        }
    EXPECT_TRUE(m.check().passed);
}

TEST(Int8Product, uses_values_that_cannot_overflow) {
    const Byte m{128};
    int a_low = 255;
    int a_high = 0;
    int b_low = 127;
    int b_high = -128;
    for (std::size_t i = 0; i < m.a.size(); ++i) {
        a_low = std::min<int>(a_low, m.a[i]);
        a_high = std::max<int>(a_high, m.a[i]);
        b_low = std::min<int>(b_low, m.b[i]);
        b_high = std::max<int>(b_high, m.b[i]);
    }
    EXPECT_EQ(a_low, 0);
    EXPECT_EQ(a_high, 127);
    EXPECT_EQ(b_low, -63);
    EXPECT_EQ(b_high, 63);
    EXPECT_LE(2 * a_high * b_high, 32767) << "a pair of products must fit into 16 bits";
}

} // namespace
} // namespace assay::gemm
