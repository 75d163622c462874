// SPDX-License-Identifier: Apache-2.0
//
// Which of very many results are recomputed, and how much damage is surely seen by that.

#pragma once

#include <assay/parallel.hpp>
#include <assay/random.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace assay::workload {

/// One place at random in each of `count` equal parts of `total` places; other places for another
/// round.
class Samples {
public:
    Samples(std::size_t total, std::size_t count, std::uint64_t round)
        : total_{total}, count_{std::min(count, total)}, round_{round} {}

    std::size_t size() const { return count_; }
    std::size_t operator[](std::size_t i) const {
        const std::size_t first = cut(i);
        return first + random_bits(seed + round_, i) % (cut(i + 1) - first);
    }
    /// Places that surely hold a whole part, and with it a sample, wherever they begin.
    Slice damage(std::uint64_t pick) const {
        const std::size_t length = std::min(total_, 2 * (total_ / count_ + 1));
        const std::size_t first = pick % (total_ - length + 1);
        return {.first = first, .last = first + length};
    }

private:
    static constexpr std::uint64_t seed = 0x5a3b'1e00;
    std::size_t cut(std::size_t part) const { return part * total_ / count_; }

    std::size_t total_;
    std::size_t count_;
    std::uint64_t round_;
};

} // namespace assay::workload
