// SPDX-License-Identifier: Apache-2.0
#include "device/flush.hpp"
#include "device/launch.cuh"
#include "device/properties.hpp"

#include <algorithm>

namespace assay::device {
namespace {

std::size_t words(std::int64_t l2_bytes) {
    const auto least = properties().times(std::int64_t{256} << 20U, l2_bytes);
    return static_cast<std::size_t>(std::max(2 * l2_bytes, least)) / sizeof(std::uint64_t);
}

struct Read {
    const std::uint64_t* from;
    std::uint64_t* sink;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t i) const {
        // Never true of a buffer of zeros, which the compiler cannot know: the load stays.
        if (from[i] == 1) *sink = i;
    }
};

} // namespace

Flush::Flush(std::int64_t l2_bytes) : dirty_{words(l2_bytes)}, clean_{words(l2_bytes)}, sink_{1} {
    const Stream stream;
    check(cudaMemsetAsync(clean_.data(), 0, clean_.bytes(), stream.get()));
    queue(stream); // loads the kernel
    stream.wait();
}

void Flush::queue(const Stream& stream) const {
    check(cudaMemsetAsync(dirty_.data(), 1, dirty_.bytes(), stream.get()));
    on_each(stream, clean_.size(), Read{clean_.data(), sink_.data()});
}

} // namespace assay::device
