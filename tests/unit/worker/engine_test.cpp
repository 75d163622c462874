// SPDX-License-Identifier: Apache-2.0

#include "fakes.hpp"
#include "stats/interval.hpp"
#include "worker/engine.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <tuple>

namespace assay::worker {
namespace {

using record::Status;
using namespace testing;

constexpr double micro = 1e-6;

/// A measurement with all of its surroundings; tests change what they are about.
struct Bench {
    explicit Bench(std::function<double()> seconds_per_call)
        : subject{clock, std::move(seconds_per_call)} {}

    Measurement measure() {
        const Team alone;
        return worker::measure(subject, protocol, clock, runner, alone, hooks);
    }

    FakeClock clock;
    FakeSubject subject;
    DirectRunner runner;
    record::Protocol protocol;
    Hooks hooks;
};

std::function<double()> constant(double seconds) {
    return [seconds] { return seconds; };
}

std::function<double()> noisy(double seconds, double deviation) {
    return [=, random = std::mt19937_64{1},
            noise = std::normal_distribution<>{1, deviation}]() mutable {
        return seconds * noise(random);
    };
}

TEST(Engine, MeasuresVerifiesAndSaysHowSureItIs) {
    Bench bench{noisy(10 * micro, 0.02)};
    const Measurement result = bench.measure();
    EXPECT_EQ(result.replica.status, Status::ok);
    EXPECT_EQ(result.replica.reason, "");
    ASSERT_TRUE(result.verification);
    EXPECT_TRUE(result.verification->passed);
    EXPECT_NEAR(*result.replica.seconds, 10 * micro, 0.05 * micro);
    EXPECT_LT(*result.replica.low, *result.replica.seconds);
    EXPECT_LT(*result.replica.seconds, *result.replica.high);
    EXPECT_TRUE(result.samples.empty());
}

TEST(Engine, WaitsForSiblingsAndWorksOnForThem) {
    Bench bench{constant(10 * micro)};
    std::size_t at_ready = 0;
    std::size_t at_end = 0;
    int asked = 0;
    bench.hooks.ready = [&] {
        at_ready = bench.subject.batch_calls.size();
        bench.clock.time += 1e6; // however long that is
    };
    bench.hooks.window_ends = [&] { at_end = bench.subject.batch_calls.size(); };
    bench.hooks.goes_on = [&] { return ++asked <= 5; };
    const Measurement result = bench.measure();
    EXPECT_EQ(result.replica.status, Status::ok) << result.replica.reason;
    EXPECT_EQ(at_ready, 2U) << "the checks";
    EXPECT_GT(at_end, at_ready + 100);
    EXPECT_EQ(asked, 6);
    EXPECT_EQ(bench.subject.batch_calls.size(), at_end + 5 + 1) << "and the last check";
    EXPECT_LE(*result.replica.batches, at_end);
}

TEST(Engine, ALoadHasNoWindowAndNoValue) {
    Bench bench{constant(10 * micro)};
    bool began = false;
    int asked = 0;
    bench.hooks.only_load = true;
    bench.hooks.window_begins = [&] { began = true; };
    bench.hooks.goes_on = [&] { return ++asked <= 5; };
    const Measurement result = bench.measure();
    EXPECT_EQ(result.replica.status, Status::ok) << result.replica.reason;
    EXPECT_FALSE(began);
    EXPECT_EQ(asked, 6);
    EXPECT_FALSE(result.replica.seconds);
    ASSERT_TRUE(result.verification);
    EXPECT_TRUE(result.verification->passed);

    Bench broken{constant(10 * micro)};
    broken.hooks.only_load = true;
    broken.subject.sound = broken.subject.computes_right = false;
    EXPECT_EQ(broken.measure().replica.status, Status::incorrect);
}

TEST(Engine, ChecksBeforeAndAfter) {
    Bench bench{constant(10 * micro)};
    bench.measure();
    const auto& steps = bench.subject.steps;
    ASSERT_GT(steps.size(), 10U);
    EXPECT_THAT(std::vector(steps.begin(), steps.begin() + 7),
                ElementsAre("sample", "verify", "spoil", "verify", "sample", "poison", "verify"));
    EXPECT_THAT(std::vector(steps.end() - 3, steps.end()),
                ElementsAre("poison", "sample", "verify"));
    EXPECT_EQ(bench.subject.batch_calls.front(), 1U);
    // The checked batch is one like those that were timed, and not one of them.
    EXPECT_EQ(bench.subject.batch_calls.back(), *(bench.subject.batch_calls.end() - 2));
}

TEST(Engine, OneLongCallIsAWindowAndIsTheOneThatIsChecked) {
    Bench bench{constant(7)};
    bench.subject.single_call = bench.subject.long_calls = true;
    const Measurement result = bench.measure();
    EXPECT_EQ(result.replica.status, Status::ok) << result.replica.reason;
    EXPECT_EQ(result.replica.seconds, 7);
    EXPECT_FALSE(result.replica.low) << "one call gives no interval";
    EXPECT_THAT(bench.subject.steps, ElementsAre("sample", "verify", "spoil", "verify", "sample",
                                                 "poison", "verify", "poison", "sample", "verify"));

    Bench broken{constant(7)};
    broken.subject.single_call = broken.subject.long_calls = true;
    int calls = 0;
    broken.subject.seconds_per_call = [&] {
        broken.subject.computes_right = ++calls < 3;
        return 7.0;
    };
    EXPECT_EQ(broken.measure().replica.status, Status::incorrect);
}

TEST(Engine, EndsWithAStatusAndItsReason) {
    const struct {
        std::function<double()> seconds_per_call;
        std::function<void(Bench&)> change;
        Status status;
        const char* reason;
    } cases[] = {
        {constant(micro), [](Bench& b) { b.subject.computes_right = false; }, Status::incorrect,
         "error 1 against a bound of 0.5"},
        {constant(micro), [](Bench& b) { b.subject.blind = true; }, Status::incorrect,
         "verify() did not detect the injected error"},
        {constant(micro), [](Bench& b) { b.subject.poisons = false; }, Status::incorrect,
         "poison() did not change the result"},
        // The result of an earlier run stays in place, so that it would look right.
        {constant(micro),
         [](Bench& b) { b.hooks.window_begins = [&b] { b.subject.writes_result = false; }; },
         Status::incorrect, ""},
        {constant(0),
         [](Bench& b) { // 10% slower every second
             b.subject.seconds_per_call = [&b] {
                 return 10 * micro * (1 + 0.1 * (b.clock.time - 100));
             };
         },
         Status::unstable, "drift: first half 1."},
        {noisy(3, 0.001), [](Bench&) {}, Status::unstable, "only 4 of 10 batches"},
        {constant(10 * micro),
         [](Bench& b) {
             b.subject.single_call = true;
             b.clock.step = micro; // a tenth of the call
             b.protocol.budget_seconds = 0.05;
         },
         Status::unstable, "±10%, target"},
        {constant(0), [](Bench&) {}, Status::failed, "did not advance"},
        {constant(0),
         [](Bench& b) {
             b.subject.single_call = b.subject.rewinds = true;
             b.protocol.limit_seconds = 1;
             b.hooks.core_clock_hz = [] { return 1e9; };
             b.subject.rewind_seconds = 0.01; // nothing else moves this clock
         },
         Status::failed, "did not advance"},
    };
    for (const auto& [seconds_per_call, change, status, reason] : cases) {
        SCOPED_TRACE(reason);
        Bench bench{seconds_per_call};
        change(bench);
        const Measurement result = bench.measure();
        EXPECT_EQ(result.replica.status, status);
        EXPECT_THAT(result.replica.reason, HasSubstr(reason));
        const bool is_shown = status == Status::unstable;
        EXPECT_EQ(result.replica.seconds.has_value(), is_shown) << "no rate of a wrong result";
        if (status != Status::incorrect) continue;
        EXPECT_TRUE(result.replica.values.empty());
        EXPECT_FALSE(result.verification->passed);
    }
}

TEST(Engine, MeasuresUntilItIsSureOrTheBudgetIsSpent) {
    for (const auto& [noise, status, seconds] :
         {std::tuple{0.3, Status::unstable, 2.0},
          {0.001, Status::ok, record::Protocol{}.min_seconds}}) {
        Bench bench{noisy(10 * micro, noise)};
        bench.protocol.budget_seconds = 2;
        const auto replica = bench.measure().replica;
        EXPECT_EQ(replica.status, status);
        const double measured =
            *replica.seconds * static_cast<double>(replica.values.size() * replica.calls.value());
        EXPECT_NEAR(measured, seconds, 0.05);
    }
}

TEST(Engine, LongCallsNeedFewBatches) {
    Bench bench{noisy(0.5, 0.001)};
    const Measurement result = bench.measure();
    EXPECT_EQ(result.replica.status, Status::ok) << result.replica.reason;
    EXPECT_EQ(result.replica.batches, bench.protocol.few_batches);
    EXPECT_EQ(result.replica.calls, 1U);
}

TEST(Engine, OneBatchHasAValueAndNoInterval) {
    Bench bench{constant(20)};
    const Measurement result = bench.measure();
    EXPECT_EQ(result.replica.status, Status::unstable);
    EXPECT_EQ(result.replica.seconds, 20.0);
    EXPECT_FALSE(result.replica.low);
    EXPECT_FALSE(result.replica.high);
}

TEST(Engine, NoIntervalIsNarrowerThanTheClock) {
    Bench bench{constant(10 * micro)};
    bench.clock.step = micro;
    const Measurement result = bench.measure();
    EXPECT_EQ(result.replica.status, Status::ok);
    const auto calls_of_a_batch = static_cast<double>(bench.subject.batch_calls.back());
    const double half = (*result.replica.high - *result.replica.low) / 2;
    EXPECT_NEAR(half, micro / calls_of_a_batch, 1e-15);
}

TEST(Engine, RewindsBeforeEveryBatchAndRespectsSafeCalls) {
    Bench bench{noisy(100 * micro, 0.01)};
    bench.subject.rewinds = true;
    bench.subject.safe_calls = 3;
    const Measurement result = bench.measure();
    EXPECT_EQ(result.replica.status, Status::ok) << result.replica.reason;
    const auto& steps = bench.subject.steps;
    for (std::size_t i = 0; i < steps.size(); ++i)
        if (steps[i] == "sample") {
            ASSERT_GT(i, 0U);
            ASSERT_EQ(steps[i - 1], "rewind");
        }
    const auto& calls = bench.subject.batch_calls;
    EXPECT_EQ(std::ranges::max(calls), 3U);
    // Verification is of one call after a rewind, and what poison destroyed is restored before it.
    EXPECT_EQ(calls.front(), 1U);
    EXPECT_EQ(calls.back(), 1U);
    EXPECT_THAT(std::vector(steps.end() - 4, steps.end()),
                ElementsAre("poison", "rewind", "sample", "verify"));
}

TEST(Engine, RewindsWithoutALimitAreBatched) {
    Bench bench{constant(micro)};
    bench.subject.rewinds = true;
    bench.measure();
    EXPECT_GT(bench.subject.batch_calls[bench.subject.batch_calls.size() / 2], 1000U);
}

TEST(Engine, SlowRewindsDoNotRunIntoTheLimit) {
    Bench bench{noisy(micro, 0.01)};
    bench.subject.rewinds = true;
    bench.subject.safe_calls = 1;
    bench.subject.rewind_seconds = 0.05;
    const double begin = bench.clock.time;
    const Measurement result = bench.measure();
    EXPECT_LT(bench.clock.time - begin, 0.6 * bench.protocol.limit_seconds);
    EXPECT_EQ(result.replica.status, Status::ok) << result.replica.reason;
    EXPECT_GT(result.replica.batches, 1000U);
}

TEST(Engine, ValuesAreTheTruthInBrief) {
    Bench bench{noisy(10 * micro, 0.15)};
    bench.protocol.keep_samples = true;
    std::size_t first = 0;
    bench.hooks.window_begins = [&] { first = bench.subject.batch_seconds.size(); };
    const Measurement result = bench.measure();
    const record::Replica& replica = result.replica;
    ASSERT_EQ(result.replica.status, Status::ok) << result.replica.reason;
    ASSERT_GT(replica.batches, 400U); // or nothing was merged
    EXPECT_LE(replica.values.size(), bench.protocol.kept_values);
    EXPECT_GE(replica.values.size(), bench.protocol.kept_values / 2);

    const std::uint64_t calls = bench.subject.batch_calls.back();
    EXPECT_EQ(*replica.batches % replica.values.size(), 0U);
    EXPECT_EQ(replica.calls, *replica.batches / replica.values.size() * calls);

    const auto window = bench.subject.batch_seconds.begin() + static_cast<std::ptrdiff_t>(first);
    const double total =
        std::accumulate(window, window + static_cast<std::ptrdiff_t>(*replica.batches), 0.0);
    EXPECT_NEAR(*replica.seconds, total / static_cast<double>(*replica.batches * calls), 1e-18);
    EXPECT_EQ(*replica.seconds, stats::mean(replica.values));
    ASSERT_EQ(result.samples.size(), replica.batches);
    EXPECT_DOUBLE_EQ(result.samples.front(), *window / static_cast<double>(calls));

    // Whoever holds the record finds the same interval.
    const stats::Interval again = stats::batch_means_interval(replica.values);
    EXPECT_EQ(*replica.low, again.low);
    EXPECT_EQ(*replica.high, again.high);
}

TEST(Engine, BatchesAreLongEnough) {
    Bench bench{constant(micro)};
    bench.measure();
    EXPECT_NEAR(bench.subject.batch_seconds.back(), 1.0 / 400, 2 * micro);

    Bench quick{constant(micro)};
    quick.protocol.min_seconds = 0.01;
    quick.measure();
    EXPECT_NEAR(quick.subject.batch_seconds.back(), 100 * micro, 2 * micro);

    Bench slow_clock{constant(micro)};
    slow_clock.clock.cost = 5 * micro; // an event of a device
    slow_clock.measure();
    EXPECT_NEAR(slow_clock.subject.batch_seconds.back(), 5e-3, 2 * micro);
}

TEST(Engine, ColdFirstCallsDoNotFixTheBatch) {
    int calls = 0;
    Bench bench{[&] { return ++calls < 5 ? 1e-2 : micro; }};
    bench.measure();
    EXPECT_NEAR(bench.subject.batch_seconds.back(), 1.0 / 400, 1.0 / 4000);
}

TEST(Engine, WarmUpEndsWhenTheRateIsSteady) {
    Bench bench{constant(10 * micro)};
    EXPECT_LT(bench.measure().replica.warmup_seconds.value(), 0.15);

    Bench ramp{constant(0)};
    ramp.subject.seconds_per_call = [&] { // steady after 0.3 s
        return 10 * micro * (1 + std::max(0.0, 0.3 - (ramp.clock.time - 100)));
    };
    const Measurement result = ramp.measure();
    EXPECT_GT(result.replica.warmup_seconds.value(), 0.25);
    EXPECT_LT(result.replica.warmup_seconds.value(), 0.45);
    EXPECT_EQ(result.replica.status, Status::ok) << result.replica.reason;
}

TEST(Engine, WarmUpIsBounded) {
    Bench bench{noisy(10 * micro, 0.5)};
    bench.subject.seconds_per_call = [n = noisy(10 * micro, 0.3)] { return std::abs(n()); };
    EXPECT_NEAR(bench.measure().replica.warmup_seconds.value(), 0.5, 0.1);
}

TEST(Engine, WhatIsSustainedIsAtLoadForLongAndHardlyRests) {
    Bench bench{constant(1.4e-3)}; // a product of matrices of 8192
    bench.protocol.min_seconds = 0.3;
    bench.protocol.budget_seconds = 0.5;
    bench.protocol.warmup_seconds = 0.15;
    EXPECT_LT(bench.measure().replica.warmup_seconds.value(), 0.3);
    EXPECT_EQ(bench.subject.batch_calls.back(), 1U);

    Bench sustained{constant(1.4e-3)};
    sustained.protocol = bench.protocol;
    sustained.protocol.batch_floor = 0.02;
    sustained.protocol.load_seconds = 2;
    double begin = 0;
    sustained.hooks.window_begins = [&] { begin = sustained.clock.time; };
    const Measurement result = sustained.measure();
    EXPECT_EQ(result.replica.status, Status::ok) << result.replica.reason;
    EXPECT_GE(begin - 100, 2);
    EXPECT_GE(sustained.subject.batch_seconds.back(), 0.02);
    EXPECT_LT(sustained.subject.batch_seconds.back(), 0.03);
    EXPECT_LT(sustained.clock.time - begin, 0.6); // 10 such batches are enough
}

TEST(Engine, WarmUpWaitsForTheCoreClock) {
    Bench bench{constant(10 * micro)};
    bench.hooks.core_clock_hz = [&] { // falls from turbo for 0.3 s
        return 3e9 + 1e9 * std::max(0.0, 0.3 - (bench.clock.time - 100));
    };
    EXPECT_GT(bench.measure().replica.warmup_seconds.value(), 0.25);
}

TEST(Engine, ThePhaseIsToldAtMostTwiceASecond) {
    Bench bench{noisy(10 * micro, 0.3)};
    std::vector<double> times;
    std::vector<std::string> phases;
    bench.hooks.phase = [&](const char* phase) {
        times.push_back(bench.clock.time);
        phases.emplace_back(phase);
    };
    bench.measure();
    ASSERT_GT(times.size(), 10U);
    for (std::size_t i = 1; i < times.size(); ++i) EXPECT_GE(times[i] - times[i - 1], 0.5);
    EXPECT_THAT(phases.front(), "warming up");
    EXPECT_THAT(phases.back(), "measuring");
}

TEST(Engine, TheWindowHooksEncloseTheWindow) {
    Bench bench{constant(10 * micro)};
    bench.hooks.window_begins = [&] { bench.subject.steps.emplace_back("begins"); };
    bench.hooks.window_ends = [&] { bench.subject.steps.emplace_back("ends"); };
    bench.measure();
    const auto& steps = bench.subject.steps;
    const auto begins = std::ranges::find(steps, "begins");
    const auto ends = std::ranges::find(steps, "ends");
    ASSERT_TRUE(begins < ends && ends != steps.end());
    EXPECT_TRUE(
        std::ranges::all_of(begins + 1, ends, [](const auto& step) { return step == "sample"; }));
    EXPECT_EQ(*(ends + 1), "poison");
}

/// An error in any step ends the measurement with that error, and a window that began ends.
class EngineErrors : public testing::TestWithParam<FakeSubject::Step> {};

TEST_P(EngineErrors, AreReported) {
    Bench bench{constant(10 * micro)};
    bench.subject.rewinds = true;
    bench.subject.fail_at = GetParam();
    int open = 0;
    bench.hooks.window_begins = [&] { ++open; };
    bench.hooks.window_ends = [&] { --open; };
    const Measurement result = bench.measure();
    EXPECT_EQ(result.replica.status, Status::failed);
    EXPECT_EQ(result.replica.reason, GetParam().name + " broke");
    EXPECT_EQ(bench.subject.steps.back(), GetParam().name);
    EXPECT_FALSE(result.replica.seconds);
    EXPECT_EQ(open, 0);
}

// Samples: 1 and 2 are checks, 3 to 6 calibration, 10 warm-up, 200 the window.
INSTANTIATE_TEST_SUITE_P(
    EveryStep, EngineErrors,
    testing::Values(FakeSubject::Step{"rewind", 1}, FakeSubject::Step{"sample", 1},
                    FakeSubject::Step{"verify", 1}, FakeSubject::Step{"spoil", 1},
                    FakeSubject::Step{"verify", 2}, FakeSubject::Step{"rewind", 2},
                    FakeSubject::Step{"sample", 2}, FakeSubject::Step{"sample", 5},
                    FakeSubject::Step{"sample", 10}, FakeSubject::Step{"rewind", 200},
                    FakeSubject::Step{"sample", 200}, FakeSubject::Step{"poison", 1},
                    FakeSubject::Step{"verify", 3}, FakeSubject::Step{"poison", 2},
                    FakeSubject::Step{"verify", 4}),
    [](const auto& test) { return test.param.name + std::to_string(test.param.number); });

TEST(Engine, ATimeThatIsNoneIsAnError) {
    for (const double bad : {-1.0, std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity()}) {
        int calls = 0;
        Bench bench{[&] { return ++calls == 20 ? bad : 10 * micro; }};
        const Measurement result = bench.measure();
        EXPECT_EQ(result.replica.status, Status::failed);
        EXPECT_THAT(result.replica.reason, HasSubstr("a time is finite and not negative"));
    }
}

} // namespace
} // namespace assay::worker
