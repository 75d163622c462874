// SPDX-License-Identifier: Apache-2.0
#include "doctor/noise.hpp"

#include "machine/clock.hpp"
#include "telemetry/window.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <latch>
#include <limits>
#include <semaphore>
#include <thread>

namespace assay::harness {
namespace {

/// About 0.15 ms: long enough that reading the clock is negligible, short enough that a timer tick of
/// some microseconds shows.
constexpr std::int64_t additions = 512 * 1024;
constexpr std::size_t stretch = std::size_t{1} << 20U; // bytes read in one piece

void stay_on(int cpu) {
    if (cpu < 0 || cpu >= CPU_SETSIZE) return;
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(static_cast<std::size_t>(cpu), &here);
    ::sched_setaffinity(0, sizeof here, &here);
}

/// A buffer, read cyclically a stretch at a time.
class Reader {
public:
    explicit Reader(std::size_t bytes) : values_(bytes / sizeof(std::uint64_t), 1) {}

    void read() {
        const std::size_t count = stretch / sizeof(std::uint64_t);
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < count; ++i) sum += values_[at_ + i];
        at_ = at_ + 2 * count > values_.size() ? 0 : at_ + count;
        asm volatile("" : : "r"(sum)); // forces the compiler to compute the sum
    }

private:
    std::vector<std::uint64_t> values_;
    std::size_t at_ = 0;
};

/// A buffer for each core, so that together they exceed the caches.
std::size_t buffer_bytes(std::int64_t last_level_bytes, std::size_t cores) {
    constexpr std::int64_t least = std::int64_t{16} << 20U;
    constexpr std::int64_t most = std::int64_t{256} << 20U; // a core's share of any cache
    const auto share =
        4 * last_level_bytes / static_cast<std::int64_t>(std::max<std::size_t>(cores, 1));
    return static_cast<std::size_t>(std::clamp(share, least, most)) / stretch * stretch;
}

} // namespace

CoreWatch watch_core(const NoiseWork& work, double seconds) {
    CoreWatch watch;
    const double begin = work.now();
    for (double start = begin; start - begin < seconds;) {
        work.arithmetic();
        const double middle = work.now();
        work.memory();
        const double end = work.now();
        watch.arithmetic.push_back({.start = start - begin, .seconds = middle - start});
        watch.memory.push_back({.start = middle - begin, .seconds = end - middle});
        start = end;
    }
    return watch;
}

ClockRange clock_range(const std::vector<CoreWatch>& cores, std::int64_t chain) {
    constexpr double bin =
        0.1; // seconds: some hundred pieces, the fastest of them without an interrupt
    std::vector<double> clocks;
    for (const auto& core : cores) {
        std::vector<double> fastest;
        for (const auto& quantum : core.arithmetic) {
            const auto index = static_cast<std::size_t>(quantum.start / bin);
            if (index >= fastest.size())
                fastest.resize(index + 1, std::numeric_limits<double>::infinity());
            fastest[index] = std::min(fastest[index], quantum.seconds);
        }
        for (const double seconds : fastest)
            if (std::isfinite(seconds) && seconds > 0)
                clocks.push_back(static_cast<double>(chain) / seconds);
    }
    if (clocks.empty()) return {};
    return {.low = std::ranges::min(clocks),
            .median = stats::median(clocks),
            .high = std::ranges::max(clocks)};
}

NoiseProfile profile_noise(const std::vector<int>& cpus, double seconds,
                           std::int64_t last_level_bytes,
                           const std::function<void(double)>& progress) {
    NoiseProfile profile{.seconds = seconds};
    profile.cores.resize(cpus.size());
    const std::size_t bytes = buffer_bytes(last_level_bytes, cpus.size());
    const auto count = static_cast<std::ptrdiff_t>(cpus.size());
    std::latch ready{count};
    std::latch go{1};
    std::counting_semaphore<> finished{0};
    std::vector<std::jthread> threads;
    telemetry::Window window{{.owner = ::getpid()}};
    for (std::size_t i = 0; i < cpus.size(); ++i)
        threads.emplace_back([&, i] {
            stay_on(cpus[i]);
            Reader reader{bytes};
            const NoiseWork work{.now = telemetry::steady_seconds,
                                 .arithmetic = [] { machine::chain_seconds(additions); },
                                 .memory = [&] { reader.read(); }};
            watch_core(work, seconds / 50); // warms up caches and clock
            ready.count_down();
            go.wait();
            profile.cores[i] = watch_core(work, seconds);
            profile.cores[i].cpu = cpus[i];
            finished.release();
        });
    ready.wait();
    window.begin();
    const double begin = telemetry::steady_seconds();
    go.count_down();
    const std::chrono::duration<double> beat{std::min(0.1, seconds / 10)};
    for (auto left = count; left > 0;) {
        if (finished.try_acquire_for(beat)) --left;
        if (progress) progress(std::min(1.0, (telemetry::steady_seconds() - begin) / seconds));
    }
    profile.telemetry = window.end();
    threads.clear();
    profile.clock = clock_range(profile.cores, additions);
    return profile;
}

} // namespace assay::harness
