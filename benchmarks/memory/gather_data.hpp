// SPDX-License-Identifier: Apache-2.0
//
// What memory.gather moves, wherever it runs: every element of an array once, to or from places in random order.

#pragma once

#include "memory/shuffle.hpp"

#include <assay/axes.hpp>
#include <assay/host_device.hpp>
#include <assay/random.hpp>

#include <cstddef>
#include <cstdint>

namespace assay::memory {

enum class Direction : std::uint8_t {
    gather, // to[i] = from[index[i]]
    scatter // to[index[i]] = from[i]
};
template <class Params>
consteval auto direction_axis(Direction Params::* field) {
    return choice("direction", "gather: a[i] = b[index[i]]; scatter: a[index[i]] = b[i]", field,
                  {Name{"gather", Direction::gather}, Name{"scatter", Direction::scatter}});
}

namespace gather_data {

inline constexpr std::uint64_t from_seed = 21;
inline constexpr std::uint64_t index_seed = 22; // and the three after it
inline constexpr std::uint64_t spoil_seed = 26;
inline constexpr const char* method =
    "every element recomputed from the random seeds and compared bit for bit";

/// Size of one element of the three arrays: two of fp64, and the index.
inline constexpr std::int64_t bytes_per_element = 2 * sizeof(double) + sizeof(std::uint32_t);
/// The largest count that 32 bits can number.
inline constexpr std::uint64_t most_elements = std::uint64_t{1} << 32U;

constexpr std::uint64_t elements_of(std::int64_t footprint) {
    const auto elements = static_cast<std::uint64_t>(footprint / bytes_per_element);
    return elements < most_elements ? elements : most_elements;
}

ASSAY_HOST_DEVICE inline double value(std::uint64_t i) {
    return random_uniform(from_seed, i, 0.5, 1.5);
}

/// Deviation of move number i: 0 if the value that arrived equals the one sent bit for bit, else 1.
struct Deviation {
    Direction direction;
    Shuffle order;
    const double* to;
    ASSAY_HOST_DEVICE double operator()(std::uint64_t i) const {
        const std::uint64_t other = order(i);
        const bool gathers = direction == Direction::gather;
        return to[gathers ? i : other] == value(gathers ? other : i) ? 0.0 : 1.0;
    }
};

} // namespace gather_data
} // namespace assay::memory
