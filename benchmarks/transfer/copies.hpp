// SPDX-License-Identifier: Apache-2.0
//
// What copies between a host and its devices are made of: directions and what they count, the random words
// that are copied, and the shapes of kernels that copy. Pure numbers: tested on the host.

#pragma once

#include <assay/host_device.hpp>
#include <assay/random.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace assay::transfer {

/// "loaded": one direction is timed while the other one is busy.
enum class Direction : std::uint8_t { to_device, to_host, both, to_device_loaded, to_host_loaded };
enum class HostMemory : std::uint8_t { pinned, pageable };
enum class Engine : std::uint8_t { copy_engine, kernel };

constexpr bool is_loaded(Direction direction) {
    return direction == Direction::to_device_loaded || direction == Direction::to_host_loaded;
}
/// Does data move both ways at once?
constexpr bool is_two_way(Direction direction) {
    return direction == Direction::both || is_loaded(direction);
}
constexpr bool sends(Direction direction) {
    return direction != Direction::to_host; // all others move data to the device, timed or not
}
constexpr bool receives(Direction direction) { return direction != Direction::to_device; }

/// Copies in the background for each one that is timed: enough to outlast it where the other direction
/// is twice as fast.
inline constexpr int background_copies = 3;

/// The driver's queue is shorter for copies than for kernels: one counts as two.
inline constexpr int copies_as_operations = 2;

/// Each byte counts once for each direction that is timed.
constexpr double counted_bytes(Direction direction, double bytes) {
    return direction == Direction::both ? 2 * bytes : bytes;
}

/// Why a copy cannot be made like this; "" where it can. `kernels_reach_pageable`: does the device
/// read memory of the host that nobody registered (HMM, or an NVLink to the processor)?
inline std::string why_not(Direction direction, HostMemory memory, Engine engine,
                           bool kernels_reach_pageable) {
    if (memory == HostMemory::pinned) return {};
    if (is_two_way(direction))
        return "not applicable: the host stages copies of pageable memory, so one thread cannot "
               "run two at once";
    if (engine == Engine::kernel && !kernels_reach_pageable)
        return "not applicable: kernels on this device do not reach pageable memory";
    return {};
}

// --- what is copied -------------------------------------------------------------------------------

inline constexpr std::size_t vector_bytes = 16; // of one load or store
inline constexpr std::size_t vector_words = vector_bytes / sizeof(std::uint64_t);

/// 64-bit words in a copy, whole vectors of them, at least one.
constexpr std::size_t words_in(std::int64_t bytes) {
    const std::size_t vectors =
        static_cast<std::size_t>(std::max<std::int64_t>(bytes, 0)) / vector_bytes;
    return std::max<std::size_t>(vectors, 1) * vector_words;
}

/// 1 where a word is not what was made for it from the seed.
struct WrongWord {
    const std::uint64_t* words;
    std::uint64_t seed;
    ASSAY_HOST_DEVICE double operator()(std::uint64_t i) const {
        return words[i] == random_bits(seed, i) ? 0.0 : 1.0;
    }
};

/// Makes the words of a seed.
struct MakeWord {
    std::uint64_t* words;
    std::uint64_t seed;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t i) const { words[i] = random_bits(seed, i); }
};

// --- kernels that copy ----------------------------------------------------------------------------

inline constexpr unsigned copy_threads = 512;
inline constexpr unsigned copy_unroll = 4; // 16-byte loads that a thread has in flight

/// Blocks of a copy. Over a link, one for each multiprocessor leaves room for a copy the other way at the same
/// time (two fill the smallest), and 132 of them have 4 MiB in flight, forty times what a link of 64 GB/s
/// and 1.5 us holds. Memory of the device itself takes all that fit.
constexpr unsigned copy_blocks(std::size_t words, int multiprocessors, unsigned each) {
    const std::size_t vectors = words / vector_words;
    const std::size_t useful = (vectors + copy_threads - 1) / copy_threads;
    const std::size_t most =
        static_cast<std::size_t>(std::max(multiprocessors, 1)) * std::max(each, 1U);
    return static_cast<unsigned>(std::clamp<std::size_t>(useful, 1, most));
}

/// The vectors that one thread of `threads` copies: a few at a time, neighbouring threads neighbouring ones.
template <class Vector>
struct CopyShare {
    const Vector* from;
    Vector* to;
    std::uint64_t count;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t thread, std::uint64_t threads) const {
        std::uint64_t i = thread;
        for (; i + (copy_unroll - 1) * threads < count; i += copy_unroll * threads) {
            Vector values[copy_unroll]; // NOLINT(*-avoid-c-arrays): registers of a kernel
            for (unsigned k = 0; k < copy_unroll; ++k) values[k] = from[i + k * threads];
            for (unsigned k = 0; k < copy_unroll; ++k) to[i + k * threads] = values[k];
        }
        for (; i < count; i += threads) to[i] = from[i];
    }
};

} // namespace assay::transfer
