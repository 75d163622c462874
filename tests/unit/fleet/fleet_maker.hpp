// SPDX-License-Identifier: Apache-2.0
//
// Sweeps made by hand: nodes with their runs, a few cases each.

#pragma once

#include "fleet/fleet.hpp"
#include "support/collection_maker.hpp"
#include "support/noise.hpp"

#include <fmt/format.h>

#include <functional>

namespace assay::test {

/// How much slower a node is in an item, at a run of the sweep (from 0).
using Slower = std::function<double(int node, int item, int run)>;

class SweepMaker {
public:
    explicit SweepMaker(int items = 3, std::uint64_t seed = 1) : items_{items}, noise_{seed} {}

    static std::string name(int node) { return fmt::format("n{:02}", node); }

    std::uint32_t run(int node, int turn, const Slower& slower,
                      const std::string& day = "2026-11-2") {
        const auto number = maker_.run({.machine = fmt::format("m-{}", node),
                                        .started = fmt::format("{}{}T12:00:00Z", day, turn)});
        auto& run = info(number);
        run.tags = {{"node", name(node)}};
        run.ended = fmt::format("{}{}T12:10:00Z", day, turn);
        run.started_seconds = *seconds_of(run.started);
        run.id = fmt::format("run-{}-{}{}", node, day, turn);
        run.version = "1.0";
        run.digest = "plan";
        run.status = "done";
        for (int item = 0; item < items_; ++item) {
            const double level = 1e11 * of_node(node, item) * noise_.about(1, 0.002) /
                                 (slower ? slower(node, item, turn) : 1);
            auto& seen = maker_.observe(number, series(item), noise_.replicas(level, 0.005, 3));
            seen.verified = true;
        }
        return number;
    }
    /// `nodes` with one run each.
    void sweep(int nodes, const Slower& slower = {}) {
        for (int node = 0; node < nodes; ++node) run(node, 0, slower);
    }
    store::RunInfo& info(std::uint32_t number) { return maker_.collection().runs[number]; }
    store::Collection& collection() { return maker_.collection(); }
    static decide::Series series(int item) {
        return item == 0 ? triad() : gemm("openblas", 1024 + item);
    }

private:
    /// The same in every run.
    double of_node(int node, int item) const {
        Noise own{static_cast<std::uint64_t>(node * 1000 + item + 17)};
        own.normal();
        return own.about(1, 0.005);
    }
    int items_;
    Noise noise_;
    CollectionMaker maker_;
};

inline fleet::FleetOptions fleet_options(std::vector<std::string> expected = {}) {
    return {.expected = std::move(expected), .now = seconds_of("2026-11-30T00:00:00Z")};
}

inline const fleet::FleetNode& node_of(const fleet::Fleet& fleet, const std::string& name) {
    for (const auto& node : fleet.nodes)
        if (node.name == name) return node;
    static const fleet::FleetNode none;
    return none;
}

} // namespace assay::test
