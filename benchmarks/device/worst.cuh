// SPDX-License-Identifier: Apache-2.0
//
// The check of many elements on the device, with the words and the rules of assay/verify.hpp: every
// element is looked at, and NaN is worse than every number. For .cu files.

#pragma once

#include "device/launch.cuh"

#include <assay/verify.hpp>

#include <bit>
#include <limits>

namespace assay::device {

/// A deviation as an integer of the same order: doubles that are not negative sort by their bits.
ASSAY_HOST_DEVICE inline unsigned long long order_of(double error) {
    const double size = error < 0 ? -error : error;
    // A NaN compares false with everything.
    const double sortable = size >= 0 ? size : std::numeric_limits<double>::infinity();
#ifdef ASSAY_ON_DEVICE
    return static_cast<unsigned long long>(__double_as_longlong(sortable));
#else
    return std::bit_cast<unsigned long long>(sortable);
#endif
}

template <class ErrorAt>
__global__ void worst_kernel(ErrorAt error_at, std::uint64_t count, unsigned long long* worst) {
    const std::uint64_t stride = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
    unsigned long long own = 0;
    for (std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
         i < count; i += stride) {
        const unsigned long long here = order_of(error_at(i));
        if (here > own) own = here;
    }
    atomicMax(worst, own);
}

/// The lowest index whose deviation is the worst.
template <class ErrorAt>
__global__ void first_kernel(ErrorAt error_at, std::uint64_t count, const unsigned long long* worst,
                             unsigned long long* index) {
    const std::uint64_t stride = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
    for (std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
         i < count; i += stride)
        if (order_of(error_at(i)) == *worst) atomicMin(index, static_cast<unsigned long long>(i));
}

/// Like detail::find_worst of assay/verify.hpp; error_at is a functor for the device.
template <class ErrorAt>
assay::detail::Worst find_worst(const Stream& stream, std::uint64_t count,
                                const ErrorAt& error_at) {
    Buffer<unsigned long long> found{2};
    check(cudaMemsetAsync(found.data(), 0, sizeof(unsigned long long), stream.get()));
    check(cudaMemsetAsync(found.data() + 1, 0xff, sizeof(unsigned long long), stream.get()));
    const Grid grid = sized({}, count);
    const Launch how{grid.blocks, grid.threads, stream.get()};
    launch(worst_kernel<ErrorAt>, how, error_at, count, found.data());
    launch(first_kernel<ErrorAt>, how, error_at, count, found.data(), found.data() + 1);
    check_launches();
    const auto answer = to_host(found, stream);
    return {.error = std::bit_cast<double>(answer[0]), .index = answer[1]};
}

/// Like check_each of assay/verify.hpp.
template <class ErrorAt>
Check check_each(const Stream& stream, std::uint64_t count, const ErrorAt& error_at, double bound,
                 std::string method) {
    const auto worst = find_worst(stream, count, error_at);
    return check_value(
        worst.error, bound, std::move(method),
        joined("element ", worst.index, " is off by ", worst.error, ", allowed is ", bound));
}

} // namespace assay::device
