// SPDX-License-Identifier: Apache-2.0
//
// What threads of a device do in sparse.spmv, as plain functions: several neighbours, the lanes, share a row.

#pragma once

#include "device/pack.hpp"
#include "sparse/spmv_data.hpp"

namespace assay::sparse {

/// Entries of a row that are on their way at once.
inline constexpr unsigned spmv_chunk = 32;

/// A product that is rounded by itself: fused into a sum here and not there, bits would depend on the lanes.
template <class T>
ASSAY_HOST_DEVICE inline T rounded_product(T a, T b) {
#if defined(ASSAY_ON_DEVICE) && defined(ASSAY_DEVICE_COMPILER)
    if constexpr (sizeof(T) == sizeof(double))
        return __dmul_rn(a, b);
    else
        return __fmul_rn(a, b);
#else
    return a * b;
#endif
}

/// The part of an element that one of so many lanes adds. Added over the lanes in pairs of the largest distance
/// first, a row of up to spmv_chunk entries gives the same bits for every number of lanes: entries i and i + 16 are
/// added, then those 8 apart, and so on.
template <unsigned lanes, class T>
ASSAY_HOST_DEVICE T share_of_lane(const Csr<T>& m, const T* x, std::uint32_t row, unsigned lane) {
    const std::uint32_t end = device::read_only(m.first + row + 1);
    T share = 0;
    for (std::uint32_t chunk = device::read_only(m.first + row); chunk < end; chunk += spmv_chunk) {
        constexpr unsigned each = spmv_chunk / lanes;
        T products[each];
#ifdef ASSAY_ON_DEVICE
#pragma unroll
#endif
        for (unsigned k = 0; k < each; ++k) {
            const std::uint32_t at = chunk + lane + k * lanes;
            products[k] = at < end ? rounded_product(device::read_only(m.values + at),
                                                     x[device::read_only(m.columns + at)])
                                   : T{0};
        }
#ifdef ASSAY_ON_DEVICE
#pragma unroll
#endif
        for (unsigned half = each / 2; half > 0; half /= 2)
            for (unsigned k = 0; k < half; ++k) products[k] += products[k + half];
        share += products[0];
    }
    return share;
}

} // namespace assay::sparse
