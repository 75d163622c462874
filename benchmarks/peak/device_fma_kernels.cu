// SPDX-License-Identifier: Apache-2.0
#include "device/worst.cuh"
#include "peak/device_fma_kernels.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace assay::peak {
namespace {

// The instruction that is counted, on the type that the device has for a slot.
struct Fp64 {
    using Format = Fp64Fma;
    using Register = double;
    __device__ static Register wide(double value) { return value; }
    __device__ static Register step(Register x, Register f, Register a) { return fma(x, f, a); }
};
struct Fp32 {
    using Format = Fp32Fma;
    using Register = float;
    __device__ static Register wide(float value) { return value; }
    __device__ static Register step(Register x, Register f, Register a) { return fmaf(x, f, a); }
};
struct Fp16 {
    using Format = Fp16Fma;
    using Register = __half2;
    __device__ static Register wide(float value) { return __float2half2_rn(value); }
    __device__ static Register step(Register x, Register f, Register a) { return __hfma2(x, f, a); }
};
struct Bf16 {
    using Format = Bf16Fma;
    using Register = __nv_bfloat162;
    __device__ static Register wide(float value) { return __float2bfloat162_rn(value); }
    __device__ static Register step(Register x, Register f, Register a) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
        return __hfma2(x, f, a);
#else
        static_cast<void>(f); // no such instruction; the benchmark does not run there
        static_cast<void>(a);
        return x;
#endif
    }
};

template <class Kind, unsigned chains>
__global__ void __launch_bounds__(fma_threads)
    run_chains(const typename Kind::Register* start, typename Kind::Register* result,
               std::uint64_t rounds) {
    const std::uint64_t threads = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
    const std::uint64_t thread = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const auto factor = Kind::wide(Kind::Format::factor);
    const auto addend = Kind::wide(Kind::Format::addend);
    typename Kind::Register values[chains];
#pragma unroll
    for (unsigned k = 0; k < chains; ++k) values[k] = start[k * threads + thread];
    for (std::uint64_t round = 0; round < rounds; ++round)
#pragma unroll
        for (unsigned step = 0; step < round_instructions / chains; ++step)
#pragma unroll
            for (unsigned k = 0; k < chains; ++k) values[k] = Kind::step(values[k], factor, addend);
#pragma unroll
    for (unsigned k = 0; k < chains; ++k)
        result[k * threads + thread] = Kind::step(values[k], factor, addend);
}

template <class Format>
struct MakeStart {
    typename Format::Slot* to;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t i) const { to[i] = Format::start(i); }
};

template <class Format>
struct WrongResult {
    const typename Format::Slot* result;
    std::uint64_t steps;
    ASSAY_HOST_DEVICE double operator()(std::uint64_t i) const {
        return result[i] == fma_result<Format>(i, steps) ? 0 : 1;
    }
};

/// Calls what(kind) with the kind as a type.
template <class What>
auto with_kind(FmaPrecision precision, const What& what) {
    return device::with_type<Fp64, Fp32, Fp16, Bf16>(static_cast<std::size_t>(precision), what);
}

template <class Kind>
auto kernel_of(unsigned chains) {
    return chains == 4 ? run_chains<Kind, 4> : run_chains<Kind, most_chains>;
}

template <class T>
T* as(std::byte* memory) {
    return reinterpret_cast<T*>(memory);
}

} // namespace

int resident_blocks(FmaPrecision precision, unsigned chains) {
    return with_kind(precision, [&]<class Kind>(Kind) {
        int blocks = 0;
        device::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks, kernel_of<Kind>(chains), fma_threads, 0));
        return blocks;
    });
}

void fill_starts(FmaPrecision precision, const FmaSlots& slots, std::uint64_t count,
                 const device::Stream& stream) {
    with_kind(precision, [&]<class Kind>(Kind) {
        using Slot = typename Kind::Format::Slot;
        device::on_each(stream, count, MakeStart<typename Kind::Format>{as<Slot>(slots.start)});
    });
    device::check_launches();
}

void launch_fma(FmaPrecision precision, const FmaSlots& slots, const FmaShape& shape,
                const device::Stream& stream) {
    with_kind(precision, [&]<class Kind>(Kind) {
        using Register = typename Kind::Register;
        device::launch(kernel_of<Kind>(shape.chains), {shape.blocks, fma_threads, stream.get()},
                       as<Register>(slots.start), as<Register>(slots.result), shape.rounds);
    });
}

Check check_fma(FmaPrecision precision, const FmaSlots& slots, const FmaShape& shape,
                const device::Stream& stream) {
    return with_kind(precision, [&]<class Kind>(Kind) {
        using Format = typename Kind::Format;
        const WrongResult<Format> wrong{as<typename Format::Slot>(slots.result), fma_steps(shape)};
        return device::check_each(
            stream, fma_slots(shape), wrong, 0,
            "every value of every chain recomputed one step after the other, bit for bit");
    });
}

} // namespace assay::peak
