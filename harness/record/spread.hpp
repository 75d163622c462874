// SPDX-License-Identifier: Apache-2.0
//
// What a run knows of the noise of its machine: expected, found, and what was done about it.

#pragma once

#include "base/names.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::record {

/// The delivered performance of the primary metric, for a case with a Spread; the value is what the machine can do.
struct Levels {
    std::optional<double> mean; ///< geometric mean over all measured replicas, disturbed or not
    std::optional<double>
        slow; ///< geometric mean over the considered replicas that the value leaves out
    std::optional<double>
        share; ///< of the considered replicas that the value is made of (see Basis)
    bool operator==(const Levels&) const = default;
};

/// By which cases are concluded (the schema describes each). Readers conclude cases of older rules again.
inline constexpr int current_rules = 3;

/// How much the replicas of a case are expected to differ, and what was wanted of it: enough to summarise it again.
/// Standard deviations are of logarithms. Absent in files from before there was one, and of other tools.
struct Spread {
    double between_replicas = 0; ///< of one run
    double between_runs = 0; ///< of runs at different times on a machine that is shared with others
    double degrees = 0;      ///< degrees of freedom that between_replicas is worth
    double limit = 0;   ///< relative half width of the interval above which the case is unstable
    int replicas = 0;   ///< undisturbed ones that were wanted
    std::string source; ///< "memory": the kind of benchmark; "history": runs of this machine
    /// By which the case was concluded: 1 in files without the key, which readers conclude again (summary.hpp).
    std::optional<int> rules{};
    bool operator==(const Spread&) const = default;
};

/// Parts of an acceptance run, in this order.
ASSAY_ENUM(StageName, sanity, validation, performance, stress)
inline std::string_view expected_text(StageName /*any*/) { return "the name of a stage"; }

/// How a stage ended; after part_missing and wrong_result measuring on is pointless.
ASSAY_ENUM(StageEnd, done, part_missing, wrong_result, out_of_time, interrupted, not_begun)
inline std::string_view expected_text(StageEnd /*any*/) { return "how a stage ended"; }

/// Why a run ended; the README of this room has the table.
ASSAY_ENUM(RunEnd,
           none, // not known: imported, or from before there were codes
           completed, signal, preempted, time_limit, part_missing, wrong_result)
inline std::string_view expected_text(RunEnd /*any*/) { return "why a run ended"; }

struct Stage {
    StageName name = StageName::performance;
    StageEnd end = StageEnd::not_begun;
    double seconds = 0;
    bool operator==(const Stage&) const = default;
};

/// For what a run stops early.
struct Gates {
    std::vector<std::string> expected;        ///< of the machine (--expect)
    std::optional<double> time_limit_seconds; ///< of the whole run
    std::vector<Stage> stages;                ///< none where the suite has none
    bool operator==(const Gates&) const = default;
};

/// In which order cases were measured, and what was done about disturbances.
struct Schedule {
    std::optional<std::int64_t>
        seed; ///< that shuffled the blocks of cases; absent: the order of the plan
    double patience_seconds = 0; ///< for measuring disturbed replicas again
    double spent_seconds = 0;    ///< of it, waiting included
    bool always_busy = false;    ///< the load had no pauses: nothing was measured again
    std::optional<Gates> gates;  ///< absent where there was nothing to stop for
    bool operator==(const Schedule&) const = default;
};

} // namespace assay::record
