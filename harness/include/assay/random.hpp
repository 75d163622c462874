// SPDX-License-Identifier: Apache-2.0
//
// Random data as a function of seed and index: fills are the same for every number of threads, on
// hosts and devices, and verify() recomputes inputs instead of keeping a copy.
// Benchmarks use random data because zeros and constants run faster on real chips.

#pragma once

#include "assay/host_device.hpp"
#include "assay/parallel.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>
#include <type_traits>

namespace assay {

/// 64 random bits for (seed, index): SplitMix64, computed directly at a position of its stream.
ASSAY_HOST_DEVICE constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
    const auto mix = [](std::uint64_t z) {
        // Steele, Lea, Flood 2014: variant 13 of the MurmurHash3 finaliser.
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31U);
    };
    constexpr std::uint64_t golden = 0x9e3779b97f4a7c15U; // 2^64 / golden ratio, odd
    // The seed is mixed first, so that neighbouring seeds are not shifted copies of one stream.
    return mix(mix(seed + golden) + (index + 1) * golden);
}

/// A sequence of random bits, to choose the elements that spoil() changes.
class Picks {
public:
    explicit constexpr Picks(std::uint64_t seed) : seed_{seed} {}
    std::uint64_t next() { return random_bits(seed_, taken_++); }

private:
    std::uint64_t seed_;
    std::uint64_t taken_ = 0;
};

/// Uniform in [0, 1), exactly representable in T.
template <class T>
ASSAY_HOST_DEVICE constexpr T random_unit(std::uint64_t seed, std::uint64_t index) {
    static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);
    if constexpr (std::is_same_v<T, float>)
        return static_cast<float>(random_bits(seed, index) >> 40U) * 0x1p-24F;
    else
        return static_cast<double>(random_bits(seed, index) >> 11U) * 0x1p-53;
}

namespace detail {

/// a b, rounded before anything is added to it: compilers for devices and for Arm would fuse the two, and the last bit
/// would differ from that of a host.
template <class T>
ASSAY_HOST_DEVICE constexpr T rounded_product(T a, T b) {
    T product = a * b;
    if (std::is_constant_evaluated()) return product;
#if defined(__CUDACC__) && defined(__CUDA_ARCH__)
    if constexpr (std::is_same_v<T, float>)
        product = __fmul_rn(a, b);
    else
        product = __dmul_rn(a, b);
#elif defined(__HIP_DEVICE_COMPILE__)
    asm("" : "+v"(product));
#elif defined(__x86_64__)
    asm("" : "+x"(product));
#elif defined(__aarch64__)
    asm("" : "+w"(product));
#endif
    return product;
}

} // namespace detail

/// Uniform in [low, high]: rounding may give high. The same bits on every host and device.
template <class T>
ASSAY_HOST_DEVICE constexpr T random_uniform(std::uint64_t seed, std::uint64_t index, T low,
                                             T high) {
    return low + detail::rounded_product(high - low, random_unit<T>(seed, index));
}

/// Standard normal, by the Box-Muller transform.
template <class T>
ASSAY_HOST_DEVICE T random_normal(std::uint64_t seed, std::uint64_t index) {
    // 1 - u is in (0, 1], so that the logarithm is finite.
    const double radius = std::sqrt(-2.0 * std::log(1.0 - random_unit<double>(seed, 2 * index)));
    const double angle = 2.0 * std::numbers::pi * random_unit<double>(seed, 2 * index + 1);
    return static_cast<T>(radius * std::cos(angle));
}

/// An integer in [low, high]; high - low must be below 2^32. T may be a floating-point type,
/// for sums that must be exact.
template <class T>
ASSAY_HOST_DEVICE constexpr T random_integer(std::uint64_t seed, std::uint64_t index,
                                             std::int64_t low, std::int64_t high) {
    const auto width = static_cast<std::uint64_t>(high - low) + 1;
    const std::uint64_t step = ((random_bits(seed, index) >> 32U) * width) >> 32U;
    return static_cast<T>(low + static_cast<std::int64_t>(step));
}

namespace detail {

template <class T, class Make>
void fill(std::span<T> to, int threads, Make&& make) {
    constexpr std::size_t granule = sizeof(T) < 64 ? 64 / sizeof(T) : 1; // one cache line
    on_each_slice(threads > 0 ? threads : team_threads(), to.size(), granule, [&](Slice slice) {
        for (std::size_t i = slice.first; i < slice.last; ++i) to[i] = make(i);
    });
}

} // namespace detail

/// Fills a span in parallel. threads = 0: the default team.
template <class T>
void fill_uniform(std::span<T> to, std::uint64_t seed, std::type_identity_t<T> low,
                  std::type_identity_t<T> high, int threads = 0) {
    detail::fill(to, threads, [=](std::size_t i) { return random_uniform<T>(seed, i, low, high); });
}

template <class T>
void fill_normal(std::span<T> to, std::uint64_t seed, int threads = 0) {
    detail::fill(to, threads, [=](std::size_t i) { return random_normal<T>(seed, i); });
}

template <class T>
void fill_integers(std::span<T> to, std::uint64_t seed, std::int64_t low, std::int64_t high,
                   int threads = 0) {
    detail::fill(to, threads, [=](std::size_t i) { return random_integer<T>(seed, i, low, high); });
}

} // namespace assay
