// SPDX-License-Identifier: Apache-2.0
#include "workload/gelu.hpp"
#include "workload/transformer_data.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace assay::workload {
namespace {

TEST(Gelu, FormsAreTheKnownFunctions) {
    EXPECT_NEAR(exact_gelu(1, GeluForm::erf), 0.8413447460685429, 1e-15);
    EXPECT_NEAR(exact_gelu(1, GeluForm::tanh), 0.8411919906082768, 1e-15);
    double largest = 0;
    for (double x = -6; x < 6; x += 1e-3)
        largest = std::max(largest,
                           std::fabs(exact_gelu(x, GeluForm::erf) - exact_gelu(x, GeluForm::tanh)));
    EXPECT_NEAR(largest, 4.73e-4, 1e-6);
}

/// Every number of bf16, and one between each two.
template <class Error>
double largest_error(const Error& error) {
    double largest = 0;
    for (std::uint32_t upper = 0; upper < 0x10000; ++upper)
        for (const std::uint32_t lower : {0U, 0x5555U}) {
            const auto x = std::bit_cast<float>(upper << 16U | lower);
            if (std::isfinite(x)) largest = std::max(largest, std::fabs(error(x)));
        }
    return largest;
}

TEST(Gelu, StaysFarWithinWhatIsAllowed) {
    const auto error = [](float x, float got, GeluForm form) {
        Expected exact = expect_gelu({.value = x, .allowed = 0}, Precision::fp32, form);
        return exact.error(got);
    };
    EXPECT_LT(
        largest_error([&](float x) { return error(x, gelu<GeluForm::erf>(x), GeluForm::erf); }),
        0.1);
    EXPECT_LT(
        largest_error([&](float x) { return error(x, gelu<GeluForm::tanh>(x), GeluForm::tanh); }),
        0.1);
    EXPECT_LT(largest_error([](float x) {
                  const double exact = std::erfc(-double{x} / std::numbers::sqrt2) / 2;
                  return (normal_distribution(x) - exact) / 0x1p-20;
              }),
              0.2);
}

TEST(Gelu, KeepsNotANumber) {
    const float nan = std::nanf("");
    EXPECT_TRUE(std::isnan(gelu<GeluForm::erf>(nan)));
    EXPECT_TRUE(std::isnan(gelu<GeluForm::tanh>(nan)));
}

TEST(Gelu, CheckTellsTheFormsApart) {
    double largest = 0;
    for (float x = -3; x < 3; x += 0x1p-6F) {
        const Expected erf = expect_gelu({.value = x, .allowed = 0}, Precision::bf16);
        largest = std::max(largest, std::fabs(erf.error(exact_gelu(x, GeluForm::tanh))));
    }
    EXPECT_GT(largest, 5);
}

} // namespace
} // namespace assay::workload
