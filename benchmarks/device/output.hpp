// SPDX-License-Identifier: Apache-2.0
//
// Results in memory of the device, for outputs(): hashed there, because a copy would take longer than most calls and
// leave the device idle in a soak. Blocks that differ are copied.

#pragma once

#include "device/handles.hpp"

#include <assay/digest.hpp>

namespace assay::device {

/// `first` is aligned to 8 bytes; `stream` must outlive the digest.
Output output(const void* first, std::size_t bytes, std::size_t element_bytes,
              const Stream& stream);
template <class T>
Output output(const Buffer<T>& buffer, const Stream& stream) {
    return output(buffer.data(), buffer.bytes(), sizeof(T), stream);
}

} // namespace assay::device
