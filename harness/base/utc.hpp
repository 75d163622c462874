// SPDX-License-Identifier: Apache-2.0
//
// Times as result files write them.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace assay {

/// Seconds since 1970 of "2026-01-31T12:34:56Z", also with a fraction, or of a date alone.
std::optional<double> seconds_of(std::string_view utc);
/// "2026-01-31T12:34:56Z" of seconds since 1970; for NaN, or beyond year 9999, the nearest such time.
std::string utc_of(double seconds);
/// By the clock, seconds since 1970.
double seconds_now();
/// By the clock when this process first asked, and since then by one
/// that nobody sets: times of a run are in their order.
double steady_seconds_now();
/// Since the machine was started, sleep included.
double seconds_since_boot();
/// By how much the clock is ahead of steady_seconds_now(): it was set meanwhile. Below 0: it is behind.
double clock_step_seconds();
/// The clock may be off by so much before anybody is told: hosts of a team have clocks of their own.
inline constexpr double clock_leeway = 60; // seconds
/// From now on steady_seconds_now() is not below this: a run that is continued goes on after what it has.
void not_before(double seconds);
/// Is the day of `utc` over at `now`? Never for an invalid date.
bool is_over(std::string_view utc, double now);

} // namespace assay
