// SPDX-License-Identifier: Apache-2.0
//
// Empties the second level cache of what a benchmark left there.

#pragma once

#include "device/handles.hpp"

#include <cstdint>

namespace assay::device {

class Flush {
public:
    /// Takes two buffers of twice the cache, at least 256 MiB each.
    explicit Flush(std::int64_t l2_bytes);
    /// Writes one buffer and then reads the other, so that the cache is left full of lines that need
    /// not be written back while the next work is timed.
    void queue(const Stream& stream) const;

private:
    Buffer<std::uint64_t> dirty_;
    Buffer<std::uint64_t> clean_;
    Buffer<std::uint64_t> sink_;
};

} // namespace assay::device
