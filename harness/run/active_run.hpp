// SPDX-License-Identifier: Apache-2.0
//
// A run in progress: its folder and journal, its cases so far, and the dispatcher that measures them.
// Interleaved runs are several of these. The order of cases is decided elsewhere.

#pragma once

#include "base/file.hpp"
#include "base/result.hpp"
#include "launch/launcher.hpp"
#include "plan/interleaving.hpp"
#include "plan/manifest.hpp"
#include "record/model.hpp"
#include "run/dispatcher.hpp"
#include "run/neighbours.hpp"
#include "run/redaction.hpp"
#include "run/run_folder.hpp"
#include "run/soak.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace assay::run {

/// Ends what a run left behind that was killed together with its keepers; the names of the processes.
std::string end_leftovers();
/// The machine as found, with what the options say.
Result<record::Machine> find_machine(const RunOptions& options);
/// The program that workers run.
std::filesystem::path worker_program(const RunOptions& options);
/// The execution context of a variant, tested before anything is measured.
Result<launch::ExecutionContext> enter(const plan::Variant& variant, const RunOptions& options);

/// Those of one module to those of all others: 10,000 at most.
void add_facts(record::NamedList& software, record::NamedList facts);

class ActiveRun {
public:
    ActiveRun(const plan::PlannedRun& run, record::Machine machine, std::filesystem::path program,
              launch::Watch watch, launch::ExecutionContext context, const Redaction& redaction);
    ActiveRun(const ActiveRun&) = delete; // the dispatcher refers to the machine
    ActiveRun& operator=(const ActiveRun&) = delete;
    ActiveRun(ActiveRun&&) = delete;
    ActiveRun& operator=(ActiveRun&&) = delete;
    ~ActiveRun() = default;

    Result<void> open(RunFolder folder, bool keep_samples);
    /// Asks every module for its facts; stops early if `stop` returns true.
    void ask_modules(const std::function<bool()>& stop);

    // For a case whose siblings are measured at the same time, these are about all of them.
    bool is_open(std::size_t index, int replica) const;
    /// All planned replicas are measured, or need not be.
    bool is_complete(std::size_t index) const;
    bool has(std::size_t index, int replica) const;
    /// Drops a replica to be measured again: its partner was lost, and pairs must be close in time.
    void drop(std::size_t index, int replica);

    /// No further planned replicas: those that were measured are as many as were wanted.
    void close(std::size_t index);

    /// False when it was stopped.
    Result<bool> measure(std::size_t index, int replica);
    /// A tuning chosen by another run; used if this one has none.
    void adopt(std::size_t index, const record::NamedList& settings);
    void dismiss() { dispatcher_.dismiss(); }

    record::Case concluded(std::size_t index) const;
    /// A result as if the run ended now, in a file beside the journal.
    Result<std::filesystem::path> write_so_far() const;
    /// Writes run.json.
    Result<record::Run> finish(record::RunEnd end, std::vector<record::ErrorCounter> errors,
                               record::Schedule schedule, std::string not_watched_since);

    /// State of a plan that soaks; null in others.
    const Soaking* soaking() const { return soaking_ ? &*soaking_ : nullptr; }
    const plan::Plan& plan() const { return run_.plan; }
    const plan::Variant& variant() const { return run_.variant; }
    const RunFolder& folder() const { return *folder_; }
    const record::Case& at(std::size_t index) const { return cases_[index]; }

private:
    std::vector<process::message::Result> attempt(const std::vector<std::size_t>& cases,
                                                  int replica);
    std::vector<process::message::Result>
    measure_beside_probes(const std::vector<std::size_t>& cases, int replica);
    const record::Case* alone(std::size_t index) const;
    void record_variant(process::message::Result& attempt) const;
    bool may_go_on(const record::Case& c, int replica) const;
    void take(std::size_t index, record::Case step);
    Result<void> keep(std::size_t index, int replica, process::message::Result attempt);
    plan::Catalogue used_modules() const;
    record::Run result_of(record::RunEnd end) const;
    record::RunClock clock() const;

    const plan::PlannedRun& run_;
    const Redaction& redaction_;
    record::Machine machine_;
    Dispatcher dispatcher_;
    bool keep_samples_ = false;
    std::unique_ptr<RunFolder> folder_; ///< set by open()
    /// The sidecar of --raw: {"case": index in the plan, "replica": from 0, "seconds": [...]}, of every batch.
    /// If a resumed run measured a replica twice, the last line counts.
    std::optional<LineFile> samples_;
    std::vector<record::Case> cases_; ///< measured so far, in the plan's order
    std::optional<Soaking> soaking_;
    double clock_step_ = 0; ///< seconds by which the wall clock was set: the largest so far
    std::optional<MemoryProbe> probe_; ///< where neighbours may use the memory
    ProbeHistory known_probes_;
    std::vector<ProbeReading> probes_; ///< of this run
};

} // namespace assay::run
