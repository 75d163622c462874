// SPDX-License-Identifier: Apache-2.0
#include "device/worst.cuh"
#include "memory/device_chase.hpp"

namespace assay::memory {
namespace {

/// One step. The address is that of global memory, which is the same as the generic one. Volatile, so that
/// no step is left out.
template <Through through>
const __device__ DeviceNode* next_of(const DeviceNode* node) {
    const DeviceNode* next = nullptr;
    if constexpr (through == Through::l1)
        asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(next) : "l"(node));
    else
        asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(next) : "l"(node));
    return next;
}

template <Through through>
__global__ void chase(const DeviceNode* nodes, std::uint64_t count, Walk* walk, bool reads_ahead,
                      std::uint64_t steps) {
    if (reads_ahead) {
        std::uintptr_t bits = 0;
        for (std::uint64_t i = threadIdx.x; i < count; i += blockDim.x)
            bits |= reinterpret_cast<std::uintptr_t>(next_of<through>(nodes + i));
        // Never true of addresses of lines; a load whose value nobody wants would be left out.
        if (bits == 1) walk->end = nullptr;
        __syncthreads();
    }
    if (threadIdx.x != 0) return;
    const DeviceNode* const from = walk->start;
    const DeviceNode* node = from;
    for (std::uint64_t i = 0; i < steps; i += 8)
#pragma unroll
        for (int k = 0; k < 8; ++k) node = next_of<through>(node);
    walk->from = from;
    walk->end = node;
    walk->start = node;
}

/// The same chain as words of shared memory that hold the address of the next.
__global__ void chase_shared(const DeviceNode* nodes, std::uint64_t count, Walk* walk,
                             std::uint64_t steps) {
    extern __shared__ unsigned words[];
    const auto base = static_cast<unsigned>(__cvta_generic_to_shared(words));
    for (std::uint64_t i = threadIdx.x; i < count; i += blockDim.x)
        words[i] = base + static_cast<unsigned>(shared_node * (nodes[i].next - nodes));
    __syncthreads();
    if (threadIdx.x != 0) return;
    const DeviceNode* const from = walk->start;
    unsigned at = base + static_cast<unsigned>(shared_node * (from - nodes));
    for (std::uint64_t i = 0; i < steps; i += 8)
#pragma unroll
        for (int k = 0; k < 8; ++k)
            asm volatile("ld.shared.u32 %0, [%1];" : "=r"(at) : "r"(at) : "memory");
    walk->from = from;
    walk->end = nodes + (at - base) / shared_node;
    walk->start = walk->end;
}

constexpr unsigned reading_threads = 256;

} // namespace

void prepare_chase(Through through, std::uint64_t count) {
    if (through == Through::shared)
        device::check(cudaFuncSetAttribute(chase_shared,
                                           cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           static_cast<int>(count * shared_node)));
    else
        device::check(cudaFuncSetAttribute(
            through == Through::l1 ? chase<Through::l1> : chase<Through::l2>,
            cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxL1));
}

void link_nodes(DeviceNode* nodes, std::uint64_t count, const device::Stream& stream) {
    constexpr std::uint64_t seed = 9; // that of the host's chains
    device::on_each(stream, count, LinkNode{nodes, count, Shuffle{count, seed}});
    device::check_launches();
}

void launch_chase(const DeviceNode* nodes, std::uint64_t count, Walk* walk, const ChaseShape& shape,
                  const device::Stream& stream) {
    switch (shape.through) {
    case Through::l1:
        chase<Through::l1><<<1, reading_threads, 0, stream.get()>>>(nodes, count, walk,
                                                                    shape.reads_ahead, shape.steps);
        return;
    case Through::l2:
        chase<Through::l2><<<1, reading_threads, 0, stream.get()>>>(nodes, count, walk,
                                                                    shape.reads_ahead, shape.steps);
        return;
    case Through::shared:
        chase_shared<<<1, reading_threads, count * shared_node, stream.get()>>>(nodes, count, walk,
                                                                                shape.steps);
        return;
    }
}

Check check_nodes(const DeviceNode* nodes, std::uint64_t count, const device::Stream& stream) {
    return device::check_each(stream, count, WrongLink{nodes, count}, 0,
                              "every step of the chain leads to the node whose number is the next");
}

} // namespace assay::memory
