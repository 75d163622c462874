// SPDX-License-Identifier: Apache-2.0
//
// Runs a plan, or several interleaved ones: starts worker processes, sends them cases, writes the journal,
// survives their failures, and returns the finished record. Measures nothing itself.

#pragma once

#include "base/result.hpp"
#include "plan/interleaving.hpp"
#include "record/model.hpp"
#include "run/forecast.hpp"
#include "run/redaction.hpp"
#include "run/run_folder.hpp"

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

namespace assay::run {

/// The position in the run; reported on every change and at most twice a second in between.
struct Progress {
    std::size_t case_index = 0; ///< of plan.cases
    int replica = 0;            ///< 1..replicas
    std::string variant;        ///< being measured; empty in a single run
    Forecast::Estimate estimate;
    std::string phase; ///< "starting the worker", "tuning", "setting up", "measuring", ...
};
class Observer {
public:
    virtual ~Observer() = default;
    /// Once for each run; `variant` is empty in a single run.
    virtual void started(const std::filesystem::path& folder, bool resumed,
                         const std::string& variant) = 0;
    virtual void note(const std::string& text) = 0;
    virtual void progress(const Progress& progress) = 0;
    virtual void finished(const record::Case& result, const std::string& variant) = 0;
};

struct Outcome {
    record::Run run;
    std::filesystem::path file; ///< the run.json written
    int signal = 0;             ///< that stopped it; 0: none, Signals::preempted: a notice
    bool out_of_time = false;   ///< something was not measured because of the limit
    bool was_complete = false;  ///< nothing was left to measure
    int ended_early = 0;        ///< cases that were decided, or agreed, before all planned replicas
    Hidden hidden{};            ///< by the tokens in `run`
};

/// Fails when nothing could be measured at all (folder not writable, ...). A failure of a benchmark
/// is a status in the record. SIGINT, SIGTERM and SIGHUP are handled while it runs: the first ends
/// the run in order, a second one at once.
///
/// Several runs alternate: case by case, each replica of one next to that of the others, in the order
/// ABBA. A variant that this machine does not allow is an error before anything is measured.
Result<std::vector<Outcome>> run(const std::vector<plan::PlannedRun>& runs,
                                 const RunOptions& options, Observer& observer);

} // namespace assay::run
