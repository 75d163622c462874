// SPDX-License-Identifier: Apache-2.0
//
// Compiled for compute capability 9.0a alone, which no other device runs.

#include "device/instructions.cuh"
#include "device/launch.cuh"
#include "device/properties.hpp"
#include "peak/device_wgmma.hpp"

namespace assay::peak {
namespace {

// The sums of a thread, as operands of asm.
// clang-format off
#define ASSAY_ALL_SUMS \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
    "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
    "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
// clang-format on
#define ASSAY_SUMS_4(kind, i) kind(c[i]), kind(c[(i) + 1]), kind(c[(i) + 2]), kind(c[(i) + 3])
#define ASSAY_SUMS_16(kind, i)                                                                     \
    ASSAY_SUMS_4(kind, i), ASSAY_SUMS_4(kind, (i) + 4), ASSAY_SUMS_4(kind, (i) + 8),               \
        ASSAY_SUMS_4(kind, (i) + 12)
#define ASSAY_SUMS_64(kind, i)                                                                     \
    ASSAY_SUMS_16(kind, i), ASSAY_SUMS_16(kind, (i) + 16), ASSAY_SUMS_16(kind, (i) + 32),          \
        ASSAY_SUMS_16(kind, (i) + 48)
/// c += a b. The predicate says that c is not 0 before; `modes` is the sign of a and b, and where b could be transposed, that it is not.
#define ASSAY_WGMMA(instruction, kind, modes)                                                      \
    asm volatile("{.reg .pred adds; setp.ne.b32 adds, %133, 0; "                                   \
                 "wgmma.mma_async.sync.aligned.m64n256" instruction " {" ASSAY_ALL_SUMS            \
                 "}, {%128, %129, %130, %131}, %132, adds" modes ";}"                              \
                 : ASSAY_SUMS_64(kind, 0), ASSAY_SUMS_64(kind, 64)                                 \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(1))

template <TensorFormat format>
using WgmmaSum = std::conditional_t<format == TensorFormat::int8, std::int32_t, float>;

template <TensorFormat format>
__device__ void multiply(WgmmaSum<format>* c, const std::uint32_t* a, std::uint64_t b) {
    if constexpr (format == TensorFormat::tf32)
        ASSAY_WGMMA("k8.f32.tf32.tf32", "+f", ", 1, 1");
    else if constexpr (format == TensorFormat::fp16)
        ASSAY_WGMMA("k16.f32.f16.f16", "+f", ", 1, 1, 0");
    else if constexpr (format == TensorFormat::bf16)
        ASSAY_WGMMA("k16.f32.bf16.bf16", "+f", ", 1, 1, 0");
    else if constexpr (format == TensorFormat::fp8_e4m3)
        ASSAY_WGMMA("k32.f32.e4m3.e4m3", "+f", ", 1, 1");
    else if constexpr (format == TensorFormat::fp8_e5m2)
        ASSAY_WGMMA("k32.f32.e5m2.e5m2", "+f", ", 1, 1");
    else
        ASSAY_WGMMA("k32.s32.s8.s8", "+r", "");
}

/// Matrix descriptor of PTX ISA, "wgmma.mma_async: shared memory matrix layout", without swizzling: core matrices of 8
/// columns by 16 bytes, the second 16 bytes of k 128 bytes behind the first, the next 8 columns 256.
__device__ std::uint64_t descriptor(const void* b) {
    constexpr std::uint64_t next_k = 128 / 16;
    constexpr std::uint64_t next_columns = 256 / 16;
    return device::shared_address(b) / 16U | next_k << 16U | next_columns << 32U;
}

constexpr unsigned wgmma_pairs = 8; // queued before the warpgroup waits

/// One chain of each warpgroup; a stays in registers, both b are in shared memory.
template <TensorFormat format>
__global__ void __launch_bounds__(wgmma_lanes)
    run_wgmma(const std::uint32_t* a_from, const std::uint32_t* b_from,
              const WgmmaSum<format>* start, WgmmaSum<format>* result, std::int64_t pairs,
              std::int64_t repeats) {
    constexpr TensorShape shape = wgmma_shape(format);
    constexpr unsigned of_b = shape.b_registers() * wgmma_lanes;
    alignas(128) __shared__ std::uint32_t b[2][of_b];
    for (unsigned i = threadIdx.x; i < 2 * of_b; i += wgmma_lanes)
        b[i / of_b][i % of_b] = b_from[i];
    std::uint32_t a[shape.a_registers()];
#pragma unroll
    for (unsigned r = 0; r < shape.a_registers(); ++r) a[r] = a_from[r * wgmma_lanes + threadIdx.x];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); // what was stored is seen by wgmma
    __syncthreads();
    const std::uint64_t first = descriptor(b[0]);
    const std::uint64_t second = descriptor(b[1]);
    const std::uint64_t threads = static_cast<std::uint64_t>(gridDim.x) * wgmma_lanes;
    const std::uint64_t thread = static_cast<std::uint64_t>(blockIdx.x) * wgmma_lanes + threadIdx.x;
    for (std::int64_t repeat = 0; repeat < repeats; ++repeat) {
        std::uint64_t at = thread; // unknown to the compiler, which would keep all 128 addresses
        asm volatile("" : "+l"(at));
        WgmmaSum<format> c[shape.sums()];
#pragma unroll
        for (unsigned i = 0; i < shape.sums(); ++i, at += threads) c[i] = start[at];
        for (std::int64_t pair = 0; pair < pairs; pair += wgmma_pairs) {
            asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
            for (unsigned i = 0; i < wgmma_pairs; ++i) {
                multiply<format>(c, a, first);
                multiply<format>(c, a, second);
            }
            asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
            asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        }
        // There are no registers for a second set of sums, nor for what would be read: memory adds.
#pragma unroll
        for (unsigned i = 0; i < shape.sums(); ++i) {
            at -= threads;
            const unsigned last = shape.sums() - 1 - i;
            if (repeat == 0)
                result[at] = c[last];
            else
                atomicAdd(result + at, c[last]);
        }
    }
}

template <TensorFormat format>
using Format = std::integral_constant<TensorFormat, format>;

/// Calls what(format) with the format as a type. fp64 is before them all.
template <class What>
auto with_format(TensorFormat format, const What& what) {
    using enum TensorFormat;
    return device::with_type<Format<tf32>, Format<fp16>, Format<bf16>, Format<int8>,
                             Format<fp8_e4m3>, Format<fp8_e5m2>>(
        static_cast<std::size_t>(format) - 1, what);
}

} // namespace

bool has_wgmma(TensorFormat format) {
    using enum TensorFormat;
    constexpr int hopper = 90;
    return format != fp64 && has_instruction(format, hopper) &&
           device::properties().capability == hopper;
}

int wgmma_resident_blocks(TensorFormat format) {
    return with_format(format, [](auto f) {
        int blocks = 0;
        device::check(
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, run_wgmma<f()>, wgmma_lanes, 0));
        return blocks;
    });
}

void launch_wgmma(TensorFormat format, const TensorArrays& arrays, const TensorSums& sums,
                  const device::Stream& stream) {
    with_format(format, [&](auto f) {
        using Sum = WgmmaSum<f()>;
        const auto blocks = static_cast<unsigned>(sums.threads / wgmma_lanes);
        device::launch(run_wgmma<f()>, {blocks, wgmma_lanes, stream.get()},
                       reinterpret_cast<const std::uint32_t*>(arrays.a),
                       reinterpret_cast<const std::uint32_t*>(arrays.b),
                       reinterpret_cast<const Sum*>(arrays.start),
                       reinterpret_cast<Sum*>(arrays.result), sums.pairs, sums.repeats);
    });
}

} // namespace assay::peak
