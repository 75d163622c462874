// SPDX-License-Identifier: Apache-2.0
//
// wgmma on tiles of shared memory (tiles.cuh): four warps add the product of 64 rows by 16 numbers to their sums. For
// files that are compiled for compute capability 9.0a alone, and for .cu files on the CPU.

#pragma once

#include "device/tiles.cuh"

#include <cstdint>
#include <type_traits>

namespace assay::device {

/// Matrix descriptors of the PTX ISA ("wgmma.mma_async: shared memory matrix layout") of a Tile, from row `row` on.
/// along_rows: the products sum over the numbers of a row (K-major); across_rows: over its rows (MN-major).
template <unsigned rows, unsigned size>
struct TileMatrix {
    static constexpr std::uint64_t swizzle_128 = std::uint64_t{1} << 62U;
    static constexpr std::uint64_t eight_rows = std::uint64_t{8 * 128 / 16} << 32U;
    std::uint64_t first;

    __device__ static TileMatrix along_rows(const Tile<rows, size>& tile, unsigned row = 0) {
        constexpr std::uint64_t unused = 1;
        return {(tile.first + row * 128) / 16 | unused << 16U | eight_rows | swizzle_128};
    }
    __device__ static TileMatrix across_rows(const Tile<rows, size>& tile) {
        constexpr std::uint64_t next_64 = rows * 128 / 16; // numbers of the same rows
        return {tile.first / 16 | next_64 << 16U | eight_rows | swizzle_128};
    }
    /// The next 16 numbers of the rows, `steps` times.
    __device__ std::uint64_t along(unsigned steps) const {
        return first + steps / 4 * (rows * 128 / 16) + steps % 4 * (32 / 16);
    }
    /// The next 16 rows.
    __device__ std::uint64_t across(unsigned steps) const {
        return first + steps * (16 * 128 / 16);
    }
};

/// Registers are written before what follows here, and read after it: the compiler knows of no other threads that do.
template <class Register, unsigned count>
__device__ void settle([[maybe_unused]] Register (&registers)[count][4]) {
#ifdef __CUDACC__
#pragma unroll
    for (unsigned n = 0; n < count; ++n)
#pragma unroll
        for (unsigned i = 0; i < 4; ++i)
            if constexpr (std::is_same_v<Register, float>)
                asm volatile("" : "+f"(registers[n][i])::"memory");
            else
                asm volatile("" : "+r"(registers[n][i])::"memory");
#endif
}
/// What this thread wrote to its registers is seen by the instructions that follow.
template <class... Registers>
__device__ void begin_wgmma(Registers&... registers) {
    (settle(registers), ...);
#ifdef __CUDACC__
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}
/// Instructions since the last call are a group.
__device__ inline void close_wgmma() {
#ifdef __CUDACC__
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}
/// Waits for all groups but the last `pending`, that of `sums` among them.
template <unsigned pending, unsigned eights>
__device__ void wait_for_wgmma(float (&sums)[eights][4]) {
#ifdef __CUDACC__
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
#endif
    settle(sums);
}

// clang-format off
#define ASSAY_SUMS_TO_31 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define ASSAY_SUMS_TO_63 ASSAY_SUMS_TO_31 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, " \
    "%46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define ASSAY_SUMS_4(n) "+f"(c[n][0]), "+f"(c[n][1]), "+f"(c[n][2]), "+f"(c[n][3])
#define ASSAY_SUMS_16(n) ASSAY_SUMS_4(n), ASSAY_SUMS_4((n) + 1), ASSAY_SUMS_4((n) + 2), ASSAY_SUMS_4((n) + 3)
#define ASSAY_SUMS_32(n) ASSAY_SUMS_16(n), ASSAY_SUMS_16((n) + 4)
// clang-format on

/// c += a b^T, or c = a b^T unless `adds`: a and b along their rows.
template <bool is_bf16>
__device__ void multiply_rows(float (&c)[16][4], std::uint64_t a, std::uint64_t b, bool adds) {
#ifdef __CUDACC__
#define ASSAY_WGMMA(type)                                                                          \
    asm volatile("{.reg .pred adds; setp.ne.b32 adds, %66, 0; "                                    \
                 "wgmma.mma_async.sync.aligned.m64n128k16.f32." type "." type                      \
                 " {" ASSAY_SUMS_TO_63 "}, %64, %65, adds, 1, 1, 0, 0;}"                           \
                 : ASSAY_SUMS_32(0), ASSAY_SUMS_32(8)                                              \
                 : "l"(a), "l"(b), "r"(int{adds}))
    if constexpr (is_bf16)
        ASSAY_WGMMA("bf16");
    else
        ASSAY_WGMMA("f16");
#undef ASSAY_WGMMA
#else
    device_words::multiply_tiles(&c[0][0], nullptr, a, b, {16, is_bf16, adds, false});
#endif
}

/// c += a b: a in registers as of mma.m16n8k16, b across its rows.
#define ASSAY_WGMMA(columns, type, all, a0, a1, a2, a3, at, one)                                   \
    "{.reg .pred adds; setp.ne.b32 adds, " one ", 0; "                                             \
    "wgmma.mma_async.sync.aligned.m64n" columns "k16.f32." type "." type " {" all "}, {" a0        \
    ", " a1 ", " a2 ", " a3 "}, " at ", adds, 1, 1, 1;}"
#define ASSAY_WGMMA_128(type)                                                                      \
    asm volatile(                                                                                  \
        ASSAY_WGMMA("128", type, ASSAY_SUMS_TO_63, "%64", "%65", "%66", "%67", "%68", "%69")       \
        : ASSAY_SUMS_32(0), ASSAY_SUMS_32(8)                                                       \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(1))
#define ASSAY_WGMMA_64(type)                                                                       \
    asm volatile(                                                                                  \
        ASSAY_WGMMA("64", type, ASSAY_SUMS_TO_31, "%32", "%33", "%34", "%35", "%36", "%37")        \
        : ASSAY_SUMS_32(0)                                                                         \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(1))
template <bool is_bf16, unsigned eights>
__device__ void multiply_columns(float (&c)[eights][4], const unsigned (&a)[4], std::uint64_t b) {
    static_assert(eights == 8 || eights == 16);
#ifdef __CUDACC__
    if constexpr (is_bf16 && eights == 16)
        ASSAY_WGMMA_128("bf16");
    else if constexpr (eights == 16)
        ASSAY_WGMMA_128("f16");
    else if constexpr (is_bf16)
        ASSAY_WGMMA_64("bf16");
    else
        ASSAY_WGMMA_64("f16");
#else
    device_words::multiply_tiles(&c[0][0], a, 0, b, {eights, is_bf16, true, true});
#endif
}
#undef ASSAY_WGMMA_64
#undef ASSAY_WGMMA_128
#undef ASSAY_WGMMA
#undef ASSAY_SUMS_32
#undef ASSAY_SUMS_16
#undef ASSAY_SUMS_4
#undef ASSAY_SUMS_TO_63
#undef ASSAY_SUMS_TO_31

} // namespace assay::device
