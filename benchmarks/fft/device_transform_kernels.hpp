// SPDX-License-Identifier: Apache-2.0
//
// What fft.transform does on a device beside the transform: its data, and is it right?

#pragma once

#include "device/handles.hpp"
#include "half.hpp"
#include "shape.hpp"

#include <assay/benchmark.hpp>

namespace assay::fft {

/// Uniform random numbers between -1 and 1.
template <class T>
void fill_points(const device::Buffer<T>& points, const device::Stream& stream);

/// Queues: the bins become numbers for the way back.
template <class T, class Back>
void copy_bins(const device::Buffer<T>& bins, const device::Buffer<Back>& returned,
               const device::Stream& stream);

/// Euclidean norm of one transform's bins, as the points have it.
template <class T>
double norm_of_bins(const Shape& shape, const device::Buffer<T>& points, std::int64_t transform,
                    const device::Stream& stream);

/// Looks at every transform; `returned` has come back, `volume` times too large.
template <class T, class Back>
Check check_transforms(const Shape& shape, const device::Buffer<T>& points,
                       const device::Buffer<T>& bins, const device::Buffer<Back>& returned,
                       const device::Stream& stream);

} // namespace assay::fft
