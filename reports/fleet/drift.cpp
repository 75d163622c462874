// SPDX-License-Identifier: Apache-2.0

#include "fleet/drift.hpp"

#include "judge/evidence.hpp"
#include "stats/summary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace assay::report {
namespace {

/// As of comparisons: smaller changes are never called.
constexpr double least = 0.01;

/// How much a node's value differs from before, as logarithms.
struct Change {
    std::uint32_t node;
    double log;
};

/// Values before the sweep, by series name, node and device.
class Before {
public:
    Before(const Fleet& fleet, const FleetValues& values,
           const std::vector<std::uint32_t>& before) {
        const auto& all = fleet.collection;
        std::vector<std::uint32_t> names;
        std::vector<std::uint32_t> places;
        for (const auto& series : all.series) {
            names.push_back(
                names_
                    .try_emplace(item_name(series).name, static_cast<std::uint32_t>(names_.size()))
                    .first->second);
            const auto place = std::ranges::find(values.places, series.place);
            places.push_back(static_cast<std::uint32_t>(place - values.places.begin()));
        }
        for (const auto& seen : all.observations) {
            const auto node = before[seen.run];
            if (node == no_node || !seen.is_primary || !is_good(seen) || !(*seen.value > 0))
                continue;
            found_[key(names[seen.series], node, places[seen.series])] = &seen;
        }
    }
    std::uint32_t name(const FleetItem& item) const {
        const auto found = names_.find(item.name);
        return found == names_.end() ? no_node : found->second;
    }
    const Observation* find(std::uint32_t name, const NodeItem& value) const {
        const auto found = found_.find(key(name, value.node, value.place));
        return found == found_.end() ? nullptr : found->second;
    }

private:
    static std::uint64_t key(std::uint32_t name, std::uint32_t node, std::uint32_t place) {
        constexpr std::uint64_t devices = 1024; // of a node, at most
        return ((std::uint64_t{name} << 32U) | node) * devices + place % devices;
    }
    std::unordered_map<std::string, std::uint32_t> names_;
    std::unordered_map<std::uint64_t, const Observation*> found_;
};

} // namespace

std::vector<std::uint32_t> runs_before(const Fleet& fleet,
                                       const std::vector<std::uint32_t>& node_of_run,
                                       const std::vector<std::uint32_t>& node_of_earlier) {
    const auto& all = fleet.collection;
    std::set<std::pair<std::uint32_t, std::string_view>> wanted; // node, suite
    for (std::size_t i = 0; i < all.runs.size(); ++i)
        if (node_of_run[i] != no_node) wanted.emplace(node_of_run[i], all.runs[i].suite);
    std::map<std::pair<std::uint32_t, std::string_view>, std::uint32_t> newest;
    for (std::uint32_t i = 0; i < all.runs.size(); ++i) {
        const auto node = node_of_earlier[i];
        if (node == no_node || !wanted.contains({node, all.runs[i].suite})) continue;
        // Another machine under the same name is no drift.
        const auto& now = all.runs[fleet.nodes[node].runs.front()];
        if (all.machines[now.machine].id != all.machines[all.runs[i].machine].id) continue;
        const auto [known, is_new] = newest.try_emplace({node, all.runs[i].suite}, i);
        if (!is_new && all.runs[known->second].started_seconds < all.runs[i].started_seconds)
            known->second = i;
    }
    std::vector<std::uint32_t> before(all.runs.size(), no_node);
    for (const auto& [of, run] : newest) before[run] = of.first;
    return before;
}

void add_drifts(Fleet& fleet, const FleetValues& values, const std::vector<std::uint32_t>& before) {
    if (std::ranges::all_of(before, [](auto node) { return node == no_node; })) return;
    const Before earlier{fleet, values, before};
    std::set<std::uint32_t> nodes;
    for (std::uint32_t i = 0; i < fleet.items.size(); ++i) {
        const auto& item = fleet.items[i];
        const auto name = earlier.name(item);
        if (!item.judged || name == no_node) continue;
        std::vector<Change> changes;
        for (const auto& one : values.of_item[i]) {
            const auto* then = earlier.find(name, one);
            if (then == nullptr || !is_good(*one.first)) continue;
            changes.push_back(
                {one.node, log_of(item, *one.first->value) - log_of(item, *then->value)});
            nodes.insert(one.node);
        }
        if (changes.size() < fewest_nodes) continue;
        std::vector<double> logs;
        for (const auto& change : changes) logs.push_back(change.log);
        const auto level = stats::fleet_level(logs);
        const auto count = static_cast<double>(logs.size());
        const double tests =
            static_cast<double>(std::max<std::size_t>(1, fleet.types[item.type].tests));
        const double error = std::sqrt(std::numbers::pi / 2 * level.variance.variance / count);
        // As if of infinitely many nodes: the error has their number.
        const double t = stats::fleet_factor(0.025, level.variance.degrees,
                                             std::numeric_limits<std::size_t>::max());
        FleetDrift drift{.item = i,
                         .nodes = changes.size(),
                         .ratio = std::exp(level.center),
                         .low = std::exp(level.center - t * error),
                         .high = std::exp(level.center + t * error)};
        // One look without retests, so at the level of an accusation; it accuses nobody.
        const double bound =
            stats::fleet_factor(fleet.rule.accuse / tests, level.variance.degrees, logs.size()) *
            std::sqrt(level.variance.variance);
        for (const auto& change : changes) {
            const double beside = change.log - level.center;
            if (!(beside < -bound) || !(beside < std::log1p(-least))) continue;
            ++drift.beyond;
            fleet.nodes[change.node].drifts.push_back(
                {.item = i, .ratio = std::exp(change.log), .beside_fleet = std::exp(beside)});
        }
        const double surely =
            stats::fleet_factor(0.025 / tests, level.variance.degrees, logs.size()) * error;
        if (std::abs(level.center) > std::max(surely, std::log1p(least)) || drift.beyond > 0)
            fleet.drifts.push_back(drift);
    }
    fleet.drift_nodes = nodes.size();
    std::ranges::stable_sort(fleet.drifts, {}, &FleetDrift::ratio);
    for (auto& node : fleet.nodes)
        std::ranges::stable_sort(node.drifts, {}, &DriftOfNode::beside_fleet);
}

} // namespace assay::report
