// SPDX-License-Identifier: Apache-2.0
#include "device/benchmark.cuh"
#include "transfer/copies.hpp"
#include "transfer/copy_kernels.hpp"

namespace assay::transfer {
namespace {

/// Two blocks on a multiprocessor, so that copies in both directions run side by side.
__global__ void __launch_bounds__(copy_threads, 2) copy_kernel(CopyShare<uint4> share) {
    const std::uint64_t threads = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
    share(static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x, threads);
}

} // namespace

unsigned resident_copy_blocks() {
    int blocks = 0;
    device::check(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, copy_kernel, int{copy_threads}, 0));
    return static_cast<unsigned>(blocks);
}

void copy_by_kernel(const std::uint64_t* from, std::uint64_t* to, std::uint64_t words,
                    unsigned blocks, const device::Stream& stream) {
    const CopyShare<uint4> share{reinterpret_cast<const uint4*>(from), reinterpret_cast<uint4*>(to),
                                 words / vector_words};
    device::launch(copy_kernel, {blocks, copy_threads, stream.get()}, share);
}

void make_words(std::uint64_t* words, std::uint64_t count, std::uint64_t seed,
                const device::Stream& stream) {
    device::for_each_now(stream, count, MakeWord{words, seed});
}

Check check_words(const std::uint64_t* words, std::uint64_t count, std::uint64_t seed,
                  const device::Stream& stream) {
    return device::check_each(
        stream, count, WrongWord{words, seed}, 0,
        "every word against its recomputation from the random seed, on the receiving side");
}

} // namespace assay::transfer
