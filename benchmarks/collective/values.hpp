// SPDX-License-Identifier: Apache-2.0
//
// Numbers for reductions whose sum over all ranks is known exactly to every rank without a message:
// element i of rank r is (a_i + r b_i) mod 251 - 125 with random a_i and b_i != 0. They look random in
// both directions, and their sum depends on a_i and b_i alone, so one small table holds every answer.
//
// Exact in fp32: a sum is at most 125 per rank, so below 2^24 for 134,000 ranks, in any order.

#pragma once

#include <assay/random.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::collective {

class Values {
public:
    static constexpr std::uint32_t modulus = 251; ///< prime: all ranks below it differ everywhere
    static constexpr std::int64_t largest = 125;

    explicit Values(int ranks) : ranks_{static_cast<std::uint32_t>(ranks)} {
        sums_.reserve(std::size_t{modulus} * modulus);
        for (std::uint32_t a = 0; a < modulus; ++a)
            for (std::uint32_t b = 0; b < modulus; ++b) sums_.push_back(sum_of({.a = a, .b = b}));
    }

    /// What rank `rank` contributes to element i, in -125..125.
    std::int32_t at(int rank, std::size_t i) const {
        return value_of(pair_at(i), static_cast<std::uint32_t>(rank));
    }
    /// The sum over all ranks.
    std::int32_t sum(std::size_t i) const {
        const Pair pair = pair_at(i);
        return sums_[std::size_t{pair.a} * modulus + pair.b];
    }

private:
    struct Pair {
        std::uint32_t a;
        std::uint32_t b;
    };

    static Pair pair_at(std::size_t i) {
        constexpr std::uint64_t seed = 3;
        const std::uint64_t bits = random_bits(seed, i);
        const auto high = static_cast<std::uint32_t>(bits >> 32U);
        const auto low = static_cast<std::uint32_t>(bits);
        return {.a = high % modulus, .b = low % (modulus - 1) + 1};
    }
    static std::int32_t value_of(Pair pair, std::uint32_t rank) {
        const std::uint32_t residue = (pair.a + rank % modulus * pair.b) % modulus;
        return static_cast<std::int32_t>(residue) - static_cast<std::int32_t>(largest);
    }
    std::int32_t sum_of(Pair pair) const {
        std::int32_t sum = 0;
        for (std::uint32_t rank = 0; rank < ranks_; ++rank) sum += value_of(pair, rank);
        return sum;
    }

    std::uint32_t ranks_;
    std::vector<std::int32_t> sums_;
};

} // namespace assay::collective
