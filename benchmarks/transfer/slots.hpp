// SPDX-License-Identifier: Apache-2.0
//
// Small copies, each to a place of its own: copy number n goes from slot n to slot n, round and round, so that
// each of the last ones can be checked. Pure numbers: tested on the host.

#pragma once

#include <assay/random.hpp>
#include <assay/verify.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace assay::transfer {

inline constexpr std::size_t slot_count = 64;
inline constexpr unsigned char empty_byte = 0xee;

/// Distance of two slots: apart by whole lines of every cache, as cudaMalloc aligns.
constexpr std::size_t slot_stride(std::size_t bytes) {
    constexpr std::size_t alignment = 256;
    return (bytes + alignment - 1) / alignment * alignment;
}

/// The next slot, and the number of slots that have had a copy.
class Turns {
public:
    /// The slot of the next copy.
    std::size_t take() {
        const std::size_t slot = next_;
        next_ = (next_ + 1) % slot_count;
        full_ = std::max(full_, slot + 1);
        return slot;
    }
    void go_to(std::size_t slot) { next_ = slot; }
    std::size_t full() const { return full_; }

private:
    std::size_t next_ = 0;
    std::size_t full_ = 0; // the first so many
};

/// Byte `at` of a slot. Never that of an empty one, so that a copy that did not happen shows in every byte.
constexpr unsigned char slot_byte(std::uint64_t seed, std::size_t slot, std::size_t at) {
    const auto byte = static_cast<unsigned char>(random_bits(seed + slot, at));
    return byte == empty_byte ? 0 : byte;
}

inline void fill_slots(std::span<unsigned char> slots, std::size_t bytes, std::uint64_t seed) {
    const std::size_t stride = slot_stride(bytes);
    for (std::size_t slot = 0; slot < slot_count; ++slot)
        for (std::size_t at = 0; at < bytes; ++at)
            slots[slot * stride + at] = slot_byte(seed, slot, at);
}

/// Bytes that are not as they should be when the first `full` slots have had a copy: the others must still be
/// empty, as must be the gaps.
inline std::uint64_t wrong_bytes(std::span<const unsigned char> slots, std::size_t bytes,
                                 std::uint64_t seed, std::size_t full) {
    const std::size_t stride = slot_stride(bytes);
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        const std::size_t slot = i / stride;
        const std::size_t at = i % stride;
        const bool is_full = slot < full && at < bytes;
        const unsigned char wanted = is_full ? slot_byte(seed, slot, at) : empty_byte;
        wrong += slots[i] == wanted ? 0U : 1U;
    }
    return wrong;
}

inline Check check_slots(std::span<const unsigned char> slots, std::size_t bytes,
                         std::uint64_t seed, std::size_t full) {
    const char* const method = "every byte of the last 64 copies, and that no other byte changed";
    if (full == 0) return check_value(1, 0, method, "there was no copy");
    const std::uint64_t wrong = wrong_bytes(slots, bytes, seed, full);
    return check_value(static_cast<double>(wrong), 0, method, joined(wrong, " bytes are wrong"));
}

} // namespace assay::transfer
