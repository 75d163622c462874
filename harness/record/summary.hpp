// SPDX-License-Identifier: Apache-2.0
//
// Combines the replicas of a case. Everything here is computed from what the record stores, so
// `assay verify` can recompute it; nothing else may set a case's metrics.

#pragma once

#include "record/model.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::record {

/// Where the case has a Spread: makes replicas `disturbed` in whose window something outside the node could slow the
/// case (noise.hpp; for a host a clock below that of the case's other replicas, too). Values are not looked at, so what
/// counts does not depend on them.
void mark_disturbed(Case& c);
/// Measured replicas that nothing disturbed.
int undisturbed(const Case& c);
/// Fewer undisturbed replicas make a case `disturbed`, unless the fastest agree: half of those planned or measured,
/// whichever are fewer, rounded up; all of one or two.
int needed(const Case& c);

/// The replicas behind the value of a case.
struct Basis {
    /// All undisturbed replicas; all measured ones, if undisturbed ones are too few.
    std::vector<const Replica*> considered;
    /// Those of them on the fastest level (stats::fast_level of the primary metric), in order of their index. Value,
    /// percentiles and tables are theirs. Without a Spread: all.
    std::vector<const Replica*> kept{};
    int quiet = 0;       ///< of the kept ones, undisturbed
    bool agrees = false; ///< the kept ones, within the target
    bool is_minority =
        false; ///< most undisturbed replicas are on another level, or a quarter on a faster one
};
Basis basis_of(const Case& c);
/// Basis::kept.
std::vector<const Replica*> counted(const Case& c);
/// Within the target, and one of them was undisturbed: nothing is left to measure again.
bool fastest_agree(const Case& c);

/// How much a value tells.
ASSAY_ENUM(Knowledge, none,
           known,    // the fastest replicas agree, and one was undisturbed: everything
           at_least, // too few were undisturbed, and what disturbs only slows: no less than this
           rough)    // undisturbed, they do not agree: the same, and about so much
inline std::string_view expected_text(Knowledge /*any*/) { return "how well a value is known"; }
Knowledge knowledge_of(const Case& c);

/// How far a case with a value got before its run ended early.
struct MeasuredPart {
    int measured = 0; ///< replicas
    int planned = 0;
};
std::optional<MeasuredPart> part_of(const Case& c);
/// Disturbances of a run, for its first line.
struct Busy {
    int cases = 0;          ///< measured
    int measured_again = 0; ///< cases with more replicas than planned
    int disturbed = 0;      ///< cases that stayed so
    int windows = 0;        ///< of measured cases
    int disturbed_windows = 0;
    std::optional<DisturbanceCode> cause; ///< the most frequent one
    double share = 0; ///< largest share of the CPU time that other programs used in a window
    std::vector<std::string> programs; ///< at most three, those with most CPU time first
};
Busy busy_of(const Run& run);

/// Sets c.metrics and c.tables from the replicas that count; empty unless the case is ok, unstable or disturbed.
///
/// Order: the primary metric; time per call; every other rate whose amount of work the case states, in
/// the order of metric_table; values that the benchmark reported itself (Replica::extra).
///  - value: the fast level (stats::fast_level) of a case with a Spread, otherwise the geometric mean over replicas. A
///    rate is work / seconds of the same replicas. `levels` of the primary metric has the mean over all.
///  - low, high, interval_scope: the same, or stats::combine_replicas, on seconds; a rate's low comes from the
///    time's high. A latency is seconds / work. Values reported by the benchmark have only the spread between replicas.
///  - median, min, p95: over the kept batch values of all replicas, each converted to the metric
///    first. So `min` of a rate is its lowest rate (the slowest batch), and p95 the rate that 95% of
///    the batches stay below; for a time p95 is the slow tail. Batch values of replicas have equal
///    weight even if their batches have different numbers of calls.
///  - p99, of times only: geometric mean over the replicas' percentiles of single calls.
///  - energy per call, and the primary rate per watt: over the replicas whose window's energy is known and
///    that spent nine tenths of it in timed calls. Power is energy / window_seconds, energy per call power *
///    seconds; they have only the spread between replicas.
///  - count: the number of those values; for values reported by the benchmark, of replicas.
void summarise(Case& c);

/// Sets status, reason, telemetry and metrics of a case from its replicas. `planned_replicas`: the
/// number expected. In this order:
///  1. No replica: the status stays as it was set (skipped, failed before it began, interrupted); ok
///     and unstable become interrupted.
///  2. A failed verification, or any replica incorrect: incorrect.
///  3. Any replica crashed, else timed_out, else failed, else not_started, else interrupted, else skipped:
///     that status.
///     One bad process in three is a fact about the machine; the others do not outvote it.
///  4. A replica without a positive time per call that does not report the primary metric itself: failed.
///  5. Fewer replicas than planned: interrupted without a Spread, or under rules 1. Otherwise the others count, without
///     interrupted ones, and an ok case has the reason not_measured.
///  6. With a Spread, whose number of replicas is the planned one: too few undisturbed replicas: disturbed. Two levels,
///     most of the counted replicas drifting, or an interval wider than its limit: unstable.
///     Without: any replica disturbed: disturbed. Any unstable, or the slowest and the fastest differ by more than a
///     factor of 1.25: unstable.
///  7. ok.
/// If the case does none of the work of its primary metric, the substitute (see metrics.hpp) becomes the
/// primary metric: an int8 GEMM has operations, no FLOP.
/// An ok or unstable case whose primary metric cannot be computed (work or value is missing) failed.
/// The reason names the replica, counted from 1.
void conclude(Case& c, int planned_replicas);
/// Its points 1 to 7.
Conclusion conclusion_of(const Case& c, int planned_replicas);
/// Larger for a worse replica: its time, or the value that it reports instead; NaN where it has neither.
double cost_of(const Case& c, const Replica& replica);

/// A metric of one replica, in its unit: its work over its time, its share of the time, the value it reported, or what
/// follows from the energy of its window. Nothing if it was not measured or is not positive.
std::optional<double> metric_of(const Case& c, const Replica& replica, std::string_view metric);
/// Computed from the time of a call alone? Two such metrics of a case have the same ratio between runs.
bool is_computed(const Case& c, std::string_view metric);
/// The primary metric of one replica. The geometric mean of these is the value of a case without a Spread.
std::optional<double> headline_of(const Case& c, const Replica& replica);

/// The unit that people read: a rate of items has the name that the benchmark gives them ("keys/s", "keys/J"), which the
/// case has as its setting `items`.
std::string shown_unit(const Case& c, const Metric& metric);

/// The worst of each over the replicas: shortest window, lowest clock, narrowest link, otherwise the
/// largest. Energy, ECC errors, PCIe replays and NVLink bytes are summed over those that have them.
/// Disturbances of all, each once.
Telemetry worst_telemetry(const std::vector<Replica>& replicas);

/// Primary metric over roofline bound, or bound over metric if lower is better: 1 reaches the bound. Nothing if
/// either is unknown or not positive.
std::optional<double> share_of_ceiling(const Case& c);
/// The same for another bound of it.
std::optional<double> share_of_ceiling(const Case& c, const Ceiling& ceiling);
/// The warning of a case above its bound, which cannot be the actual limit: today's wording, then those of older
/// files. Empty for any other case.
std::vector<std::string> above_ceiling(const Case& c);

/// Every measured case of older rules: its replicas are disturbed by what can slow it alone, its prior is that of its
/// place (own history stays), and the replicas there are give a value. Batch values may be absent: percentiles of the
/// batches then stay as they were, or come from the replicas' means.
void judge_again(Run& run);

} // namespace assay::record
