// SPDX-License-Identifier: Apache-2.0
#include "core/runner.hpp"

#include "base/file.hpp"
#include "core/ceilings.hpp"
#include "core/forecast.hpp"
#include "core/foreman.hpp"
#include "core/plan_order.hpp"
#include "core/run_folder.hpp"
#include "core/samples.hpp"
#include "core/signals.hpp"
#include "machine/inventory.hpp"
#include "record/journal.hpp"
#include "record/summary.hpp"
#include "record/writer.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace assay::core {
namespace {

namespace fs = std::filesystem;

record::Machine find_machine(const RunOptions& options) {
    auto machine = machine::inspect({.hostname = options.record_hostname});
    if (!options.provider.empty()) machine.provider = options.provider;
    if (!options.instance.empty()) machine.instance = options.instance;
    return machine;
}

fs::path worker_program(const RunOptions& options) {
    if (!options.program.empty()) return fs::absolute(options.program);
    std::error_code error;
    return fs::read_symlink("/proc/self/exe", error);
}

class Runner {
public:
    Runner(const Plan& plan, const RunOptions& options, Observer& observer)
        : plan_{plan}, options_{options}, observer_{observer}, machine_{find_machine(options)},
          foreman_{worker_program(options), machine_, watch()},
          forecast_{expected_steps(plan), plan.replicas} {}

    Result<Outcome> run();

private:
    Watch watch();
    Result<void> open();
    void ask_modules();
    Result<void> measure_all();
    Result<void> measure_one(std::size_t index, int replica);
    Result<void> keep(std::size_t index, int replica, Attempt attempt);
    void tell(const message::Progress& progress);
    void tell_when_complete(std::size_t index);
    record::Case concluded(std::size_t index) const;
    Result<Outcome> finish();
    Catalogue used_modules() const;

    const Plan& plan_;
    const RunOptions& options_;
    Observer& observer_;
    Signals signals_;
    record::Machine machine_;
    Foreman foreman_;
    Forecast forecast_;
    std::unique_ptr<RunFolder> folder_; ///< set by open()
    std::optional<Samples> samples_;
    std::vector<record::Case> cases_; ///< what has been measured, in the plan's order
    std::size_t present_ = 0;
    int replica_ = 0;
    std::string phase_;
};

Watch Runner::watch() {
    return {.progress = [this](const message::Progress& progress) { tell(progress); },
            .tick = [this] { tell({}); },
            .signal_descriptor = signals_.descriptor()};
}

Result<Outcome> Runner::run() {
    if (auto opened = open(); !opened) return tl::unexpected{opened.error()};
    ask_modules();
    const auto measured = measure_all();
    foreman_.dismiss();
    if (!measured) return tl::unexpected{measured.error()};
    return finish();
}

Result<void> Runner::open() {
    auto folder = open_run_folder(plan_, options_, machine_);
    if (!folder) return tl::unexpected{folder.error()};
    folder_ = std::make_unique<RunFolder>(std::move(*folder));
    std::error_code error; // without it, modules keep nothing
    if (fs::create_directories(folder_->state(), error); !error)
        foreman_.keep_state_in(folder_->state());
    for (const auto& planned : plan_.cases) cases_.push_back(empty_case(planned));
    for (auto& step : folder_->steps) {
        foreman_.adopt(plan_.cases[step.case_index], step.result.settings);
        record::add_step(cases_[step.case_index], std::move(step.result));
    }
    if (options_.keep_samples) {
        auto samples = Samples::open(folder_->path / "samples.ndjson");
        if (!samples) return tl::unexpected{samples.error()};
        samples_.emplace(std::move(*samples));
    }
    for (std::size_t index = 0; index < cases_.size(); ++index)
        for (int replica = 0; replica < plan_.replicas; ++replica)
            if (!is_open(cases_[index], replica)) forecast_.skip(index);
    observer_.started(folder_->path, folder_->resumed);
    return {};
}

Catalogue Runner::used_modules() const {
    Catalogue catalogue;
    for (const auto& planned : plan_.cases) {
        const auto known = [&](const Manifest& m) { return m.module == planned.module->module; };
        if (std::ranges::none_of(catalogue.modules, known))
            catalogue.modules.push_back(*planned.module);
    }
    return catalogue;
}

void Runner::ask_modules() {
    for (const auto& module : used_modules().modules) {
        if (signals_.caught() != 0) return;
        const auto log = folder_->path / "logs" / (path_word(module.module) + ".facts.log");
        auto facts = foreman_.facts(module, log);
        std::ranges::move(facts, std::back_inserter(machine_.software));
    }
}

/// Replicas outside, cases inside: the replicas of one case are spread over the run, and what
/// happens in between on the machine shows in its interval.
Result<void> Runner::measure_all() {
    for (replica_ = 0; replica_ < plan_.replicas; ++replica_)
        for (present_ = 0; present_ < cases_.size(); ++present_) {
            if (signals_.caught() != 0) return {};
            if (!is_open(cases_[present_], replica_)) continue;
            if (auto done = measure_one(present_, replica_); !done) return done;
        }
    return {};
}

Result<void> Runner::measure_one(std::size_t index, int replica) {
    forecast_.begin(index);
    auto protocol = plan_.cases[index].protocol;
    protocol.keep_samples = options_.keep_samples;
    auto attempt = foreman_.measure(plan_.cases[index], protocol, replica,
                                    folder_->log_of(index, plan_.cases[index]));
    if (attempt.interrupted) return {};
    return keep(index, replica, std::move(attempt));
}

Result<void> Runner::keep(std::size_t index, int replica, Attempt attempt) {
    if (samples_ && !attempt.samples.empty())
        if (auto written = samples_->add(index, replica, attempt.samples); !written) return written;
    if (auto added = folder_->journal.add({.case_index = index, .result = attempt.result}); !added)
        return added;
    record::add_step(cases_[index], std::move(attempt.result));
    forecast_.end(index);
    for (int later = replica + 1; later < plan_.replicas; ++later)
        if (!is_open(cases_[index], later)) forecast_.skip(index);
    tell_when_complete(index);
    return {};
}

void Runner::tell(const message::Progress& progress) {
    if (!progress.phase.empty()) phase_ = progress.phase;
    const auto estimate = forecast_.now();
    Progress now{.case_index = present_,
                 .replica = replica_ + 1,
                 .steps_done = estimate.steps_done,
                 .steps_total = estimate.steps_total,
                 .elapsed_seconds = estimate.elapsed_seconds,
                 .remaining_seconds = estimate.remaining_seconds,
                 .phase = phase_};
    observer_.progress(now);
}

record::Case Runner::concluded(std::size_t index) const {
    auto c = cases_[index];
    record::conclude(c, plan_.replicas);
    return c;
}

void Runner::tell_when_complete(std::size_t index) {
    for (int replica = 0; replica < plan_.replicas; ++replica)
        if (is_open(cases_[index], replica)) return;
    observer_.finished(concluded(index));
}

Result<Outcome> Runner::finish() {
    Outcome outcome{.file = folder_->path / "run.json", .signal = signals_.caught()};
    auto& run = outcome.run;
    run.id = folder_->header.run;
    run.suite = folder_->header.suite;
    run.started = folder_->header.started;
    run.ended = utc_now();
    run.status = outcome.signal == 0 ? "done" : "interrupted";
    run.version = folder_->header.version;
    run.digest = folder_->header.digest;
    run.machine = machine_;
    for (std::size_t index = 0; index < cases_.size(); ++index)
        run.cases.push_back(concluded(index));
    assign_ceilings(run, used_modules());
    if (auto written = record::write_run(outcome.file, run); !written)
        return tl::unexpected{written.error()};
    remove_empty_logs(folder_->path / "logs");
    std::error_code error;
    fs::remove(folder_->state(), error); // stays where a module kept something
    return outcome;
}

} // namespace

Result<Outcome> run(const Plan& plan, const RunOptions& options, Observer& observer) {
    Runner runner{plan, options, observer};
    return runner.run();
}

} // namespace assay::core
