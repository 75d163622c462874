// SPDX-License-Identifier: Apache-2.0
#include "device/hash_lane.hpp"
#include "device/launch.cuh"
#include "device/output.hpp"

#include <algorithm>

namespace assay::device {
namespace {

const Stream& stream_of(const OutputReader& by) { return *static_cast<const Stream*>(by.from); }

void hash(const OutputReader& by, const std::byte* data, std::size_t bytes, std::size_t block,
          std::uint64_t* hashes) {
    constexpr std::size_t lanes = assay::detail::hash_lanes;
    const std::size_t blocks = (bytes + block - 1) / block;
    const Buffer<std::uint64_t> found{blocks * lanes};
    on_each(stream_of(by), found.size(),
            HashLane{reinterpret_cast<const std::uint64_t*>(data), bytes, block, found.data()},
            {.threads = 64}); // few threads with much to read: spread over all multiprocessors
    check_launches();
    const auto all = to_host(found, stream_of(by));
    for (std::size_t i = 0; i < blocks; ++i)
        hashes[i] =
            assay::detail::hash_of_lanes(&all[i * lanes], std::min(block, bytes - i * block));
}

void copy(const OutputReader& by, const std::byte* data, std::size_t bytes, void* to) {
    check(cudaMemcpyAsync(to, data, bytes, cudaMemcpyDeviceToHost, stream_of(by).get()));
    stream_of(by).wait();
}

} // namespace

Output output(const void* first, std::size_t bytes, std::size_t element_bytes,
              const Stream& stream) {
    return {first, bytes, element_bytes, {.hash = hash, .copy = copy, .from = &stream}};
}

} // namespace assay::device
