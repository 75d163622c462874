// SPDX-License-Identifier: Apache-2.0
//
// Compiled for compute capability 9.0a alone, which no other device runs.

#include "device/instructions.cuh"
#include "device/properties.hpp"
#include "peak/device_tensor_kinds.cuh"
#include "peak/device_wgmma.hpp"

namespace assay::peak {
namespace {

#ifdef __CUDACC__
#define ASSAY_PTX(text) asm volatile(text ::: "memory")
// Registers of sums of a thread, 128 or 64 of them, as operands of asm.
// clang-format off
#define ASSAY_REGISTERS_64 \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define ASSAY_REGISTERS_128 ASSAY_REGISTERS_64 ", " \
    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
    "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
    "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
// clang-format on
#define ASSAY_SUMS_4(of, i) of(c[i]), of(c[(i) + 1]), of(c[(i) + 2]), of(c[(i) + 3])
#define ASSAY_SUMS_16(of, i)                                                                       \
    ASSAY_SUMS_4(of, i), ASSAY_SUMS_4(of, (i) + 4), ASSAY_SUMS_4(of, (i) + 8),                     \
        ASSAY_SUMS_4(of, (i) + 12)
#define ASSAY_SUMS_64(of, i)                                                                       \
    ASSAY_SUMS_16(of, i), ASSAY_SUMS_16(of, (i) + 16), ASSAY_SUMS_16(of, (i) + 32),                \
        ASSAY_SUMS_16(of, (i) + 48)
#define ASSAY_SUMS_128(of, i) ASSAY_SUMS_64(of, i), ASSAY_SUMS_64(of, (i) + 64)

/// c = a b, plus c if `adds`. Parts of the instruction: its name up to the size, its size, registers of sums as text and as
/// operands, those of a, b and `adds`, the metadata of a sparse one, and `modes`: the sign of a and b, and where b could
/// be transposed, that it is not.
#define ASSAY_WGMMA(name, size, text, sums, a_text, b_text, adds_text, metadata, modes)            \
    asm volatile("{.reg .pred adds; setp.ne.b32 adds, " adds_text ", 0; wgmma.mma_async" name      \
                 ".sync.aligned." size " {" text "}, {" a_text "}, " b_text metadata               \
                 ", adds" modes ";}"                                                               \
                 : sums                                                                            \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(adds ? 1 : 0),          \
                   "r"(K::kind.is_sparse ? a[K::kind.is_sparse ? 4 : 0] : 0))
#define ASSAY_WGMMA_128(name, size, of, metadata, modes)                                           \
    ASSAY_WGMMA(name, "m64n256" size, ASSAY_REGISTERS_128, ASSAY_SUMS_128(of, 0),                  \
                "%128, %129, %130, %131", "%132", "%133", metadata(", %134, 0"), modes)
#define ASSAY_WGMMA_64(name, size, of, metadata, modes)                                            \
    ASSAY_WGMMA(name, size, ASSAY_REGISTERS_64, ASSAY_SUMS_64(of, 0), "%64, %65, %66, %67", "%68", \
                "%69", metadata(", %70, 0"), modes)
#define ASSAY_NONE(text) ""
#define ASSAY_SOME(text) text
/// Dense or sparse, of which k is twice as long.
#define ASSAY_EITHER(wgmma, columns, dense_k, sparse_k, types, of, modes)                          \
    if constexpr (K::kind.is_sparse)                                                               \
        wgmma(".sp", columns sparse_k types, of, ASSAY_SOME, modes);                               \
    else                                                                                           \
        wgmma("", columns dense_k types, of, ASSAY_NONE, modes)
#define ASSAY_FP8(type)                                                                            \
    if constexpr (K::kind.promotes) {                                                              \
        ASSAY_EITHER(ASSAY_WGMMA_64, "m64n128", "k32", "k64", ".f32." type "." type, "+f",         \
                     ", 1, 1");                                                                    \
    } else {                                                                                       \
        ASSAY_EITHER(ASSAY_WGMMA_128, "", "k32", "k64", ".f32." type "." type, "+f", ", 1, 1");    \
    }

#else
#define ASSAY_PTX(text) // nothing to wait for
#endif

template <class K>
__device__ void multiply(typename K::SumRegister* c, const std::uint32_t* a, std::uint64_t b,
                         bool adds) {
#ifndef __CUDACC__
    constexpr unsigned columns = wgmma_shape(K::kind).n;
    constexpr unsigned of_tile = wgmma_shape(K::kind).sums() / K::packed / (columns / 8);
    device_words::multiply_by_warpgroup<instruction_of(K::kind), columns, of_tile>(c, a, b, adds);
#else
    if constexpr (K::format == TensorFormat::tf32) {
        ASSAY_EITHER(ASSAY_WGMMA_128, "", "k8", "k16", ".f32.tf32.tf32", "+f", ", 1, 1");
    } else if constexpr (K::format == TensorFormat::fp16) {
        ASSAY_EITHER(ASSAY_WGMMA_128, "", "k16", "k32", ".f32.f16.f16", "+f", ", 1, 1, 0");
    } else if constexpr (K::format == TensorFormat::bf16) {
        ASSAY_EITHER(ASSAY_WGMMA_128, "", "k16", "k32", ".f32.bf16.bf16", "+f", ", 1, 1, 0");
    } else if constexpr (K::format == TensorFormat::fp16_accumulate) {
        ASSAY_EITHER(ASSAY_WGMMA_64, "m64n256", "k16", "k32", ".f16.f16.f16", "+r", ", 1, 1, 0");
    } else if constexpr (K::format == TensorFormat::fp8_e4m3) {
        ASSAY_FP8("e4m3");
    } else if constexpr (K::format == TensorFormat::fp8_e5m2) {
        ASSAY_FP8("e5m2");
    } else {
        ASSAY_EITHER(ASSAY_WGMMA_128, "", "k32", "k64", ".s32.s8.s8", "+r", "");
    }
#endif
}

/// Matrix descriptor of PTX ISA, "wgmma.mma_async: shared memory matrix layout", without swizzling: core matrices of 8
/// columns by 16 bytes, the next 16 bytes of k 128 bytes behind, the next 8 columns behind all of k.
__device__ std::uint64_t descriptor(const void* b, unsigned parts) {
    constexpr std::uint64_t next_k = 128 / 16;
    const std::uint64_t next_columns = parts * next_k;
    return device::shared_address(b) / 16U | next_k << 16U | next_columns << 32U;
}

/// Both b.
constexpr std::size_t shared_bytes(const TensorShape& shape) {
    return std::size_t{2} * shape.b_registers() * wgmma_lanes * sizeof(std::uint32_t);
}

/// One chain of each warpgroup; a stays in registers, both b are in shared memory. Promoted sums are added while other
/// warpgroups of the multiprocessor multiply.
template <class K>
__global__ void __launch_bounds__(wgmma_lanes)
    run_wgmma(const std::uint32_t* a_from, const std::uint32_t* b_from,
              const typename K::Sum* start, typename K::Sum* result, std::int64_t pairs,
              std::int64_t repeats) {
    constexpr TensorShape shape = wgmma_shape(K::kind);
    constexpr unsigned of_b = shape.b_registers() * wgmma_lanes;
    constexpr unsigned queued = K::kind.promotes ? promoted_pairs : wgmma_pairs;
    auto* const b = device::dynamic_shared<std::uint32_t>();
    for (unsigned i = threadIdx.x; i < 2 * of_b; i += wgmma_lanes) b[i] = b_from[i];
    std::uint32_t a[shape.a_words()];
#pragma unroll
    for (unsigned r = 0; r < shape.a_words(); ++r) a[r] = a_from[r * wgmma_lanes + threadIdx.x];
    ASSAY_PTX("fence.proxy.async.shared::cta;"); // what was stored is seen by wgmma
    __syncthreads();
    const std::uint64_t first = descriptor(b, shape.b_parts());
    const std::uint64_t second = descriptor(b + of_b, shape.b_parts());
    const std::uint64_t threads = static_cast<std::uint64_t>(gridDim.x) * wgmma_lanes;
    const std::uint64_t thread = static_cast<std::uint64_t>(blockIdx.x) * wgmma_lanes + threadIdx.x;
    for (std::int64_t repeat = 0; repeat < repeats; ++repeat) {
        std::uint64_t at = thread; // unknown to the compiler, which would keep all 128 addresses
#ifdef __CUDACC__
        asm volatile("" : "+l"(at));
#endif
        typename K::SumRegister c[shape.sums() / K::packed];
        typename K::Sum total[K::kind.promotes ? shape.sums() : 1];
#pragma unroll
        for (unsigned i = 0; i < shape.sums(); ++i, at += threads) {
            if constexpr (K::kind.promotes) total[i] = start[at];
            set_sum<K>(c, i, K::kind.promotes ? 0 : start[at]);
        }
        for (std::int64_t pair = 0; pair < pairs; pair += queued) {
            ASSAY_PTX("wgmma.fence.sync.aligned;");
#pragma unroll
            for (unsigned i = 0; i < queued; ++i) {
                multiply<K>(c, a, first, !K::kind.promotes || i > 0);
                multiply<K>(c, a, second, true);
            }
            ASSAY_PTX("wgmma.commit_group.sync.aligned;");
            ASSAY_PTX("wgmma.wait_group.sync.aligned 0;");
            if constexpr (K::kind.promotes)
#pragma unroll
                for (unsigned i = 0; i < shape.sums(); ++i) total[i] += c[i];
        }
        // There are no registers for a second set of sums, nor for what would be read: memory adds.
#pragma unroll
        for (unsigned i = 0; i < shape.sums(); ++i) {
            at -= threads;
            const unsigned last = shape.sums() - 1 - i;
            typename K::Sum sum{};
            if constexpr (K::kind.promotes)
                sum = total[last];
            else
                sum = get_sum<K>(c, last);
            if (repeat == 0)
                result[at] = sum;
            else
                atomicAdd(result + at, sum);
        }
    }
}

/// Formats that no caller asks for.
template <class K>
constexpr bool is_left_out = K::format == TensorFormat::fp64 || !has_instruction(K::format, 90);

} // namespace

bool has_wgmma(const TensorKind& kind) {
    constexpr int hopper = 90;
    return kind.format != TensorFormat::fp64 && has_instruction(kind.format, hopper) &&
           device::properties().capability == hopper;
}

int wgmma_resident_blocks(const TensorKind& kind) {
    return with_kind(kind, []<class K>(K) {
        int blocks = 0;
        if constexpr (!is_left_out<K>)
            device::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                &blocks, run_wgmma<K>, wgmma_lanes, shared_bytes(wgmma_shape(K::kind))));
        return blocks;
    });
}

void launch_wgmma(const TensorKind& kind, const TensorArrays& arrays, const TensorSums& sums,
                  const device::Stream& stream) {
    with_kind(kind, [&]<class K>(K) {
        using Sum = typename K::Sum;
        const auto blocks = static_cast<unsigned>(sums.threads / wgmma_lanes);
        if constexpr (!is_left_out<K>)
            device::launch(run_wgmma<K>,
                           {blocks, wgmma_lanes, stream.get(), shared_bytes(wgmma_shape(K::kind))},
                           as<std::uint32_t>(arrays.a), as<std::uint32_t>(arrays.b),
                           as<Sum>(arrays.start), as<Sum>(arrays.result), sums.pairs, sums.repeats);
    });
}

} // namespace assay::peak

#undef ASSAY_PTX
