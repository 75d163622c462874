// SPDX-License-Identifier: Apache-2.0
#include "device/launch.cuh"
#include "peak/atomic_kernels.hpp"

namespace assay::peak {
namespace {

__global__ void add_global(std::uint32_t* words, unsigned shift, unsigned rounds,
                           std::uint32_t addend) {
    const std::uint64_t thread = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    std::uint32_t* const word = words + atomic_word(thread, shift);
    for (unsigned round = 0; round < rounds; ++round) atomicAdd(word, addend);
}

/// What a block has added up it adds to words of its own, which no other block touches.
__global__ void add_shared(std::uint32_t* words, unsigned shift, unsigned rounds,
                           std::uint32_t addend, unsigned words_of_block) {
    __shared__ std::uint32_t own[atomic_threads];
    own[threadIdx.x] = 0;
    __syncthreads();
    std::uint32_t* const word = own + atomic_word(threadIdx.x, shift);
    for (unsigned round = 0; round < rounds; ++round) atomicAdd(word, addend);
    __syncthreads();
    if (threadIdx.x < words_of_block)
        words[static_cast<std::uint64_t>(blockIdx.x) * words_of_block + threadIdx.x] +=
            own[threadIdx.x];
}

template <AtomicSpace space>
__global__ void chain(std::uint32_t* results) {
    __shared__ std::uint32_t shared;
    std::uint32_t* const word = space == AtomicSpace::shared ? &shared : results;
    atomicExch(word, 0U);
    std::uint32_t returned = 0;
    for (std::uint32_t step = 0; step < chain_steps; ++step)
        returned = atomicAdd(word, chain_addend(returned));
    if constexpr (space == AtomicSpace::shared) results[0] = shared;
    results[1] = returned;
}

} // namespace

void add_atomically(const AtomicShape& shape, std::uint32_t* words, const device::Stream& stream) {
    const device::Launch how{shape.blocks, atomic_threads, stream.get()};
    if (shape.space == AtomicSpace::shared)
        device::launch(add_shared, how, words, shape.shift(), shape.rounds, atomic_addend,
                       static_cast<unsigned>(shape.words_of_team()));
    else
        device::launch(add_global, how, words, shape.shift(), shape.rounds, atomic_addend);
}

void chain_atomically(AtomicSpace space, std::uint32_t* results, const device::Stream& stream) {
    if (space == AtomicSpace::shared)
        device::launch(chain<AtomicSpace::shared>, {1, 1, stream.get()}, results);
    else
        device::launch(chain<AtomicSpace::global>, {1, 1, stream.get()}, results);
}

} // namespace assay::peak
