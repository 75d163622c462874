// SPDX-License-Identifier: Apache-2.0
//
// Loads and stores of up to 16 bytes at once, as functions that a host can run, too.

#pragma once

#include <assay/host_device.hpp>

#include <type_traits>

namespace assay::device {

/// Neighbouring numbers that one instruction loads: their address is a multiple of their size.
template <class T, unsigned count>
struct alignas(sizeof(T) * count) Pack {
    T values[count];
};

/// Reads memory that nobody writes while the kernel runs.
template <class V>
ASSAY_HOST_DEVICE inline V read_only(const V* from) {
#ifdef ASSAY_ON_DEVICE
    if constexpr (std::is_arithmetic_v<V>) {
        return __ldg(from);
    } else if constexpr (sizeof(V) % 16 == 0) {
        V value;
        for (unsigned part = 0; part < sizeof(V) / 16; ++part)
            reinterpret_cast<int4*>(&value)[part] =
                __ldg(reinterpret_cast<const int4*>(from) + part);
        return value;
    }
#endif
    return *from;
}

/// Writes data that is not read again soon, so that caches keep something else.
template <class V>
ASSAY_HOST_DEVICE inline void write_past_caches(V* to, const V& value) {
#ifdef ASSAY_ON_DEVICE
    if constexpr (sizeof(V) == 16) {
        __stcs(reinterpret_cast<int4*>(to), reinterpret_cast<const int4&>(value));
        return;
    }
#endif
    *to = value;
}

} // namespace assay::device
