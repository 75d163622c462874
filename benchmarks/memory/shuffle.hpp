// SPDX-License-Identifier: Apache-2.0
//
// A random order of any number of things, without a table. Made on the host, followed anywhere.

#pragma once

#include <assay/host_device.hpp>
#include <assay/random.hpp>

#include <cmath>
#include <cstdint>

namespace assay::memory {

/// A random permutation of 0 .. count-1 that needs no table: any thread computes any part of it, where
/// a shuffle of an array walks through all of it in one thread. Positions are written as (left, right)
/// in a rectangle that holds hardly more than `count`; each round turns one of the two by a random
/// amount that depends on the other, which can be undone, so that no two positions meet (Black and
/// Rogaway 2002, "Ciphers with arbitrary finite domains", section 5). What falls into the rectangle's
/// surplus is sent on until it comes out.
class Shuffle {
public:
    Shuffle(std::uint64_t count, std::uint64_t seed) : count_{count}, seed_{seed} {
        rows_ = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(count)));
        if (rows_ == 0) rows_ = 1;
        columns_ = count / rows_ + (count % rows_ != 0 ? 1 : 0);
    }
    ASSAY_HOST_DEVICE std::uint64_t operator()(std::uint64_t position) const {
        do position = turn(position);
        while (position >= count_);
        return position;
    }

private:
    /// A random number below `limit`, which is below 2^32.
    ASSAY_HOST_DEVICE std::uint64_t amount(std::uint64_t round, std::uint64_t from,
                                           std::uint64_t limit) const {
        return (random_bits(seed_ + round, from) >> 32U) * limit >> 32U;
    }
    ASSAY_HOST_DEVICE std::uint64_t turn(std::uint64_t position) const {
        // Luby and Rackoff 1988: four rounds cannot be told from a random permutation.
        constexpr std::uint64_t rounds = 4;
        std::uint64_t left = position / columns_;
        std::uint64_t right = position % columns_;
        for (std::uint64_t round = 0; round < rounds; round += 2) {
            left += amount(round, right, rows_);
            if (left >= rows_) left -= rows_;
            right += amount(round + 1, left, columns_);
            if (right >= columns_) right -= columns_;
        }
        return left * columns_ + right;
    }

    std::uint64_t count_;
    std::uint64_t seed_;
    std::uint64_t rows_;
    std::uint64_t columns_;
};

} // namespace assay::memory
