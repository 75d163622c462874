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

/// 1 / x, at most 1 ulp off, without the slow path of a division for 0, infinity and subnormal numbers.
__device__ inline float reciprocal(float x) {
#ifdef __CUDACC__
    float result = 0;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
#else
    return device_words::reciprocal(x);
#endif
}
/// The same in fp64: the instruction has a relative error e of up to 2^-19, and a cubic step leaves e^3, u / 16.
__device__ inline double reciprocal(double x) {
    double seed = 0;
#ifdef __CUDACC__
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(seed) : "d"(x));
#else
    seed = device_words::reciprocal(x);
#endif
    const double e = fma(-x, seed, 1.0);
    return fma(seed, fma(e, e, e), seed);
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
#ifndef ASSAY_HIP
/// The same by an atomic maximum with 0, which is done where the line belongs.
template <class T>
__device__ T* load_by_atomic(T** from) {
#ifdef __CUDACC__
    T* value = nullptr;
    asm volatile("atom.global.max.u64 %0, [%1], %2;"
                 : "=l"(value)
                 : "l"(from), "l"(0ULL)
                 : "memory");
    return value;
#else
    return device_words::load_through_l2(from);
#endif
}
#endif

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

#ifndef ASSAY_HIP
/// Cycles of this multiprocessor's clock, modulo 2^32.
__device__ inline unsigned cycles() {
#ifdef __CUDACC__
    unsigned now = 0;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(now) : : "memory");
    return now;
#else
    return device_words::cycles();
#endif
}
/// Number of the multiprocessor that runs this thread.
__device__ inline unsigned multiprocessor() {
#ifdef __CUDACC__
    unsigned number = 0;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
    return number;
#else
    return device_words::multiprocessor();
#endif
}

// --- compute capability 9.0: bulk copies, clusters; nothing where the device that is compiled for lacks them ---------
#if !defined(__CUDACC__)
#define ASSAY_SM_90(words, ...) return device_words::words
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define ASSAY_SM_90(words, ...) __VA_ARGS__
#else
#define ASSAY_SM_90(words, ...)
#endif

/// An mbarrier of 8 bytes in shared memory at `at`: a phase ends when so many arrivals and all bytes they expect came.
__device__ inline void init_barrier(unsigned at, unsigned arrivals) {
    ASSAY_SM_90(init_barrier(at, arrivals),
                asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" : : "r"(at),
                             "r"(arrivals) : "memory"));
}
__device__ inline void arrive_expecting(unsigned at, unsigned bytes) {
    ASSAY_SM_90(arrive_expecting(at, bytes),
                asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" : : "r"(at),
                             "r"(bytes) : "memory"));
}
/// Waits until the phase of this parity has ended; the first phase has parity 0.
__device__ inline void wait_for_phase(unsigned at, unsigned parity) {
    ASSAY_SM_90(wait_for_phase(at, parity), unsigned ended = 0; while (ended == 0) asm volatile(
                    "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; "
                    "selp.u32 %0, 1, 0, p; }" : "=r"(ended) : "r"(at),
                    "r"(parity) : "memory"));
}
/// Makes this thread's accesses of shared memory visible to the bulk copies that follow.
__device__ inline void fence_before_bulk() {
    ASSAY_SM_90(fence_before_bulk(), asm volatile("fence.proxy.async.shared::cta;" : : : "memory"));
}
/// Bulk copies: addresses and bytes are multiples of 16. A load arrives at the barrier with its bytes.
__device__ inline void bulk_load(unsigned to, const void* from, unsigned bytes, unsigned barrier) {
    ASSAY_SM_90(bulk_load(to, from, bytes, barrier),
                asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                             "[%0], [%1], %2, [%3];" : : "r"(to),
                             "l"(from), "r"(bytes), "r"(barrier) : "memory"));
}
/// Each store is a group of its own.
__device__ inline void bulk_store(void* to, unsigned from, unsigned bytes) {
    ASSAY_SM_90(bulk_store(to, from, bytes),
                asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n"
                             "cp.async.bulk.commit_group;" : : "l"(to),
                             "r"(from), "r"(bytes) : "memory"));
}
/// Waits until at most `most` of this thread's last stores have yet to read their shared memory.
template <unsigned most>
__device__ void wait_for_bulk_reads() {
    ASSAY_SM_90(wait_for_bulk_reads(most),
                asm volatile("cp.async.bulk.wait_group.read %0;" : : "n"(most) : "memory"));
}

/// Number of this block in its cluster.
__device__ inline unsigned cluster_rank() {
    ASSAY_SM_90(cluster_rank(), unsigned rank = 0;
                asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank)); return rank);
    return 0;
}
/// Where in shared memory of block `rank` of the cluster is what `own` is in this block's.
template <class T>
__device__ T* shared_of(T* own, unsigned rank) {
    ASSAY_SM_90(shared_of(own, rank), T* there = nullptr;
                asm volatile("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(own), "r"(rank));
                return there);
    return own;
}
/// Waits for all threads of the cluster, and sees what they wrote.
__device__ inline void sync_cluster() {
    ASSAY_SM_90(sync_cluster(), asm volatile("barrier.cluster.arrive.aligned;\n"
                                             "barrier.cluster.wait.aligned;" : : : "memory"));
}
#undef ASSAY_SM_90
#endif

// One with four registers of a, two of b, and four sums, which are in C's class of registers: "f" or "r".
#define ASSAY_MMA(instruction, sum_class)                                                          \
    asm("mma.sync.aligned." instruction " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "          \
        "{%0, %1, %2, %3};"                                                                        \
        : "+" sum_class(c[0]), "+" sum_class(c[1]), "+" sum_class(c[2]), "+" sum_class(c[3])       \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))

// The same with two registers of sums.
#define ASSAY_MMA_PAIRS(instruction)                                                               \
    asm("mma.sync.aligned." instruction " {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"         \
        : "+r"(c[0]), "+r"(c[1])                                                                   \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))

// With 2:4 sparsity: four registers of b, and the metadata of the first lanes of each four (or of all).
#if defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ < 1205
#define ASSAY_SPARSE "mma.sp.sync.aligned."
#else
#define ASSAY_SPARSE "mma.sp::ordered_metadata.sync.aligned."
#endif
#define ASSAY_SPARSE_MMA(instruction, sum_class)                                                   \
    asm(ASSAY_SPARSE instruction " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, "       \
                                 "{%0, %1, %2, %3}, %12, 0;"                                       \
        : "+" sum_class(c[0]), "+" sum_class(c[1]), "+" sum_class(c[2]), "+" sum_class(c[3])       \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]),  \
          "r"(a[4]))
#define ASSAY_SPARSE_MMA_PAIRS(instruction)                                                        \
    asm(ASSAY_SPARSE instruction                                                                   \
        " {%0, %1}, {%2, %3, %4, %5}, {%6, %7, %8, %9}, {%0, %1}, %10, 0;"                         \
        : "+r"(c[0]), "+r"(c[1])                                                                   \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]),  \
          "r"(a[4]))

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
    else if constexpr (instruction == Mma::m16n8k16_fp16_fp16)
        ASSAY_MMA_PAIRS("m16n8k16.row.col.f16.f16.f16.f16");
    else if constexpr (instruction == Mma::m16n8k16_tf32_sparse)
        ASSAY_SPARSE_MMA("m16n8k16.row.col.f32.tf32.tf32.f32", "f");
    else if constexpr (instruction == Mma::m16n8k32_fp16_sparse)
        ASSAY_SPARSE_MMA("m16n8k32.row.col.f32.f16.f16.f32", "f");
    else if constexpr (instruction == Mma::m16n8k32_bf16_sparse)
        ASSAY_SPARSE_MMA("m16n8k32.row.col.f32.bf16.bf16.f32", "f");
    else if constexpr (instruction == Mma::m16n8k64_int8_sparse)
        ASSAY_SPARSE_MMA("m16n8k64.row.col.s32.s8.s8.s32", "r");
    else if constexpr (instruction == Mma::m16n8k32_fp16_fp16_sparse)
        ASSAY_SPARSE_MMA_PAIRS("m16n8k32.row.col.f16.f16.f16.f16");
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
#if __CUDA_ARCH__ < 900 || __CUDA_ARCH__ >= 1200 // in between thousands of others in its place
    if constexpr (instruction == Mma::m16n8k64_e4m3_sparse)
        ASSAY_SPARSE_MMA("m16n8k64.row.col.f32.e4m3.e4m3.f32", "f");
    else if constexpr (instruction == Mma::m16n8k64_e5m2_sparse)
        ASSAY_SPARSE_MMA("m16n8k64.row.col.f32.e5m2.e5m2.f32", "f");
#endif
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
#undef ASSAY_MMA_PAIRS
#undef ASSAY_SPARSE
#undef ASSAY_SPARSE_MMA
#undef ASSAY_SPARSE_MMA_PAIRS

} // namespace assay::device
