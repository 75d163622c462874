// SPDX-License-Identifier: Apache-2.0
//
// What sort.radix sorts, wherever it runs: its parameters, its random keys, what it counts, and how the result is
// checked.

#pragma once

#include <assay/define.hpp>

#include <limits>
#include <type_traits>

namespace assay::sort {

/// In the order of OneOf<Keys<std::uint32_t>, Keys<std::uint64_t>>.
enum class Type : std::uint8_t { uint32, uint64 };
enum class Distribution : std::uint8_t { uniform, skewed };

namespace keys {

template <class Params>
inline constexpr std::tuple axes{
    choice("type", "key type", &Params::type,
           {Name{"uint32", Type::uint32}, Name{"uint64", Type::uint64}}),
    choice("distribution", "uniform; skewed: of each bit, one in eight is set",
           &Params::distribution,
           {Name{"uniform", Distribution::uniform}, Name{"skewed", Distribution::skewed}}),
    footprint_axis("bytes of keys, sorted keys and working memory", &Params::footprint,
                   {Symbol::beyond_cache}, {64_KiB, 64_GiB}),
};

/// The keys that fit three times into the footprint, counted in 32 bits.
template <class Key>
constexpr std::uint64_t count_of(std::int64_t footprint) {
    constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
    const std::uint64_t count = static_cast<std::uint64_t>(footprint) / (3 * sizeof(Key));
    return count < most ? count : most;
}

/// Bytes are those that any sorting must move: each key is read and written.
template <class Key>
Work work(std::uint64_t count) {
    const auto n = static_cast<double>(count);
    return {.bytes = 2 * sizeof(Key) * n, .items = n};
}
template <class Key>
void describe(std::uint64_t count, const Context& context) {
    const auto bytes = static_cast<double>(3 * count * sizeof(Key));
    context.setting("keys", count);
    context.setting("footprint", bytes);
    context.tell({.footprint_bytes = bytes});
}

inline constexpr std::uint64_t seed = 35; // and the two after it
inline constexpr std::uint64_t spoil_seed = 38;

template <class Key>
ASSAY_HOST_DEVICE Key key_at(Distribution distribution, std::uint64_t i) {
    constexpr unsigned spare = 64 - 8 * sizeof(Key);
    std::uint64_t bits = random_bits(seed, i);
    // Entropy reduction (Thearling and Smith 1992): half a bit of information in each bit.
    if (distribution == Distribution::skewed)
        bits &= random_bits(seed + 1, i) & random_bits(seed + 2, i);
    return static_cast<Key>(bits >> spare);
}

/// Equal sums of marks, modulo 2^64, have the same keys but for one case in 2^64.
ASSAY_HOST_DEVICE constexpr std::uint64_t mark_of(std::uint64_t key) {
    return random_bits(spoil_seed + 1, key);
}

inline constexpr const char* method =
    "every key is at least the one before it, the input is unchanged, and the sums of a random "
    "64-bit number for each key are equal before and after";
inline constexpr const char* lost = "keys were lost, changed or taken twice";

/// 1 if key number i of the result is less than the one before it, or if the input has changed.
template <class Key>
struct OutOfOrder {
    Distribution distribution;
    const Key* in;
    const Key* out;
    ASSAY_HOST_DEVICE double operator()(std::uint64_t i) const {
        const bool ascends = i == 0 || out[i - 1] <= out[i];
        return ascends && in[i] == key_at<Key>(distribution, i) ? 0.0 : 1.0;
    }
};

} // namespace keys
} // namespace assay::sort
