// SPDX-License-Identifier: Apache-2.0
#include "measure.hpp"
#include "record/reader.hpp"
#include "record/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace assay::truth {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

/// Other programs: two threads that compute while `works` says so, as long as this lives.
class Load {
public:
    explicit Load(const std::function<bool(double seconds)>& works, int threads = 2) {
        for (int i = 0; i < threads; ++i)
            threads_.emplace_back([works, begun = Clock::now()](const std::stop_token& stop) {
                std::atomic<double> sum = 0;
                while (!stop.stop_requested()) {
                    const std::chrono::duration<double> now = Clock::now() - begun;
                    if (!works(now.count())) {
                        std::this_thread::sleep_for(10ms);
                        continue;
                    }
                    for (const auto end = Clock::now() + 5ms; Clock::now() < end;) sum = sum + 1;
                }
            });
    }

private:
    std::vector<std::jthread> threads_;
};

/// A third of all periods of ten seconds, at random.
std::function<bool(double)> bursts(std::uint32_t seed) {
    std::mt19937 random{seed};
    std::vector<bool> periods(1000);
    for (auto&& period : periods) period = random() % 3 == 0;
    return [periods](double seconds) {
        constexpr double period = 10;
        return periods[static_cast<std::size_t>(seconds / period) % periods.size()];
    };
}
bool never(double) { return false; }
bool always(double) { return true; }
/// Half of one core, of one thread.
bool half(double seconds) { return std::fmod(seconds, 0.1) < 0.05; }

struct Trial {
    std::string name;
    std::filesystem::path file;
    record::Run run;
    double seconds = 0;
    bool is_busy = false; ///< under a load with pauses
};

Trial run_quick(const Measurement& measurement, const std::string& name, const Load&) {
    const auto folder = measurement.out / name;
    const auto begun = Clock::now();
    answer_of({(measurement.build / "bin/assay").string(), "run", "quick", "--out", folder.string(),
               "--json", "--quiet"},
              {});
    Trial trial{.name = name};
    trial.seconds = std::chrono::duration<double>(Clock::now() - begun).count();
    for (const auto& entry : std::filesystem::recursive_directory_iterator{folder})
        if (entry.path().filename() == "run.json") trial.file = entry.path();
    auto run = record::read_run(trial.file);
    if (!run) throw std::runtime_error{run.error().message};
    trial.run = std::move(*run);
    const auto busy = record::busy_of(trial.run);
    const auto unstable =
        std::ranges::count(trial.run.cases, record::Status::unstable, &record::Case::status);
    fmt::print(
        stderr,
        "{}: {:.0f} s, {:.0f} s of them measuring again; of {} cases {} were measured again, "
        "{} are disturbed, {} unstable\n",
        name, trial.seconds, trial.run.schedule ? trial.run.schedule->spent_seconds : 0, busy.cases,
        busy.measured_again, busy.disturbed, unstable);
    return trial;
}

const record::Metric* value_of(const record::Case& c) {
    const bool shown = record::is_measured(c.status) && c.status != record::Status::disturbed;
    return shown && !c.metrics.empty() && c.metrics.front().value ? &c.metrics.front() : nullptr;
}

/// How many values lie within 3% (memory 6%) of the quiet machine's, or within its interval for kinds that differ by
/// more between replicas.
std::vector<Figure> hold_against(const Trial& quiet, const Trial& busy) {
    Count steady_ones;
    Count others;
    Count disturbed;
    double moved = 0;
    for (std::size_t i = 0; i < quiet.run.cases.size(); ++i) {
        const auto& a = quiet.run.cases[i];
        const auto& b = busy.run.cases[i];
        if (!record::is_measured(a.status)) continue;
        disturbed.add(b.status == record::Status::disturbed);
        const auto* of_a = value_of(a);
        const auto* of_b = value_of(b);
        if (of_a == nullptr || of_b == nullptr) continue;
        const auto& kind = b.spread->source;
        const bool steady = kind == "arithmetic" || kind == "memory";
        double allowed = kind == "memory" ? 0.06 : 0.03;
        if (!steady && of_a->low && of_a->high)
            allowed = std::max(allowed, (*of_a->high - *of_a->low) / 2 / *of_a->value);
        // Elsewhere on the host the machine is another one.
        const auto distance = [](const record::Case& c) {
            return c.telemetry.core_latency_seconds.value_or(0);
        };
        if (distance(a) > 0 && distance(b) > 0 && record::cpus_moved(distance(a), distance(b))) {
            ++moved;
            continue;
        }
        const double off = std::abs(*of_b->value / *of_a->value - 1);
        (steady ? steady_ones : others).add(off <= allowed);
        if (off > allowed)
            fmt::print(stderr, "  {}: {} is off by {:.1f}%, allowed {:.1f}%\n", busy.name,
                       record::identity(b), 100 * off, 100 * allowed);
    }
    std::vector<Figure> figures{
        figure_of(busy.name + ": gemm, peaks, memory as when quiet", steady_ones),
        figure_of(busy.name + ": other cases as when quiet", others),
        figure_of(busy.name + ": cases that stay disturbed", disturbed)};
    figures[0].at_least = figures[1].at_least = 0.95;
    figures[2].at_most = 0.2;
    if (moved > 0)
        figures[0].note = fmt::format("{} left out: the hypervisor had moved the CPUs", moved);
    return figures;
}

/// Under a load without pauses all must be disturbed, and said so at once.
std::vector<Figure> of_permanent(const Trial& trial) {
    const auto busy = record::busy_of(trial.run);
    const double spent = trial.run.schedule ? trial.run.schedule->spent_seconds : 0;
    return {
        {.what = "permanent load: cases disturbed",
         .value = static_cast<double>(busy.disturbed) / std::max(busy.cases, 1),
         .of = static_cast<double>(busy.cases),
         .at_least = 0.95,
         .note = fmt::format("{:.0f} s, {:.1f} s of them measuring again", trial.seconds, spent)},
        {.what = "permanent load: patience spent in vain",
         .value = spent > 0 ? 1.0 : 0.0,
         .of = 1,
         .at_most = 0}};
}

/// A verdict, a bound, or a ratio of two known values with its interval.
bool says_something(const json::Value& contrast) {
    const std::string outcome = contrast.at("outcome");
    if (outcome == "better" || outcome == "worse" || outcome == "same") return true;
    const bool is_bound = !contrast.at("low").is_null() || !contrast.at("high").is_null();
    const auto& reason = contrast.at("reason_code");
    return is_bound &&
           (contrast.at("kind") != "exact" || reason.is_null() || reason == "between_times");
}

std::vector<Figure> compare_all(const Measurement& measurement, const std::vector<Trial>& trials) {
    Count called;
    Count said;
    for (std::size_t b = 1; b < trials.size(); ++b)
        for (std::size_t a = 0; a < b; ++a) {
            const auto answer = answer_of({(measurement.build / "bin/assay-report").string(),
                                           "compare", "a=" + trials[a].file.string(),
                                           "b=" + trials[b].file.string(), "--json"},
                                          {});
            for (const auto& table : answer.at("tables"))
                for (const auto& row : table.at("rows")) {
                    const auto& contrast = row.at("cells").at(1).at("contrast");
                    const std::string outcome = contrast.at("outcome");
                    if (trials[a].is_busy && trials[b].is_busy) said.add(says_something(contrast));
                    called.add(outcome == "better" || outcome == "worse");
                    if (outcome != "better" && outcome != "worse") continue;
                    fmt::print(stderr, "  {} against {}: {} {} {}\n", trials[b].name,
                               trials[a].name, row.at("benchmark").get<std::string>(),
                               row.at("what").get<std::string>(), outcome);
                }
        }
    std::vector<Figure> figures{
        figure_of("runs of one machine: called different", called),
        figure_of("three busy runs: pairs with a verdict, bound or interval", said)};
    figures[0].at_most = 0.01;
    figures[1].at_least = 0.5;
    return figures;
}

std::vector<Figure> find_planted(const Measurement& measurement) {
    const Load load{bursts(3)};
    constexpr std::size_t pairs = 10;
    const auto comparison = compare(measurement, "planted.json", "B: SLOWED_BY=0.1", pairs,
                                    measurement.out / "planted");
    Count verdicts;
    Count found;
    for (const auto& [name, seen] : comparison) {
        const bool steady =
            name.starts_with("gemm.") || name.starts_with("peak.") || name.starts_with("md.");
        if (!steady) continue;
        verdicts.add(is_called(seen) || seen.outcome == "same");
        found.add(seen.outcome == "worse");
        fmt::print(stderr, "  planted 10%: {}: {} {:.3f}\n", name, seen.outcome, seen.ratio);
    }
    std::vector<Figure> figures{
        figure_of("interleaved in bursts: gemm, peaks, md with a verdict", verdicts),
        figure_of("interleaved in bursts: planted 10% found", found)};
    figures[0].at_least = 0.8;
    figures[1].at_least = 0.9;
    return figures;
}

} // namespace

std::vector<Figure> measure_busy(const Measurement& measurement) {
    std::vector<Trial> trials;
    const auto add = [&](const std::string& name, const std::function<bool(double)>& works,
                         int threads = 2) {
        trials.push_back(run_quick(measurement, name, Load{works, threads}));
    };
    add("quiet", never);
    add("half a core", half, 1);
    add("bursts", bursts(1));
    add("permanent load", always);
    add("other bursts", bursts(2));
    add("quiet again", never);
    for (const auto i : {1U, 2U, 4U}) trials[i].is_busy = true;
    std::vector<Figure> figures;
    const auto take = [&](std::vector<Figure> more) {
        std::ranges::move(more, std::back_inserter(figures));
    };
    take(hold_against(trials[0], trials[5]));
    take(hold_against(trials[0], trials[2]));
    take(hold_against(trials[0], trials[4]));
    take(of_permanent(trials[3]));
    take(compare_all(measurement, trials));
    if (measurement.planted > 0) take(find_planted(measurement));
    return figures;
}

} // namespace assay::truth
