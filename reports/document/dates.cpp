// SPDX-License-Identifier: Apache-2.0

#include "document/dates.hpp"

#include "base/utc.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace assay::report {
namespace {

namespace chrono = std::chrono;

constexpr double day_seconds = 86400;
/// Year 9999, the last that four digits can say: what a hostile file claims stays printable.
constexpr double latest_seconds = 253402300799.0;

chrono::year_month_day calendar(double seconds) {
    return chrono::sys_days{chrono::days{day_of(seconds)}};
}

} // namespace

std::int64_t day_of(double seconds) {
    const double known = std::isfinite(seconds) ? std::clamp(seconds, 0.0, latest_seconds) : 0;
    return static_cast<std::int64_t>(std::floor(known / day_seconds));
}

std::string date_of(double seconds) { return utc_of(seconds).substr(0, 10); }

std::int64_t quarter_of(double seconds) {
    const auto date = calendar(seconds);
    return std::int64_t{4} * static_cast<int>(date.year()) +
           (static_cast<unsigned>(date.month()) - 1) / 3;
}

std::string quarter_name(std::int64_t quarter) {
    return fmt::format("{:04} Q{}", quarter / 4, quarter % 4 + 1);
}

std::optional<double> seconds_of_date(std::string_view date) {
    return date.size() == 10 ? seconds_of(date) : std::nullopt;
}

} // namespace assay::report
