// SPDX-License-Identifier: Apache-2.0
//
// The files of a run: <out>/<campaign>/<provider>/<instance>/<machine>/<run>/ (<campaign>/host/ where neither provider
// nor instance is known), with run.json,
// journal.ndjson, samples.ndjson (--raw) and logs/. Beside the runs of a machine, state/ holds files that
// modules keep from run to run. A folder belongs to the process that has its
// journal open.

#pragma once

#include "base/result.hpp"
#include "machine/system.hpp"
#include "plan/interleaving.hpp"
#include "record/journal.hpp"
#include "record/model.hpp"
#include "run/order.hpp"

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::run {

/// The campaign of runs without one; not recorded.
inline constexpr std::string_view default_campaign = "default";

struct RunOptions {
    std::filesystem::path out = "results";
    std::string campaign{default_campaign};
    std::string note;
    record::Values tags;
    std::string provider;                      ///< empty: as found
    std::string instance;                      ///< empty: as found
    std::string region;                        ///< empty: as found
    std::string zone;                          ///< empty: as found
    std::string node;                          ///< empty: with record_hostname, the scheduler's
    std::vector<std::string> keep_environment; ///< variables that workers get as they are here
    bool resume = false;
    bool retry = false; ///< with resume: cases that ended unstable are measured anew
    std::optional<double>
        patience_seconds; ///< for measuring disturbed replicas again; absent: the plan's
    double quiet_seconds =
        0; ///< how long to wait before the start for a machine without other load
    std::vector<std::string>
        expected{};          ///< of the machine; recorded, and the gate of a plan with stages
    bool keep_going = false; ///< all stages, whatever they show
    std::optional<double> limit_seconds; ///< of the whole run
    std::string watch_preemption{};      ///< of PreemptionWatch; empty: not asked
    std::chrono::milliseconds watch_every{5000};
    bool planned_order = false;       ///< cases in the order of the plan, not shuffled
    std::optional<std::int64_t> seed; ///< of the shuffled order; absent: random
    bool keep_samples = false;        ///< --raw: every batch into a sidecar
    bool record_hostname = false;
    machine::SerialOptions serials = machine::SerialOptions(); // GCC 12 takes {} for uninitialized
    std::filesystem::path program; ///< answers `program worker`; empty: this program
    std::filesystem::path root =
        "/"; ///< of the kernel's files that tell whether the machine is quiet
    /// Judges a file with what was measured so far; nothing where that fails. Cases that it has decided are not measured
    /// any more. Empty: nobody judges.
    std::function<std::optional<Judgement>(const std::filesystem::path& so_far)> judge{};
};

struct RunFolder {
    std::filesystem::path path;
    record::JournalHeader header;
    record::Journal journal;
    /// Cases that earlier attempts finished; without those that failed or were interrupted.
    std::vector<record::JournalStep> steps;
    bool resumed = false;
    bool is_complete = false; ///< resumed, and nothing is left to measure
    /// Where continuing was asked for: why an unfinished run was not continued, or which lines of its journal are lost.
    /// Otherwise: which parts of the machine are others.
    std::string note;

    /// Absolute: workers may have another working directory.
    std::filesystem::path state() const;
    std::filesystem::path log_of(std::size_t index, const plan::PlannedCase& planned) const;
};

/// The folders of earlier runs of this machine, newest first.
std::vector<std::filesystem::path> earlier_runs(const RunOptions& options,
                                                const record::Machine& machine);

/// With options.resume, the newest unfinished run of the same suite, digest, version and machine, or the newest
/// unfinished ones that took turns with the same variants, which keep their campaign, note and tags: it is an error if
/// options give others. If the newest ones are complete and nothing can be continued, these; otherwise new ones, with a
/// note why. In the order of `wanted`, which is one run, or several with pairings; they get their id here. `shown`: the
/// machine as a journal may tell it.
Result<std::vector<RunFolder>> open_run_folders(const std::vector<plan::PlannedRun>& wanted,
                                                const RunOptions& options,
                                                const record::Machine& machine,
                                                const std::optional<record::Machine>& shown = {});

/// One level of the path: letters, digits, `.`, `_` and `-`; "unknown" for an empty text.
std::string path_word(std::string_view text);

} // namespace assay::run
