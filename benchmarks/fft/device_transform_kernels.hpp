// SPDX-License-Identifier: Apache-2.0
//
// What fft.transform does on a device beside the transform: its data, and is it right?

#pragma once

#include "device/handles.hpp"
#include "half.hpp"
#include "shape.hpp"

#include <assay/benchmark.hpp>

namespace assay::fft {

/// For numbers of type T, whose bins come back as numbers of type Back.
template <class T, class Back>
struct TransformWork {
    /// Uniform random numbers between -1 and 1.
    static void fill(const device::Buffer<T>& points, const device::Stream& stream);
    /// Queues: the bins become numbers for the way back.
    static void copy_bins(const device::Buffer<T>& bins, const device::Buffer<Back>& returned,
                          const device::Stream& stream);
    /// Euclidean norm of one transform's bins, as the points have it.
    static double norm_of_bins(const Shape& shape, const device::Buffer<T>& points,
                               std::int64_t transform, const device::Stream& stream);
    /// Looks at every transform; `returned` has come back, `volume` times too large.
    static Check check(const Shape& shape, const device::Buffer<T>& points,
                       const device::Buffer<T>& bins, const device::Buffer<Back>& returned,
                       const device::Stream& stream);
};

} // namespace assay::fft
