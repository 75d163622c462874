// SPDX-License-Identifier: Apache-2.0
//
// Batches run by Google Benchmark. Its registry is global: only one thread may run batches, and
// nothing else in the process may use Google Benchmark.

#include "measure/subject.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <array>
#include <limits>

namespace assay::measure {
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

} // namespace assay::measure
