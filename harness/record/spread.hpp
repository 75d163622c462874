// SPDX-License-Identifier: Apache-2.0
//
// What a run knows of the noise of its machine: expected, found, and what was done about it.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace assay::record {

/// What one gets, beside the value, which is what the machine can do. Of the primary metric, where the case has a Spread.
struct Levels {
    std::optional<double> mean; ///< geometric mean over all measured replicas, disturbed or not
    std::optional<double>
        slow; ///< geometric mean over the undisturbed replicas that the value leaves out
    std::optional<double> share; ///< of the undisturbed replicas that the value is made of
    bool operator==(const Levels&) const = default;
};

/// How much the replicas of a case are expected to differ, and what was wanted of it: enough to summarise it again.
/// Standard deviations are of logarithms. Absent in files from before there was one, and of other tools.
struct Spread {
    double between_replicas = 0; ///< of one run
    double between_runs = 0; ///< of runs at different times on a machine that is shared with others
    double degrees = 0;      ///< degrees of freedom that between_replicas is worth
    double limit = 0;   ///< relative half width of the interval above which the case is unstable
    int replicas = 0;   ///< undisturbed ones that were wanted
    std::string source; ///< "memory": the kind of benchmark; "history": runs of this machine
    bool operator==(const Spread&) const = default;
};

/// In which order cases were measured, and what was done about disturbances.
struct Schedule {
    std::optional<std::int64_t>
        seed; ///< that shuffled the blocks of cases; absent: the order of the plan
    double patience_seconds = 0; ///< for measuring disturbed replicas again
    double spent_seconds = 0;    ///< of it, waiting included
    bool always_busy = false;    ///< the load had no pauses: nothing was measured again
    bool operator==(const Schedule&) const = default;
};

} // namespace assay::record
