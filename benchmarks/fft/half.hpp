// SPDX-License-Identifier: Apache-2.0
//
// IEEE half precision as a storage type, for data and checks: the same on hosts and devices.

#pragma once

#include "device/narrow_float.hpp"

#include <assay/host_device.hpp>

#include <cmath>
#include <cstdint>

namespace assay::fft {

struct Half {
    std::uint16_t bits = 0;
};

/// Exact; an infinity, which cannot be a result either, becomes NaN.
ASSAY_HOST_DEVICE inline float to_float(Half half) {
    return static_cast<float>(device::decode(device::fp16_format(), half.bits));
}

/// The nearest, ties to even; from 65520 on infinity. Not for NaN.
ASSAY_HOST_DEVICE inline Half to_half(float value) {
    constexpr float beyond = 65520; // half a step above the largest, a tie to what would be even
    if (std::fabs(value) >= beyond)
        return {static_cast<std::uint16_t>(value < 0 ? 0xfc00U : 0x7c00U)};
    return {static_cast<std::uint16_t>(
        device::encode(device::fp16_format(), static_cast<double>(value)))};
}

} // namespace assay::fft
