// SPDX-License-Identifier: Apache-2.0
#include "turns.hpp"

#include "stats/interval.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <fstream>
#include <limits>
#include <memory>
#include <thread>
#include <utility>

namespace assay::peers {
namespace {

double wall_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// CPU seconds that were not idle, of all CPUs together.
double busy_now() {
    std::ifstream file{"/proc/stat"};
    std::string label;
    file >> label; // "cpu": user nice system idle iowait irq softirq steal
    double busy = 0;
    for (int field = 0; field < 8; ++field) {
        double ticks = 0;
        file >> ticks;
        const bool waits = field == 3 || field == 4;
        if (!waits) busy += ticks;
    }
    return busy / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

double cpu_count() { return static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN)); }

/// Threads of an OpenMP team spin for a while after their work; the other side's turn begins when
/// they have gone to sleep.
void let_threads_sleep() { std::this_thread::sleep_for(std::chrono::milliseconds{10}); }

Pair one_pair(const Turn& a, const Turn& b, double seconds,
              const std::function<double()>& own_seconds) {
    ForeignUse foreign{own_seconds};
    foreign.begin();
    Pair pair;
    for (const bool is_a : {true, false, false, true}) {
        let_threads_sleep();
        (is_a ? pair.a : pair.b) += (is_a ? a : b)(seconds) / 2;
    }
    pair.foreign = foreign.end();
    return pair;
}

} // namespace

double own_cpu_seconds() {
    timespec time{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double cpu_seconds_with_ended() {
    rusage ended{};
    ::getrusage(RUSAGE_CHILDREN, &ended);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return own_cpu_seconds() + seconds(ended.ru_utime) + seconds(ended.ru_stime);
}

double cpu_seconds_of(int pid) {
    clockid_t clock{};
    timespec time{};
    if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return 0;
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void ForeignUse::begin() {
    busy_ = busy_now();
    own_ = own_seconds_();
    wall_ = wall_now();
}

double ForeignUse::end() const {
    const double busy = busy_now() - busy_;
    const double own = own_seconds_() - own_;
    return std::max(busy - own, 0.0) / ((wall_now() - wall_) * cpu_count());
}

Pair quiet_pair(const std::function<Pair()>& measure, std::size_t attempts, Ratio& counts) {
    constexpr double most_foreign = 0.02; // share of all CPU time
    Pair best = measure();
    for (std::size_t attempt = 1; attempt < attempts && best.foreign > most_foreign; ++attempt) {
        ++counts.repeated;
        const Pair again = measure();
        if (again.foreign < best.foreign) best = again;
    }
    counts.disturbed += best.foreign > most_foreign ? 1 : 0;
    return best;
}

Ratio mean_ratio(const std::vector<double>& ratios) {
    std::vector<stats::Estimate> estimates;
    estimates.reserve(ratios.size());
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    for (const double ratio : ratios) estimates.push_back({ratio, unknown, unknown});
    const stats::Combined mean = stats::combine_replicas(estimates);
    return {.value = mean.value, .low = mean.low, .high = mean.high, .pairs = ratios.size()};
}

Difference mean_difference(const std::vector<double>& differences) {
    const stats::Interval mean = stats::batch_means_interval(differences);
    return {.value = mean.mean, .low = mean.low, .high = mean.high};
}

Ratio ratio_of_pairs(const std::function<Pair()>& measure, const Plan& plan,
                     std::vector<double>* added) {
    std::vector<double> ratios;
    Ratio counts;
    for (std::size_t i = 0; i < plan.pairs; ++i) {
        const Pair pair = quiet_pair(measure, plan.attempts, counts);
        ratios.push_back(pair.b / pair.a);
        if (added != nullptr) added->push_back(pair.a - pair.b);
        counts.a_seconds += pair.a / static_cast<double>(plan.pairs);
        counts.b_seconds += pair.b / static_cast<double>(plan.pairs);
    }
    Ratio result = mean_ratio(ratios);
    result.repeated = counts.repeated;
    result.disturbed = counts.disturbed;
    result.a_seconds = counts.a_seconds;
    result.b_seconds = counts.b_seconds;
    return result;
}

Ratio take_turns(const Turn& a, const Turn& b, const Plan& plan,
                 const std::function<double()>& own_seconds) {
    a(plan.turn_seconds / 4); // warms up, and finds the number of calls
    b(plan.turn_seconds / 4);
    return ratio_of_pairs([&] { return one_pair(a, b, plan.turn_seconds, own_seconds); }, plan);
}

Turn turn_of(std::function<double(std::size_t calls)> sample) {
    auto per_call = std::make_shared<double>(0);
    return [sample = std::move(sample), per_call](double seconds) {
        if (*per_call == 0) *per_call = sample(1);
        const auto calls = static_cast<std::size_t>(std::max(1.0, seconds / *per_call));
        const double mean = sample(calls) / static_cast<double>(calls);
        *per_call = mean;
        return mean;
    };
}

} // namespace assay::peers
