// SPDX-License-Identifier: Apache-2.0
//
// What a benchmark computed, bit by bit: its outputs, cut into blocks with a hash each, so that a difference is found
// and located without a second copy of the output.

#pragma once

#include "assay/host_device.hpp"
#include "assay/module.h"
#include "assay/parallel.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace assay {

/// How to look at memory that the host does not read by itself.
struct OutputReader {
    /// A hash for each `block` bytes, as detail::hash_of() gives it. Null: the host reads it.
    void (*hash)(const OutputReader& by, const std::byte* data, std::size_t bytes,
                 std::size_t block, std::uint64_t* hashes) = nullptr;
    void (*copy)(const OutputReader& by, const std::byte* data, std::size_t bytes,
                 void* to) = nullptr;
    const void* from = nullptr; ///< theirs
};

/// Consecutive elements in memory.
struct Output {
    const std::byte* data;
    std::size_t bytes;
    std::size_t element_bytes;
    OutputReader reader{};

    Output(const void* first, std::size_t size, std::size_t element, const OutputReader& by)
        : data{static_cast<const std::byte*>(first)}, bytes{size}, element_bytes{element},
          reader{by} {}
    /// A vector, buffer, span or array.
    template <class Range>
        requires requires(const Range& range) {
            std::data(range);
            std::size(range);
        }
    Output(const Range& range)
        : data{reinterpret_cast<const std::byte*>(std::data(range))},
          bytes{std::size(range) * sizeof(*std::data(range))},
          element_bytes{sizeof(*std::data(range))} {
        static_assert(
            std::is_trivially_copyable_v<std::remove_cvref_t<decltype(*std::data(range))>>);
    }
    /// One number.
    template <class T>
        requires std::is_arithmetic_v<T>
    Output(const T& value)
        : data{reinterpret_cast<const std::byte*>(&value)}, bytes{sizeof value},
          element_bytes{sizeof value} {}
};
using Outputs = std::vector<Output>;

namespace detail {

/// 8 bytes a cycle on one core, which is about its share of the memory bandwidth. A step is a bijection of the lane for
/// a given word and of the word for a given lane: a change of one word always changes the hash. The shift carries high
/// bits down, which multiplication does not, so that flips of the same high bit in two words do not cancel.
inline constexpr std::uint64_t hash_factor =
    0x9E37'79B9'7F4A'7C15; // 2^64 over the golden ratio, odd
inline constexpr std::size_t hash_lanes = 8;
ASSAY_HOST_DEVICE constexpr std::uint64_t hash_step(std::uint64_t lane, std::uint64_t value) {
    lane = (lane ^ value) * hash_factor;
    return lane ^ (lane >> 32U);
}
/// Hash of a block, from its lanes; word number i belongs to lane i %
/// hash_lanes, which begins at hash_factor * (lane + 1).
inline std::uint64_t hash_of_lanes(const std::uint64_t* lanes, std::size_t bytes) {
    std::uint64_t hash = bytes;
    for (std::size_t i = 0; i < hash_lanes; ++i) hash = hash_step(hash, lanes[i]);
    return hash;
}
inline std::uint64_t hash_of(const std::byte* data, std::size_t bytes) {
    constexpr std::size_t word = sizeof(std::uint64_t);
    std::array<std::uint64_t, hash_lanes> lanes{};
    for (std::size_t i = 0; i < hash_lanes; ++i) lanes[i] = hash_factor * (i + 1);
    std::size_t at = 0;
    for (; at + sizeof lanes <= bytes; at += sizeof lanes)
        for (std::size_t i = 0; i < hash_lanes; ++i) {
            std::uint64_t value = 0;
            std::memcpy(&value, data + at + (i * word), word);
            lanes[i] = hash_step(lanes[i], value);
        }
    for (std::size_t i = 0; at < bytes; ++i, at += word) {
        std::uint64_t value = 0;
        std::memcpy(&value, data + at, std::min(word, bytes - at));
        lanes[i] = hash_step(lanes[i], value);
    }
    return hash_of_lanes(lanes.data(), bytes);
}

/// Where block number `wanted` of all outputs is.
struct Block {
    const std::byte* data = nullptr;
    OutputReader reader;
    std::size_t bytes = 0;
    std::size_t output = 0;
    std::size_t element_bytes = 0;
    std::size_t first_element = 0;
};

class Blocks {
public:
    explicit Blocks(const Outputs& outputs) : outputs_{outputs} {
        std::size_t total = 0;
        for (const Output& output : outputs) total += output.bytes;
        while (bytes_ * (ASSAY_MOST_BLOCKS / 2) < total) bytes_ *= 2;
        for (const Output& output : outputs) count_ += blocks_of(output);
        if (count_ > ASSAY_MOST_BLOCKS)
            throw std::logic_error{"a benchmark has more than a thousand outputs"};
    }
    std::size_t count() const { return count_; }
    std::size_t bytes() const { return bytes_; } ///< of each but the last of an output
    std::size_t blocks_of(const Output& output) const {
        return (output.bytes + bytes_ - 1) / bytes_;
    }
    Block at(std::size_t wanted) const {
        std::size_t number = 0;
        for (const Output& output : outputs_) {
            const std::size_t here = blocks_of(output);
            if (wanted < here) {
                const std::size_t from = wanted * bytes_;
                return {.data = output.data + from,
                        .reader = output.reader,
                        .bytes = std::min(bytes_, output.bytes - from),
                        .output = number,
                        .element_bytes = output.element_bytes,
                        .first_element = from / output.element_bytes};
            }
            wanted -= here;
            ++number;
        }
        return {};
    }

private:
    const Outputs& outputs_;
    std::size_t bytes_ = 64UL * 1024; // of a block; small enough for the second cache
    std::size_t count_ = 0;
};

/// A thread is worth waking for a megabyte: some 50 us.
inline int threads_for(std::size_t blocks) {
    constexpr std::size_t worth = 16;
    return static_cast<int>(
        std::clamp<std::size_t>(blocks / worth, 1, static_cast<std::size_t>(team_threads())));
}

inline void hash_blocks(const Output& output, const Blocks& blocks, std::uint64_t* hashes) {
    const std::size_t count = blocks.blocks_of(output);
    if (output.reader.hash != nullptr)
        return output.reader.hash(output.reader, output.data, output.bytes, blocks.bytes(), hashes);
    on_each_slice(threads_for(count), count, 1, [&](Slice slice) {
        for (std::size_t i = slice.first; i < slice.last; ++i) {
            const std::size_t from = i * blocks.bytes();
            hashes[i] = hash_of(output.data + from, std::min(blocks.bytes(), output.bytes - from));
        }
    });
}

inline void digest(const Outputs& outputs, assay_digest& to) {
    const Blocks blocks{outputs};
    to.count = blocks.count();
    if (to.hashes != nullptr && to.capacity >= to.count) {
        std::uint64_t* hashes = to.hashes;
        for (const Output& output : outputs) {
            hash_blocks(output, blocks, hashes);
            hashes += blocks.blocks_of(output);
        }
    }
    const Block block = blocks.at(to.wanted);
    to.output = static_cast<std::uint32_t>(block.output);
    to.byte_count = block.bytes;
    to.element_bytes = block.element_bytes;
    to.first_element = block.first_element;
    if (to.bytes == nullptr || to.byte_capacity < block.bytes || block.data == nullptr) return;
    if (block.reader.copy != nullptr)
        block.reader.copy(block.reader, block.data, block.bytes, to.bytes);
    else
        std::memcpy(to.bytes, block.data, block.bytes);
}

} // namespace detail
} // namespace assay
