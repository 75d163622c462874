// SPDX-License-Identifier: Apache-2.0
//
// Philox4x32-10: four random words of 32 bits from a counter, by ten rounds of multiplications (Salmon, Moraes, Dror
// and Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3"). Any thread makes any part of the sequence.

#pragma once

#include <assay/host_device.hpp>

#include <cstdint>

namespace assay::montecarlo {

struct Words {
    std::uint32_t word[4];
};

namespace philox {

inline constexpr unsigned rounds = 10;
inline constexpr std::uint32_t factor0 = 0xD251'1F53U;
inline constexpr std::uint32_t factor1 = 0xCD9E'8D57U;
inline constexpr std::uint32_t step0 = 0x9E37'79B9U; // of the keys, after each round
inline constexpr std::uint32_t step1 = 0xBB67'AE85U;

} // namespace philox

ASSAY_HOST_DEVICE constexpr Words philox_words(Words counter, std::uint32_t key0,
                                               std::uint32_t key1) {
    for (unsigned round = 0; round < philox::rounds; ++round) {
        const std::uint64_t a = std::uint64_t{philox::factor0} * counter.word[0];
        const std::uint64_t b = std::uint64_t{philox::factor1} * counter.word[2];
        counter = {{static_cast<std::uint32_t>(b >> 32U) ^ counter.word[1] ^ key0,
                    static_cast<std::uint32_t>(b),
                    static_cast<std::uint32_t>(a >> 32U) ^ counter.word[3] ^ key1,
                    static_cast<std::uint32_t>(a)}};
        key0 += philox::step0;
        key1 += philox::step1;
    }
    return counter;
}

/// For counters that are plain numbers.
ASSAY_HOST_DEVICE constexpr Words philox_words(std::uint64_t counter, std::uint64_t key) {
    return philox_words(Words{{static_cast<std::uint32_t>(counter),
                               static_cast<std::uint32_t>(counter >> 32U), 0, 0}},
                        static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32U));
}

} // namespace assay::montecarlo
