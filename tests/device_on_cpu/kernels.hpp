// SPDX-License-Identifier: Apache-2.0
//
// What benchmarks/device/launch.cuh and instructions.cuh say to the host's compiler.

#pragma once

#include "block.hpp"
#include "device/mma.hpp"

#include <algorithm>

namespace assay::device_on_cpu {

/// Queues body() for every thread. Errors are those of CUDA's launches: cudaGetLastError() has them.
void launch(const Launch& how, cudaStream_t stream, const std::function<void()>& body);

unsigned long long nanoseconds();
/// rcp.approx.ftz: as far off as the PTX ISA allows.
float reciprocal(float x);
double reciprocal(double x);
/// Addresses of shared memory have 32 bits: places in that which the launch asked for.
unsigned shared_address(const void* memory);
unsigned load_shared(unsigned at);
unsigned cycles();
/// Each block has one of its own.
unsigned multiprocessor();

// Compute capability 9.0 (bulk.cpp).
void init_barrier(unsigned at, unsigned arrivals);
void arrive_expecting(unsigned at, unsigned bytes);
void wait_for_phase(unsigned at, unsigned parity);
void fence_before_bulk();
void bulk_load(unsigned to, const void* from, unsigned bytes, unsigned barrier);
void bulk_store(void* to, unsigned from, unsigned bytes);
void wait_for_bulk_reads(unsigned most);
unsigned cluster_rank();
void* shared_of(void* own, unsigned rank);
template <class T>
T* shared_of(T* own, unsigned rank) {
    return static_cast<T*>(shared_of(static_cast<void*>(own), rank));
}
void sync_cluster();
/// There are no caches.
template <class T>
T* load_through_l1(T* const* from) {
    return *from;
}
template <class T>
T* load_through_l2(T* const* from) {
    return *from;
}

/// Operations on tiles in shared memory (device/tiles.cuh).
void copy_async(unsigned to, const void* from);
void close_copies();
void wait_for_copies(unsigned pending);
void load_matrices(unsigned (&to)[4], unsigned at, bool is_transposed);
/// wgmma (device/wgmma.cuh) by the four warps of a group, each its 16 rows: c has 4 numbers for each of `eights` times
/// eight columns. a lies in registers, or where `a_from` says.
struct TileProduct {
    unsigned eights;
    bool is_bf16;
    bool adds;
    bool is_across; ///< b is summed up over its rows
};
void multiply_tiles(float* c, const unsigned* a, std::uint64_t a_from, std::uint64_t b,
                    const TileProduct& how);

/// One matrix instruction, with the registers of the lane that calls.
void multiply_matrices(device::Mma instruction, void* c, const void* a, const void* b);
template <device::Mma instruction>
void multiply_add(void* c, const void* a, const void* b) {
    multiply_matrices(instruction, c, a, b);
}
/// wgmma with so many columns, and registers of sums for eight of them: in each warp that instruction of a warp on eight
/// columns of b after the other. b is in shared memory, where its descriptor says.
void multiply_columns(device::Mma instruction, unsigned tile, void* c, const void* a,
                      unsigned long long descriptor);
template <device::Mma instruction, unsigned columns, unsigned of_tile, class Sum>
void multiply_by_warpgroup(Sum* c, const void* a, unsigned long long descriptor, bool adds) {
    if (!adds) std::fill_n(c, columns / 8 * of_tile, Sum{});
    for (unsigned tile = 0; tile < columns / 8; ++tile)
        multiply_columns(instruction, tile, c + tile * of_tile, a, descriptor);
}

} // namespace assay::device_on_cpu

namespace assay {
namespace device_words = device_on_cpu;
}
