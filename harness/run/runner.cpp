// SPDX-License-Identifier: Apache-2.0
#include "run/runner.hpp"

#include "decide/check.hpp"
#include "machine/inventory.hpp"
#include "process/preemption.hpp"
#include "process/start.hpp"
#include "record/reader.hpp"
#include "record/summary.hpp"
#include "run/active_run.hpp"
#include "run/decided.hpp"
#include "run/neighbours.hpp"
#include "run/order.hpp"
#include "run/redaction.hpp"
#include "telemetry/errors.hpp"
#include "telemetry/window.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

namespace assay::run {
namespace {

class Runner {
public:
    /// The plans of interleaved runs have equal numbers of cases and replicas.
    Runner(const std::vector<plan::PlannedRun>& wanted, const RunOptions& options,
           Observer& observer)
        : wanted_{wanted}, cases_{wanted_[0].plan.cases.size()},
          replicas_{wanted_[0].plan.replicas}, options_{options}, observer_{observer},
          redaction_{find_secrets(wanted, options)}, signals_{options.limit_seconds},
          start_{telemetry::steady_seconds()}, forecast_{steps_of(wanted_), replicas_},
          told_(cases_, false), decided_{options_} {}

    Result<std::vector<Outcome>> run();

private:
    launch::Watch watch();
    record::RunEnd why_ended() const;
    Result<void> open();
    Result<void> open_runs(const record::Machine& machine);
    void drop_half_pairs();
    Result<void> soak();
    void open_gates();
    Result<void> measure_stages();
    Result<void> measure_rounds(const Rounds& rounds);
    record::StageEnd end_of_stage(const Rounds& rounds) const;
    void stop(record::StageEnd end);
    bool fits(std::size_t step);
    void close(std::size_t index);
    void close_enough();
    Result<void> measure_again();
    Result<void> measure_one(ActiveRun& active);
    void wait_before_start();
    QuietOptions quiet();
    std::vector<const record::Case*> sides(std::size_t index) const;
    std::vector<const record::Case*> all_cases(const Rounds* of = nullptr) const;
    void tell_finished(std::size_t index);
    void tell(const std::string& phase);
    Result<std::vector<Outcome>> finish();
    std::size_t step_of(std::size_t active, std::size_t index) const {
        return (active * cases_) + index;
    }

    std::vector<plan::PlannedRun> wanted_;
    std::size_t cases_;
    int replicas_;
    const RunOptions& options_;
    Observer& observer_;
    Redaction redaction_;
    process::Signals signals_;
    std::unique_ptr<process::PreemptionWatch> preemption_; ///< tells signals_
    std::string silent_;                                   ///< since when it was, once
    double start_;                                         ///< steady seconds
    std::optional<telemetry::ErrorWatch> errors_;
    std::deque<ActiveRun> runs_;
    Forecast forecast_;
    std::size_t turn_ = 0;    ///< index of the present variant
    std::size_t present_ = 0; ///< its case
    int replica_ = 0;
    std::string phase_;
    record::Schedule schedule_;
    record::Machine machine_;
    bool out_of_time_ = false;
    std::optional<record::RunEnd> stopped_; ///< by a stage
    std::size_t measured_ = 0;              ///< planned replicas, since the run was (re)started
    std::vector<bool> told_;                ///< cases whose end the observer knows
    Decided decided_;
    int ended_early_ = 0; ///< cases
};

launch::Watch Runner::watch() {
    return {.phase = [this](const std::string& phase) { tell(phase); },
            .tick = [this] { tell({}); },
            .signal_descriptor = signals_.descriptor()};
}

Result<std::vector<Outcome>> Runner::run() {
    if (!options_.watch_preemption.empty()) {
        ASSAY_TRY(preemption_, process::PreemptionWatch::begin(
                                   options_.watch_preemption, [this] { signals_.preempt(); },
                                   options_.watch_every));
    }
    ASSAY_TRY(open());
    if (runs_.front().folder().is_complete) return finish();
    for (auto& active : runs_) active.ask_modules([this] { return signals_.caught() != 0; });
    wait_before_start();
    const auto measured = wanted_.front().plan.soak_seconds ? soak() : measure_stages();
    for (auto& active : runs_) active.dismiss();
    if (!measured) return tl::unexpected{measured.error()};
    return finish();
}

// --- opening --------------------------------------------------------------------------------------

Result<void> Runner::open() {
    if (const auto ended = end_leftovers(); !ended.empty())
        observer_.note("ended processes that a killed run had left behind: " + ended);
    ASSAY_TRY(machine_, find_machine(options_));
    ASSAY_TRY(open_runs(machine_));
    errors_.emplace(machine_);
    if (runs_.front().folder().is_complete) return {};
    drop_half_pairs();
    for (std::size_t index = 0; index < cases_; ++index)
        told_[index] = !wants_another(sides(index)) &&
                       std::ranges::all_of(runs_, [&](const ActiveRun& active) {
                           return active.is_complete(index);
                       });
    for (std::size_t i = 0; i < runs_.size(); ++i) {
        for (std::size_t index = 0; index < cases_; ++index)
            for (int replica = 0; replica < replicas_; ++replica)
                if (!runs_[i].is_open(index, replica) || wanted_[i].plan.cases[index].with_previous)
                    forecast_.skip(step_of(i, index));
        if (const auto& note = runs_[i].folder().note; !note.empty()) observer_.note(note);
        observer_.started(runs_[i].folder().path, runs_[i].folder().resumed,
                          wanted_[i].variant.label);
    }
    return {};
}

Result<void> Runner::open_runs(const record::Machine& machine) {
    for (auto& run : wanted_) expect_own_noise(run.plan, earlier_runs(options_, machine), machine);
    for (const auto& run : wanted_) {
        ASSAY_TRY(auto context, enter(run.variant, options_));
        runs_.emplace_back(run, machine, worker_program(options_), watch(), std::move(context),
                           redaction_);
    }
    auto recorded = wanted_;
    for (auto& run : recorded)
        if (run.pairing) redaction_.apply(*run.pairing);
    record::Run shown{.machine = machine};
    redaction_.apply(shown);
    ASSAY_TRY(auto folders,
              open_run_folders(recorded, options_, machine, std::move(shown.machine)));
    for (std::size_t i = 0; i < runs_.size(); ++i)
        ASSAY_TRY(runs_[i].open(std::move(folders[i]), options_.keep_samples));
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

QuietOptions Runner::quiet() {
    return {.files = machine::Files{options_.root},
            .now = telemetry::steady_seconds,
            .pause =
                [this](double seconds) {
                    pollfd watched{.fd = signals_.descriptor(), .events = POLLIN, .revents = 0};
                    ::poll(&watched, 1, static_cast<int>(seconds * 1000));
                    tell("waiting for other programs to end");
                    return signals_.caught() == 0;
                },
            .own_seconds = [] { return telemetry::cpu_seconds(::getpid()).value_or(0); }};
}

void Runner::wait_before_start() {
    if (!(options_.quiet_seconds > 0) || wait_for_quiet(quiet(), options_.quiet_seconds)) return;
    if (signals_.caught() == 0)
        observer_.note(
            fmt::format("other programs kept this machine busy for the whole {:.0f} s of "
                        "--wait-for-quiet; measuring anyway",
                        options_.quiet_seconds));
}

/// Round after round over the cases, each visit a process of its own, until the time is over.
Result<void> Runner::soak() {
    auto& active = runs_.front();
    const auto& plan = active.plan();
    const auto& soaking = *active.soaking();
    schedule_.seed = active.folder().header.seed;
    open_gates();
    bool any = true;
    for (replica_ = soaking.next_visit(); any; ++replica_) {
        active.dismiss();
        any = false;
        for (const auto index : order_of(plan, schedule_.seed, replica_)) {
            out_of_time_ |= signals_.caught() == SIGALRM;
            if (signals_.caught() != 0 || soaking.is_over()) return {};
            if (!active.is_open(index, replica_)) continue;
            if (!fits(index)) continue;
            present_ = index;
            any = true;
            if (replica_ >= plan.replicas) forecast_.again(index);
            ASSAY_TRY(measure_one(active));
            if (!soaking.is_wrong() || options_.keep_going) continue;
            stopped_ = record::RunEnd::wrong_result;
            observer_.note("the soak ended early: wrong result (to continue: --keep-going)");
            return {};
        }
    }
    return {};
}

void Runner::open_gates() {
    if (wanted_.front().plan.has_stages || !options_.expected.empty() || options_.limit_seconds)
        schedule_.gates = record::Gates{.expected = options_.expected,
                                        .time_limit_seconds = options_.limit_seconds,
                                        .stages = {}};
}

Result<void> Runner::measure_stages() {
    using record::StageEnd;
    schedule_.seed = runs_.front().folder().header.seed;
    const auto& plan = wanted_.front().plan;
    const auto all = rounds_of(plan);
    const auto now = telemetry::steady_seconds;
    open_gates();
    double patience = 0;
    for (const auto& run : wanted_)
        patience += run.plan.patience_seconds.value_or(run.plan.expected_seconds);
    schedule_.patience_seconds = options_.patience_seconds.value_or(patience);
    close_enough(); // of a run that goes on
    if (!plan.has_stages) return measure_rounds(all.front());
    auto& stages = schedule_.gates->stages;
    stages.push_back({.name = record::StageName::sanity,
                      .end = sanity_of(machine_, options_.expected),
                      .seconds = now() - start_});
    for (const auto& rounds : all) stages.push_back({.name = rounds.stage});
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (stages[i].end != StageEnd::done && !options_.keep_going) {
            stop(stages[i].end);
            break;
        }
        const double begun = now();
        ASSAY_TRY(measure_rounds(all[i]));
        stages[i + 1].seconds = now() - begun;
        stages[i + 1].end = end_of_stage(all[i]);
    }
    return {};
}

record::StageEnd Runner::end_of_stage(const Rounds& rounds) const {
    if (signals_.caught() != 0 && !out_of_time_) return record::StageEnd::interrupted;
    const auto end = end_of(all_cases(&rounds));
    return end == record::StageEnd::done && out_of_time_ ? record::StageEnd::out_of_time : end;
}

/// The run ends here; without a note where it ends for a reason that is told anyway.
void Runner::stop(record::StageEnd end) {
    stopped_ = end == record::StageEnd::part_missing ? record::RunEnd::part_missing
                                                     : record::RunEnd::wrong_result;
    if (const auto why = why_stopped(end, all_cases(), machine_, options_.expected); !why.empty())
        observer_.note(why + " (--keep-going measures everything)");
}

/// By what this case took before.
bool Runner::fits(std::size_t step) {
    const double end = telemetry::steady_seconds() - start_ + forecast_.seconds_of(step);
    const auto room = room_for(wanted_.front().plan, step % cases_, replica_, end,
                               options_.limit_seconds, wanted_.size());
    out_of_time_ |= room.is_over;
    return room.is_there;
}

void Runner::close(std::size_t index) {
    bool was_open = false;
    for (int later = 0; later < replicas_; ++later) {
        if (!runs_.front().is_open(index, later)) continue;
        forecast_.skip(index);
        was_open = true;
    }
    runs_.front().close(index);
    if (was_open) ++ended_early_;
    tell_finished(index);
}

/// Cases that need no more of their planned replicas. Variants are compared pair by pair, and get all pairs.
void Runner::close_enough() {
    if (runs_.size() > 1) return;
    const auto* const judged = decided_.by_now(runs_.front());
    for (const auto index : order_of(wanted_.front().plan, {}, 0))
        if (is_enough(sides(index), wanted_.front().plan.fewest_replicas, judged)) close(index);
}

/// Replicas are the outer loop, cases the inner one: the replicas of a case are spread over the run, so that
/// changes of the machine in between show in its interval. A replica is a process: the worker of the
/// previous replica must not continue, even for a single case. Variants are innermost: drift
/// affects both sides of a pair.
Result<void> Runner::measure_rounds(const Rounds& rounds) {
    const auto& plan = wanted_.front().plan;
    for (replica_ = rounds.first; replica_ < rounds.last; ++replica_) {
        for (auto& active : runs_) active.dismiss();
        for (const auto index : order_of(plan, schedule_.seed, replica_)) {
            if (plan.has_stages && !rounds.has(plan.cases[index])) continue;
            present_ = index;
            for (const auto turn : plan::order_of_turns(replica_, runs_.size())) {
                turn_ = turn;
                if (signals_.caught() != 0) {
                    out_of_time_ |= signals_.caught() == SIGALRM;
                    return {};
                }
                if (!runs_[turn].is_open(present_, replica_)) continue;
                if (!fits(step_of(turn_, present_))) continue;
                ASSAY_TRY(measure_one(runs_[turn]));
                ++measured_;
            }
            if (!options_.judge && !wants_another(sides(index))) tell_finished(index);
        }
        close_enough();
    }
    return rounds.stage == record::StageName::performance ? measure_again() : Result<void>{};
}

/// Disturbed replicas once more, in rounds over the cases that need some, each begun in a quiet moment.
Result<void> Runner::measure_again() {
    // The time was over, and they agree nevertheless.
    for (std::size_t index = 0; index < cases_; ++index)
        if (wanted_.front().plan.most_seconds && !runs_.front().is_complete(index) &&
            std::ranges::all_of(sides(index),
                                [](const auto* side) { return record::fastest_agree(*side); }))
            close(index);
    schedule_.always_busy = measured_ > 0 && is_always_busy(all_cases());
    // Longer than a burst of load lasts; a load that stays is not worth the whole patience.
    constexpr double longest_wait = 20;
    const double started = telemetry::steady_seconds();
    const auto left = [&] {
        const double now = telemetry::steady_seconds();
        double patience = schedule_.patience_seconds - (now - started);
        if (const auto most = wanted_.front().plan.most_seconds; most && !options_.patience_seconds)
            patience = std::min(patience, *most - (now - start_));
        return options_.limit_seconds ? std::min(patience, *options_.limit_seconds - (now - start_))
                                      : patience;
    };
    bool go_on = !schedule_.always_busy;
    bool tried = false;
    std::vector<int> again(cases_, 0);
    for (int round = 0; go_on; ++round) {
        for (auto& active : runs_) active.dismiss();
        go_on = false;
        for (const auto index : order_of(wanted_.front().plan, schedule_.seed, replicas_ + round)) {
            if (signals_.caught() != 0 ||
                !wants_another(sides(index), again[index], decided_.last()))
                continue;
            tried = true;
            go_on = left() > 0 && wait_for_quiet(quiet(), std::min(left(), longest_wait));
            if (!go_on) break;
            present_ = index;
            replica_ = next_index(sides(index));
            ++again[index];
            for (const auto turn : plan::order_of_turns(replica_, runs_.size())) {
                turn_ = turn;
                if (signals_.caught() != 0) break;
                forecast_.again(step_of(turn_, present_));
                ASSAY_TRY(measure_one(runs_[turn]));
            }
        }
        close_enough();
    }
    if (tried) schedule_.spent_seconds = telemetry::steady_seconds() - started;
    return {};
}

std::vector<const record::Case*> Runner::sides(std::size_t index) const {
    std::vector<const record::Case*> sides;
    for (const auto sibling : siblings_of(wanted_.front().plan, index))
        for (const auto& active : runs_) sides.push_back(&active.at(sibling));
    return sides;
}

/// Or those of a stage.
std::vector<const record::Case*> Runner::all_cases(const Rounds* of) const {
    std::vector<const record::Case*> all;
    for (std::size_t index = 0; index < cases_; ++index)
        if (of == nullptr || of->has(wanted_.front().plan.cases[index]))
            for (const auto& active : runs_) all.push_back(&active.at(index));
    return all;
}

void Runner::tell_finished(std::size_t index) {
    const auto siblings = siblings_of(wanted_.front().plan, index);
    if (told_[index] || siblings.front() != index ||
        !std::ranges::all_of(runs_,
                             [&](const ActiveRun& active) { return active.is_complete(index); }))
        return;
    told_[index] = true;
    for (const auto sibling : siblings)
        for (const auto& active : runs_)
            observer_.finished(active.concluded(sibling), active.variant().label);
}

Result<void> Runner::measure_one(ActiveRun& active) {
    forecast_.begin(step_of(turn_, present_));
    ASSAY_TRY(const auto measured, active.measure(present_, replica_));
    if (!measured) return {};
    if (active.plan().fresh_workers) active.dismiss();
    // One tuning for all sides, unless a variant sets it.
    for (auto& other : runs_)
        if (&other != &active)
            for (const auto sibling : siblings_of(active.plan(), present_))
                other.adopt(sibling, active.at(sibling).settings);
    forecast_.end(step_of(turn_, present_));
    for (int later = replica_ + 1; later < replicas_; ++later)
        if (!active.is_open(present_, later)) forecast_.skip(step_of(turn_, present_));
    return {};
}

void Runner::tell(const std::string& phase) {
    if (!phase.empty()) phase_ = phase;
    if (preemption_ && silent_.empty() && !(silent_ = preemption_->silent_since()).empty())
        observer_.note(fmt::format("the metadata service has not answered since {}; preemption "
                                   "goes unnoticed while it is silent",
                                   silent_));
    auto estimate = forecast_.now();
    if (const auto* soaking = runs_.empty() ? nullptr : runs_[turn_].soaking())
        estimate.remaining_seconds = std::max(soaking->left(), 0.0);
    else if (wanted_.front().plan.most_seconds)
        estimate.remaining_seconds =
            std::clamp(wanted_.front().plan.expected_seconds - estimate.elapsed_seconds, 0.0,
                       std::max(estimate.remaining_seconds, 0.0));
    observer_.progress({.case_index = present_,
                        .replica = replica_ + 1,
                        .variant = wanted_[turn_].variant.label,
                        .estimate = estimate,
                        .phase = phase_});
}

record::RunEnd Runner::why_ended() const {
    const int signal = signals_.caught();
    if (signal == process::Signals::preempted) return record::RunEnd::preempted;
    if (signal == SIGALRM || out_of_time_) return record::RunEnd::time_limit;
    if (signal != 0) return record::RunEnd::signal;
    return stopped_.value_or(record::RunEnd::completed);
}

Result<std::vector<Outcome>> Runner::finish() {
    std::vector<Outcome> outcomes;
    const auto end = why_ended();
    const int signal = signals_.caught();
    const auto errors = errors_->counters();
    if (!wanted_.front().plan.soak_seconds)
        for (std::size_t index = 0; index < cases_; ++index) tell_finished(index);
    for (auto& active : runs_) {
        const auto file = active.folder().path / "run.json";
        const bool was_complete = active.folder().is_complete;
        ASSAY_TRY(auto run, was_complete ? record::read_run(file)
                                         : active.finish(end, errors, schedule_,
                                                         preemption_ ? preemption_->silent_since()
                                                                     : std::string{}));
        if (!was_complete)
            for (const auto& wrong : decide::check_clock(run)) observer_.note(wrong.text);
        outcomes.push_back({.run = std::move(run),
                            .file = file,
                            .signal = signal == SIGALRM ? 0 : signal,
                            .out_of_time = out_of_time_,
                            .was_complete = was_complete,
                            .ended_early = ended_early_,
                            .hidden = redaction_.hidden()});
    }
    return outcomes;
}

} // namespace

Result<std::vector<Outcome>> run(const std::vector<plan::PlannedRun>& runs,
                                 const RunOptions& options, Observer& observer) {
    return Runner{runs, options, observer}.run();
}

} // namespace assay::run
