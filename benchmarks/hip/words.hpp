// SPDX-License-Identifier: Apache-2.0
//
// CUDA's names for HIP: what benchmarks/ uses of CUDA's runtime and language, so that the sources of module `cuda` are
// those of module `hip`. The headers beside this one have CUDA's file names and are found first by that module alone.
// The host's compiler gets the runtime, clang for HIP also what kernels say.

#pragma once

#include <hip/hip_runtime_api.h>

#ifdef __HIP__
#include "device/mma.hpp"
#include "device/warp.hpp"

#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#endif

#ifdef __HIP_DEVICE_COMPILE__
#define constinit // of what is for hosts alone: assay/define.hpp
#endif

// NOLINTBEGIN: the names are CUDA's
#define ASSAY_ALIAS(name) using cuda##name = hip##name
ASSAY_ALIAS(Error_t);
ASSAY_ALIAS(Stream_t);
ASSAY_ALIAS(Event_t);
ASSAY_ALIAS(Graph_t);
ASSAY_ALIAS(GraphExec_t);
ASSAY_ALIAS(GraphNode_t);
ASSAY_ALIAS(MemPool_t);
ASSAY_ALIAS(MemPoolProps);
ASSAY_ALIAS(MemcpyKind);
ASSAY_ALIAS(FuncAttributes);
ASSAY_ALIAS(FuncAttribute);
#undef ASSAY_ALIAS
using cudaDeviceAttr = hipDeviceAttribute_t;
using cudaDeviceProp = hipDeviceProp_t;

#define cudaSuccess hipSuccess
#define cudaErrorNotReady hipErrorNotReady
#define cudaErrorInsufficientDriver hipErrorInsufficientDriver
#define cudaErrorPeerAccessAlreadyEnabled hipErrorPeerAccessAlreadyEnabled
#define cudaGetErrorString hipGetErrorString
#define cudaGetErrorName hipGetErrorName
#define cudaGetLastError hipGetLastError

#define cudaGetDeviceCount hipGetDeviceCount
#define cudaSetDevice hipSetDevice
#define cudaDeviceGetAttribute hipDeviceGetAttribute
#define cudaGetDeviceProperties hipGetDeviceProperties
#define cudaDevAttrComputeCapabilityMajor hipDeviceAttributeComputeCapabilityMajor
#define cudaDevAttrComputeCapabilityMinor hipDeviceAttributeComputeCapabilityMinor
#define cudaDevAttrWarpSize hipDeviceAttributeWarpSize
#define cudaDevAttrL2CacheSize hipDeviceAttributeL2CacheSize
#define cudaDevAttrMaxSharedMemoryPerBlockOptin hipDeviceAttributeSharedMemPerBlockOptin
#define cudaDevAttrAsyncEngineCount hipDeviceAttributeAsyncEngineCount
#define cudaDevAttrMemoryPoolsSupported hipDeviceAttributeMemoryPoolsSupported
#define cudaDevAttrPageableMemoryAccess hipDeviceAttributePageableMemoryAccess
#define cudaDevAttrHostNumaId hipDeviceAttributeAmdSpecificEnd // which no device knows
#define cudaDeviceSynchronize hipDeviceSynchronize
#define cudaDriverGetVersion hipDriverGetVersion
#define cudaRuntimeGetVersion hipRuntimeGetVersion
#define cudaMemGetInfo hipMemGetInfo
#define cudaDeviceCanAccessPeer hipDeviceCanAccessPeer
#define cudaDeviceEnablePeerAccess hipDeviceEnablePeerAccess
#define cudaDeviceDisablePeerAccess hipDeviceDisablePeerAccess

#define cudaStreamCreateWithFlags hipStreamCreateWithFlags
#define cudaStreamNonBlocking hipStreamNonBlocking
#define cudaStreamDestroy hipStreamDestroy
#define cudaStreamSynchronize hipStreamSynchronize
#define cudaStreamQuery hipStreamQuery
#define cudaStreamWaitEvent hipStreamWaitEvent
#define cudaStreamBeginCapture hipStreamBeginCapture
#define cudaStreamEndCapture hipStreamEndCapture
#define cudaStreamCaptureModeThreadLocal hipStreamCaptureModeThreadLocal
#define cudaEventCreate hipEventCreate
#define cudaEventDestroy hipEventDestroy
#define cudaEventRecord hipEventRecord
#define cudaEventQuery hipEventQuery
#define cudaEventSynchronize hipEventSynchronize
#define cudaEventElapsedTime hipEventElapsedTime

/// A graph without flags; HIP's function of that name wants places for errors that CUDA 12 no longer has.
inline hipError_t cudaGraphInstantiate(hipGraphExec_t* made, hipGraph_t graph,
                                       unsigned long long flags) {
    return hipGraphInstantiateWithFlags(made, graph, flags);
}
/// Not in HIP 5.2: the first launch, which is not timed, does it.
inline hipError_t cudaGraphUpload(hipGraphExec_t /*made*/, hipStream_t /*stream*/) {
    return hipSuccess;
}
#define cudaGraphLaunch hipGraphLaunch
#define cudaGraphDestroy hipGraphDestroy
#define cudaGraphExecDestroy hipGraphExecDestroy
#define cudaGraphGetNodes hipGraphGetNodes

#define cudaMalloc hipMalloc
#define cudaFree hipFree
#define cudaHostAlloc hipHostMalloc
#define cudaHostAllocPortable hipHostMallocPortable
#define cudaHostAllocMapped hipHostMallocMapped
#define cudaFreeHost hipHostFree
#define cudaMemcpy hipMemcpy
#define cudaMemcpyAsync hipMemcpyAsync
#define cudaMemcpyPeerAsync hipMemcpyPeerAsync
#define cudaMemcpyHostToDevice hipMemcpyHostToDevice
#define cudaMemcpyDeviceToHost hipMemcpyDeviceToHost
#define cudaMemcpyDeviceToDevice hipMemcpyDeviceToDevice
#define cudaMemsetAsync hipMemsetAsync
#define cudaMemPoolCreate hipMemPoolCreate
#define cudaMemPoolDestroy hipMemPoolDestroy
#define cudaMemPoolSetAttribute hipMemPoolSetAttribute
#define cudaMemPoolAttrReleaseThreshold hipMemPoolAttrReleaseThreshold
#define cudaMemAllocationTypePinned hipMemAllocationTypePinned
#define cudaMemLocationTypeDevice hipMemLocationTypeDevice
#define cudaMallocFromPoolAsync hipMallocFromPoolAsync
#define cudaFreeAsync hipFreeAsync

#ifdef __HIP__
#define cudaOccupancyMaxActiveBlocksPerMultiprocessor hipOccupancyMaxActiveBlocksPerMultiprocessor
#define cudaFuncAttributeMaxDynamicSharedMemorySize hipFuncAttributeMaxDynamicSharedMemorySize
#define cudaFuncAttributePreferredSharedMemoryCarveout hipFuncAttributePreferredSharedMemoryCarveout
#define cudaSharedmemCarveoutMaxL1 0
template <class... A>
hipError_t cudaFuncGetAttributes(hipFuncAttributes* of, void (*kernel)(A...)) {
    return hipFuncGetAttributes(of, reinterpret_cast<const void*>(kernel));
}
template <class... A>
hipError_t cudaFuncSetAttribute(void (*kernel)(A...), hipFuncAttribute name, int value) {
    return hipFuncSetAttribute(reinterpret_cast<const void*>(kernel), name, value);
}

// All lanes run in step and take part: there are no masks.
template <class T>
__device__ T __shfl_xor_sync(assay::device::Lanes /*all*/, T value, unsigned distance) {
    return __shfl_xor(value, static_cast<int>(distance));
}
template <class T>
__device__ T __shfl_down_sync(assay::device::Lanes /*all*/, T value, unsigned distance) {
    return __shfl_down(value, distance);
}
template <class T>
__device__ T __shfl_up_sync(assay::device::Lanes /*all*/, T value, unsigned distance) {
    return __shfl_up(value, distance);
}
__device__ inline void __syncwarp() { // orders what the lanes wrote to shared memory
    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
    __builtin_amdgcn_wave_barrier();
}
__device__ inline assay::device::Lanes __ballot_sync(assay::device::Lanes /*all*/, bool vote) {
    return __ballot(vote);
}
/// The lanes with the same value. There is no such instruction: a round for each value that occurs.
__device__ inline assay::device::Lanes __match_any_sync(assay::device::Lanes /*all*/,
                                                        unsigned value) {
    assay::device::Lanes alike = 0;
    for (bool is_waiting = true; is_waiting;) {
        const auto first =
            static_cast<unsigned>(__builtin_amdgcn_readfirstlane(static_cast<int>(value)));
        const bool is_alike = value == first; // lanes that have their answer have left the loop
        const assay::device::Lanes lanes = __ballot(is_alike);
        if (is_alike) {
            alike = lanes;
            is_waiting = false;
        }
    }
    return alike;
}

// Hints about caches, for 4, 8 or 16 bytes: nontemporal where data is not used again; volatile loads pass the first
// level by (LLVM's guide to AMDGPU, memory model of gfx90a).
namespace assay::hip {
template <class T>
using Words = std::conditional_t<
    sizeof(T) == 16, unsigned __attribute__((ext_vector_type(4))),
    std::conditional_t<sizeof(T) == 8, unsigned __attribute__((ext_vector_type(2))), unsigned>>;
/// Vectors of HIP have constructors, which keeps them from __builtin_bit_cast.
template <class To, class From>
__device__ To same_bits(const From& from) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}
} // namespace assay::hip
template <class T>
__device__ T __ldcs(const T* from) {
    return assay::hip::same_bits<T>(
        __builtin_nontemporal_load(reinterpret_cast<const assay::hip::Words<T>*>(from)));
}
template <class T>
__device__ void __stcs(T* to, const T& value) {
    using Words = assay::hip::Words<T>;
    __builtin_nontemporal_store(assay::hip::same_bits<Words>(value), reinterpret_cast<Words*>(to));
}
template <class T>
__device__ T __ldca(const T* from) {
    return *from;
}
template <class T>
__device__ T __ldcg(const T* from) {
    const assay::hip::Words<T> words =
        *reinterpret_cast<const volatile assay::hip::Words<T>*>(from);
    return assay::hip::same_bits<T>(words);
}

// CDNA has no packed multiply-add in bf16: types that let kernels compile, which do not run there.
struct __nv_bfloat162 {
    std::uint32_t bits;
};
__device__ inline __nv_bfloat162 __float2bfloat162_rn(float value) {
    return {__builtin_bit_cast(std::uint32_t, value) >> 16U};
}

namespace assay::device_words {

/// The counter of 100 MHz that all of gfx9 have.
__device__ inline unsigned long long nanoseconds() { return 10 * __builtin_amdgcn_s_memrealtime(); }

/// At most 1 ulp off (fp32), or 2^-23 (fp64).
__device__ inline float reciprocal(float x) { return __builtin_amdgcn_rcpf(x); }
__device__ inline double reciprocal(double x) { return __builtin_amdgcn_rcp(x); }

// Atomic, so that no load is left out: within a wavefront caches may answer, within a device the second level does.
template <class T>
__device__ T* load_through_l1(T* const* from) {
    return __hip_atomic_load(from, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WAVEFRONT);
}
template <class T>
__device__ T* load_through_l2(T* const* from) {
    return __hip_atomic_load(from, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

/// Shared memory has addresses of its own, 32 bits wide.
using SharedWord = volatile __attribute__((address_space(3))) unsigned;
__device__ inline unsigned shared_address(const void* memory) {
    return static_cast<unsigned>(
        reinterpret_cast<std::uintptr_t>(memory)); // the lower half of a flat address
}
__device__ inline unsigned load_shared(unsigned at) { return *(SharedWord*)std::uintptr_t{at}; }

template <class T, int count>
using Vector = T __attribute__((ext_vector_type(count)));

/// Two registers of 32 bits as one operand.
template <class To>
__device__ To pair(const unsigned* registers) {
    return hip::same_bits<To>(Vector<unsigned, 2>{registers[0], registers[1]});
}

/// c += a b by MFMA; nothing where the device that is compiled for lacks it.
template <device::Mma instruction, class Sum, class Register>
__device__ void multiply_add(Sum* c, const Register* a, const Register* b) {
#ifdef __HIP_DEVICE_COMPILE__
    using enum device::Mma;
    Vector<Sum, 4> sum{c[0], c[1], c[2], c[3]};
    if constexpr (instruction == m16n16k4_fp64) {
        sum = __builtin_amdgcn_mfma_f64_16x16x4f64(*a, *b, sum, 0, 0, 0);
    } else if constexpr (instruction == m16n16k16_fp16) {
        using Halves = Vector<_Float16, 4>;
        sum = __builtin_amdgcn_mfma_f32_16x16x16f16(pair<Halves>(a), pair<Halves>(b), sum, 0, 0, 0);
    } else if constexpr (instruction == m16n16k16_bf16) {
        using Halves = Vector<short, 4>;
        sum = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(pair<Halves>(a), pair<Halves>(b), sum, 0, 0,
                                                        0);
    } else if constexpr (instruction == m16n16k16_int8) {
#ifdef __gfx90a__
        sum = __builtin_amdgcn_mfma_i32_16x16x16i8(static_cast<int>(*a), static_cast<int>(*b), sum,
                                                   0, 0, 0);
#endif
    } else if constexpr (instruction == m16n16k32_int8) {
#ifndef __gfx90a__
        sum = __builtin_amdgcn_mfma_i32_16x16x32_i8(pair<long>(a), pair<long>(b), sum, 0, 0, 0);
#endif
    } else if constexpr (instruction == m16n16k4_fp32) {
        sum = __builtin_amdgcn_mfma_f32_16x16x4f32(hip::same_bits<float>(*a),
                                                   hip::same_bits<float>(*b), sum, 0, 0, 0);
    } else if constexpr (instruction == m16n16k8_xf32) {
#if !defined(__gfx90a__) && !defined(__gfx950__)
        using Two = Vector<float, 2>;
        sum = __builtin_amdgcn_mfma_f32_16x16x8_xf32(pair<Two>(a), pair<Two>(b), sum, 0, 0, 0);
#endif
    } else if constexpr (instruction == m16n16k32_e4m3fnuz || instruction == m16n16k32_e4m3) {
#ifndef __gfx90a__ // the codes are the chip's
        sum =
            __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(pair<long>(a), pair<long>(b), sum, 0, 0, 0);
#endif
    } else if constexpr (instruction == m16n16k32_e5m2fnuz || instruction == m16n16k32_e5m2) {
#ifndef __gfx90a__
        sum =
            __builtin_amdgcn_mfma_f32_16x16x32_bf8_bf8(pair<long>(a), pair<long>(b), sum, 0, 0, 0);
#endif
    }
    for (int i = 0; i < 4; ++i) c[i] = sum[i];
#endif
}

} // namespace assay::device_words
#endif
// NOLINTEND
