// SPDX-License-Identifier: Apache-2.0
//
// Texts of hostile files, made from good ones by a seed: the same seed gives the same text.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace assay::attack {

/// What is done to a good text; see hostile.cpp. As many as this, one after the other.
inline constexpr std::uint64_t ways = 14;

/// `way` % ways says what is done, `seed` where and with what; what is added is up to `many` times there.
std::string hostile_text(std::string_view good, std::uint64_t way, std::uint64_t seed,
                         std::size_t many);

} // namespace assay::attack
