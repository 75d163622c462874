// SPDX-License-Identifier: Apache-2.0
//
// Tiles of matrices in shared memory: copied there asynchronously, and loaded as operands of matrix instructions. CUDA
// alone, from compute capability 8.0 on; nothing happens on older devices. For .cu files.

#pragma once

#include "device/instructions.cuh"

#include <cmath>
#include <cstdint>

namespace assay::device {

#if defined(__CUDA_ARCH__) && defined(__CUDACC__) && __CUDA_ARCH__ >= 800
#define ASSAY_HAS_TILES
#endif

/// Queues a copy of 16 bytes to shared memory, past the first level cache. Both addresses are multiples of 16.
__device__ inline void copy_async([[maybe_unused]] unsigned to, [[maybe_unused]] const void* from) {
#ifdef ASSAY_HAS_TILES
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
#elif !defined(__CUDACC__)
    device_words::copy_async(to, from);
#endif
}
/// Copies that this thread has queued since the last call are a group.
__device__ inline void close_copies() {
#ifdef ASSAY_HAS_TILES
    asm volatile("cp.async.commit_group;" ::: "memory");
#elif !defined(__CUDACC__)
    device_words::close_copies();
#endif
}
/// Waits for this thread's groups of copies, except the last `pending`.
template <unsigned pending>
__device__ void wait_for_copies() {
#ifdef ASSAY_HAS_TILES
    asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
#elif !defined(__CUDACC__)
    device_words::wait_for_copies(pending);
#endif
}

/// Four matrices of 8 rows of 16 bytes (ldmatrix): lane i has the address of row i % 8 of matrix i / 8, and gets of each
/// the numbers 2 (i % 4) and 2 (i % 4) + 1 of row i / 4. `transposed`: of column i / 4.
template <bool transposed = false>
__device__ void load_matrices([[maybe_unused]] unsigned (&to)[4], [[maybe_unused]] unsigned at) {
#ifdef ASSAY_HAS_TILES
    if constexpr (transposed)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(at)
                     : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(at)
                     : "memory");
#elif !defined(__CUDACC__)
    device_words::load_matrices(to, at, transposed);
#endif
}

/// 2^x by the unit for special functions, within 2^-22; results below 2^-126 are 0.
__device__ inline float exp2_approximate(float x) {
#ifdef __CUDACC__
    asm("ex2.approx.ftz.f32 %0, %0;" : "+f"(x));
    return x;
#else
    return std::exp2(x);
#endif
}

/// Rows of `size` 16-bit numbers in shared memory, from a multiple of 1024 on: 64 numbers of each row, then the next 64.
/// The 16 bytes are exchanged within 128, so that eight rows have no bank in common; it is the layout that wgmma calls
/// 128-byte swizzle.
template <unsigned rows, unsigned size>
struct Tile {
    static constexpr unsigned bytes = 2 * rows * size;
    static constexpr unsigned row_bytes = 128;
    unsigned first;

    /// Address of eight numbers, which are number `eight` of their row.
    __device__ unsigned at(unsigned row, unsigned eight) const {
        return first + (eight / 8 * rows + row) * row_bytes + (eight ^ row) % 8 * 16;
    }
    /// 16 numbers further, `steps` times, for an address with `eight` below 2.
    static __device__ unsigned along(unsigned at, unsigned steps) {
        return (at ^ steps % 4 * 32) + steps / 4 * rows * row_bytes;
    }
    /// Queues copies of the rows from `begin` on, by `threads` threads; the last one before `end` stands for those behind.
    template <unsigned threads, class T>
    __device__ void copy(const T* from, unsigned begin, unsigned end) const {
        constexpr unsigned eights = size / 8;
        static_assert(threads % eights == 0 && rows % (threads / eights) == 0 && sizeof(T) == 2);
        const unsigned eight = threadIdx.x % eights;
#pragma unroll
        for (unsigned i = 0; i < rows; i += threads / eights) {
            const unsigned row = i + threadIdx.x / eights;
            const std::uint64_t clamped = begin + row < end ? begin + row : end - 1;
            copy_async(at(row, eight), from + clamped * size + 8 * eight);
        }
    }
};

} // namespace assay::device
