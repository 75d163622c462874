// SPDX-License-Identifier: Apache-2.0
//
// Numbers that ranks on devices hold: random integers, small enough that the sum over all ranks is exact in
// the type, in any order. Every element of every rank can be made again from its index, so that each
// device checks all of its own without a message. Has what a rank sends, gets and must find.

#pragma once

#include "collective/kind.hpp"

#include <assay/host_device.hpp>
#include <assay/random.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace assay::collective {

enum class Element : std::uint8_t { fp32, fp64, fp16, bf16, fp8_e4m3, fp8_e5m2 };

/// Bytes and significant bits of each type, in the order of the enumeration.
inline constexpr std::array<std::array<int, 2>, 6> element_sizes{
    {{4, 24}, {8, 53}, {2, 11}, {2, 8}, {1, 4}, {1, 3}}};

constexpr std::int64_t bytes_of(Element element) {
    return element_sizes[static_cast<std::size_t>(element)][0];
}

/// Up to this, every integer is a number of the type: 2 to the power of its significant bits.
constexpr std::int64_t exact_integers(Element element) {
    return std::int64_t{1} << element_sizes[static_cast<std::size_t>(element)][1];
}

/// The largest value of one rank when so many are added; 0: no sum of so many would be exact.
constexpr std::int64_t largest_value(Element element, int summands) {
    return std::min<std::int64_t>(125, exact_integers(element) / summands);
}

constexpr bool has_in_place(Kind kind) {
    return kind != Kind::alltoall && kind != Kind::send_receive;
}
/// In place there is one array; where in it a rank's part begins.
constexpr std::size_t held_in_place(Kind kind, std::size_t count, int ranks) {
    return std::max(sent(kind, count, ranks), received(kind, count, ranks));
}
constexpr std::size_t own_part(Kind kind, std::size_t count, int rank) {
    return divided(kind) ? count * static_cast<std::size_t>(rank) : 0;
}

/// Calls in place after which sums of sums would no longer be exact: then inputs are made again. An
/// all-reduce multiplies by the number of ranks, see growth.hpp; a rank of a reduce-scatter adds the others'
/// blocks to its own once more.
constexpr std::uint64_t exact_scatters(Element element, int ranks, std::int64_t largest) {
    return static_cast<std::uint64_t>(
        std::max<std::int64_t>(exact_integers(element) / (largest * ranks) - 1, 1));
}

/// What rank `rank` sends as element i, in -largest..largest.
ASSAY_HOST_DEVICE constexpr double value_at(int rank, std::uint64_t i, std::int64_t largest) {
    constexpr std::uint64_t seed = 4000;
    return random_integer<double>(seed + static_cast<std::uint64_t>(rank), i, -largest, largest);
}

/// What a rank must find.
struct Expected {
    Kind kind;
    int rank;
    int ranks;
    std::uint64_t count; // numbers of a block
    std::int64_t largest;
    double growth; // of the sums of an all-reduce in place: 1 after the first call
    double
        times; // that a reduce-scatter in place has added the others' blocks: 1 after the first call

    ASSAY_HOST_DEVICE constexpr double sum(std::uint64_t i) const {
        double all = 0;
        for (int r = 0; r < ranks; ++r) all += value_at(r, i, largest);
        return all;
    }
    ASSAY_HOST_DEVICE constexpr double at(std::uint64_t i) const {
        const Origin from = origin(kind, rank, ranks, count, i);
        if (kind == Kind::allreduce) return growth * sum(from.index);
        const double one = value_at(from.rank, from.index, largest);
        return kind == Kind::reduce_scatter ? one + times * (sum(from.index) - one) : one;
    }
    /// The deviation of `found`, on the scale of the sums.
    ASSAY_HOST_DEVICE constexpr double error(std::uint64_t i, double found) const {
        const double expected = at(i);
        const double size = expected < 0 ? -expected : expected;
        return (found - expected) / (size > growth ? size : growth);
    }
};

/// A number that differs by one step and that every type holds: towards zero, or from it.
ASSAY_HOST_DEVICE constexpr double spoiled(double value, double step) {
    return value > 0 ? value - step : value + step;
}

} // namespace assay::collective
