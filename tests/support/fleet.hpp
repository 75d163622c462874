// SPDX-License-Identifier: Apache-2.0
//
// Collections of runs over time, made by hand: who ran when, in which state, and what came out.
// Deterministic: the same on every machine.
//
//     Fleet fleet;
//     const auto gemm = fleet.series("gemm.square", "openblas", "flop_rate");
//     fleet.run("m-1", day(3), {{gemm, 1e11}});

#pragma once

#include "record/metrics.hpp"
#include "record/model.hpp"
#include "store/collection.hpp"
#include "support/sample_run.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

namespace assay::test {

/// Noon of a day, counted from 2024-01-01.
inline double day(double number) { return 1704067200.0 + 86400 * (number + 0.5); }

/// Normally distributed numbers (Box and Muller).
class Gauss {
public:
    explicit Gauss(std::uint64_t seed) : dice_{seed} {}
    double operator()() {
        const double radius = std::sqrt(-2 * std::log(1 - dice_.roll()));
        return radius * std::cos(2 * std::numbers::pi * dice_.roll());
    }

private:
    Dice dice_;
};

struct Figure {
    std::uint32_t series;
    double value;
};

class Fleet {
public:
    store::Collection collection;
    record::Machine machine = sample_machine(); ///< state that the next runs find, but for the id
    std::string version = "0.1.0";
    double clock_hz = 3.7e9;

    std::uint32_t series(const std::string& benchmark, const std::string& library,
                         const std::string& metric, std::int64_t size = 1024) {
        const auto* definition = record::find_metric(metric);
        collection.series.push_back({.benchmark = benchmark,
                                     .place = "host",
                                     .library = library,
                                     .parameters = {{"size", size}},
                                     .metric = metric,
                                     .unit = std::string{definition->unit},
                                     .higher_is_better = definition->higher_is_better,
                                     .question = fmt::format("{} size={}", benchmark, size),
                                     .what = fmt::format("size {}", size)});
        return static_cast<std::uint32_t>(collection.series.size() - 1);
    }

    store::RunInfo& run(const std::string& id, double seconds, const std::vector<Figure>& figures) {
        const auto number = static_cast<std::uint32_t>(collection.runs.size());
        collection.runs.push_back({.file = fmt::format("results/{}/{}/run.json", id, number),
                                   .id = fmt::format("run-{}", number),
                                   .suite = "standard",
                                   .started = fmt::format("second {}", seconds),
                                   .started_seconds = seconds,
                                   .status = "done",
                                   .version = version,
                                   .core_clock_hz = clock_hz,
                                   .machine = state(id)});
        if (collection.settings.empty()) collection.settings.emplace_back();
        for (const auto& [series, value] : figures)
            collection.observations.push_back({.run = number,
                                               .series = series,
                                               .value = value,
                                               .low = 0.995 * value,
                                               .high = 1.005 * value,
                                               .scope = record::IntervalScope::between_replicas});
        return collection.runs.back();
    }

private:
    /// State of this machine now; known by what the tests change.
    std::uint32_t state(const std::string& id) {
        record::Machine now = machine;
        now.id = id;
        const auto same = [&](const record::Machine& other) {
            return other.id == now.id && other.kernel == now.kernel &&
                   other.software == now.software && other.cpu_model == now.cpu_model &&
                   other.instance == now.instance && other.provider == now.provider &&
                   other.memory_bytes == now.memory_bytes &&
                   other.virtualization == now.virtualization &&
                   other.pci.size() == now.pci.size() && other.platform == now.platform &&
                   std::ranges::equal(other.devices, now.devices, {}, &record::Device::ecc,
                                      &record::Device::ecc);
        };
        auto& all = collection.machines;
        auto found = std::ranges::find_if(all, same);
        if (found == all.end()) {
            all.push_back(std::move(now));
            found = all.end() - 1;
        }
        return static_cast<std::uint32_t>(found - all.begin());
    }
};

/// Two series of machines that are measured every fortnight, with noise of 0.5%.
class EveryFortnight : public testing::Test {
protected:
    explicit EveryFortnight(std::uint64_t seed) : gauss{seed} {}
    /// `factor` makes everything so many times as fast.
    void measure(const std::string& id, int from, int to, double factor = 1, double noise = 0.005) {
        for (int i = from; i < to; ++i)
            fleet.run(id, day(14.0 * i),
                      {{gemm, 1e11 * factor * std::exp(noise * gauss())},
                       {latency, 1e-7 / factor * std::exp(noise * gauss())}});
    }

    Fleet fleet;
    Gauss gauss;
    std::uint32_t gemm = fleet.series("gemm.square", "openblas", "flop_rate");
    std::uint32_t latency = fleet.series("memory.latency", "host", "latency");
};

} // namespace assay::test
