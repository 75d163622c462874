// SPDX-License-Identifier: Apache-2.0
#include "device/instructions.cuh"
#include "device/worst.cuh"
#include "peak/device_tensor_kernels.hpp"

namespace assay::peak {
namespace {

#ifdef __CUDA_ARCH__
constexpr int compiled_for = __CUDA_ARCH__ / 10;
#else
constexpr int compiled_for = 0; // the host's pass; no code comes of it
#endif

// What differs between the formats: the types of a register and a sum. Where the instruction is missing, nothing is
// computed; the benchmark does not run there, and its check would fail.
template <TensorFormat of>
struct Kind {
    static constexpr TensorFormat format = of;
    using Register = std::uint32_t;
    using Sum = float;
};
template <>
struct Kind<TensorFormat::fp64> {
    static constexpr TensorFormat format = TensorFormat::fp64;
    using Register = double;
    using Sum = double;
};
template <>
struct Kind<TensorFormat::int8> {
    static constexpr TensorFormat format = TensorFormat::int8;
    using Register = std::uint32_t;
    using Sum = std::int32_t;
};

/// The instruction of a format on the device that is compiled for.
constexpr device::Mma instruction_of(TensorFormat format) {
    switch (format) {
    case TensorFormat::fp64:
        return compiled_for >= 90 ? device::Mma::m16n8k16_fp64 : device::Mma::m8n8k4_fp64;
    case TensorFormat::tf32:
        return device::Mma::m16n8k8_tf32;
    case TensorFormat::fp16:
        return device::Mma::m16n8k16_fp16;
    case TensorFormat::bf16:
        return device::Mma::m16n8k16_bf16;
    case TensorFormat::int8:
        return device::Mma::m16n8k32_int8;
    case TensorFormat::fp8_e4m3:
        return device::Mma::m16n8k32_e4m3;
    case TensorFormat::fp8_e5m2:
        break;
    }
    return device::Mma::m16n8k32_e5m2;
}

template <class K>
__device__ void multiply(typename K::Sum* c, const typename K::Register* a,
                         const typename K::Register* b) {
    device::multiply_add<instruction_of(K::format)>(c, a, b);
}

template <class K>
__global__ void __launch_bounds__(tensor_threads)
    run_tensor(const typename K::Register* a_from, const typename K::Register* b_from,
               const typename K::Sum* start, typename K::Sum* result, std::int64_t pairs,
               std::int64_t repeats) {
    constexpr TensorShape shape = tensor_shape(K::format, compiled_for);
    constexpr unsigned chains = tensor_plan(K::format, true).chains;
    constexpr unsigned sums = shape.sums();
    const unsigned lane = threadIdx.x % warp_lanes;
    const std::uint64_t threads = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
    const std::uint64_t thread = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    typename K::Register a[2][shape.a_registers()];
    typename K::Register b[2][shape.b_registers()];
#pragma unroll
    for (unsigned operand = 0; operand < 2; ++operand) {
#pragma unroll
        for (unsigned r = 0; r < shape.a_registers(); ++r)
            a[operand][r] = a_from[(operand * shape.a_registers() + r) * warp_lanes + lane];
#pragma unroll
        for (unsigned r = 0; r < shape.b_registers(); ++r)
            b[operand][r] = b_from[(operand * shape.b_registers() + r) * warp_lanes + lane];
    }
    typename K::Sum total[chains][sums] = {};
    for (std::int64_t repeat = 0; repeat < repeats; ++repeat) {
        typename K::Sum c[chains][sums];
#pragma unroll
        for (unsigned i = 0; i < chains * sums; ++i)
            c[i / sums][i % sums] = start[i * threads + thread];
#pragma unroll 2
        for (std::int64_t pair = 0; pair < pairs; ++pair) {
#pragma unroll
            for (unsigned k = 0; k < chains; ++k) multiply<K>(c[k], a[k % 2], b[0]);
#pragma unroll
            for (unsigned k = 0; k < chains; ++k) multiply<K>(c[k], a[k % 2], b[1]);
        }
#pragma unroll
        for (unsigned i = 0; i < chains * sums; ++i)
            total[i / sums][i % sums] += c[i / sums][i % sums];
    }
#pragma unroll
    for (unsigned i = 0; i < chains * sums; ++i)
        result[i * threads + thread] = total[i / sums][i % sums];
}

template <class Sum>
struct MakeStart {
    Sum* to;
    TensorSums sums;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t i) const {
        to[i] = static_cast<Sum>(sums.start_of(i));
    }
};

template <class Sum>
struct WrongSum {
    const Sum* result;
    const std::int64_t* growths;
    TensorSums sums;
    ASSAY_HOST_DEVICE double operator()(std::uint64_t i) const {
        const std::int64_t wanted = sums.expected(i, growths[sums.growth_index(i)]);
        return static_cast<double>(result[i]) - static_cast<double>(wanted);
    }
};

/// Calls what(kind) with the kind as a type.
template <class What>
auto with_kind(TensorFormat format, const What& what) {
    using enum TensorFormat;
    return device::with_type<Kind<fp64>, Kind<tf32>, Kind<fp16>, Kind<bf16>, Kind<int8>,
                             Kind<fp8_e4m3>, Kind<fp8_e5m2>>(static_cast<std::size_t>(format),
                                                             what);
}

template <class T>
T* as(std::byte* memory) {
    return reinterpret_cast<T*>(memory);
}
template <class T>
const T* as(const std::byte* memory) {
    return reinterpret_cast<const T*>(memory);
}

} // namespace

int tensor_compiled_for(TensorFormat format) {
    return with_kind(format, []<class K>(K) {
        cudaFuncAttributes attributes{};
        device::check(cudaFuncGetAttributes(&attributes, run_tensor<K>));
        return attributes.ptxVersion;
    });
}

int tensor_resident_blocks(TensorFormat format) {
    return with_kind(format, []<class K>(K) {
        int blocks = 0;
        device::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, run_tensor<K>,
                                                                    tensor_threads, 0));
        return blocks;
    });
}

void fill_sums(TensorFormat format, const TensorArrays& arrays, const TensorSums& sums,
               std::uint64_t count, const device::Stream& stream) {
    with_kind(format, [&]<class K>(K) {
        using Sum = typename K::Sum;
        device::on_each(stream, count, MakeStart<Sum>{as<Sum>(arrays.start), sums});
    });
    device::check_launches();
}

void launch_tensor(TensorFormat format, const TensorArrays& arrays, const TensorSums& sums,
                   const device::Stream& stream) {
    with_kind(format, [&]<class K>(K) {
        using Register = typename K::Register;
        using Sum = typename K::Sum;
        const auto blocks = static_cast<unsigned>(sums.threads / tensor_threads);
        device::launch(run_tensor<K>, {blocks, tensor_threads, stream.get()},
                       as<Register>(arrays.a), as<Register>(arrays.b), as<Sum>(arrays.start),
                       as<Sum>(arrays.result), sums.pairs, sums.repeats);
    });
}

Check check_tensor(TensorFormat format, const TensorArrays& arrays, const TensorSums& sums,
                   std::uint64_t count, const device::Stream& stream) {
    return with_kind(format, [&]<class K>(K) {
        using Sum = typename K::Sum;
        const WrongSum<Sum> wrong{as<Sum>(arrays.result), arrays.growths, sums};
        return device::check_each(stream, count, wrong, 0,
                                  "every sum of every chain against its closed form, exactly");
    });
}

} // namespace assay::peak
