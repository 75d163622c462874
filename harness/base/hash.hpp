// SPDX-License-Identifier: Apache-2.0
//
// FNV-1a, 64 bits: fingerprints of plans and files, to recognise equal ones. Not for anything that
// is worth forging.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

class Hash {
public:
    constexpr void add(std::string_view bytes) {
        for (const char byte : bytes) {
            state_ ^= static_cast<unsigned char>(byte);
            state_ *= 0x100000001b3U; // the FNV prime for 64 bits
        }
    }
    constexpr std::uint64_t value() const { return state_; }
    /// Sixteen hexadecimal digits.
    std::string hex() const {
        constexpr std::string_view digits = "0123456789abcdef";
        std::string text;
        for (int shift = 60; shift >= 0; shift -= 4) text += digits[(state_ >> shift) & 0xFU];
        return text;
    }

private:
    std::uint64_t state_ = 0xcbf29ce484222325U; // the FNV offset basis for 64 bits
};

inline std::string hash_of(std::string_view bytes) {
    Hash hash;
    hash.add(bytes);
    return hash.hex();
}

// CRC-32, which finds damage; not for anything that is worth forging.

/// CRC-32 of IEEE 802.3, as of zlib: sees each burst of up to 32 bits, and one or two flipped bits anywhere.
constexpr std::uint32_t crc32(std::string_view bytes) {
    constexpr auto table = [] {
        constexpr std::uint32_t polynomial = 0xedb88320U; // reflected
        std::array<std::uint32_t, 256> remainders{};
        for (std::size_t i = 0; i < remainders.size(); ++i) {
            auto remainder = static_cast<std::uint32_t>(i);
            for (int bit = 0; bit < 8; ++bit)
                remainder = (remainder >> 1U) ^ ((remainder & 1U) != 0 ? polynomial : 0U);
            remainders[i] = remainder;
        }
        return remainders;
    }();
    std::uint32_t crc = ~0U;
    for (const char byte : bytes)
        crc = (crc >> 8U) ^ table[(crc ^ static_cast<unsigned char>(byte)) & 0xFFU];
    return ~crc;
}
static_assert(crc32("123456789") == 0xcbf43926U);

} // namespace assay
