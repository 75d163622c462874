// SPDX-License-Identifier: Apache-2.0
//
// What the chains of peak.fma compute on a device: start values, one step, and its recomputation. As on the
// host (decision 0063); in 16 bits two values share a register (decision 0173).

#pragma once

#include <assay/host_device.hpp>
#include <assay/random.hpp>

#include <bit>
#include <cmath>
#include <cstdint>

namespace assay::peak {

enum class FmaPrecision : std::uint8_t { fp64, fp32, fp16, bf16 };

/// Every step is value = factor * value + addend, in each value of each slot. A slot is a register of 32 bits,
/// or a pair of them for fp64.
inline constexpr std::uint64_t fma_start_seed = 5;

ASSAY_HOST_DEVICE inline std::uint32_t bits_of(float value) {
#ifdef ASSAY_ON_DEVICE
    return __float_as_uint(value);
#else
    return std::bit_cast<std::uint32_t>(value);
#endif
}
ASSAY_HOST_DEVICE inline float float_of(std::uint32_t bits) {
#ifdef ASSAY_ON_DEVICE
    return __uint_as_float(bits);
#else
    return std::bit_cast<float>(bits);
#endif
}

template <class T>
struct WideFma {
    using Slot = T;
    static constexpr int values = 1; ///< in a slot
    static constexpr T factor = static_cast<T>(-0.99999512345678);
    static constexpr T addend = T{1} - factor;

    ASSAY_HOST_DEVICE static constexpr Slot slot_of(T value) { return value; }
    ASSAY_HOST_DEVICE static Slot start(std::uint64_t slot) {
        return random_uniform(fma_start_seed, slot, T{0.5}, T{1.5});
    }
    ASSAY_HOST_DEVICE static Slot after(Slot value, std::uint64_t steps) {
        for (std::uint64_t i = 0; i < steps; ++i) value = std::fma(value, factor, addend);
        return value;
    }
};
using Fp64Fma = WideFma<double>;
using Fp32Fma = WideFma<float>;

/// A format of 16 bits with so many bits of fraction and this bias of its exponent; normal numbers only.
/// Products and sums of its values near 1 fit into fp32, so that rounding that to the format rounds once.
template <unsigned fraction, unsigned bias>
struct NarrowFma {
    using Slot = std::uint32_t;
    static constexpr int values = 2;
    static constexpr unsigned surplus = 23 - fraction; ///< bits of fp32 that the format lacks
    /// The number next to -1 on the coarser side of 1, so that 1 - factor is a number of the format too.
    static constexpr float factor = -1.0F + 1.0F / static_cast<float>(1U << fraction);
    static constexpr float addend = 1.0F - factor;

    /// To the nearest number of the format, ties to the even one.
    ASSAY_HOST_DEVICE static float rounded(float value) {
        const std::uint32_t bits = bits_of(value);
        const std::uint32_t even = (bits >> surplus) & 1U;
        const std::uint32_t up = bits + ((1U << (surplus - 1)) - 1) + even;
        return float_of(up >> surplus << surplus);
    }
    ASSAY_HOST_DEVICE static std::uint32_t packed(float value) {
        const std::uint32_t bits = bits_of(value);
        const std::uint32_t sign = bits >> 31U << 15U;
        return sign | ((((bits & 0x7fffffffU) >> surplus) - ((127 - bias) << fraction)) & 0x7fffU);
    }
    /// Start values keep a quarter of distance to 1 at most: farther ones would all end at that distance.
    ASSAY_HOST_DEVICE static float start_value(std::uint64_t i) {
        return rounded(random_uniform(fma_start_seed, i, 0.75F, 1.25F));
    }
    ASSAY_HOST_DEVICE static float value_after(float value, std::uint64_t steps) {
        for (std::uint64_t i = 0; i < steps; ++i) value = rounded(std::fma(value, factor, addend));
        return value;
    }
    ASSAY_HOST_DEVICE static Slot pair(float low, float high) {
        return packed(low) | packed(high) << 16U;
    }
    ASSAY_HOST_DEVICE static Slot slot_of(float value) { return pair(value, value); }
    ASSAY_HOST_DEVICE static Slot start(std::uint64_t slot) {
        return pair(start_value(2 * slot), start_value(2 * slot + 1));
    }
    /// The result of the slot of that number.
    ASSAY_HOST_DEVICE static Slot result(std::uint64_t slot, std::uint64_t steps) {
        return pair(value_after(start_value(2 * slot), steps),
                    value_after(start_value(2 * slot + 1), steps));
    }
};
using Fp16Fma = NarrowFma<10, 15>;
using Bf16Fma = NarrowFma<7, 127>;

/// The expected final value of a slot.
template <class Format>
ASSAY_HOST_DEVICE typename Format::Slot fma_result(std::uint64_t slot, std::uint64_t steps) {
    if constexpr (Format::values == 1)
        return Format::after(Format::start(slot), steps);
    else
        return Format::result(slot, steps);
}

/// How a device is filled with chains.
struct FmaShape {
    unsigned blocks = 1;
    unsigned chains = 8;      ///< of a thread: 4 or 8
    std::uint64_t rounds = 1; ///< of `round_instructions` instructions
};

inline constexpr unsigned fma_threads = 256; ///< of a block
inline constexpr unsigned most_chains = 8;
/// Multiply-adds of a thread between two steps of its loop: next to them the three instructions of the loop
/// are 0.6%, and 8 KiB of instructions stay in the smallest of the instruction caches.
inline constexpr unsigned round_instructions = 512;

/// Steps of each chain. One more than the rounds make: in 16 bits values soon alternate between two, so that
/// after an even number of steps the start values could pass for results.
constexpr std::uint64_t fma_steps(const FmaShape& shape) {
    return shape.rounds * (round_instructions / shape.chains) + 1;
}
constexpr std::uint64_t fma_slots(const FmaShape& shape) {
    return std::uint64_t{shape.blocks} * fma_threads * shape.chains;
}

/// Devices whose multiprocessors have as many units for fp64 as half of those for fp32; all others have a
/// thirty-second or less, and get fewer rounds, so that a call takes milliseconds everywhere.
constexpr bool has_fast_fp64(int capability) {
    return capability == 80 || capability == 90 || capability == 100 || capability == 94 ||
           capability == 95; // the last two are AMD's gfx942 and gfx950
}
constexpr std::uint64_t fma_rounds(FmaPrecision precision, int capability) {
    return precision == FmaPrecision::fp64 && !has_fast_fp64(capability) ? 16 : 256;
}

} // namespace assay::peak
