// SPDX-License-Identifier: Apache-2.0
#include "worker/engine.hpp"

#include "worker/comparison.hpp"
#include "worker/team_subject.hpp"
#include "worker/window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

namespace assay::worker {
namespace {

// --- calibration ---------------------------------------------------------------------------------

// Before the window: how many calls make a batch, and when is the machine warm?

struct Calibration {
    std::uint64_t calls = 1;     ///< in a batch
    double seconds_per_call = 0; ///< about
};

// A run() whose 10^12 calls take no time that the clock can show does nothing.
constexpr std::uint64_t most_calls = 1'000'000'000'000;

std::uint64_t call_limit(const Subject& subject) {
    if (subject.single_call) return 1;
    if (subject.rewinds && subject.safe_calls > 0) return std::min(subject.safe_calls, most_calls);
    return most_calls;
}

/// Calls that would have taken `length` seconds, judged by a batch of `calls`.
std::uint64_t scaled(std::uint64_t calls, double seconds, double length, std::uint64_t limit) {
    const double wanted = std::ceil(static_cast<double>(calls) * length / seconds);
    if (!(wanted < static_cast<double>(limit))) return limit;
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(wanted));
}

/// Rate and core clock of the last three stretches.
class Steadiness {
public:
    Steadiness(double tolerance, const Hooks& hooks) : tolerance_{tolerance}, hooks_{hooks} {}

    void add(double seconds_per_call) {
        const std::size_t slot = count_++ % stretches;
        rates_[slot] = seconds_per_call;
        clocks_[slot] = hooks_.core_clock_hz ? hooks_.core_clock_hz() : 0;
    }
    bool steady() const {
        return count_ >= stretches && within(rates_, tolerance_) &&
               (!hooks_.core_clock_hz || within(clocks_, clock_tolerance));
    }

private:
    static constexpr std::size_t stretches =
        3; // two differences: a ramp is seen, an accident is not
    // The measured core clock repeats to a few tenths of a percent; a step of turbo is 25 to 100 MHz,
    // one to three percent.
    static constexpr double clock_tolerance = 0.01;

    static bool within(const std::array<double, stretches>& values, double tolerance) {
        const auto [low, high] = std::ranges::minmax_element(values);
        return *high - *low <= tolerance * *high;
    }

    double tolerance_;
    const Hooks& hooks_;
    std::array<double, stretches> rates_{};
    std::array<double, stretches> clocks_{};
    std::size_t count_ = 0;
};

/// Runs batches of `calls` until steady; the seconds per call of the last stretch. Rank 0 watches the
/// clock and ends stretches, so that all ranks find the same rate.
Result<double> run_until_steady(TeamSubject& team, std::uint64_t calls,
                                const record::Protocol& protocol, Clock& clock, const Hooks& hooks,
                                Pulse& pulse) {
    enum Verdict : std::uint8_t { go_on, stretch_ends, warm };
    // A twentieth: 25 ms by default, some ten batches, and steadiness shows after 75 ms at best.
    const double stretch_length = protocol.warmup_seconds / 20;
    const double longest = std::max(protocol.warmup_seconds, protocol.load_seconds);
    const double begin = clock.now();
    double stretch_begin = begin;
    double measured = 0; // seconds in this stretch
    double batches = 0;
    Steadiness steadiness{protocol.target, hooks};
    for (;;) {
        Result<double> seconds = team.run(calls);
        if (!seconds) return seconds;
        measured += *seconds;
        ++batches;
        const double rate = measured / batches / static_cast<double>(calls);
        const double now = clock.now();
        Verdict verdict = go_on;
        if (team.is_root() && now - stretch_begin >= stretch_length) {
            steadiness.add(rate);
            verdict = steadiness.steady() ? warm : stretch_ends;
        }
        if (now - begin >= longest) verdict = warm;
        if (verdict == warm && now - begin < protocol.load_seconds) verdict = stretch_ends;
        const std::uint64_t agreed = team.from_root(verdict);
        if (agreed == warm) return rate;
        if (agreed == stretch_ends) {
            stretch_begin = now;
            measured = batches = 0;
        }
        pulse.beat("warming up");
    }
}

/// The length that batches aim at, in seconds: at least the floor and so many times the cost of the
/// clock that its reads are negligible, and long enough that some 400 of them fill the shortest
/// window, which leaves the interval enough batches and Google Benchmark few to manage.
double batch_length(const record::Protocol& protocol, Clock& clock) {
    constexpr double batches_wanted = 400; // twice the batches that are asked for before a look
    return std::max({protocol.batch_floor, protocol.clock_factor * clock.read_cost(),
                     protocol.min_seconds / batches_wanted});
}

/// The number of calls that makes a batch of about `length` seconds, found by trying, from `start` up
/// or down. One call if the subject needs single calls, and never more than one rewind allows.
Result<Calibration> calibrate(TeamSubject& team, double length, std::uint64_t start) {
    const std::uint64_t limit = call_limit(team.subject());
    std::uint64_t calls = std::clamp<std::uint64_t>(start, 1, limit);
    for (;;) {
        ASSAY_TRY(const double seconds, team.run(calls));
        const std::uint64_t next = scaled(calls, seconds, length, limit);
        // From half the length on, the rate is known well enough to set the number by it.
        if (seconds >= length / 2 || next == calls || calls == limit) {
            if (seconds == 0 && calls == most_calls)
                return fail(fmt::format("the clock did not advance during {} calls", calls),
                            Fault::benchmark);
            return Calibration{.calls = next,
                               .seconds_per_call = seconds / static_cast<double>(calls)};
        }
        // At most tenfold: the first calls are cold, or too short for the clock to tell.
        calls = std::clamp(next, std::min(2 * calls, limit), std::min(10 * calls, limit));
    }
}

/// Calibrates, runs until rate and core clock have been steady for three stretches or the time for
/// warming up is spent, at least for load_seconds, and calibrates again with the warm rate.
Result<Calibration> warm_up(TeamSubject& team, const record::Protocol& protocol, Clock& clock,
                            const Hooks& hooks, Pulse& pulse) {
    const double length = batch_length(protocol, clock);
    Result<Calibration> cold = calibrate(team, length, 1);
    if (!cold) return cold;
    ASSAY_TRY(const double rate,
              run_until_steady(team, cold->calls, protocol, clock, hooks, pulse));
    // Nothing to calibrate, and the call may be long.
    if (call_limit(team.subject()) == 1 || rate >= length)
        return Calibration{.calls = 1, .seconds_per_call = rate};
    return calibrate(team, length, cold->calls);
}

// --- checks --------------------------------------------------------------------------------------

// The checks before and after the timed window.

/// Run once, verify. Not passed: `detail` says what was wrong.
Result<record::Verification> check_result(TeamSubject& team) {
    ASSAY_TRY(team.run(1));
    return team.verify();
}

/// After the result was made wrong on purpose.
Result<record::Verification> expect_objection(TeamSubject& team, record::Verification sound,
                                              const char* otherwise) {
    ASSAY_TRY(const bool objects, team.verify_objects());
    if (!objects) {
        sound.passed = false;
        sound.error.reset(); // the error of the sound result says nothing about the wrong one
        sound.detail = otherwise;
    }
    return sound;
}

/// Injects an error into the result: verify() must reject it. `sound`: the verification of the correct result.
Result<record::Verification> check_notices(TeamSubject& team, record::Verification sound) {
    ASSAY_TRY(team.spoil());
    // Every batch rewinds before it runs, so nothing of the spoiled or poisoned state is measured.
    return expect_objection(team, std::move(sound), "verify() did not detect the injected error");
}

/// Runs once more and poisons the output: verify() must reject it, or else a run() that does nothing would pass.
Result<record::Verification> check_poison(TeamSubject& team, record::Verification sound) {
    ASSAY_TRY(team.run(1));
    ASSAY_TRY(team.poison());
    return expect_objection(
        team, std::move(sound),
        "poison() did not change the result, so a run() that does nothing would pass");
}

/// Poisons the whole output, runs the timed code once more and verifies: an accepted result was computed by that
/// run, not left over. The run is an extra batch after the window, of as many calls as those in it (one if the
/// subject rewinds), and its time is discarded: poisoning moves data in and out of the caches, and which batch is
/// the last of the window is only known afterwards. Poison comes before rewind, which restores inputs that share
/// memory with the output.
Result<record::Verification> check_after(TeamSubject& team, std::uint64_t calls) {
    ASSAY_TRY(team.poison());
    const std::uint64_t checked_calls = team.subject().rewinds ? 1 : calls;
    ASSAY_TRY(team.run(checked_calls));
    return team.verify();
}

/// Why a check did not pass, in words: "error 3 exceeds the bound 1e-9".
std::string describe(const record::Verification& verification) {
    std::string text = verification.detail;
    if (verification.error && verification.bound) {
        if (!text.empty()) text += "; ";
        text += fmt::format("error {:.3g} against a bound of {:.3g}", *verification.error,
                            *verification.bound);
    }
    return text.empty() ? "verify() rejected the result" : text;
}

// --- soaking -------------------------------------------------------------------------------------

// The window of a soak: one call after the other for a while, and every result looked at. Working and idling may
// alternate, by the clock of the machine, so that all siblings step at the same time.

/// A call of the window took so long.
using Take = std::function<void(double seconds)>;

/// Share of the time, at most, for the check of a benchmark without a digest.
constexpr double check_share = 0.2;

/// How long until the machine works again; 0: it works now.
double idle_for(double now, double step) {
    if (!(step > 0)) return 0;
    const double within = std::fmod(now, 2 * step);
    return within < step ? 0 : (2 * step) - within;
}

/// Until the window is over: budget_seconds of wall time, but never longer than the limit allows.
Result<void> soak(TeamSubject& team, Comparison& comparison, const record::Protocol& protocol,
                  Clock& clock, const Hooks& hooks, double latest, const Take& take) {
    ASSAY_TRY(comparison.begin());
    const double end = std::min(clock.now() + protocol.budget_seconds, latest);
    const bool compares = team.subject().has_digest;
    double check_at = 0; // the first call is checked
    // Only the decisions of rank 0 count.
    const auto decide = [&](bool mine) { return team.from_root(mine ? 1 : 0) != 0; };
    do {
        if (const double idle = idle_for(clock.now(), protocol.step_seconds);
            idle > 0 && hooks.pause)
            hooks.pause(idle);
        ASSAY_TRY(const auto seconds, team.run(1));
        comparison.count(1);
        take(seconds);
        ASSAY_TRY(comparison.look());
        if (const double now = clock.now(); !compares && decide(now >= check_at)) {
            ASSAY_TRY(const auto verification, team.verify());
            ASSAY_TRY(comparison.judge(verification));
            check_at = clock.now() + ((clock.now() - now) * (1 / check_share - 1));
        }
    } while (decide(clock.now() < end));
    return {};
}

/// For people: what was wrong; empty if nothing was.
std::string describe(const record::SoakVisit& found) {
    if (found.wrong == 0) return {};
    std::string text = fmt::format("{} of {} calls gave wrong results", found.wrong, found.calls);
    if (found.corruptions.empty()) return text;
    const auto& first = found.corruptions.front();
    if (first.element)
        text += fmt::format("; first: call {}, element {} of output {}, bits {}", first.call,
                            *first.element, first.output.value_or(0), first.bits);
    else if (first.block)
        text += fmt::format("; first: call {}, block {}", first.call, *first.block);
    else
        text += fmt::format("; first: call {}: {}", first.call, first.detail);
    return text;
}

// -------------------------------------------------------------------------------------------------

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
    Engine(Subject& subject, const record::Protocol& protocol, Clock& clock, BatchRunner& runner,
           Team team, const Hooks& hooks, record::Replica begun)
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
        record::set_conclusion(result_.replica, std::move(ending));
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
            worker::warm_up(team_, protocol_, clock_, hooks_, pulse_);
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
            soaked = worker::soak(team_, comparison_, protocol_, clock_, hooks_,
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
        return worker::judge(kept_, protocol_, resolution, needed_);
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

    const record::Protocol& protocol_;
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

Measurement measure(Subject& subject, const record::Protocol& protocol, Clock& clock,
                    BatchRunner& runner, Team team, const Hooks& hooks, record::Replica begun) {
    return Engine{subject, protocol, clock, runner, team, hooks, std::move(begun)}.measure();
}

} // namespace assay::worker
