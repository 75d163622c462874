// SPDX-License-Identifier: Apache-2.0
//
// Runs a plan: starts worker processes, hands them cases, keeps the journal, survives whatever they
// do, and returns the finished record. Measures nothing itself.

#pragma once

#include "base/result.hpp"
#include "core/plan.hpp"
#include "record/model.hpp"

#include <atomic>
#include <filesystem>
#include <string>

namespace assay::core {

struct RunOptions {
    std::filesystem::path out = "results";
    std::string campaign = "default";
    std::string provider; ///< empty: as found
    std::string instance; ///< empty: as found
    bool resume = false;
    bool keep_samples = false; ///< --raw: every batch into a sidecar
    bool record_hostname = false;
    std::filesystem::path program; ///< answers `program worker`; empty: this program
};

/// Where the run is; called on every change and at most twice a second in between.
struct Progress {
    std::size_t case_index = 0; ///< of plan.cases
    int replica = 0;            ///< 1..replicas
    std::size_t steps_done = 0; ///< (case, replica) pairs finished
    std::size_t steps_total = 0;
    double elapsed_seconds = 0;
    double remaining_seconds = 0; ///< estimate
    std::string phase; ///< "starting the worker", "tuning", "setting up", "measuring", ...
};
class Observer {
public:
    virtual ~Observer() = default;
    virtual void started(const std::filesystem::path& folder, bool resumed) = 0;
    virtual void progress(const Progress& progress) = 0;
    virtual void finished(const record::Case& result) = 0;
};

struct Outcome {
    record::Run run;
    std::filesystem::path file; ///< the run.json written
    int signal = 0;             ///< that stopped it; 0 when it ended by itself
};

/// Fails when nothing could be measured at all (folder not writable, ...). Whatever a benchmark does
/// is a status in the record. SIGINT and SIGTERM are handled while it runs: the first ends the run
/// in order, a second one dies at once.
Result<Outcome> run(const Plan& plan, const RunOptions& options, Observer& observer);

} // namespace assay::core
