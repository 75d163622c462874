// SPDX-License-Identifier: Apache-2.0
//
// Instructions written as PTX, because CUDA C++ has no word for them, and dynamic shared memory. Other compilers bring
// `device_words`: clang for HIP (hip/words.hpp), the host's on the device of tests/device_on_cpu. For .cu files.

#pragma once

#include "device/mma.hpp"

#include <assay/host_device.hpp>

#include <cstddef>
#include <cstdint>

namespace assay::device {

/// Nanoseconds of the device's clock.
__device__ inline unsigned long long nanoseconds() {
#ifdef __CUDACC__
    unsigned long long now = 0;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
#else
    return device_words::nanoseconds();
#endif
}

/// Loads the pointer at `from` in global memory, through the first or only the second level cache. Volatile, so
/// that no load is left out.
template <class T>
__device__ T* load_through_l1(T* const* from) {
#ifdef __CUDACC__
    T* value = nullptr;
    asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(value) : "l"(from));
    return value;
#else
    return device_words::load_through_l1(from);
#endif
}
template <class T>
__device__ T* load_through_l2(T* const* from) {
#ifdef __CUDACC__
    T* value = nullptr;
    asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(value) : "l"(from));
    return value;
#else
    return device_words::load_through_l2(from);
#endif
}

/// The shared memory that a launch asked for.
template <class T>
__device__ T* dynamic_shared() {
#ifdef ASSAY_DEVICE_COMPILER
    alignas(16) extern __shared__ unsigned char dynamic_shared_memory[];
    return reinterpret_cast<T*>(dynamic_shared_memory);
#else
    return reinterpret_cast<T*>(device_words::dynamic_memory);
#endif
}
/// Address as instructions on shared memory take it.
__device__ inline unsigned shared_address(const void* memory) {
#ifdef __CUDACC__
    return static_cast<unsigned>(__cvta_generic_to_shared(memory));
#else
    return device_words::shared_address(memory);
#endif
}
__device__ inline unsigned load_shared(unsigned at) {
#ifdef __CUDACC__
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(at) : "r"(at) : "memory");
    return at;
#else
    return device_words::load_shared(at);
#endif
}

// One with four registers of a, two of b, and four sums, which are in C's class of registers: "f" or "r".
#define ASSAY_MMA(instruction, sum_class)                                                          \
    asm("mma.sync.aligned." instruction " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "          \
        "{%0, %1, %2, %3};"                                                                        \
        : "+" sum_class(c[0]), "+" sum_class(c[1]), "+" sum_class(c[2]), "+" sum_class(c[3])       \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))

/// c += a b, each lane with its registers of them; nothing where the device that is compiled for lacks it.
template <Mma instruction, class Sum, class Register>
__device__ void multiply_add(Sum* c, const Register* a, const Register* b) {
#ifndef __CUDACC__
    device_words::multiply_add<instruction>(c, a, b);
#else
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if constexpr (instruction == Mma::m16n8k8_tf32)
        ASSAY_MMA("m16n8k8.row.col.f32.tf32.tf32.f32", "f");
    else if constexpr (instruction == Mma::m16n8k16_fp16)
        ASSAY_MMA("m16n8k16.row.col.f32.f16.f16.f32", "f");
    else if constexpr (instruction == Mma::m16n8k16_bf16)
        ASSAY_MMA("m16n8k16.row.col.f32.bf16.bf16.f32", "f");
    else if constexpr (instruction == Mma::m16n8k32_int8)
        ASSAY_MMA("m16n8k32.row.col.s32.s8.s8.s32", "r");
    else if constexpr (instruction == Mma::m8n8k4_fp64)
        asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
            : "+d"(c[0]), "+d"(c[1])
            : "d"(a[0]), "d"(b[0]));
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
    if constexpr (instruction == Mma::m16n8k32_e4m3)
        ASSAY_MMA("m16n8k32.row.col.f32.e4m3.e4m3.f32", "f");
    else if constexpr (instruction == Mma::m16n8k32_e5m2)
        ASSAY_MMA("m16n8k32.row.col.f32.e5m2.e5m2.f32", "f");
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if constexpr (instruction == Mma::m16n8k16_fp64)
        asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, "
            "%8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
            : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
            : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]),
              "d"(a[7]), "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
#endif
#endif
}
#undef ASSAY_MMA

} // namespace assay::device
