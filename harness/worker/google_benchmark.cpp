// SPDX-License-Identifier: Apache-2.0
//
// Batches run by Google Benchmark. Its registry is global: only one thread may run batches, and
// nothing else in the process may use Google Benchmark.

#include "worker/subject.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>

namespace assay::worker {
namespace {

/// Prints nothing; keeps the measured time.
class QuietReporter final : public benchmark::BenchmarkReporter {
public:
    bool ReportContext(const Context& /*context*/) override { return true; }
    void ReportRuns(const std::vector<Run>& runs) override {
        for (const Run& run : runs) {
            ++count_;
            seconds_ = run.real_accumulated_time;
        }
    }
    void forget() { count_ = 0; }
    int count() const { return count_; }
    double seconds() const { return seconds_; }

private:
    int count_ = 0;
    double seconds_ = 0;
};

/// Google Benchmark takes options from BENCHMARK_* variables, which would list instead of run, repeat,
/// or write a file for every batch. Options given here win over them.
void initialise() {
    std::array options{
        std::string{"assay"},
        std::string{"--benchmark_list_tests=false"},
        std::string{"--benchmark_repetitions=1"},
        std::string{"--benchmark_enable_random_interleaving=false"},
        std::string{"--benchmark_report_aggregates_only=false"},
        std::string{"--benchmark_display_aggregates_only=false"},
        std::string{"--benchmark_out="},
        std::string{"--benchmark_perf_counters="},
    };
    std::array<char*, options.size() + 1> arguments{};
    for (std::size_t i = 0; i < options.size(); ++i) arguments[i] = options[i].data();
    int count = static_cast<int>(options.size());
    benchmark::Initialize(&count, arguments.data());
}

class GoogleBenchmark final : public BatchRunner {
public:
    GoogleBenchmark() { initialise(); }

    Result<double> run(Subject& subject, std::uint64_t calls) override {
        constexpr auto most_calls =
            static_cast<std::uint64_t>(std::numeric_limits<benchmark::IterationCount>::max());
        if (calls == 0 || calls > most_calls) // Iterations(0) ends the process
            return fail(fmt::format("a batch of {} calls is out of range", calls),
                        Fault::benchmark);
        const auto iterations = static_cast<benchmark::IterationCount>(calls);

        Result<double> sampled = 0.0;
        benchmark::RegisterBenchmark(
            "batch",
            [&](benchmark::State& state) {
                // One pass: the batch is as long as the number of iterations. A sample that fails must
                // not leave the loop, which would end the process; it counts as no time.
                while (state.KeepRunningBatch(iterations)) {
                    sampled = subject.sample(calls);
                    state.SetIterationTime(sampled.value_or(0));
                }
            })
            ->UseManualTime()
            ->Iterations(iterations);
        reporter_.forget();
        benchmark::RunSpecifiedBenchmarks(&reporter_, "all");
        benchmark::ClearRegisteredBenchmarks(); // or the next batch would run this one again

        if (!sampled) return sampled;
        if (reporter_.count() != 1)
            return fail(fmt::format("Google Benchmark ran a batch {} times instead of once",
                                    reporter_.count()),
                        Fault::benchmark);
        return reporter_.seconds();
    }

private:
    QuietReporter reporter_;
};

} // namespace

BatchRunner& google_benchmark() {
    static GoogleBenchmark runner;
    return runner;
}

namespace {

class SteadyClock final : public Clock {
public:
    double now() override {
        return std::chrono::duration<double>(Source::now().time_since_epoch()).count();
    }
    double read_cost() override { return read_cost_; }
    double resolution() override { return resolution_; }

private:
    using Source = std::chrono::steady_clock;

    static double seconds(Source::duration duration) {
        return std::chrono::duration<double>(duration).count();
    }

    /// The quickest of several series: what reading costs when nobody interrupts.
    static double measure_read_cost() {
        constexpr int series = 20;
        constexpr int reads = 1000; // some 30 us each series
        auto quickest = Source::duration::max();
        for (int i = 0; i < series; ++i) {
            const auto begin = Source::now();
            auto end = begin;
            for (int j = 0; j < reads; ++j) end = Source::now();
            quickest = std::min(quickest, end - begin);
        }
        return seconds(quickest) / reads;
    }

    /// The smallest step seen between two readings that differ.
    static double measure_resolution() {
        constexpr int steps = 1000;
        auto smallest = Source::duration::max();
        for (int i = 0; i < steps; ++i) {
            const auto begin = Source::now();
            auto end = begin;
            while (end == begin) end = Source::now();
            smallest = std::min(smallest, end - begin);
        }
        return seconds(smallest);
    }

    double read_cost_ = measure_read_cost();
    double resolution_ = measure_resolution();
};

} // namespace

Clock& steady_clock() {
    static SteadyClock clock;
    return clock;
}

} // namespace assay::worker
