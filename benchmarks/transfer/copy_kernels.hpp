// SPDX-License-Identifier: Apache-2.0
//
// Copies by a kernel, and the random words that every copy moves, made and checked on the device.

#pragma once

#include "device/handles.hpp"

#include <assay/benchmark.hpp>

#include <cstdint>

namespace assay::transfer {

/// Blocks of that kernel that a multiprocessor holds at once: as many as its registers allow.
unsigned resident_copy_blocks();

/// Queues a copy by the multiprocessors, 16 bytes at a time; both sides may be memory of the device or pinned
/// memory of the host. `words` is a multiple of vector_words.
void copy_by_kernel(const std::uint64_t* from, std::uint64_t* to, std::uint64_t words,
                    unsigned blocks, const device::Stream& stream);

/// Writes the words of a seed to memory of the device, and waits.
void make_words(std::uint64_t* words, std::uint64_t count, std::uint64_t seed,
                const device::Stream& stream);

/// Compares every word in memory of the device with the one made again from the seed.
Check check_words(const std::uint64_t* words, std::uint64_t count, std::uint64_t seed,
                  const device::Stream& stream);

} // namespace assay::transfer
