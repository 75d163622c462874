// SPDX-License-Identifier: Apache-2.0
//
// How the threads of a kernel run on one core: each on a stack of its own, one warp after the other, in an order that
// the environment chooses, until they wait for each other. Used by kernel_words.hpp and by the runtime.

#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>
#include <string>

namespace assay::device_on_cpu {

/// Lanes of the widest warp; Launch::lanes is the actual number.
constexpr unsigned most_lanes = 64;

/// Place of the thread that runs now.
struct Place {
    uint3 thread;
    uint3 block;
    dim3 threads;
    dim3 blocks;
};
extern Place place;
/// Dynamic shared memory of its block.
extern std::byte* dynamic_memory;
unsigned lane();

struct Launch {
    dim3 blocks;
    dim3 threads;
    std::size_t shared_bytes = 0;
    const void* kernel = nullptr; ///< whose module has the shared memory
    unsigned lanes = 32;          ///< of a warp
    unsigned cluster = 1;         ///< blocks along x that run together
};

/// Waits until all threads of the block are here.
void wait_for_block(const std::source_location& from);

/// Joint operation of the lanes of a warp, once all have arrived: an operand of each, null where there is no such
/// lane or it has ended. Runs once for all.
using WarpWork = void (*)(const std::array<void*, most_lanes>& operands);
void together(WarpWork work, void* operand, const std::source_location& from);

/// Waits until all threads of the cluster are here, or have ended.
void wait_for_cluster(const std::source_location& from);
/// Waits until it is over, which is asked as late as possible: when nobody else can go on.
using IsOver = bool (*)(void* operand);
void wait_until(IsOver is_over, void* operand, const std::source_location& from);
/// Dynamic shared memory of a block of the cluster; null where there is no such block.
std::byte* dynamic_memory_of(unsigned rank);
/// One of `count`, as the schedule has it.
std::size_t pick(std::size_t count);

/// Ends the kernel; for warp work.
void fault(const std::string& what);

/// Runs `body` for every thread of every block; what was wrong, or "".
std::string run_blocks(const Launch& launch, const std::function<void()>& body);

/// One block of a grid that may be too large to run, by its number along x.
std::string run_block(const Launch& launch, unsigned number, const std::function<void()>& body);

/// ASSAY_CPU_SCHEDULE: "sequence" (also without it), "reversed", or a number, the seed of a random order.
void set_schedule(const std::string& text);

} // namespace assay::device_on_cpu
