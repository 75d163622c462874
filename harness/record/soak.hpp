// SPDX-License-Identifier: Apache-2.0
//
// What a soak found: results that differ bit by bit, and how speed, temperature and clocks went over hours. Bounded in
// size: neighbouring visits are merged, and of many wrong results the first are kept.

#pragma once

#include "base/names.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::record {

/// Where the right bits came back, after a result was wrong.
ASSAY_ENUM(Replay,
           none,        // nowhere: not in this process
           same_state,  // the next call was right: a passing fault
           fresh_state) // only after the data was made anew: what lies in memory is damaged

/// The reference that a result was compared with.
ASSAY_ENUM(HeldAgainst,
           calls,  // the other calls of its process
           others, // other processes, devices, or parts of the machine
           check)  // the check of the benchmark

/// A wrong result of one call.
struct Corruption {
    std::string of;         ///< identity of the case; empty within the visit of a case
    std::string at;         ///< UTC
    int visit = 0;          ///< of the case, from 0
    std::uint64_t call = 0; ///< of the visit, from 1
    HeldAgainst held_against = HeldAgainst::calls;
    Replay right_again = Replay::none;
    std::optional<std::int64_t>
        output; ///< number of the array, from 0; unknown where no replay gave the right bits
    std::optional<std::int64_t> element;        ///< the first wrong one of it
    std::optional<std::int64_t> wrong_elements; ///< within the block
    std::optional<std::int64_t> wrong_bits;     ///< of them all
    std::optional<std::int64_t> block;          ///< number of the first wrong block
    std::optional<std::int64_t> wrong_blocks;
    std::string expected; ///< bytes of that element, hexadecimal, the most significant first
    std::string got;
    std::string bits;   ///< that differ: expected XOR got
    std::string detail; ///< of the check
    bool operator==(const Corruption&) const = default;
};

/// One replica of a soak.
struct SoakVisit {
    double begun_seconds = 0;   ///< since the soak began, pauses between its parts left out
    double seconds = 0;         ///< it took, set-up and checks included
    std::uint64_t calls = 0;    ///< while it was measured
    std::uint64_t compared = 0; ///< bit by bit
    std::uint64_t checked = 0;  ///< by the check of the benchmark
    std::string digest;         ///< of the right result; empty: not compared bit by bit
    std::uint64_t wrong = 0;    ///< calls with a wrong result
    std::vector<Corruption> corruptions; ///< the first of them
    bool operator==(const SoakVisit&) const = default;
};

/// Neighbouring visits of a case.
struct SoakPoint {
    double begun_seconds = 0; ///< since the soak began
    std::int64_t visits = 1;
    std::int64_t disturbed = 0;    ///< of them, by other programs
    std::optional<double> seconds; ///< a call: mean over visits that are not disturbed, or over all
    std::optional<double> celsius; ///< highest
    std::optional<double> clock_hz;    ///< lowest
    std::optional<double> power_watts; ///< highest
    bool operator==(const SoakPoint&) const = default;
};

/// One case over the whole soak.
struct SoakPhase {
    std::string of; ///< identity of the case
    std::int64_t visits = 0;
    std::uint64_t calls = 0;
    std::uint64_t compared = 0;
    std::uint64_t checked = 0;
    std::uint64_t wrong = 0;
    std::string digest; ///< as in SoakVisit
    std::vector<SoakPoint> points;
    bool operator==(const SoakPhase&) const = default;
};

struct Soak {
    double asked_seconds = 0;
    double seconds = 0;                  ///< so far
    std::vector<SoakPhase> phases;       ///< in the order of the cases
    std::uint64_t wrong = 0;             ///< calls
    std::vector<Corruption> corruptions; ///< the first of them
    bool operator==(const Soak&) const = default;
};

/// A hash for each block of what a call computed; empty where a benchmark has none.
using OutputHashes = std::vector<std::uint64_t>;
/// Digest of all of them, as a SoakVisit has it: 16 digits; "" for no hashes.
std::string digest_of(const OutputHashes& hashes);
/// All of them, for messages: 16 digits each, and back; empty for an invalid text.
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

/// How far a case may fall behind, as a share of its rate. Slower than
/// so much is a finding; than twice as much, a fault.
inline constexpr double slow_warning = 0.03;
inline constexpr double slow_fault = 0.10;
/// The worse of the drift and the slowest stretch.
double slowing_of(const Course& course);

} // namespace assay::record
