// SPDX-License-Identifier: Apache-2.0

#include "fleet/outliers.hpp"

#include "base/on_all_cores.hpp"
#include "document/words.hpp"
#include "judge/evidence.hpp"
#include "stats/summary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>

namespace assay::fleet {
namespace {

/// Columns that a screen has room for; more benchmarks are shown by family.
constexpr std::size_t most_columns = 24;

/// Is it of one node? A team's value says nothing about any of them.
bool is_of_one_node(const decide::Observation& seen, const store::Collection& all) {
    return seen.is_primary && nodes_of(seen, all) <= 1 &&
           record::number(all.series[seen.series].conditions, "machines").value_or(1) <= 1;
}

void name_columns(Fleet& fleet) {
    std::set<std::string> benchmarks;
    for (const auto& item : fleet.items) benchmarks.insert(item.series.benchmark);
    const bool by_family = benchmarks.size() > most_columns;
    std::map<std::string, std::uint32_t> numbers;
    for (auto& item : fleet.items) {
        const auto name =
            by_family ? document::family_of(item.series.benchmark) : item.series.benchmark;
        item.column =
            numbers.try_emplace(name, static_cast<std::uint32_t>(numbers.size())).first->second;
    }
    fleet.columns.resize(numbers.size());
    for (const auto& [name, number] : numbers) fleet.columns[number] = name;
}

Suspect retested(const FleetItem& item, const NodeItem& value, const decide::FleetRule& rule) {
    Suspect suspect;
    std::vector<double> logs;
    std::set<std::uint32_t> runs;
    for (const auto* seen : value.again) {
        if (!is_good(*seen)) continue;
        runs.insert(seen->run);
        for (const auto& replica : counted(*seen)) logs.push_back(log_of(item, replica.value));
        if (seen->replicas.empty()) logs.push_back(log_of(item, *seen->value));
    }
    suspect.replicas = logs.size();
    suspect.runs = runs.size();
    if (logs.empty()) return suspect;
    const double median = stats::median(logs);
    suspect.again = std::exp(median - item.center);
    suspect.decided = suspect.replicas >= rule.retests && suspect.runs >= retest_runs;
    suspect.slow = suspect.decided && median < item.center - item.bounds.accuse;
    return suspect;
}

/// Means of the first values, or the worst screened one.
class Columns {
public:
    explicit Columns(std::size_t count) : sums_(count), counts_(count), worst_(count, 1e300) {}
    void add(std::uint32_t column, double log) {
        sums_[column] += log;
        ++counts_[column];
    }
    void add_suspect(std::uint32_t column, double ratio) {
        worst_[column] = std::min(worst_[column], ratio);
    }
    std::vector<float> take() const {
        std::vector<float> ratios(sums_.size(), std::numeric_limits<float>::quiet_NaN());
        for (std::size_t i = 0; i < sums_.size(); ++i)
            if (counts_[i] > 0)
                ratios[i] = static_cast<float>(
                    worst_[i] < 1e300 ? worst_[i]
                                      : std::exp(sums_[i] / static_cast<double>(counts_[i])));
        return ratios;
    }

private:
    std::vector<double> sums_;
    std::vector<std::size_t> counts_;
    std::vector<double> worst_;
};

} // namespace

double log_of(const FleetItem& item, double value) {
    return item.series.higher_is_better ? std::log(value) : -std::log(value);
}

/// Types of nodes share their cases.
static void set_titles(std::vector<FleetItem>& items) {
    std::vector<document::NamedCase> cases;
    std::map<std::string, std::size_t> known;
    for (const auto& item : items)
        if (known.try_emplace(item.name, cases.size()).second)
            cases.push_back({.benchmark = item.series.benchmark,
                             .parameters = item.series.parameters,
                             .library = item.series.library,
                             .more = {}});
    const auto titles = document::short_names(cases);
    for (auto& item : items) item.title = titles[known[item.name]];
}

FleetValues sort_values(Fleet& fleet, const std::vector<std::uint32_t>& node_of_run) {
    const auto& all = fleet.collection;
    FleetValues values;
    std::map<std::string, std::uint32_t> place_numbers;
    std::vector<std::uint32_t> place_of;
    std::vector<ItemName> names;
    std::unordered_map<std::string, std::uint32_t> name_numbers;
    std::vector<std::uint32_t> name_of_series;
    for (const auto& series : all.series) {
        const auto [known, is_new] = place_numbers.try_emplace(
            series.place, static_cast<std::uint32_t>(place_numbers.size()));
        if (is_new) values.places.push_back(series.place);
        place_of.push_back(known->second);
        auto name = item_name(series);
        const auto [number, is_first] =
            name_numbers.try_emplace(name.name, static_cast<std::uint32_t>(names.size()));
        if (is_first) names.push_back(std::move(name));
        name_of_series.push_back(number->second);
    }
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> item_numbers; // type, name
    for (const auto& seen : all.observations) {
        const auto node = node_of_run[seen.run];
        if (node == no_node || !is_of_one_node(seen, all)) continue;
        const auto type = fleet.nodes[node].type;
        const auto name = name_of_series[seen.series];
        const auto [number, is_new] =
            item_numbers.try_emplace({type, name}, static_cast<std::uint32_t>(fleet.items.size()));
        if (is_new) {
            const auto& series = names[name].series;
            fleet.items.push_back(
                {.type = type,
                 .series = series,
                 .name = names[name].name,
                 .what = document::case_name(series.benchmark, series.parameters)});
            values.of_item.emplace_back();
        }
        values.of_item[number->second].push_back(
            {.node = node, .place = place_of[seen.series], .first = &seen, .again = {}});
    }
    set_titles(fleet.items);
    // Values of one node and device become one: the oldest that counts, and those after it.
    on_all_cores(values.of_item.size(), [&](std::size_t i) {
        auto& list = values.of_item[i];
        std::ranges::stable_sort(list, {}, [&](const NodeItem& one) {
            return std::tuple{one.node, one.place, all.runs[one.first->run].started_seconds};
        });
        std::vector<NodeItem> merged;
        for (auto& one : list) {
            const bool same = !merged.empty() && merged.back().node == one.node &&
                              merged.back().place == one.place;
            if (!same)
                merged.push_back(std::move(one));
            else if (!is_good(*merged.back().first))
                merged.back().first = one.first; // it had no value
            else
                merged.back().again.push_back(one.first);
        }
        list = std::move(merged);
    });
    name_columns(fleet);
    return values;
}

void judge_values(Fleet& fleet, const FleetValues& values) {
    const auto& all = fleet.collection;
    std::vector<ItemLevel> levels(fleet.items.size());
    on_all_cores(fleet.items.size(), [&](std::size_t i) {
        std::vector<NodeValue> first;
        for (const auto& one : values.of_item[i])
            if (is_of_a_level(*one.first, all.series[one.first->series]))
                first.push_back({.node = one.node,
                                 .place = one.place,
                                 .day = 0,
                                 .run = one.first->run,
                                 .seen = one.first});
        if (!first.empty()) levels[i] = level_of(first, fleet.items[i].series.higher_is_better);
    });
    for (std::uint32_t type = 0; type < fleet.types.size(); ++type) {
        std::vector<std::size_t> own;
        std::vector<const ItemLevel*> of_type;
        std::size_t tests = 0;
        for (std::size_t i = 0; i < fleet.items.size(); ++i) {
            if (fleet.items[i].type != type || levels[i].nodes < fewest_nodes) continue;
            own.push_back(i);
            of_type.push_back(&levels[i]);
            tests += levels[i].places;
        }
        fleet.types[type].tests = tests;
        const auto variances = variances_of(of_type);
        for (std::size_t k = 0; k < own.size(); ++k) {
            auto& item = fleet.items[own[k]];
            const auto& level = *of_type[k];
            item.nodes = level.nodes;
            item.left_out = level.fleet.left_out;
            item.judged = true;
            item.center = level.fleet.center;
            item.bounds =
                decide::fleet_bounds(variances[k], level.noise, level.nodes, tests, fleet.rule);
            const auto interval = decide::deviation_interval(level.fleet.variance);
            item.deviation = interval.deviation;
            item.deviation_low = interval.low;
            item.deviation_high = interval.high;
            item.p05 = std::exp(stats::quantile(level.kept, 0.05) - level.fleet.center);
        }
    }
    std::vector<Columns> columns(fleet.nodes.size(), Columns{fleet.columns.size()});
    for (std::uint32_t i = 0; i < fleet.items.size(); ++i) {
        const auto& item = fleet.items[i];
        if (!item.judged) continue;
        for (const auto& one : values.of_item[i]) {
            if (!is_good(*one.first) || !(*one.first->value > 0) ||
                judge::is_executed_on_cpu(all.series[one.first->series]))
                continue;
            const double away = log_of(item, *one.first->value) - item.center;
            columns[one.node].add(item.column, away);
            if (!(away < -item.bounds.screen)) continue;
            auto suspect = retested(item, one, fleet.rule);
            suspect.item = i;
            suspect.place = values.places[one.place];
            suspect.ratio = std::exp(away);
            if (!suspect.decided || suspect.slow)
                columns[one.node].add_suspect(item.column, suspect.shown());
            fleet.nodes[one.node].suspects.push_back(std::move(suspect));
        }
    }
    for (std::size_t i = 0; i < fleet.nodes.size(); ++i) {
        auto& node = fleet.nodes[i];
        node.columns = columns[i].take();
        std::ranges::stable_sort(node.suspects, {}, [](const Suspect& one) {
            return std::tuple{!one.slow, one.decided, one.shown()};
        });
        node.worst = 1;
        for (const float ratio : node.columns)
            if (std::isfinite(ratio)) node.worst = std::min(node.worst, static_cast<double>(ratio));
    }
}

} // namespace assay::fleet
