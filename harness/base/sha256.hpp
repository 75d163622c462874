// SPDX-License-Identifier: Apache-2.0
//
// SHA-256 (FIPS 180-4) and HMAC (RFC 2104), for machine ids, which must not reveal what they were made
// from (decisions/timing.md 0031), and for recognising imported files.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

using Digest = std::array<std::uint8_t, 32>;
Digest sha256(std::string_view message);
/// The same on a processor without instructions for it.
Digest sha256_anywhere(std::string_view message);
Digest hmac_sha256(std::string_view key, std::string_view message);
std::string to_hex(const Digest& digest);

} // namespace assay
