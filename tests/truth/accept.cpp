// SPDX-License-Identifier: Apache-2.0
//
// Short acceptance runs on this machine, as many healthy ones as slowed ones, judged one by one by limits from earlier
// runs. A slowed run has 1.5 times the slowdown that the judge says it detects.

#include "decide/acceptance.hpp"
#include "judge/judge.hpp"
#include "measure.hpp"
#include "stats/summary.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace assay::truth {
namespace {

/// A case, and how far below a healthy machine the limit of its class is.
struct Judged {
    const char* name;
    const char* suite_case; ///< as in a suite
    double bar;
    bool is_found; ///< its class must be found when slow, others are there to be read
};
constexpr Judged cases[] = {
    {"gemm",
     R"("benchmark": "gemm.square", "library": "slowed_openblas",
        "parameters": {"precision": "fp64", "size": 512, "threads": "all"})",
     0.02, true},
    {"peak",
     R"("benchmark": "peak.fma", "library": "slowed_host",
        "parameters": {"precision": "fp64", "isa": "best", "threads": "all"})",
     0.02, true},
    {"LJ",
     R"("benchmark": "md.lennard_jones", "library": "slowed_host",
        "parameters": {"atoms": 4000, "precision": "fp64", "rebuild": "every_20", "threads": "all"})",
     0.08, true},
    {"memory",
     R"("benchmark": "memory.stream", "library": "slowed_host",
        "parameters": {"kernel": "triad", "stores": "plain", "footprint": "64MiB", "threads": "all"})",
     0.08, false},
};
constexpr std::size_t replicas = 5;
constexpr std::size_t earlier_runs = 8;
constexpr double checks = 40; ///< of a node, which share the level of FAIL

class Trials {
public:
    Trials(const Measurement& measurement, const Judged& judged)
        : measurement_{measurement}, judged_{judged},
          folder_{measurement.out / "accept" / judged.name}, suite_{folder_ / "suite.json"} {
        std::filesystem::create_directories(folder_);
        std::ofstream{suite_} << fmt::format(
            R"({{"schema": "assay.suite/1", "name": "accept",
                "description": "A case of an acceptance run", "replicas": {},
                "protocol": {{"target": 0.01, "min_seconds": 0.14, "budget_seconds": 0.2,
                              "limit_seconds": 30, "warmup_seconds": 0.05}},
                "cases": [{{{}}}]}})",
            replicas, judged.suite_case);
    }

    /// The bar lies below the median of earlier runs, and the limit knows their spread.
    judge::Limits limits() {
        std::vector<double> means;
        double squares = 0;
        double degrees = 0;
        for (std::size_t i = 0; i < earlier_runs; ++i) {
            std::vector<double> logs;
            const auto run = collected(measured(0), {});
            for (const auto& replica : run.observations.at(0).replicas)
                logs.push_back(std::log(replica.value));
            means.push_back(stats::mean(logs));
            squares += stats::variance(logs) * static_cast<double>(logs.size() - 1);
            degrees += static_cast<double>(logs.size() - 1);
            unit_ = run.series.at(run.observations.at(0).series).unit;
        }
        const double of_replica = squares / degrees;
        const double of_run =
            std::max(stats::variance(means) - (of_replica / static_cast<double>(replicas)), 0.0);
        noise_ = {.replica = {.variance = of_replica, .degrees = degrees},
                  .run = {.variance = of_run, .degrees = earlier_runs - 1}};
        const double center = std::exp(stats::median(means));
        return {.limits = {{.id = judged_.name,
                            .kind = judge::LimitKind::contract,
                            .cases = {{"library", "slowed_*"}},
                            .unit = unit_,
                            .at_least = center * (1 - judged_.bar),
                            .source = "earlier runs",
                            .spread = judge::Components{.replica = std::sqrt(of_replica),
                                                        .run = std::sqrt(of_run),
                                                        .degrees = degrees}}}};
    }

    /// Below a healthy machine, found in 99%.
    double detectable() const {
        const double below_bar =
            decide::decided_distance(noise_, replicas, decide::AcceptanceLevels{}.fail / checks);
        return 1 - ((1 - judged_.bar) * (1 - below_bar));
    }

    judge::Outcome judged(double slowdown, const judge::Limits& limits) {
        auto run = collected(measured(slowdown), judge::collecting_for(limits, {}));
        // Bare metal: on a guest, one run fails nobody.
        for (auto& machine : run.machines) machine.virtualization = "none";
        judge::JudgeOptions options;
        options.levels.fail /= checks;
        auto all = judge::judge(std::move(run), limits, options);
        if (!all) throw std::runtime_error{all.error().message};
        return all->outcome;
    }

private:
    std::filesystem::path measured(double slowdown) {
        const auto out = folder_ / std::to_string(runs_++);
        answer_of({(measurement_.build / "bin/assay").string(), "run", suite_.string(), "--out",
                   out.string(), "--json", "--quiet"},
                  {{"ASSAY_MODULE_PATH", (measurement_.build / "tests/slowed").string()},
                   {"SLOWED_BY", std::to_string(slowdown)}});
        return out;
    }
    static store::Collection collected(const std::filesystem::path& folder,
                                       const store::CollectOptions& options) {
        auto run = store::collect({folder.string()}, options);
        if (!run) throw std::runtime_error{run.error().message};
        return std::move(*run);
    }

    const Measurement& measurement_;
    const Judged& judged_;
    std::filesystem::path folder_;
    std::filesystem::path suite_;
    std::string unit_;
    decide::AcceptanceNoise noise_;
    std::size_t runs_ = 0;
};

} // namespace

std::vector<Figure> measure_acceptance(const Measurement& measurement) {
    std::vector<Figure> figures;
    for (const auto& judged : cases) {
        Trials trials{measurement, judged};
        const auto limits = trials.limits();
        const double slow = 1.5 * trials.detectable();
        if (slow >= 1) { // too noisy a machine to tell anything
            figures.push_back(
                {.what = fmt::format("{}: slower runs that FAIL", judged.name), .at_least = 0.9});
            continue;
        }
        const double busy = slow / (1 - slow); // of each batch's time
        Count failed;
        Count passed;
        Count found;
        for (std::size_t i = 0; i < measurement.acceptances; ++i) {
            const auto healthy = trials.judged(0, limits);
            failed.add(healthy == judge::Outcome::fail);
            passed.add(healthy <= judge::Outcome::warn);
            found.add(trials.judged(busy, limits) == judge::Outcome::fail);
        }
        auto wrong = figure_of(fmt::format("{}: healthy runs that FAIL", judged.name), failed);
        wrong.at_most = 0;
        auto slower = figure_of(
            fmt::format("{}: runs {:.1f}% slower that FAIL", judged.name, 100 * slow), found);
        if (judged.is_found) slower.at_least = 0.9;
        slower.note = fmt::format("bar {:.0f}% below, {:.1f}% slower is detectable",
                                  100 * judged.bar, 100 * trials.detectable());
        figures.push_back(wrong);
        figures.push_back(
            figure_of(fmt::format("{}: healthy runs that PASS", judged.name), passed));
        figures.push_back(slower);
    }
    return figures;
}

} // namespace assay::truth
