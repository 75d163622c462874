// SPDX-License-Identifier: Apache-2.0
//
// The formulas of a pair, on plain numbers, for host and device.

#pragma once

#include <assay/host_device.hpp>

namespace assay::md {

#include "pair_formulas.inc"

/// Arithmetic on plain numbers.
template <class T>
struct Plain {
    ASSAY_HOST_DEVICE static T constant(double value) { return static_cast<T>(value); }
    ASSAY_HOST_DEVICE static T reciprocal(T x) { return T{1} / x; }
    ASSAY_HOST_DEVICE static T divide(T x, T y) { return x / y; }
    ASSAY_HOST_DEVICE static T multiply(T x, T y) { return x * y; }
    ASSAY_HOST_DEVICE static T multiply_add(T x, T y, T z) { return x * y + z; }
};

} // namespace assay::md
