// SPDX-License-Identifier: Apache-2.0
//
// What one case of one run says: its series, and the value with everything that decides what may be said of it.
// Reports, comparisons, histories and verdicts all start here and have no rules of their own for it.

#pragma once

#include "base/fields.hpp"
#include "record/model.hpp"
#include "record/noise.hpp"
#include "record/summary.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::decide {

/// A metric of one replica (one process), in the metric's unit.
struct ReplicaValue {
    int index; ///< pairs with the same index of another run that took turns with this one
    double value;
    bool kept = true;       ///< the value is made of it
    bool disturbed = false; ///< by something outside the node that can slow this case
    bool throttled =
        false; ///< heat or a power brake slowed it: a fault of the node, no disturbance
    std::uint32_t print =
        0; ///< hash of its batches and their mean: copies have the same; 0: not known
};

/// Identity that runs match by: a question asked of a kind of place through a library, and its headline metric.
struct Series {
    std::string benchmark;
    std::uint32_t version = 1;
    std::string place; ///< kind: "host", "cuda"
    std::string library;
    record::NamedList parameters;
    record::NamedList conditions; ///< as recorded; see record/conditions.hpp
    std::string metric;
    std::string unit;
    bool higher_is_better = true;
    bool is_headline = true; ///< the primary metric of its case
    std::string
        question; ///< all of the above but library and conditions, in words: equal for equal questions
    std::string what; ///< the parameters as people read them: "fp64, size 1024, all threads"
};

/// The same as record::identity: without metric and conditions.
std::string name_of(const Series& series);

/// Its bit in Observation::events.
constexpr std::uint32_t event_bit(record::DisturbanceCode code) {
    return std::uint32_t{1} << static_cast<std::uint32_t>(code);
}

/// One case of one run.
struct Observation {
    std::uint32_t run = 0;    ///< of many: index into store::Collection::runs
    std::uint32_t series = 0; ///< the same of series
    record::Status status = record::Status::ok;
    record::Knowledge knowledge = record::Knowledge::none;
    std::string reason;          ///< where the status is not ok
    std::optional<double> value; ///< as published; absent where nothing was measured
    std::optional<double> low;
    std::optional<double> high;
    record::IntervalScope scope = record::IntervalScope::none;
    std::vector<ReplicaValue> replicas; ///< all that were measured and verified; see counted()
    int planned = 0;                    ///< replicas that the run wanted; 0 where that is not known
    /// The shortest warm-up of its replicas, in seconds: the same work on the same device just before the window. Absent
    /// for cases of the host.
    std::optional<double> warm_seconds;
    std::optional<double> ceiling;
    bool disturbed = false;                   ///< the telemetry of its window says so
    std::optional<record::Disturbance> cause; ///< of the status `disturbed`
    bool two_levels = false;                  ///< the value leaves some replicas out
    std::optional<double> core_latency; ///< seconds between virtual CPUs, of cases that use several
    /// The standard deviation of the logarithm that runs at different times are expected to have; absent in older files.
    std::optional<double> between_runs;
    /// The same of replicas in one run, and the degrees of freedom that it is worth.
    std::optional<double> between_replicas;
    std::optional<double> degrees;
    /// The same two of a machine without neighbours: what may make a guest look faster than it is.
    std::optional<double> alone_between_replicas;
    std::optional<double> alone_between_runs;
    std::optional<double> datasheet; ///< the bound of the primary metric by a data sheet
    bool verified = false;           ///< its check was made and passed
    /// What telemetry saw in its windows, a bit for each DisturbanceCode; absent where there was no telemetry, of the
    /// device for a case on one.
    std::optional<std::uint32_t> events;
    std::uint32_t settings = 0; ///< the same of settings
    bool is_primary = true;     ///< or asked for by name: belongs to what is judged
};

/// It has a value that may be counted with.
bool is_good(const Observation& seen);
/// The replicas that its value is made of.
std::vector<ReplicaValue> counted(const Observation& seen);
/// The recorded one; for a value whose file does not say it, by its status.
record::Knowledge knowledge_of(const Observation& seen);
/// The delivered performance, over all verified replicas, whatever slowed them; the value is what the machine can do.
struct Delivered {
    double value = 0; ///< geometric mean
    double share = 1; ///< of the replicas that the value is made of
};
std::optional<Delivered> delivered_of(const Observation& seen);
/// Does it share its processors with others? Not where nothing is recorded.
bool is_guest(const record::Machine& machine);
/// Its run ended before all planned replicas of the case were measured.
bool is_partial(const Observation& seen);

/// A metric that is not ours is taken as its file describes it.
Series series_of(const record::Case& c, const record::Machine& machine);

/// Why a measured case has no value to go on with.
enum class ValueProblem : std::uint8_t {
    none,
    no_value,
    other_metric,
    other_unit,
    direction,
    not_positive
};
ValueProblem problem_of(const record::Case& c, const Series& series);

/// Without run, series and settings. A case with a problem has its status and events alone.
Observation observation_of(const record::Case& c, const record::Machine& machine, bool has_value);

/// The identity; its words follow from that.
ASSAY_FIELDS(Series, benchmark, version, place, library, parameters, conditions, metric, unit,
             higher_is_better)

} // namespace assay::decide
