// SPDX-License-Identifier: Apache-2.0
//
// Kernels as benchmarks have them, each right or with one fault of a kind that happens: does executing them on the CPU
// notice it? Each function answers whether the results are right.

#pragma once

#include <cstdint>
#include <vector>

namespace assay::device_on_cpu::planted {

enum class Fault : bool { none, planted };

/// Without the barrier between writing a tile and reading it by columns.
bool transpose(Fault fault);
/// Without the barrier that keeps a warp from overwriting sums that others have yet to read.
bool window(Fault fault);
/// Each thread writes the element behind its own, the last one behind the array.
bool copy(Fault fault);
/// Threads add to words that neighbours have yet to read.
bool scan(Fault fault);

/// The elements that the last block of a grid over so many takes, its index in 32 bits or in 64.
std::vector<std::uint64_t> last_indices(std::uint64_t count, Fault fault);
/// The same of device::on_each(): the largest index that the last block of its grid takes.
std::uint64_t last_of_each(std::uint64_t count);

/// Blocks of a cluster read each other's shared memory without the barrier in between.
bool exchange(Fault fault);
/// A slot of shared memory is loaded again before its store has read it.
bool bulk_store(Fault fault);
/// A slot is read before its load has come.
bool bulk_load(Fault fault);
/// A block that waits for a load that nobody asked for.
void wait_for_nothing();

/// The values seen by a kernel that reads before it writes.
std::uint32_t fresh_shared();
/// Half of the threads wait, the others have ended.
void wait_for_the_ended();
/// The halves wait at different places.
void wait_apart();
/// A shuffle that half of a warp takes part in, while the other waits for the block.
void shuffle_apart();

} // namespace assay::device_on_cpu::planted
