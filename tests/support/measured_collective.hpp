// SPDX-License-Identifier: Apache-2.0
//
// Runs of an all-reduce over nodes, as a collection: their times follow a known algorithm with known
// latencies and bandwidths, so that a prediction can be compared with the truth.

#pragma once

#include "predict/points.hpp"
#include "store/collection.hpp"

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace assay::predict {

struct TrueNetwork {
    double within_latency = 1e-6;
    double within_bandwidth = 400e9;
    double between_latency = 5e-6;
    double between_bandwidth = 50e9;
    Algorithm between = Algorithm::ring;

    double seconds(double nodes, double per_node, double bytes) const {
        const auto levels =
            nodes == 1
                ? Levels{.within = *steps_of(Collective::allreduce, Algorithm::ring, per_node),
                         .between = {}}
                : *levels_of(Collective::allreduce, Algorithm::ring, between, nodes, per_node);
        return levels.within.messages * within_latency +
               levels.within.bytes * bytes / within_bandwidth +
               levels.between.messages * between_latency +
               levels.between.bytes * bytes / between_bandwidth;
    }
};

/// One run for each number of nodes, 8 B to 64 MiB.
inline store::Collection measured_allreduce(const TrueNetwork& truth, const std::vector<int>& nodes,
                                            int per_node, double noise, std::uint64_t seed) {
    std::mt19937_64 random{seed};
    std::normal_distribution<> normal;
    store::Collection all;
    record::Machine machine;
    machine.id = "0123456789abcdef";
    machine.instance = "gpu.8xlarge";
    machine.cpu_model = "A processor";
    all.machines.push_back(machine);
    for (const int count : nodes) {
        store::RunInfo run;
        run.id = std::to_string(count);
        run.file = "results/" + run.id + "/run.json";
        all.runs.push_back(run);
        for (std::int64_t bytes = 8; bytes <= std::int64_t{64} << 20U; bytes *= 4) {
            decide::Series series{.benchmark = "collective.allreduce",
                                  .place = "host",
                                  .library = "mpi",
                                  .parameters = {{"ranks", std::string{"all"}},
                                                 {"bytes", bytes},
                                                 {"type", std::string{"fp32"}}},
                                  .metric = "bus_bandwidth",
                                  .unit = "B/s"};
            const double ranks = static_cast<double>(count) * per_node;
            const auto size = static_cast<double>(bytes);
            const double seconds =
                truth.seconds(count, per_node, size) * std::exp(noise * normal(random));
            const double value = size * bus_factor(Collective::allreduce, ranks) / seconds;
            all.settings.push_back(
                {{"ranks", std::int64_t{count} * per_node}, {"machines", std::int64_t{count}}});
            all.observations.push_back(
                {.run = static_cast<std::uint32_t>(all.runs.size() - 1),
                 .series = static_cast<std::uint32_t>(all.series.size()),
                 .value = value,
                 .low = value * 0.99,
                 .high = value * 1.01,
                 .scope = record::IntervalScope::between_replicas,
                 .replicas = {{0, value}, {1, value}, {2, value}},
                 .settings = static_cast<std::uint32_t>(all.settings.size() - 1)});
            all.series.push_back(std::move(series));
        }
    }
    return all;
}

} // namespace assay::predict
