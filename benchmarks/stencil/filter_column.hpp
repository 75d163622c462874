// SPDX-License-Identifier: Apache-2.0
//
// What a thread of a device does in stencil.filter2d, as a plain function: some pixels below each other.

#pragma once

#include "device/pack.hpp"
#include "stencil/filter_data.hpp"

namespace assay::stencil {

/// Pixels (x, y) up to (x, y + rows - 1), those that are there. A row loaded from the image serves all of them, and
/// each has its products in the same order, however many there are.
template <std::size_t side, unsigned rows, class T>
ASSAY_HOST_DEVICE void filter_column(const filter_data::Image& image,
                                     const filter_data::FilterWeights<T>& weights, const T* in,
                                     T* out, std::size_t x, std::size_t y) {
    if (x >= image.columns || y >= image.rows) return;
    const T* const first = in + image.at(x, y);
    T sums[rows] = {};
    // Rows come in fours, so a thread of eight may have half of its pixels;
    // their inputs are in the frame or are not read.
    const std::size_t there = image.rows - y < rows ? image.rows - y : rows;
#ifdef ASSAY_ON_DEVICE
#pragma unroll
#endif
    for (std::size_t dx = 0; dx < side; ++dx) {
#ifdef ASSAY_ON_DEVICE
#pragma unroll
#endif
        for (std::size_t row = 0; row < rows + side - 1; ++row) {
            if (row >= there + side - 1) continue;
            const T value = device::read_only(first + image.at(dx, row));
#ifdef ASSAY_ON_DEVICE
#pragma unroll
#endif
            for (std::size_t k = 0; k < rows; ++k)
                if (row >= k && row < k + side)
                    sums[k] = std::fma(weights.values[(row - k) * side + dx], value, sums[k]);
        }
    }
#ifdef ASSAY_ON_DEVICE
#pragma unroll
#endif
    for (std::size_t k = 0; k < rows; ++k)
        if (k < there) out[image.at(x, y + k)] = sums[k];
}

} // namespace assay::stencil
