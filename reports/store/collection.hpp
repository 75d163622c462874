// SPDX-License-Identifier: Apache-2.0
//
// Many runs, as what comparing them needs and no more: who ran when and where, and of each case the primary metric, or
// others that are asked for, with their replicas. Ten thousand runs fit into a few hundred megabytes.
//
// Nothing is dropped in silence: a file that cannot be read, is there twice or contradicts itself is a
// Problem, and whoever shows a Collection shows its problems.

#pragma once

#include "base/names.hpp"
#include "base/result.hpp"
#include "decide/observation.hpp"
#include "record/model.hpp"
#include "store/metrics.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace assay::store {

/// One run without its cases.
struct RunInfo {
    std::string label; ///< of the input it came by; may be empty
    std::filesystem::path file;
    std::string id;
    std::string suite;
    std::string started; ///< UTC, ISO 8601
    std::string ended;
    /// Since 1970, of `started`; 0 where that is empty. As the newest run of its boot says, where they differ.
    double started_seconds = 0;
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
    std::string machine_id;    ///< of the machine, as the file has it
    std::optional<record::Pairing> pairing;
    std::optional<record::Gates> gates;
    std::optional<record::Soak> soak;
    /// Seconds by which the clock was set meanwhile, or a replica began before the run, after its end or before the
    /// replica before it.
    double strayed_seconds = 0;
    std::optional<record::RunClock> clock; ///< absent in older runs
    std::string copy_of; ///< file of an earlier run that most of its replicas are copied from
};

/// Why, for programs; what nobody tells apart is `other`.
ASSAY_ENUM(ProblemCode, other,
           unreadable, // no result, or damaged
           stale,      // a section does not match its digest
           future,     // starts later than now
           not_set,    // starts in a year of a clock that nobody set
           backwards,  // ends before it starts
           copy,       // a run that takes part
           same_run,   // the id of a run of another machine
           copied)     // its values are those of a run with another id

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
    std::vector<decide::Series> series;
    std::vector<record::NamedList>
        settings; ///< what parameters resolved to; shared by observations
    std::vector<decide::Observation> observations; ///< by run, then in the order of its cases
    std::vector<Problem> problems;
    std::set<std::string> metrics; ///< that there are, where other than primary ones were asked for
    std::vector<std::filesystem::path>
        unfinished; ///< journals of runs without a result, where CollectOptions asks for them
};

/// Are there soaks alone? These measure nothing that data sheets promise: they are judged by what they found, and by no
/// limits but those that somebody names.
bool are_soaks(const Collection& collection);

/// Nodes that it was measured on: those that the setting of a team names.
double nodes_of(const decide::Observation& seen, const Collection& runs);

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
    /// Runs whose values are those of another are kept, with `copy_of`; otherwise they take no part.
    bool copied = false;
    std::optional<double>
        now; ///< seconds since 1970, the clock's otherwise: later runs are refused
};

/// Inputs are what people type: a run.json, a folder (every run below it, at any depth), a glob, each
/// with LABEL= in front or not. Fails only where an input names nothing at all, or no case has a metric that is asked for.
Result<Collection> collect(const std::vector<std::string>& inputs,
                           const CollectOptions& options = {});

} // namespace assay::store
