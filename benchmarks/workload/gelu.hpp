// SPDX-License-Identifier: Apache-2.0
//
// GELU, x Phi(x) (Hendrycks, Gimpel 2016), exact or by its usual approximation with tanh, for kernels and for checks.

#pragma once

#include <assay/host_device.hpp>

#include <cmath>
#include <cstdint>
#include <numbers>

namespace assay::workload {

enum class GeluForm : std::uint8_t { erf, tanh };

/// In fp64. The two forms differ by up to 4.7e-4, near +-2.2.
inline double exact_gelu(double x, GeluForm form) {
    constexpr double cubic = 0.044715;
    if (form == GeluForm::erf) return x / 2 * std::erfc(-x / std::numbers::sqrt2);
    const double inner = std::sqrt(2 / std::numbers::pi) * (x + cubic * x * x * x);
    return x / (1 + std::exp(-2 * inner));
}

// One instruction each on a device, within 2^-22; results below 2^-126 are 0.
ASSAY_HOST_DEVICE inline float quick_exp2(float x) {
#if defined(__CUDA_ARCH__) && defined(__CUDACC__)
    asm("ex2.approx.ftz.f32 %0, %0;" : "+f"(x));
    return x;
#else
    return std::exp2(x);
#endif
}
ASSAY_HOST_DEVICE inline float quick_reciprocal(float x) {
#if defined(__CUDA_ARCH__) && defined(__CUDACC__)
    asm("rcp.approx.ftz.f32 %0, %0;" : "+f"(x));
    return x;
#else
    return 1 / x;
#endif
}

/// Phi(-y) for y >= 0, as 2^P(y): P was fitted to log2(erfc(y / sqrt 2) / 2) on [0, 11]. It is within 8e-8 of the
/// value and 0.2% of it up to 5.5, and falls further beyond.
ASSAY_HOST_DEVICE inline float normal_tail(float y) {
    float p = -5.24840742e-07F;
    p = fmaf(p, y, 1.0968901e-05F);
    p = fmaf(p, y, -5.1878295e-05F);
    p = fmaf(p, y, -0.000449523614F);
    p = fmaf(p, y, 0.00744326966F);
    p = fmaf(p, y, -0.0527311093F);
    p = fmaf(p, y, -0.459141734F);
    p = fmaf(p, y, -1.15111188F);
    return quick_exp2(fmaf(p, y, -0.99999989F));
}

/// Phi(x).
ASSAY_HOST_DEVICE inline float normal_distribution(float x) {
    const float tail = normal_tail(fabsf(x));
    return x < 0 ? tail : 1 - tail;
}

/// In fp32, within ten roundings of 1 + |x|.
template <GeluForm form>
ASSAY_HOST_DEVICE float gelu(float x) {
    if constexpr (form == GeluForm::erf) {
        const float y = fabsf(x);
        return fmaf(-y, normal_tail(y), fmaxf(x, 0));
    } else {
        constexpr float linear = -2.30220818F; // -2 sqrt(2 / pi) log2(e)
        constexpr float cubic = 0.044715F * linear;
        return x * quick_reciprocal(1 + quick_exp2(x * fmaf(cubic, x * x, linear)));
    }
}

} // namespace assay::workload
