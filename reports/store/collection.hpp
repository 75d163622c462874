// SPDX-License-Identifier: Apache-2.0
//
// Many runs, as what comparing them needs and no more: who ran when and where, and of each case the primary metric, or
// others that are asked for, with their replicas. Ten thousand runs fit into a few hundred megabytes.
//
// Nothing is dropped in silence: a file that cannot be read, is there twice or contradicts itself is a
// Problem, and whoever shows a Collection shows its problems.

#pragma once

#include "base/result.hpp"
#include "record/model.hpp"
#include "store/metrics.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace assay::store {

/// What runs match by: a question asked of a kind of place through a library, and its headline metric.
struct Series {
    std::string benchmark;
    std::uint32_t version = 1;
    std::string place; ///< kind: "host", "cuda"
    std::string library;
    record::NamedList parameters;
    record::NamedList conditions; ///< as recorded; see record/conditions.hpp and store/find.hpp
    std::string metric;
    std::string unit;
    bool higher_is_better = true;
    bool is_headline = true; ///< the primary metric of its case
    std::string
        question; ///< all of the above but library and conditions, in words: equal for equal questions
    std::string what; ///< the parameters as people read them: "fp64, size 1024, all threads"
};

/// As record::identity: without metric and conditions.
std::string name_of(const Series& series);

/// Of Observation::events.
constexpr std::uint32_t event_bit(record::DisturbanceCode code) {
    return std::uint32_t{1} << static_cast<std::uint32_t>(code);
}

/// One case of one run.
struct Observation {
    std::uint32_t run = 0;    ///< index into Collection::runs
    std::uint32_t series = 0; ///< index into Collection::series
    record::Status status = record::Status::ok;
    std::string reason;          ///< where the status is not ok
    std::optional<double> value; ///< as published; absent unless ok or unstable
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
    bool two_levels = false;                  ///< undisturbed replicas that the value leaves out
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
    std::uint32_t settings = 0; ///< index into Collection::settings
    bool is_primary = true;     ///< or asked for by name: belongs to what is judged
};

/// It has a value that may be counted with.
bool is_good(const Observation& seen);
/// The undisturbed replicas, or all of them where none is.
std::vector<ReplicaValue> counted(const Observation& seen);
/// Its run ended before all planned replicas of the case were measured.
bool is_partial(const Observation& seen);

/// One run without its cases.
struct RunInfo {
    std::string label; ///< of the input it came by; may be empty
    std::filesystem::path file;
    std::string id;
    std::string suite;
    std::string started; ///< UTC, ISO 8601
    std::string ended;
    double started_seconds = 0; ///< since 1970, of `started`; 0 where that is empty
    double written_seconds =
        0; ///< since 1970: when the file was last changed, by the clock of the file system
    std::string status;
    bool partial = false; ///< ended before all of its cases were measured
    std::string version;  ///< of assay
    std::string build;    ///< of the program that measured; empty where it is not known
    std::string digest;
    std::string campaign;
    record::NamedList tags;
    std::vector<record::ErrorCounter> error_counters; ///< those that are not zero, or changed
    std::optional<double> core_clock_hz;
    std::uint32_t machine = 0; ///< index into Collection::machines
    std::optional<record::Pairing> pairing;
    std::optional<record::Gates> gates;
    std::optional<record::Soak> soak;
    /// Seconds by which a replica began before the run or after its end: a clock was set meanwhile.
    double strayed_seconds = 0;
};

/// Why, for programs; what nobody tells apart is `other`.
enum class ProblemCode : std::uint8_t {
    other,
    unreadable, // no result, or damaged
    stale,      // a section does not match its digest
    future,     // starts later than now
    not_set,    // starts in a year of a clock that nobody set
    backwards,  // ends before it starts
    copy,       // a run that takes part
    same_run,   // the id of a run of another machine
};

/// A file, or a case, that takes no part, and why.
struct Problem {
    std::string where; ///< file, and case where it is one
    std::string reason;
    bool is_copy = false; ///< of a run that takes part: nothing is lost
    ProblemCode code = ProblemCode::other;
};

struct Collection {
    std::vector<RunInfo> runs; ///< by input, then by time
    /// Machines in a state of theirs: a new kernel makes another entry with the same id. Without what
    /// differs from run to run (the measured clock). The id is the one it goes by in all of these runs, which may
    /// have it as an alias only.
    std::vector<record::Machine> machines;
    std::vector<Series> series;
    std::vector<record::NamedList>
        settings;                          ///< what parameters resolved to; shared by observations
    std::vector<Observation> observations; ///< by run, then in the order of its cases
    std::vector<Problem> problems;
    std::set<std::string> metrics; ///< that there are, where other than primary ones were asked for
    std::vector<std::filesystem::path>
        unfinished; ///< journals of runs without a result, where CollectOptions asks for them
};

/// Are there soaks alone? These measure nothing that data sheets promise: they are judged by what they found, and by no
/// limits but those that somebody names.
bool are_soaks(const Collection& collection);

/// Nodes that it was measured on: those that the setting of a team names.
double nodes_of(const Observation& seen, const Collection& runs);

struct CollectOptions {
    /// Names of metrics, "primary", "all"; only primary ones where it is empty.
    std::vector<std::string> metrics{};
    /// Beside primary ones all others that say more than they do (energy, percentiles, matrices; not what is computed
    /// from the same time), as observations that are not primary.
    bool others = false;
    bool metrics_may_be_missing = false; ///< those that are asked for
    bool unfinished = false;             ///< journals of runs that go on
    /// Journals of runs that died are runs; otherwise they are unfinished, where these are asked for.
    bool ended = true;
    std::optional<double>
        now; ///< seconds since 1970, the clock's otherwise: later runs are refused
};

/// Inputs are what people type: a run.json, a folder (every run below it, at any depth), a glob, each
/// with LABEL= in front or not. Fails only where an input names nothing at all, or no case has a metric that is asked for.
Result<Collection> collect(const std::vector<std::string>& inputs,
                           const CollectOptions& options = {});

} // namespace assay::store
