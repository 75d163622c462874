// SPDX-License-Identifier: Apache-2.0
//
// CRC-32, which finds damage; not for anything that is worth forging.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace assay {

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
