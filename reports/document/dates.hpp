// SPDX-License-Identifier: Apache-2.0
//
// Days and quarters (UTC) of seconds since 1970.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay::report {

std::int64_t day_of(double seconds);            ///< since 1970-01-01
std::string date_of(double seconds);            ///< "2026-04-02"
std::int64_t quarter_of(double seconds);        ///< 4 * year + 0..3
std::string quarter_name(std::int64_t quarter); ///< "2026 Q1"
/// Of "2026-04-02"; nothing where it is no date.
std::optional<double> seconds_of_date(std::string_view date);

} // namespace assay::report
