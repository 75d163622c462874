// SPDX-License-Identifier: Apache-2.0

#include "worker/engine.hpp"

#include "worker/calibration.hpp"
#include "worker/checks.hpp"
#include "worker/comparison.hpp"
#include "worker/soaking.hpp"
#include "worker/window.hpp"

#include <cmath>
#include <utility>

namespace assay::measure {
namespace {

using record::ReasonCode;

/// Reports the begin and end of the window to the caller, whatever ends it.
class WindowHooks {
public:
    explicit WindowHooks(const Hooks& hooks) : hooks_{hooks} {
        if (hooks_.window_begins) hooks_.window_begins();
    }
    ~WindowHooks() {
        if (hooks_.window_ends) hooks_.window_ends();
    }
    WindowHooks(const WindowHooks&) = delete;
    WindowHooks& operator=(const WindowHooks&) = delete;
    WindowHooks(WindowHooks&&) = delete;
    WindowHooks& operator=(WindowHooks&&) = delete;

private:
    const Hooks& hooks_;
};

class Engine {
public:
    Engine(Subject& subject, const Protocol& protocol, Clock& clock, BatchRunner& runner, Team team,
           const Hooks& hooks, record::Replica begun)
        : protocol_{protocol}, clock_{clock}, hooks_{hooks}, team_{subject, runner, team},
          comparison_{subject, hooks}, pulse_{clock, hooks}, begin_{clock.now()},
          kept_{protocol.kept_values}, result_{.replica = std::move(begun)} {}

    Measurement measure() {
        if (!check(check_result(team_), ReasonCode::wrong_result)) return std::move(result_);
        if (!check(check_notices(team_, *result_.verification), ReasonCode::check_is_blind))
            return std::move(result_);
        if (!check(check_poison(team_, *result_.verification), ReasonCode::check_is_blind))
            return std::move(result_);
        if (hooks_.ready) {
            hooks_.ready();
            begin_ = clock_.now(); // siblings have their own limits
        }
        if (!(is_long() ? poison_before_window() : warm_up())) return std::move(result_);
        if (!hooks_.only_load && !(protocol_.soaks ? soak() : fill_window()))
            return std::move(result_);
        if (!go_on()) return std::move(result_);
        if (!check(is_long() ? team_.verify() : check_after(team_, calibration_.calls),
                   ReasonCode::wrong_result))
            return std::move(result_);
        if (hooks_.only_load)
            end({.status = record::Status::ok});
        else
            conclude();
        return std::move(result_);
    }

private:
    bool end(record::Conclusion ending) {
        set_conclusion(result_.replica, std::move(ending));
        return false;
    }
    bool fail(const Error& error) {
        auto ending = record::conclusion(error);
        ending.status = record::Status::failed;
        if (error.fault == Fault::another_rank)
            ending.values = {{"rank", std::int64_t{team_.failed_rank()}}};
        return end(std::move(ending));
    }

    bool check(Result<record::Verification> verification, ReasonCode code) {
        if (!verification) return fail(verification.error());
        result_.verification = std::move(*verification);
        if (result_.verification->passed) return true;
        record::Values values;
        if (const auto& found = *result_.verification; found.error && found.bound)
            values = {{"error", *found.error}, {"bound", *found.bound}};
        return end({.status = record::Status::incorrect,
                    .code = code,
                    .reason = describe(*result_.verification),
                    .values = std::move(values)});
    }

    /// Where a call takes seconds, the calls of the checks have warmed up, and the only one of the window is checked.
    bool is_long() const { return team_.subject().long_calls; }
    bool poison_before_window() {
        calibration_.calls = 1;
        needed_ = 1;
        if (const auto poisoned = team_.poison(); !poisoned) return fail(poisoned.error());
        return true;
    }

    bool warm_up() {
        const double begin = clock_.now();
        const Result<Calibration> calibration =
            measure::warm_up(team_, protocol_, clock_, hooks_, pulse_);
        result_.replica.warmup_seconds = clock_.now() - begin;
        if (!calibration) return fail(calibration.error());
        calibration_ = *calibration;
        needed_ = batches_needed(protocol_, calibration_.seconds_per_call *
                                                static_cast<double>(calibration_.calls));
        return true;
    }

    bool fill_window() {
        const WindowHooks window{hooks_};
        Looks looks{protocol_, needed_};
        double measured = 0;
        for (bool going = true; going;) {
            const Result<double> seconds = team_.run(calibration_.calls);
            if (!seconds) return fail(seconds.error());
            measured += *seconds;
            result_.window_calls += calibration_.calls;
            const double per_call = *seconds / static_cast<double>(calibration_.calls);
            kept_.add(per_call);
            if (calibration_.calls == 1) tail_.add(per_call);
            if (protocol_.keep_samples) result_.samples.push_back(per_call);
            going = team_.from_root(should_stop(looks, measured) ? 1 : 0) == 0;
            pulse_.beat("measuring");
        }
        return true;
    }

    /// Every call by itself, and every result looked at.
    bool soak() {
        calibration_.calls = 1;
        needed_ = 1;
        Result<void> soaked;
        {
            const WindowHooks window{hooks_};
            soaked = measure::soak(team_, comparison_, protocol_, clock_, hooks_,
                                   begin_ + (protocol_.limit_seconds / 2), [&](double seconds) {
                                       ++result_.window_calls;
                                       kept_.add(seconds);
                                       tail_.add(seconds);
                                       pulse_.beat("soaking");
                                   });
        }
        const auto& found = comparison_.found();
        result_.replica.soak = found;
        result_.replica.soak->digest = record::digest_of(comparison_.reference());
        result_.reference = comparison_.reference();
        if (!soaked) return fail(soaked.error());
        if (found.wrong == 0) return true;
        result_.verification->passed = false;
        result_.verification->detail = describe(found);
        return end({.status = record::Status::incorrect,
                    .code = ReasonCode::wrong_result,
                    .reason = describe(found)});
    }

    /// Load that is not measured, while siblings measure.
    bool go_on() {
        while (hooks_.goes_on && hooks_.goes_on()) {
            if (const auto done = team_.run(calibration_.calls); !done) return fail(done.error());
            pulse_.beat("working beside its siblings");
        }
        return true;
    }

    /// Only the answer of rank 0 counts.
    bool should_stop(Looks& looks, double measured) {
        // Rewinding takes time that is not measured. The window gets half of the limit; the rest is for
        // set-up, warm-up and the last check. Past the limit the process is killed and all is lost.
        const double longest = protocol_.limit_seconds / 2;
        if (is_long() || measured >= protocol_.budget_seconds || clock_.now() - begin_ >= longest)
            return true;
        return team_.is_root() && looks.due(kept_, measured) &&
               judge().conclusion.status == record::Status::ok;
    }

    Judgement judge() {
        const double resolution = clock_.resolution() / static_cast<double>(calibration_.calls);
        return measure::judge(kept_, protocol_, resolution, needed_);
    }

    void conclude() {
        Judgement judgement = judge();
        record::Replica& replica = result_.replica;
        replica.batches = kept_.batches();
        replica.calls = kept_.group() * calibration_.calls;
        replica.p99 = tail_.p99();
        replica.values.assign(kept_.values().begin(), kept_.values().end());
        if (protocol_.keep_samples) result_.samples.resize(kept_.batches());
        if (judgement.conclusion.status != record::Status::failed) {
            replica.seconds = judgement.interval.mean;
            if (!std::isnan(judgement.interval.low)) {
                replica.low = judgement.interval.low;
                replica.high = judgement.interval.high;
            }
        }
        // How sure such a value is, the replicas show.
        if (is_long() && judgement.conclusion.code == ReasonCode::no_interval)
            judgement.conclusion = {.status = record::Status::ok};
        end(std::move(judgement.conclusion));
    }

    const Protocol& protocol_;
    Clock& clock_;
    const Hooks& hooks_;
    TeamSubject team_;
    Comparison comparison_;
    Pulse pulse_;
    double begin_;
    KeptValues kept_;
    SlowTail tail_;
    Calibration calibration_;
    std::uint64_t needed_ = 0;
    Measurement result_;
};

} // namespace

Measurement measure(Subject& subject, const Protocol& protocol, Clock& clock, BatchRunner& runner,
                    Team team, const Hooks& hooks, record::Replica begun) {
    return Engine{subject, protocol, clock, runner, team, hooks, std::move(begun)}.measure();
}

} // namespace assay::measure
