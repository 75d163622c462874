// SPDX-License-Identifier: Apache-2.0
//
// What follows from the record of a soak: hashes as texts, and whether a case went on as fast as it began.

#pragma once

#include "record/soak.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::record {

/// A hash for each block of what a call computed; empty where a benchmark has none.
using OutputHashes = std::vector<std::uint64_t>;
/// Of all of them, as a SoakVisit has it: 16 digits; "" where there are none.
std::string digest_of(const OutputHashes& hashes);
/// All of them, for messages: 16 digits each, and back; empty where it is no such text.
std::string to_text(const OutputHashes& hashes);
OutputHashes hashes_from(std::string_view text);

/// A stretch of a soak in which a case was slower than in its best one.
struct SlowStretch {
    double from_seconds = 0; ///< since the soak began
    double to_seconds = 0;
    double slower = 0;  ///< share by which its rate was lower, 0..1
    bool lasts = false; ///< to the end
};

/// How the rate of a case went over time, by visits that nothing disturbed.
struct Course {
    std::size_t points = 0;              ///< that count; fewer than fewest_points: nothing is said
    std::optional<double> usual_seconds; ///< a call, median
    std::optional<double> spread;        ///< usual relative difference of neighbours
    std::optional<SlowStretch> slowest;  ///< beyond chance
    double drift =
        0; ///< rate lost from begin to end by a line through all points; below 0: gained. 0 where chance explains it
};
inline constexpr std::size_t fewest_points = 8;
Course course_of(const SoakPhase& phase);

/// How far a case may fall behind, as a share of its rate. Slower than so much is a finding; than twice as much, a fault.
inline constexpr double slow_warning = 0.03;
inline constexpr double slow_fault = 0.10;
/// Of the drift and the slowest stretch, the worse.
double slowing_of(const Course& course);

} // namespace assay::record
