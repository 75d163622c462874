// SPDX-License-Identifier: Apache-2.0
#include "run/neighbours.hpp"

#include "base/file.hpp"
#include "json/codec.hpp"
#include "json/json.hpp"
#include "record/format.hpp"
#include "stats/summary.hpp"
#include "telemetry/snapshot.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <latch>
#include <span>
#include <system_error>
#include <thread>
#include <utility>

namespace assay::run {
namespace {

constexpr std::string_view schema_name = "assay.probes/1";
constexpr std::size_t most_runs = 20;
constexpr std::size_t most_probes = 1000; ///< of a run
constexpr std::size_t fewest_probes = 20; ///< that tell a best
constexpr double best_quantile = 0.95;
/// Probes of a quiet machine have a standard deviation of some 4%, and
/// the worse of two is compared with one of the best.
constexpr double far_below = 0.85;
constexpr int windows = 3;
constexpr std::chrono::milliseconds window{10};

std::vector<int> usable_cpus() {
    cpu_set_t set;
    CPU_ZERO(&set);
    std::vector<int> cpus;
    if (::sched_getaffinity(0, sizeof(set), &set) != 0) return cpus;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
    return cpus;
}

void stay_on(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    static_cast<void>(::sched_setaffinity(0, sizeof(set), &set)); // where it fails, threads wander
}

/// One way between two CPUs, in seconds: the fastest of five groups of round trips, since interrupts only slow. Nothing
/// where the other does not answer within 20 ms.
std::optional<double> latency_between(int one, int other) {
    constexpr int groups = 5;
    constexpr int trips = 200;
    constexpr std::chrono::milliseconds patience{20};
    struct alignas(128) Ball { // two cache lines: the next one is fetched along
        std::atomic<int> value{0};
    } ball;
    const auto give_up = std::chrono::steady_clock::now() + patience;
    const auto reaches = [&](int wanted) {
        for (int spins = 1; ball.value.load(std::memory_order_acquire) != wanted; ++spins)
            if (spins % 1024 == 0 && std::chrono::steady_clock::now() > give_up) return false;
        return true;
    };
    std::optional<double> best;
    {
        const std::jthread echo{[&] {
            stay_on(other);
            for (int i = 0; i < groups * trips; ++i) {
                if (!reaches(2 * i + 1)) return;
                ball.value.store(2 * i + 2, std::memory_order_release);
            }
        }};
        const std::jthread caller{[&] {
            stay_on(one);
            for (int group = 0; group < groups; ++group) {
                const auto begun = std::chrono::steady_clock::now();
                for (int i = group * trips; i < (group + 1) * trips; ++i) {
                    ball.value.store(2 * i + 1, std::memory_order_release);
                    if (!reaches(2 * i + 2)) return;
                }
                const std::chrono::duration<double> taken =
                    std::chrono::steady_clock::now() - begun;
                const double seconds = taken.count() / (2 * trips);
                best = std::min(best.value_or(seconds), seconds);
            }
        }};
    } // both have ended
    return best;
}

/// Passes over one slice until the end; bytes moved. a = b + s c in thirds of it.
double triad(std::span<double> slice, std::chrono::steady_clock::time_point end) {
    const std::size_t third = slice.size() / 3;
    double* const a = slice.data();
    const double* const b = a + third;
    const double* const c = b + third;
    constexpr std::size_t chunk = std::size_t{1} << 15U; // elements between looks at the clock
    double bytes = 0;
    for (;;)
        for (std::size_t begin = 0; begin < third; begin += chunk) {
            const std::size_t last = std::min(third, begin + chunk);
            for (std::size_t i = begin; i < last; ++i) a[i] = b[i] + 3.0 * c[i];
            bytes += static_cast<double>(last - begin) * 3 * sizeof(double);
            if (std::chrono::steady_clock::now() >= end) return bytes;
        }
}

} // namespace

ProbeHistory ProbeHistory::read(const std::filesystem::path& path) {
    constexpr std::size_t most = std::size_t{1} << 20U;
    const auto text = read_whole(path, most);
    return text ? parse(*text) : ProbeHistory{};
}

ProbeHistory ProbeHistory::parse(std::string_view text) {
    const auto value = json::parse(text, "probes.json");
    if (!value) return {};
    ProbeHistory history;
    json::Document document{*value, "probes.json"};
    const auto root = document.root();
    std::string schema;
    root.read("schema", schema);
    root.each("runs", [&](const json::Object& item) {
        auto& run = history.runs_.emplace_back();
        std::vector<double> rates;
        std::optional<std::vector<double>> latencies; // not in older files
        item.read("started", run.started);
        item.read("bytes_per_second", rates);
        item.read("core_latency_seconds", latencies);
        for (std::size_t i = 0; i < rates.size(); ++i)
            run.probes.push_back(
                {rates[i], latencies && i < latencies->size() ? (*latencies)[i] : 0});
    });
    if (schema != schema_name || !document.result() || history.runs_.size() > most_runs) return {};
    return history;
}

std::optional<double> ProbeHistory::best(double core_latency_seconds) const {
    std::vector<double> all;
    for (const auto& run : runs_)
        for (const auto& [rate, latency] : run.probes) {
            const bool known = latency > 0 && core_latency_seconds > 0;
            if (rate > 0 && !(known && record::cpus_moved(latency, core_latency_seconds)))
                all.push_back(rate);
        }
    if (all.size() < fewest_probes) return std::nullopt;
    return stats::quantile(all, best_quantile);
}

void ProbeHistory::add(const std::string& started, std::vector<ProbeReading> probes) {
    if (probes.empty()) return;
    probes.resize(std::min(probes.size(), most_probes));
    runs_.push_back({.started = started, .probes = std::move(probes)});
    if (runs_.size() > most_runs) runs_.erase(runs_.begin());
}

std::string ProbeHistory::text() const {
    json::Value runs = json::Value::array();
    for (const auto& run : runs_) {
        std::vector<double> rates;
        std::vector<double> latencies;
        for (const auto& probe : run.probes) {
            rates.push_back(probe.bytes_per_second);
            latencies.push_back(probe.core_latency_seconds);
        }
        runs.push_back({{"started", run.started},
                        {"bytes_per_second", rates},
                        {"core_latency_seconds", latencies}});
    }
    return json::to_line({{"schema", schema_name}, {"runs", std::move(runs)}}) + '\n';
}

MemoryProbe::MemoryProbe(const record::Machine& machine) : cpus_{usable_cpus()} {
    constexpr std::int64_t least = std::int64_t{64} << 20U;
    constexpr std::int64_t most = std::int64_t{1} << 30U;
    std::int64_t cache = 0; // all instances of the largest level
    for (const auto& level : machine.caches)
        cache = std::max(cache, level.bytes * std::max(level.count, 1));
    const auto memory = machine.memory_limit_bytes.value_or(machine.memory_bytes.value_or(most));
    constexpr int beyond = 4;
    bytes_ = static_cast<std::size_t>(
        std::min(std::clamp(beyond * cache, least, most), std::max(memory / 16, std::int64_t{0})));
}

void MemoryProbe::Unmap::operator()(double* numbers) const { ::munmap(numbers, bytes); }

/// Nothing where there is no memory. Children get no copy of it: otherwise the first write to each page after a fork is
/// a fault, and on a virtual machine with two CPUs the probes of a run took ten seconds of them.
MemoryProbe::Slice MemoryProbe::make_slice(std::size_t numbers) {
    const std::size_t bytes = numbers * sizeof(double);
    void* const memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return {}; // NOLINT(performance-no-int-to-ptr)
    ::madvise(memory, bytes, MADV_DONTFORK);
    ::madvise(memory, bytes, MADV_HUGEPAGE); // advice, which a kernel may not take
    Slice slice{static_cast<double*>(memory), Unmap{bytes}};
    std::fill_n(slice.get(), numbers, 1.0);
    return slice;
}

std::optional<double> MemoryProbe::measure() try {
    if (cpus_.empty() || bytes_ == 0) return std::nullopt;
    slices_.resize(cpus_.size());
    const std::size_t size = bytes_ / cpus_.size() / sizeof(double);
    const auto threads = static_cast<std::ptrdiff_t>(cpus_.size());
    double best = 0;
    for (int turn = 0; turn < windows; ++turn) {
        std::latch ready{threads};
        std::vector<double> rates(cpus_.size(), 0);
        std::vector<std::jthread> team;
        const auto probe = [&](std::size_t i) {
            stay_on(cpus_[i]);
            if (!slices_[i]) slices_[i] = make_slice(size);
            const std::span slice{slices_[i].get(), slices_[i] ? size : 0};
            // A kernel may have reclaimed idle memory since the last probe: its page faults are not a neighbour's.
            constexpr std::size_t page = 4096 / sizeof(double);
            for (std::size_t at = 0; at < slice.size(); at += page) {
                volatile double& touched = slice[at];
                touched = 1.0;
            }
            ready.arrive_and_wait();
            if (slice.empty()) return;
            const auto begun = std::chrono::steady_clock::now();
            const double bytes = triad(slice, begun + window);
            const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begun;
            rates[i] = bytes / taken.count();
        };
        for (std::size_t i = 0; i < cpus_.size(); ++i) try {
                team.emplace_back(probe, i);
            } catch (const std::system_error&) { // those that started must not wait for the others
                ready.count_down(threads - static_cast<std::ptrdiff_t>(i));
                return std::nullopt;
            }
        team.clear(); // joins
        double sum = 0;
        for (const double rate : rates) sum += rate;
        best = std::max(best, sum);
    }
    if (best > 0) return best;
    return std::nullopt;
} catch (const std::exception&) { // no thread or no memory: no probe
    return std::nullopt;
}

std::optional<double> core_latency() try {
    constexpr std::size_t most_pairs = 8;
    const auto cpus = usable_cpus();
    if (cpus.size() < 2) return std::nullopt;
    const std::size_t pairs = std::min(most_pairs, cpus.size() - 1);
    double logs = 0;
    for (std::size_t i = 1; i <= pairs; ++i) {
        const auto seconds = latency_between(cpus[0], cpus[i * (cpus.size() - 1) / pairs]);
        if (!seconds || !(*seconds > 0)) return std::nullopt;
        logs += std::log(*seconds);
    }
    return std::exp(logs / static_cast<double>(pairs));
} catch (const std::system_error&) { // no thread
    return std::nullopt;
}

void judge_placement(record::Telemetry& telemetry, std::optional<double> before,
                     std::optional<double> after) {
    if (!before || !after) return;
    telemetry.core_latency_seconds = std::sqrt(*before * *after);
    if (!record::cpus_moved(*before, *after)) return;
    disturb(telemetry, record::DisturbanceCode::cpus_moved,
            {{"before_seconds", *before}, {"after_seconds", *after}},
            fmt::format("The hypervisor moved the CPUs: {} between them before, {} after.",
                        record::human(*before, "s"), record::human(*after, "s")));
}

void judge_neighbours(record::Telemetry& telemetry, double probe, double best) {
    if (!(probe < far_below * best)) return;
    disturb(telemetry, record::DisturbanceCode::neighbours, {{"share", probe / best}},
            fmt::format("Memory reached {} of the best of this machine just before or after: "
                        "neighbours use it, or the machine has changed.",
                        record::human_percent(probe / best)));
}

// --- quiet ---------------------------------------------------------------------------------------

namespace {

constexpr double sample_seconds = 0.2;
constexpr double quiet_share = 0.02;

/// Others' share of the time of all CPUs, less what the counting in ticks explains.
double foreign_share(const telemetry::Snapshot& begin, const telemetry::Snapshot& end,
                     double own_seconds) {
    const auto cpus = static_cast<double>(end.cpus.size());
    const double capacity = (end.time - begin.time) * cpus;
    if (!(capacity > 0)) return 0;
    const auto& before = begin.all_cpus;
    const auto& after = end.all_cpus;
    const double used = after.busy_seconds.value_or(0) - before.busy_seconds.value_or(0) +
                        after.steal_seconds.value_or(0) - before.steal_seconds.value_or(0) -
                        own_seconds;
    const double tick = 1.0 / static_cast<double>(std::max(1L, ::sysconf(_SC_CLK_TCK)));
    return (used - 0.82 * std::sqrt(cpus) * tick) / capacity; // telemetry/window.cpp
}

} // namespace

bool wait_for_quiet(const QuietOptions& options, double limit_seconds) {
    const auto look = [&] {
        telemetry::Snapshot snapshot;
        telemetry::read_cpu_time(options.files, snapshot);
        snapshot.time = options.now();
        return snapshot;
    };
    const double started = options.now();
    for (;;) {
        const auto begin = look();
        if (!begin.all_cpus.busy_seconds) return true;
        const double own = options.own_seconds();
        if (!options.pause(sample_seconds)) return false;
        const auto end = look();
        if (foreign_share(begin, end, options.own_seconds() - own) <= quiet_share) return true;
        if (end.time - started >= limit_seconds) return false;
    }
}

} // namespace assay::run
