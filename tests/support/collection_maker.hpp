// SPDX-License-Identifier: Apache-2.0
//
// Collections made by hand, for tests of what compares them.
//
//     test::CollectionMaker maker;
//     const auto a = maker.run({.label = "old"});
//     maker.observe(a, test::gemm("openblas", 1024), {500e9, 501e9, 499e9});

#pragma once

#include "base/utc.hpp"
#include "record/metrics.hpp"
#include "store/collection.hpp"

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace assay::test {

struct MadeRun {
    std::string label;
    std::string machine = "m-1";
    std::string instance = "c7a.large";
    std::string started = "2026-01-31T12:00:00Z";
    std::string cpu = "Example EPYC 9R14";
};

inline decide::Series series_of(std::string benchmark, std::string library,
                                record::NamedList parameters, const std::string& metric) {
    decide::Series series{.benchmark = std::move(benchmark),
                          .place = "host",
                          .library = std::move(library),
                          .parameters = std::move(parameters),
                          .metric = metric};
    const auto* definition = record::find_metric(metric);
    series.unit = definition->unit;
    series.higher_is_better = definition->higher_is_better;
    return series;
}
inline decide::Series gemm(const std::string& library, std::int64_t size,
                           const std::string& precision = "fp64") {
    return series_of("gemm.square", library, {{"precision", precision}, {"size", size}},
                     "flop_rate");
}
inline decide::Series latency(std::int64_t bytes) {
    return series_of("memory.latency", "host", {{"footprint", bytes}}, "latency");
}
inline decide::Series triad() {
    return series_of("memory.stream", "host", {{"loop", std::string{"triad"}}}, "bandwidth");
}

/// Three replicas that differ by 0.1%.
inline std::vector<double> about(double rate) { return {rate, 1.001 * rate, 0.999 * rate}; }

class CollectionMaker {
public:
    std::uint32_t run(const MadeRun& made) {
        auto& c = collection_;
        record::Machine machine;
        machine.id = made.machine;
        machine.instance = made.instance;
        machine.provider = "aws";
        machine.cpu_model = made.cpu;
        c.machines.push_back(std::move(machine));
        store::RunInfo run{.label = made.label,
                           .file = "results/" + std::to_string(c.runs.size()) + "/run.json",
                           .id = "run-" + std::to_string(c.runs.size()),
                           .suite = "quick",
                           .started = made.started,
                           .started_seconds = seconds_of(made.started).value_or(0) +
                                              static_cast<double>(c.runs.size()),
                           .machine = static_cast<std::uint32_t>(c.machines.size() - 1)};
        c.runs.push_back(std::move(run));
        return static_cast<std::uint32_t>(c.runs.size() - 1);
    }
    /// Measured, once for each value; published is their geometric mean.
    decide::Observation& observe(std::uint32_t run, const decide::Series& series,
                                 const std::vector<double>& replicas) {
        auto& seen = add(run, series);
        double logs = 0;
        for (std::size_t i = 0; i < replicas.size(); ++i) {
            seen.replicas.push_back({.index = static_cast<int>(i), .value = replicas[i]});
            logs += std::log(replicas[i]);
        }
        seen.value = std::exp(logs / static_cast<double>(replicas.size()));
        return seen;
    }
    /// On one run a side, labelled "A", "B", ..., the same for all series.
    void sides(const decide::Series& series, const std::vector<std::vector<double>>& replicas) {
        for (std::uint32_t side = 0; side < replicas.size(); ++side) {
            if (side == collection_.runs.size())
                run({.label = std::string(1, static_cast<char>('A' + side))});
            observe(side, series, replicas[side]);
        }
    }
    /// Not measured, for a reason.
    decide::Observation& fail(std::uint32_t run, const decide::Series& series,
                              record::Status status, std::string reason) {
        auto& seen = add(run, series);
        seen.status = status;
        seen.reason = std::move(reason);
        return seen;
    }
    store::Collection& collection() { return collection_; }

private:
    decide::Observation& add(std::uint32_t run, const decide::Series& series) {
        auto& c = collection_;
        if (c.settings.empty()) c.settings.emplace_back();
        const auto same = [&](const decide::Series& known) {
            return known.benchmark == series.benchmark && known.library == series.library &&
                   known.parameters == series.parameters && known.metric == series.metric &&
                   known.version == series.version && known.place == series.place &&
                   known.conditions == series.conditions;
        };
        std::uint32_t number = 0;
        while (number < c.series.size() && !same(c.series[number])) ++number;
        if (number == c.series.size()) c.series.push_back(series);
        c.observations.push_back({.run = run, .series = number});
        return c.observations.back();
    }
    store::Collection collection_;
};

} // namespace assay::test
