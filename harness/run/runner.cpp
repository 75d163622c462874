// SPDX-License-Identifier: Apache-2.0
#include "run/runner.hpp"

#include "launch/governor.hpp"
#include "machine/cgroup.hpp"
#include "machine/inventory.hpp"
#include "plan/planner.hpp"
#include "process/control_group.hpp"
#include "process/listing.hpp"
#include "process/program.hpp"
#include "process/signals.hpp"
#include "run/active_run.hpp"
#include "run/redaction.hpp"
#include "run/run_folder.hpp"
#include "telemetry/errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace assay::harness {
namespace {

namespace fs = std::filesystem;

record::Machine find_machine(const RunOptions& options) {
    auto machine =
        machine::inspect({.hostname = options.record_hostname, .serials = options.serials});
    if (!options.provider.empty()) machine.provider = options.provider;
    if (!options.region.empty()) machine.platform.region = options.region;
    if (!options.zone.empty()) machine.platform.zone = options.zone;
    if (!options.instance.empty()) machine.instance = options.instance;
    return machine;
}

fs::path worker_program(const RunOptions& options) {
    if (!options.program.empty()) return fs::absolute(options.program);
    std::error_code error;
    return fs::read_symlink("/proc/self/exe", error);
}

/// Of all runs, one after the other.
std::vector<double> steps_of(const std::vector<PlannedRun>& runs) {
    std::vector<double> seconds;
    for (const auto& run : runs)
        std::ranges::move(expected_steps(run.plan), std::back_inserter(seconds));
    return seconds;
}

/// The execution context of a variant, tested before anything is measured.
Result<ExecutionContext> enter(const Variant& variant, const RunOptions& options) {
    if (!variant.image.empty()) {
        std::error_code error; // on failure, opening the run reports it
        fs::create_directories(options.out, error);
    }
    const auto environment = own_environment();
    const char* path = find_variable(environment, "PATH");
    auto context = context_of(variant, options.out, path == nullptr ? "" : path);
    if (!context) return context;
    for (const auto& name : options.keep_environment) {
        const char* value = find_variable(environment, name);
        if (value == nullptr)
            return fail(fmt::format("--keep-environment {}: it is not set", name));
        if (record::find(context->variables, name) == nullptr) // a variant has the last word
            context->variables.push_back({name, std::string{value}});
    }
    if (const auto starts = try_out(*context, worker_program(options), environment); !starts)
        return fail(fmt::format("variant {}: {}", variant.label, starts.error().message),
                    starts.error().fault);
    return context;
}

class Runner {
public:
    /// The plans of interleaved runs have equal numbers of cases and replicas.
    Runner(const std::vector<PlannedRun>& wanted, const RunOptions& options, Observer& observer)
        : wanted_{wanted}, cases_{wanted_[0].plan.cases.size()},
          replicas_{wanted_[0].plan.replicas}, options_{options}, observer_{observer},
          redaction_{find_secrets(wanted, options)}, forecast_{steps_of(wanted_), replicas_} {}

    Result<std::vector<Outcome>> run();

private:
    Watch watch();
    Result<void> take_governors();
    void clean_up();
    Result<void> open();
    Result<void> open_runs(const record::Machine& machine);
    void drop_half_pairs();
    Result<void> measure_all();
    Result<void> measure_one(ActiveRun& active);
    void tell(const std::string& phase);
    Result<std::vector<Outcome>> finish();
    std::size_t step_of(std::size_t active, std::size_t index) const {
        return (active * cases_) + index;
    }

    const std::vector<PlannedRun>& wanted_;
    std::size_t cases_;
    int replicas_;
    const RunOptions& options_;
    Observer& observer_;
    Redaction redaction_;
    Signals signals_;
    std::optional<Governors> governors_;
    std::optional<telemetry::ErrorWatch> errors_;
    std::deque<ActiveRun> runs_;
    Forecast forecast_;
    std::size_t turn_ = 0;    ///< index of the present variant
    std::size_t present_ = 0; ///< its case
    int replica_ = 0;
    std::string phase_;
};

Watch Runner::watch() {
    return {.phase = [this](const std::string& phase) { tell(phase); },
            .tick = [this] { tell({}); },
            .signal_descriptor = signals_.descriptor()};
}

Result<std::vector<Outcome>> Runner::run() {
    if (auto opened = open(); !opened) return tl::unexpected{opened.error()};
    for (auto& active : runs_) active.ask_modules([this] { return signals_.caught() != 0; });
    const auto measured = measure_all();
    for (auto& active : runs_) active.dismiss();
    governors_.reset();
    if (!measured) return tl::unexpected{measured.error()};
    return finish();
}

// --- opening --------------------------------------------------------------------------------------

Result<void> Runner::take_governors() {
    std::vector<std::string> wanted;
    for (const auto& run : wanted_)
        if (!run.variant.governor.empty()) wanted.push_back(run.variant.governor);
    if (wanted.empty()) return {};
    auto governors = Governors::take(machine::Files{options_.root}, wanted);
    if (!governors) return tl::unexpected{governors.error()};
    governors_.emplace(std::move(*governors));
    return {};
}

/// A run that was killed together with its keepers could end nothing.
void Runner::clean_up() {
    auto ended = end_left_groups(machine::own_group(machine::Files{}));
    std::ranges::move(end_leftovers(), std::back_inserter(ended));
    std::string names;
    for (const auto& name : ended) names += (names.empty() ? "" : ", ") + name;
    if (!names.empty())
        observer_.note("ended what an earlier run that was killed had left behind: " + names);
}

Result<void> Runner::open() {
    clean_up();
    if (auto taken = take_governors(); !taken) return taken;
    const auto machine = find_machine(options_);
    if (auto opened = open_runs(machine); !opened) return opened;
    errors_.emplace(machine);
    drop_half_pairs();
    for (std::size_t i = 0; i < runs_.size(); ++i) {
        for (std::size_t index = 0; index < cases_; ++index)
            for (int replica = 0; replica < replicas_; ++replica)
                if (!runs_[i].is_open(index, replica)) forecast_.skip(step_of(i, index));
        if (const auto& note = runs_[i].folder().note; !note.empty()) observer_.note(note);
        observer_.started(runs_[i].folder().path, runs_[i].folder().resumed,
                          wanted_[i].variant.label);
    }
    return {};
}

Result<void> Runner::open_runs(const record::Machine& machine) {
    for (const auto& run : wanted_) {
        auto context = enter(run.variant, options_);
        if (!context) return tl::unexpected{context.error()};
        runs_.emplace_back(run, machine, worker_program(options_), watch(), std::move(*context),
                           redaction_);
    }
    auto recorded = wanted_;
    for (auto& run : recorded)
        if (run.pairing) redaction_.apply(*run.pairing);
    auto folders = open_run_folders(recorded, options_, machine);
    if (!folders) return tl::unexpected{folders.error()};
    for (std::size_t i = 0; i < runs_.size(); ++i)
        if (auto opened = runs_[i].open(std::move((*folders)[i]), options_.keep_samples); !opened)
            return opened;
    return {};
}

/// An earlier attempt stopped in the middle of a pair: its part of the pair is from another time.
void Runner::drop_half_pairs() {
    for (std::size_t index = 0; index < cases_; ++index)
        for (int replica = 0; replica < replicas_; ++replica) {
            const auto open = [&](const ActiveRun& active) {
                return active.is_open(index, replica);
            };
            if (std::ranges::none_of(runs_, open)) continue;
            for (auto& active : runs_)
                if (active.has(index, replica)) active.drop(index, replica);
        }
}

// --- measuring ------------------------------------------------------------------------------------

/// Replicas are the outer loop, cases the inner one: the replicas of a case are spread over the run, so that
/// changes of the machine in between show in its interval. A replica is a process: the worker of the
/// previous replica must not continue, even for a single case. Variants are innermost: drift
/// affects both sides of a pair.
Result<void> Runner::measure_all() {
    for (replica_ = 0; replica_ < replicas_; ++replica_) {
        for (auto& active : runs_) active.dismiss();
        for (present_ = 0; present_ < cases_; ++present_)
            for (const auto turn : order_of_turns(replica_, runs_.size())) {
                turn_ = turn;
                if (signals_.caught() != 0) return {};
                if (!runs_[turn].is_open(present_, replica_)) continue;
                if (auto done = measure_one(runs_[turn]); !done) return done;
            }
    }
    return {};
}

Result<void> Runner::measure_one(ActiveRun& active) {
    forecast_.begin(step_of(turn_, present_));
    const auto& variant = active.variant();
    const auto ready = governors_ ? governors_->set(variant.governor) : Result<void>{};
    const auto measured = active.measure(present_, replica_, ready);
    if (!measured) return tl::unexpected{measured.error()};
    if (!*measured) return {};
    if (active.plan().fresh_workers) active.dismiss();
    // One tuning for all sides, unless a variant sets it.
    for (auto& other : runs_)
        if (&other != &active) other.adopt(present_, active.at(present_).settings);
    forecast_.end(step_of(turn_, present_));
    for (int later = replica_ + 1; later < replicas_; ++later)
        if (!active.is_open(present_, later)) forecast_.skip(step_of(turn_, present_));
    if (active.is_complete(present_)) observer_.finished(active.concluded(present_), variant.label);
    return {};
}

void Runner::tell(const std::string& phase) {
    if (!phase.empty()) phase_ = phase;
    observer_.progress({.case_index = present_,
                        .replica = replica_ + 1,
                        .variant = wanted_[turn_].variant.label,
                        .estimate = forecast_.now(),
                        .phase = phase_});
}

Result<std::vector<Outcome>> Runner::finish() {
    std::vector<Outcome> outcomes;
    const int signal = signals_.caught();
    const auto errors = errors_->counters();
    for (auto& active : runs_) {
        auto run = active.finish(signal != 0, errors);
        if (!run) return tl::unexpected{run.error()};
        outcomes.push_back(
            {.run = std::move(*run), .file = active.folder().path / "run.json", .signal = signal});
    }
    return outcomes;
}

} // namespace

Result<std::vector<Outcome>> run(const std::vector<PlannedRun>& runs, const RunOptions& options,
                                 Observer& observer) {
    return Runner{runs, options, observer}.run();
}

} // namespace assay::harness
