// SPDX-License-Identifier: Apache-2.0
//
// Kinds of matrix products as types, for the kernels of peak.tensor: registers and sums of the instruction.

#pragma once

#include "device/launch.cuh"
#include "device/mma.hpp"
#include "peak/device_tensor_data.hpp"

#include <cuda_fp16.h>

#include <type_traits>

namespace assay::peak {

#if defined(ASSAY_COMPILED_FOR) // of the device that is the CPU
inline constexpr int compiled_for = ASSAY_COMPILED_FOR;
#elif defined(__CUDA_ARCH__)
inline constexpr int compiled_for = __CUDA_ARCH__ / 10;
#elif defined(__gfx90a__)
inline constexpr int compiled_for = 90;
#elif defined(__gfx950__)
inline constexpr int compiled_for = 95;
#elif defined(__HIP_DEVICE_COMPILE__)
inline constexpr int compiled_for = 94;
#else
inline constexpr int compiled_for = 0; // the host's pass; no code comes of it
#endif

/// The instruction on the device that is compiled for.
constexpr device::Mma instruction_of(const TensorKind& kind) {
    using enum device::Mma;
    if (kind.is_sparse) {
        switch (kind.format) {
        case TensorFormat::tf32:
            return m16n8k16_tf32_sparse;
        case TensorFormat::fp16:
            return m16n8k32_fp16_sparse;
        case TensorFormat::bf16:
            return m16n8k32_bf16_sparse;
        case TensorFormat::fp16_accumulate:
            return m16n8k32_fp16_fp16_sparse;
        case TensorFormat::int8:
            return m16n8k64_int8_sparse;
        case TensorFormat::fp8_e4m3:
            return m16n8k64_e4m3_sparse;
        default:
            return m16n8k64_e5m2_sparse;
        }
    }
    switch (kind.format) {
    case TensorFormat::fp64:
        return is_amd ? m16n16k4_fp64 : compiled_for >= 90 ? m16n8k16_fp64 : m8n8k4_fp64;
    case TensorFormat::fp32:
        return m16n16k4_fp32;
    case TensorFormat::tf32:
        return is_amd ? m16n16k8_xf32 : m16n8k8_tf32;
    case TensorFormat::fp16:
        return is_amd ? m16n16k16_fp16 : m16n8k16_fp16;
    case TensorFormat::bf16:
        return is_amd ? m16n16k16_bf16 : m16n8k16_bf16;
    case TensorFormat::fp16_accumulate:
        return is_amd ? m16n16k16_fp16 : m16n8k16_fp16_fp16;
    case TensorFormat::int8:
        return !is_amd ? m16n8k32_int8 : compiled_for >= 94 ? m16n16k32_int8 : m16n16k16_int8;
    case TensorFormat::fp8_e4m3:
        return is_amd ? m16n16k32_e4m3 : m16n8k32_e4m3;
    case TensorFormat::fp8_e4m3fnuz:
        return m16n16k32_e4m3fnuz;
    case TensorFormat::fp8_e5m2fnuz:
        return m16n16k32_e5m2fnuz;
    case TensorFormat::fp8_e5m2:
        break;
    }
    return is_amd ? m16n16k32_e5m2 : m16n8k32_e5m2;
}

template <TensorFormat of>
struct TensorTypes {
    static constexpr TensorFormat format = of;
    using Register = std::uint32_t;
    using Sum = float;
};
template <>
struct TensorTypes<TensorFormat::fp64> {
    static constexpr TensorFormat format = TensorFormat::fp64;
    using Register = double;
    using Sum = double;
};
template <>
struct TensorTypes<TensorFormat::int8> {
    static constexpr TensorFormat format = TensorFormat::int8;
    using Register = std::uint32_t;
    using Sum = std::int32_t;
};

template <class T, bool is_sparse, bool promotes>
struct Kind : T {
    static constexpr TensorKind kind{T::format, is_sparse, promotes};
    /// Sums in a register of the instruction.
    static constexpr unsigned packed =
        T::format == TensorFormat::fp16_accumulate && !is_amd ? 2 : 1;
    using SumRegister = std::conditional_t<packed == 2, std::uint32_t, typename T::Sum>;
};

/// Sum `i` of registers of the instruction. fp16 holds the integers that these are.
template <class K>
__device__ typename K::Sum get_sum(const typename K::SumRegister* c, unsigned i) {
    if constexpr (K::packed == 2) {
        const auto bits = static_cast<unsigned short>(c[i / 2] >> (i % 2 * 16));
        return __half2float(__ushort_as_half(bits));
    } else {
        return c[i];
    }
}
template <class K>
__device__ void set_sum(typename K::SumRegister* c, unsigned i, typename K::Sum value) {
    if constexpr (K::packed == 2) {
        const std::uint32_t bits = __half_as_ushort(__float2half_rn(value));
        c[i / 2] = i % 2 == 0 ? bits : c[i / 2] | bits << 16U;
    } else {
        c[i] = value;
    }
}

/// Calls what(kind) with the kind as a type.
template <class What>
auto with_kind(const TensorKind& kind, const What& what) {
    using enum TensorFormat;
    return device::with_type<TensorTypes<fp64>, TensorTypes<tf32>, TensorTypes<fp16>,
                             TensorTypes<bf16>, TensorTypes<int8>, TensorTypes<fp8_e4m3>,
                             TensorTypes<fp8_e5m2>, TensorTypes<fp32>, TensorTypes<fp8_e4m3fnuz>,
                             TensorTypes<fp8_e5m2fnuz>, TensorTypes<fp16_accumulate>>(
        static_cast<std::size_t>(kind.format), [&]<class T>(T) {
            const auto by_sums = [&]<bool is_sparse>() {
                if constexpr (!is_amd && is_fp8(T::format))
                    if (kind.promotes) return what(Kind<T, is_sparse, true>{});
                return what(Kind<T, is_sparse, false>{});
            };
            if constexpr (can_be_sparse(T::format))
                if (kind.is_sparse) return by_sums.template operator()<true>();
            return by_sums.template operator()<false>();
        });
}

template <class T>
T* as(std::byte* memory) {
    return reinterpret_cast<T*>(memory);
}
template <class T>
const T* as(const std::byte* memory) {
    return reinterpret_cast<const T*>(memory);
}

} // namespace assay::peak
