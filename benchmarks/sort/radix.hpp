// SPDX-License-Identifier: Apache-2.0
//
// Sorting by digits on all threads, the least significant one first, or buckets of the most significant one and within
// each bucket the least significant one first. In each pass every thread counts the digits of its slice, and writes its
// keys to where smaller digits, and equal ones of threads before it, leave room.

#pragma once

#include <assay/host.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace assay::sort {

template <class Key>
struct Arrays {
    const Key* in; ///< stays as it is
    Key* out;
    Key* spare;
    std::size_t count; ///< below 2^32
};

/// Digits of so many bits: how many keys have each, and keys to where theirs go.
template <class Key, unsigned bits>
struct Digits {
    static constexpr std::size_t values = std::size_t{1} << bits;
    static std::size_t of(Key key, unsigned shift) {
        return static_cast<std::size_t>(key >> shift) % values;
    }

    /// In two tables: a digit that repeats does not wait for itself.
    static void count(const Key* from, Slice slice, unsigned shift, std::uint32_t* counts) {
        std::array<std::uint32_t, values> even{};
        std::array<std::uint32_t, values> odd{};
        std::size_t i = slice.first;
        for (; i + 2 <= slice.last; i += 2) {
            ++even[of(from[i], shift)];
            ++odd[of(from[i + 1], shift)];
        }
        if (i < slice.last) ++even[of(from[i], shift)];
        for (std::size_t d = 0; d < values; ++d) counts[d] = even[d] + odd[d];
    }

    /// Eight keys at a time, and beyond the caches the line that a place comes to next is asked for: 280 million keys
    /// of 32 bits a second on one Zen 4 core, where a plain loop moves 190.
    template <bool beyond_caches>
    static void move(const Key* from, Slice slice, unsigned shift, std::uint32_t* places, Key* to) {
        constexpr std::size_t at_once = 8;
        const auto put = [=](Key key, std::size_t digit) {
            Key* const at = to + places[digit]++;
            if constexpr (beyond_caches) // for writing, into the first level
                __builtin_prefetch(at + cache_line / sizeof(Key), 1, 3);
            *at = key;
        };
        std::size_t i = slice.first;
        for (; i + at_once <= slice.last; i += at_once) {
            std::array<Key, at_once> keys{};
            std::array<std::size_t, at_once> digits{};
            for (std::size_t k = 0; k < at_once; ++k) {
                keys[k] = from[i + k];
                digits[k] = of(keys[k], shift);
            }
            for (std::size_t k = 0; k < at_once; ++k) put(keys[k], digits[k]);
        }
        for (; i < slice.last; ++i) put(from[i], of(from[i], shift));
    }
};

template <class Key, unsigned bits>
class Radix {
public:
    explicit Radix(int threads) : places_(static_cast<std::size_t>(threads)) {
        for (auto& own : places_) own.resize(Digits::values);
    }

    void sort(const Arrays<Key>& a) noexcept {
        constexpr unsigned passes = (8 * sizeof(Key) + bits - 1) / bits;
        const Key* from = a.in;
        for (unsigned pass = 0; pass < passes; ++pass) {
            Key* const to = (passes - pass) % 2 == 1 ? a.out : a.spare; // the last one to `out`
            sort_by_digit(from, to, a.count, pass * bits);
            from = to;
        }
    }

    void sort_by_digit(const Key* from, Key* to, std::size_t count, unsigned shift) noexcept {
        const auto on_slices = [&](auto&& body) {
            on_each_thread(
                static_cast<int>(places_.size()), [&](std::size_t thread, std::size_t team) {
                    body(slice_of(count, thread, team, line_granule<Key>), places_[thread].data());
                });
        };
        on_slices([=](Slice slice, std::uint32_t* to_count) {
            Digits::count(from, slice, shift, to_count);
        });
        std::uint32_t before = 0;
        for (std::size_t d = 0; d < Digits::values; ++d)
            for (auto& own : places_) {
                const std::uint32_t here = own[d];
                own[d] = before;
                before += here;
            }
        on_slices([=](Slice slice, std::uint32_t* places) {
            Digits::template move<true>(from, slice, shift, places, to);
        });
    }
    /// Where the keys of each digit end, after sort_by_digit().
    const std::vector<std::uint32_t>& ends() const { return places_.back(); }

private:
    using Digits = sort::Digits<Key, bits>;
    std::vector<std::vector<std::uint32_t>> places_; // of each thread, for each digit
};

/// The most significant 8 bits first, all threads together; then each thread takes one of the 256 buckets after the
/// other, by digits of 12 bits, the least significant one first. Where
/// three arrays take 128 MiB, a bucket of uniform keys is 175 KB: it stays in the second-level cache.
template <class Key>
class Buckets {
public:
    explicit Buckets(int threads) : first_{threads}, counts_(static_cast<std::size_t>(threads)) {
        for (auto& own : counts_) own.resize(passes * Digits::values);
    }

    void sort(const Arrays<Key>& a) noexcept {
        Key* const to = passes % 2 == 0 ? a.out : a.spare; // the last pass to `out`
        Key* const other = passes % 2 == 0 ? a.spare : a.out;
        first_.sort_by_digit(a.in, to, a.count, rest);
        const auto& ends = first_.ends();
        std::atomic<std::size_t> next{0};
        on_each_thread(static_cast<int>(counts_.size()), [&](std::size_t thread, std::size_t) {
            for (std::size_t d = next++; d < ends.size(); d = next++) {
                const std::size_t begin = d == 0 ? 0 : ends[d - 1];
                sort_bucket(to + begin, other + begin, ends[d] - begin, counts_[thread].data());
            }
        });
    }

private:
    static constexpr unsigned first_bits = 8;
    static constexpr unsigned bits = 12;
    static constexpr unsigned rest = 8 * sizeof(Key) - first_bits;
    static constexpr unsigned passes = (rest + bits - 1) / bits;
    using Digits = sort::Digits<Key, bits>;

    static void sort_bucket(Key* from, Key* to, std::size_t count, std::uint32_t* counts) noexcept {
        std::fill_n(counts, passes * Digits::values, 0U);
        for (std::size_t i = 0; i < count; ++i)
            for (unsigned pass = 0; pass < passes; ++pass)
                ++counts[pass * Digits::values + Digits::of(from[i], pass * bits)];
        for (unsigned pass = 0; pass < passes; ++pass, counts += Digits::values) {
            std::uint32_t before = 0;
            for (std::size_t d = 0; d < Digits::values; ++d)
                before += std::exchange(counts[d], before);
            Digits::template move<false>(from, {0, count}, pass * bits, counts, to);
            std::swap(from, to);
        }
    }

    Radix<Key, first_bits> first_;
    std::vector<std::vector<std::uint32_t>> counts_; // of each thread, for each pass and digit
};

} // namespace assay::sort
