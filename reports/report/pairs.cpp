// SPDX-License-Identifier: Apache-2.0

#include "report/pairs.hpp"

#include "decide/culprits.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/finding.hpp"
#include "document/texts/pair.hpp"
#include "document/texts/words.hpp"
#include "document/words.hpp"
#include "record/format.hpp"
#include "record/metrics.hpp"
#include "stats/summary.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

namespace assay::report {

using namespace document;
namespace {

// Pairs of each kind; the map shows the others.
constexpr std::size_t named = 3;
// A matrix of more nodes has millions of pairs, and takes longer than a report should.
constexpr std::size_t most_nodes = 1024;

std::vector<double> numbers(const record::Table& table) {
    std::vector<double> values;
    for (const auto& value : table.values)
        values.push_back(value ? *value : std::numeric_limits<double>::quiet_NaN());
    return values;
}

/// Cores are near or far, and none is broken for that; a pair that is far beyond all others deserves a look.
void add_outlier(const record::Case& c, const record::Table& table, std::vector<Finding>& found) {
    constexpr std::size_t fewest = 20; // pairs: the 95th percentile of fewer is one of them
    constexpr double far = 2; // times the 95th percentile; sockets differ by as much from dies
    const auto* definition = record::find_metric(table.metric);
    const bool higher = definition == nullptr || definition->higher_is_better;
    std::vector<double> costs;
    for (const auto& value : table.values)
        if (value && *value > 0) costs.push_back(higher ? 1 / *value : *value);
    if (costs.size() < fewest || table.values.size() != table.rows.size() * table.columns.size())
        return;
    const double usual = stats::quantile(costs, 0.95);
    std::size_t at = 0;
    double worst = 0;
    for (std::size_t i = 0; i < table.values.size(); ++i) {
        const double value = table.values[i].value_or(0);
        const double cost = value > 0 ? (higher ? 1 / value : value) : 0;
        if (cost > worst) {
            worst = cost;
            at = i;
        }
    }
    if (!(worst > far * usual)) return;
    found.push_back(
        {Severity::caution,
         say<text::pair::outlier>(
             join({c.benchmark, metric_title(table.metric)}), table.rows[at / table.columns.size()],
             table.columns[at % table.columns.size()], record::human(*table.values[at], table.unit),
             record::human(higher ? 1 / usual : usual, table.unit)),
         say<text::pair::outlier_do>()});
}

/// None unless rows and columns of the table are the same nodes.
decide::Culprits culprits_of(const record::Case& c, const record::Table& table) {
    const std::size_t nodes = table.rows.size();
    if (nodes < 2 || nodes > most_nodes || table.rows != table.columns ||
        table.values.size() != nodes * nodes)
        return {};
    const auto values = numbers(table);
    const auto* definition = record::find_metric(table.metric);
    return decide::find_culprits(
        {.nodes = nodes,
         .values = values,
         .higher_is_better = definition == nullptr || definition->higher_is_better,
         .log_noise = noise_between_replicas(c, table)});
}

/// "core 3" of rows titled "from core"; hosts are titled "from" and have names of their own.
std::string node_in_words(std::string_view row_title, const std::string& name) {
    constexpr std::string_view from = "from";
    if (row_title.starts_with(from)) row_title.remove_prefix(from.size());
    row_title.remove_prefix(std::min(row_title.find_first_not_of(' '), row_title.size()));
    return row_title.empty() ? name : say<text::pair::named>(row_title, name);
}

} // namespace

double noise_between_replicas(const record::Case& c, const record::Table& table) {
    double squares = 0;
    double count = 0;
    for (std::size_t cell = 0; cell < table.values.size(); ++cell) {
        std::vector<double> logs;
        for (const auto& replica : c.replicas)
            for (const auto& own : replica.tables)
                if (own.metric == table.metric && own.rows == table.rows &&
                    own.columns == table.columns && cell < own.values.size() && own.values[cell] &&
                    *own.values[cell] > 0)
                    logs.push_back(std::log(*own.values[cell]));
        if (logs.size() < 2) continue;
        squares += stats::variance(logs) / static_cast<double>(logs.size());
        ++count;
    }
    return count > 0 ? std::sqrt(squares / count) : 0;
}

std::string slower_by(double slowdown) {
    constexpr double much = 3; // percents of more are hard to read
    return slowdown < much ? say<text::pair::slower>(record::human_percent(slowdown - 1))
                           : say<text::pair::times_slower>(
                                 fmt::format("{:.{}f}", slowdown, slowdown < 10 ? 1 : 0));
}

std::vector<std::string> slow_nodes(const record::Case& c, const record::Table& table) {
    std::vector<std::string> names;
    for (const auto& node : culprits_of(c, table).nodes) names.push_back(table.rows[node.node]);
    return names;
}

std::vector<std::string> slow_pairs(const record::Case& c, const record::Table& table) {
    const auto found = culprits_of(c, table);
    std::vector<std::string> out;
    const auto& names = table.rows;
    const auto say_first = [&](const auto& list, const auto& sentence) {
        for (std::size_t i = 0; i < std::min(named, list.size()); ++i)
            out.push_back(sentence(list[i]));
        if (list.size() > named) out.push_back(say_count<text::pair::more>(list.size() - named));
    };
    say_first(found.nodes, [&](const decide::SlowNode& node) {
        return say<text::pair::node>(node_in_words(table.row_title, names[node.node]),
                                     slower_by(node.slowdown));
    });
    say_first(found.links, [&](const decide::SlowLink& link) {
        return say<text::pair::link>(names[link.from], names[link.to], slower_by(link.slowdown));
    });
    say_first(found.one_way, [&](const decide::OneWayPair& pair) {
        return say<text::pair::one_way>(names[pair.from], names[pair.to], slower_by(pair.ratio));
    });
    return out;
}

std::vector<Finding> find_slow_pairs(const record::Run& run) {
    std::vector<Finding> found;
    for (const auto& c : run.cases) {
        if (!is_about_links(c.benchmark)) {
            for (const auto& table : c.tables)
                if (headline(c) != nullptr) add_outlier(c, table, found);
            continue;
        }
        for (const auto& table : c.tables)
            if (const auto slow = slow_pairs(c, table); !slow.empty())
                found.push_back(
                    {Severity::caution,
                     say<text::words::labelled>(
                         join({plain(c.benchmark), metric_title(table.metric)}), sentences(slow)),
                     say<text::finding::slow_pairs_action>()});
    }
    return found;
}

} // namespace assay::report
