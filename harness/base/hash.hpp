// SPDX-License-Identifier: Apache-2.0
//
// FNV-1a, 64 bits: fingerprints of plans and files, to recognise equal ones. Not for anything that
// is worth forging.

#pragma once

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

} // namespace assay
