// SPDX-License-Identifier: Apache-2.0

#include "worker/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace assay::measure {
namespace {

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
Result<double> run_until_steady(TeamSubject& team, std::uint64_t calls, const Protocol& protocol,
                                Clock& clock, const Hooks& hooks, Pulse& pulse) {
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

} // namespace

double batch_length(const Protocol& protocol, Clock& clock) {
    constexpr double batches_wanted = 400; // twice the batches that are asked for before a look
    return std::max({protocol.batch_floor, protocol.clock_factor * clock.read_cost(),
                     protocol.min_seconds / batches_wanted});
}

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

Result<Calibration> warm_up(TeamSubject& team, const Protocol& protocol, Clock& clock,
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

} // namespace assay::measure
