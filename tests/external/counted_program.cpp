// SPDX-License-Identifier: Apache-2.0
//
// A program of Google Benchmark that counts bytes and items, as somebody else's would.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <numeric>
#include <vector>

namespace {

void sum(benchmark::State& state) {
    const std::vector<std::int64_t> numbers(static_cast<std::size_t>(state.range(0)), 1);
    for ([[maybe_unused]] auto _ : state)
        benchmark::DoNotOptimize(std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0}));
    const auto items = state.iterations() * state.range(0);
    state.SetItemsProcessed(items);
    state.SetBytesProcessed(items * 8);
}
BENCHMARK(sum)->Arg(1000)->Arg(100'000);

void nothing(benchmark::State& state) {
    for ([[maybe_unused]] auto _ : state) benchmark::ClobberMemory();
}
BENCHMARK(nothing);

} // namespace

BENCHMARK_MAIN();
