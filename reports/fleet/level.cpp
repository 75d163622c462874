// SPDX-License-Identifier: Apache-2.0

#include "fleet/level.hpp"

#include "judge/evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <set>
#include <utility>

namespace assay::report {
namespace {

/// Conditions that a limit names beside the parameters.
constexpr std::array team{"machines", "ranks"};

} // namespace

ItemName item_name(const Series& series) {
    ItemName item{.series = series};
    auto& own = item.series;
    own.place = series.place.substr(0, series.place.find(':'));
    own.conditions.clear();
    for (const auto* name : team)
        if (const auto* value = record::find(series.conditions, name);
            value != nullptr && record::find(series.parameters, name) == nullptr)
            own.conditions.push_back({name, *value});
    item.name = name_of(own);
    for (const auto& [name, value] : own.conditions)
        item.name += fmt::format(" {}={}", name, record::to_string(value));
    return item;
}

bool is_of_a_level(const Observation& seen, const Series& series) {
    return seen.is_primary && seen.value && *seen.value > 0 && !seen.two_levels && seen.verified &&
           seen.status == record::Status::ok && !is_executed_on_cpu(series);
}

double known(const stats::VarianceEstimate& part) {
    return part.degrees > 0 && part.variance > 0 ? part.variance : 0;
}

ItemLevel level_of(std::span<const NodeValue> values, bool higher_is_better) {
    ItemLevel level;
    const double sign = higher_is_better ? 1 : -1;
    std::vector<stats::Nested> nested;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<double>> of_device;
    std::set<std::uint32_t> nodes;
    std::set<std::uint32_t> places;
    std::set<std::uint32_t> runs;
    double replicas = 0;
    for (const auto& value : values) {
        const std::vector<std::uint32_t> groups{value.node, value.place, value.day, value.run};
        const auto add = [&](double one) {
            if (one > 0) nested.push_back({groups, sign * std::log(one)});
        };
        const auto own = counted(*value.seen);
        for (const auto& replica : own) add(replica.value);
        if (own.empty()) add(*value.seen->value);
        replicas += static_cast<double>(std::max<std::size_t>(1, own.size()));
        of_device[{value.node, value.place}].push_back(sign * std::log(*value.seen->value));
        nodes.insert(value.node);
        places.insert(value.place);
        runs.insert(value.run);
    }
    level.nodes = nodes.size();
    level.places = places.size();
    level.runs = runs.size();
    level.parts = stats::nested_variances(nested);
    auto& of_run = level.parts[1];
    if (auto& of_day = level.parts[2]; of_run.degrees == 0) // a run a day: one is the other
        std::swap(of_run, of_day);
    const auto count = static_cast<double>(values.size());
    level.noise = (known(level.parts[0]) / (replicas / count)) + known(level.parts[1]) +
                  known(level.parts[2]);
    const double each = count / static_cast<double>(of_device.size()); // values of a device
    level.error = level.noise / each * (each > 2 ? std::numbers::pi / 2 : 1);
    for (auto& [of, list] : of_device) level.kept.push_back(stats::median(list));
    level.fleet = stats::fleet_level(level.kept);
    level.fleet.variance.degrees =
        std::min(level.fleet.variance.degrees, static_cast<double>(level.nodes) - 1);
    std::ranges::sort(level.kept);
    level.kept.erase(level.kept.begin(),
                     level.kept.begin() + static_cast<std::ptrdiff_t>(level.fleet.left_out));
    return level;
}

std::vector<stats::VarianceEstimate> variances_of(std::span<const ItemLevel* const> levels) {
    std::vector<stats::VarianceEstimate> own;
    for (const auto* level : levels) own.push_back(level->fleet.variance);
    const auto prior = stats::fit_prior(own);
    std::vector<stats::VarianceEstimate> found;
    for (const auto* level : levels) {
        auto variance = stats::moderate(level->fleet.variance, prior);
        variance.variance = std::max(0.0, variance.variance - level->error) + level->noise;
        found.push_back(variance);
    }
    return found;
}

} // namespace assay::report
