// SPDX-License-Identifier: Apache-2.0
//
// Dates as programs print them.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace assay::extract {

struct Moment {
    std::string utc;       ///< 2026-01-31T12:34:56Z
    bool has_zone = false; ///< without one the text was taken as UTC
};
/// "2026-01-31T12:34:56+01:00", "2026-01-31 12:34:56", "2026-01-31", with Z or
/// without; "Sat Jan 31 12:34:56 2026".
std::optional<Moment> moment_of(std::string_view text);

/// Bytes of a time in front of a line: "2026-01-31T12:34:56.789Z ", "[12:34:56]
/// ", "2026/01/31 12:34:56 ".
std::size_t time_length(std::string_view line);

} // namespace assay::extract
