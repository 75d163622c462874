// SPDX-License-Identifier: Apache-2.0
#include "device/instructions.cuh"
#include "device/worst.cuh"
#include "memory/device_chase.hpp"

namespace assay::memory {
namespace {

/// One step.
template <Through through>
const __device__ DeviceNode* next_of(const DeviceNode* node) {
    if constexpr (through == Through::l1)
        return device::load_through_l1(&node->next);
    else
        return device::load_through_l2(&node->next);
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
    auto* const words = device::dynamic_shared<unsigned>();
    const unsigned base = device::shared_address(words);
    for (std::uint64_t i = threadIdx.x; i < count; i += blockDim.x)
        words[i] = base + static_cast<unsigned>(shared_node * (nodes[i].next - nodes));
    __syncthreads();
    if (threadIdx.x != 0) return;
    const DeviceNode* const from = walk->start;
    unsigned at = base + static_cast<unsigned>(shared_node * (from - nodes));
    for (std::uint64_t i = 0; i < steps; i += 8)
#pragma unroll
        for (int k = 0; k < 8; ++k) at = device::load_shared(at);
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
    device::Launch how{1, reading_threads, stream.get()};
    switch (shape.through) {
    case Through::l1:
        device::launch(chase<Through::l1>, how, nodes, count, walk, shape.reads_ahead, shape.steps);
        return;
    case Through::l2:
        device::launch(chase<Through::l2>, how, nodes, count, walk, shape.reads_ahead, shape.steps);
        return;
    case Through::shared:
        how.shared_bytes = count * shared_node;
        device::launch(chase_shared, how, nodes, count, walk, shape.steps);
        return;
    }
}

Check check_nodes(const DeviceNode* nodes, std::uint64_t count, const device::Stream& stream) {
    return device::check_each(stream, count, WrongLink{nodes, count}, 0,
                              "every step of the chain leads to the node whose number is the next");
}

} // namespace assay::memory
