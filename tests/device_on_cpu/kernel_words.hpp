// SPDX-License-Identifier: Apache-2.0
//
// What nvcc's language has and C++ has not, for `.cu` files that the host's compiler reads: this header comes first
// (-include). It leaves __CUDA_ARCH__ as for sm_90, so that what is compiled is what such a device runs.

#pragma once

#include "device/warp.hpp"
#include "kernels.hpp"
#include "runtime.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <type_traits>

// NOLINTBEGIN: the words of nvcc are spelled as it spells them
#undef __global__
#undef __device__
#undef __host__
#undef __shared__
#undef __launch_bounds__
#define __global__
#define __device__
#define __host__
#define __launch_bounds__(...)
#if defined(__SANITIZE_ADDRESS__)
#define __shared__ static // with zones around it that nobody may touch
#else
#define __shared__ static thread_local // found as a whole and filled with garbage (block.cpp)
#endif
#define threadIdx (::assay::device_on_cpu::place.thread)
#define blockIdx (::assay::device_on_cpu::place.block)
#define blockDim (::assay::device_on_cpu::place.threads)
#define gridDim (::assay::device_on_cpu::place.blocks)

inline void __syncthreads(const std::source_location& from = std::source_location::current()) {
    assay::device_on_cpu::wait_for_block(from);
}
inline void __syncwarp(assay::device::Lanes /*mask*/ = assay::device::every_lane,
                       const std::source_location& from = std::source_location::current()) {
    assay::device_on_cpu::together([](const auto&) {}, nullptr, from);
}
inline void __threadfence() {} // threads run one after the other

namespace assay::device_on_cpu {

/// The value of lane `from`, for every lane of the warp at once; the own value if `from` does not exist.
template <class T>
T shuffled(T own, int from, const std::source_location& site) {
    struct Operand {
        T value;
        int from;
        T result;
    } operand{own, from, own};
    together(
        [](const std::array<void*, most_lanes>& lanes) {
            for (void* const lane : lanes) {
                auto* const to = static_cast<Operand*>(lane);
                if (to == nullptr || to->from < 0 ||
                    to->from >= static_cast<int>(device::warp_lanes))
                    continue;
                const void* const source = lanes[static_cast<unsigned>(to->from)];
                if (source == nullptr) return fault("a shuffle reads a lane that is not there");
                to->result = static_cast<const Operand*>(source)->value;
            }
        },
        &operand, site);
    return operand.result;
}

/// The lanes that have the same value, as bits, for every lane of the warp at once.
template <class T>
device::Lanes lanes_alike(T own, const std::source_location& site) {
    struct Operand {
        T value;
        device::Lanes result;
    } operand{own, 0};
    together(
        [](const std::array<void*, most_lanes>& lanes) {
            for (void* const one : lanes)
                for (unsigned i = 0; one != nullptr && i < device::warp_lanes; ++i) {
                    auto* const to = static_cast<Operand*>(one);
                    const auto* const other = static_cast<const Operand*>(lanes[i]);
                    if (other != nullptr && other->value == to->value)
                        to->result |= device::Lanes{1} << i;
                }
        },
        &operand, site);
    return operand.result;
}

/// The lanes whose vote is true, for every lane of the warp at once.
inline device::Lanes lanes_set(bool vote, const std::source_location& site) {
    struct Operand {
        bool vote;
        device::Lanes result;
    } operand{vote, 0};
    together(
        [](const std::array<void*, most_lanes>& lanes) {
            device::Lanes set = 0;
            for (unsigned i = 0; i < device::warp_lanes; ++i) {
                const auto* const one = static_cast<const Operand*>(lanes[i]);
                if (one != nullptr && one->vote) set |= device::Lanes{1} << i;
            }
            for (void* const one : lanes)
                if (one != nullptr) static_cast<Operand*>(one)->result = set;
        },
        &operand, site);
    return operand.result;
}

/// Atomic as threads of a device are to each other: they run one after the other.
template <class T>
T exchanged(T* at, T value) {
    const T old = *at;
    *at = value;
    return old;
}

template <class Pair, class T, T (*wide_low)(Pair), T (*wide_high)(Pair), Pair (*narrow)(T, T)>
Pair fused(Pair x, Pair f, Pair a) {
    return narrow(std::fma(wide_low(x), wide_low(f), wide_low(a)),
                  std::fma(wide_high(x), wide_high(f), wide_high(a)));
}

} // namespace assay::device_on_cpu

template <class T>
T __shfl_xor_sync(assay::device::Lanes /*mask*/, T value, unsigned distance,
                  const std::source_location& from = std::source_location::current()) {
    using namespace assay::device_on_cpu;
    return shuffled(value, static_cast<int>(lane() ^ distance), from);
}
template <class T>
T __shfl_down_sync(assay::device::Lanes /*mask*/, T value, unsigned distance,
                   const std::source_location& from = std::source_location::current()) {
    using namespace assay::device_on_cpu;
    return shuffled(value, static_cast<int>(lane() + distance), from);
}
template <class T>
T __shfl_up_sync(assay::device::Lanes /*mask*/, T value, unsigned distance,
                 const std::source_location& from = std::source_location::current()) {
    using namespace assay::device_on_cpu;
    return shuffled(value, static_cast<int>(lane()) - static_cast<int>(distance), from);
}

template <class T>
assay::device::Lanes
__match_any_sync(assay::device::Lanes /*mask*/, T value,
                 const std::source_location& from = std::source_location::current()) {
    return assay::device_on_cpu::lanes_alike(value, from);
}
inline assay::device::Lanes
__ballot_sync(assay::device::Lanes /*mask*/, bool vote,
              const std::source_location& from = std::source_location::current()) {
    return assay::device_on_cpu::lanes_set(vote, from);
}
inline int __popc(unsigned bits) { return std::popcount(bits); }
inline int __popcll(unsigned long long bits) { return std::popcount(bits); }

template <class T>
T atomicAdd(T* at, T value) {
    return assay::device_on_cpu::exchanged(at, static_cast<T>(*at + value));
}
template <class T>
T atomicMax(T* at, T value) {
    return assay::device_on_cpu::exchanged(at, *at < value ? value : *at);
}
template <class T>
T atomicMin(T* at, T value) {
    return assay::device_on_cpu::exchanged(at, value < *at ? value : *at);
}
template <class T>
T atomicExch(T* at, T value) {
    return assay::device_on_cpu::exchanged(at, value);
}

// Hints about caches.
template <class T>
T __ldg(const T* from) {
    return *from;
}
template <class T>
T __ldca(const T* from) {
    return *from;
}
template <class T>
T __ldcg(const T* from) {
    return *from;
}
template <class T>
T __ldcs(const T* from) {
    return *from;
}
template <class T>
void __stcs(T* to, const T& value) {
    *to = value;
}

inline void sincospi(double turns, double* sine, double* cosine) {
    *sine = std::sin(std::numbers::pi * turns);
    *cosine = std::cos(std::numbers::pi * turns);
}
inline unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
inline long long __double_as_longlong(double value) { return std::bit_cast<long long>(value); }

// Products and sums of such numbers near 1 are exact in fp32: they are rounded once, as on a device.
inline __half2 __hfma2(__half2 x, __half2 f, __half2 a) {
    return assay::device_on_cpu::fused<__half2, float, __low2float, __high2float,
                                       __floats2half2_rn>(x, f, a);
}
inline __nv_bfloat162 __hfma2(__nv_bfloat162 x, __nv_bfloat162 f, __nv_bfloat162 a) {
    return assay::device_on_cpu::fused<__nv_bfloat162, float, __low2float, __high2float,
                                       __floats2bfloat162_rn>(x, f, a);
}

// CUDA's headers have these for nvcc alone.
template <class... A>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* of, void (*kernel)(A...)) {
    return ::cudaFuncGetAttributes(of, reinterpret_cast<const void*>(kernel));
}
template <class... A>
cudaError_t cudaFuncSetAttribute(void (*kernel)(A...), cudaFuncAttribute name, int value) {
    return ::cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), name, value);
}

#define __CUDA_ARCH__ 900
// NOLINTEND
