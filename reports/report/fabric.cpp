// SPDX-License-Identifier: Apache-2.0

#include "document/texts/fabric.hpp"

#include "base/text.hpp"
#include "decide/fabric.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/finding.hpp"
#include "document/texts/pair.hpp"
#include "document/texts/words.hpp"
#include "document/words.hpp"
#include "record/format.hpp"
#include "record/metrics.hpp"
#include "report/pairs.hpp"
#include "stats/summary.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

namespace assay::report {

using namespace document;
namespace {

constexpr std::string_view between = " to ";
constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

/// The host of "node12" and "node12 rank 96"; nothing of "rank 3".
std::optional<std::size_t> host_in(std::string_view label) {
    constexpr std::string_view node = "node";
    if (!label.starts_with(node)) return {};
    label.remove_prefix(node.size());
    std::size_t host = 0;
    const auto read = std::from_chars(label.data(), label.data() + label.size(), host);
    if (read.ec != std::errc{}) return {};
    return host;
}

std::vector<std::string> words_of(const record::Case& c, std::string_view setting) {
    const auto* value = record::find(c.settings, setting);
    const auto* text = value == nullptr ? nullptr : std::get_if<std::string>(value);
    std::vector<std::string> words;
    if (text != nullptr)
        for (const auto word : split(*text, ' ')) words.emplace_back(word);
    return words;
}

struct KindOfGroup {
    std::string name;
    std::vector<std::string> groups;
};

/// A list of pairs with numbers for nodes and groups.
struct List {
    std::vector<std::string> nodes; ///< names for people
    std::vector<decide::FabricPair> pairs;
    std::vector<decide::FabricKind> kinds;
    std::vector<KindOfGroup> kind_names;
    std::size_t possible() const { return nodes.size() * (nodes.size() - 1) / 2; }
};

class Reading {
public:
    explicit Reading(const record::Case& c) : hosts_{words_of(c, "job.hosts")} {
        // Each host is a node, whether it has a pair or not.
        for (auto& name : hosts_) name = name.substr(0, name.rfind(':'));
        read_kinds(c);
    }

    List list(const record::Table& table) && {
        const auto* definition = record::find_metric(table.metric);
        const bool higher = definition == nullptr || definition->higher_is_better;
        const auto value = [&](std::size_t row, std::string_view column) {
            const auto at = std::ranges::find(table.columns, column);
            if (at == table.columns.end()) return nothing;
            const auto& cell = table.values[row * table.columns.size() +
                                            static_cast<std::size_t>(at - table.columns.begin())];
            if (!cell || !(*cell > 0)) return nothing;
            return higher ? *cell : 1 / *cell;
        };
        for (std::size_t row = 0; row < table.rows.size(); ++row) {
            const std::string_view label = table.rows[row];
            const auto at = label.find(between);
            if (at == label.npos) continue;
            const auto from = node(label.substr(0, at));
            const auto to = node(label.substr(at + between.size()));
            // A latency has no direction.
            const double there = value(row, "there");
            const double there_alone = value(row, "there alone");
            list_.pairs.push_back(
                {.from = from,
                 .to = to,
                 .there = std::isnan(there) ? value(row, "at once") : there,
                 .back = value(row, "back"),
                 .there_alone = std::isnan(there_alone) ? value(row, "alone") : there_alone,
                 .back_alone = value(row, "back alone")});
        }
        add_silent();
        return std::move(list_);
    }

private:
    void read_kinds(const record::Case& c) {
        constexpr std::string_view prefix = "job.groups.";
        for (const auto& setting : c.settings) {
            if (!setting.name.starts_with(prefix)) continue;
            auto& kind = list_.kind_names.emplace_back();
            kind.name = setting.name.substr(prefix.size());
            auto& of_host = of_host_.emplace_back();
            for (const auto& word : words_of(c, setting.name)) {
                auto group = decide::FabricKind::none;
                if (word != "-") {
                    const auto known = std::ranges::find(kind.groups, word);
                    group = static_cast<std::size_t>(known - kind.groups.begin());
                    if (known == kind.groups.end()) kind.groups.push_back(word);
                }
                of_host.push_back(group);
            }
            list_.kinds.push_back({.groups = kind.groups.size(), .of_node = {}});
        }
    }
    std::size_t node(std::string_view label) {
        const auto [known, added] = numbers_.emplace(std::string{label}, list_.nodes.size());
        if (!added) return known->second;
        const auto host = host_in(label);
        const bool named = host && *host < hosts_.size();
        if (named) seen_.push_back(*host);
        // Behind the number of the host: " rank 96".
        const auto rest = label.find(' ');
        list_.nodes.push_back(
            named ? hosts_[*host] + (rest == label.npos ? "" : std::string{label.substr(rest)})
                  : std::string{label});
        add_groups(host);
        return known->second;
    }
    void add_groups(std::optional<std::size_t> host) {
        for (std::size_t kind = 0; kind < list_.kinds.size(); ++kind)
            list_.kinds[kind].of_node.push_back(host && *host < of_host_[kind].size()
                                                    ? of_host_[kind][*host]
                                                    : decide::FabricKind::none);
    }
    void add_silent() {
        std::ranges::sort(seen_);
        for (std::size_t host = 0; host < hosts_.size(); ++host) {
            if (std::ranges::binary_search(seen_, host)) continue;
            list_.nodes.push_back(hosts_[host]);
            add_groups(host);
        }
    }

    std::vector<std::string> hosts_;
    std::vector<std::vector<std::size_t>> of_host_; ///< the group, by kind and host
    std::map<std::string, std::size_t, std::less<>> numbers_;
    std::vector<std::size_t> seen_; ///< hosts
    List list_;
};

List read_list(const record::Case& c, const record::Table& table) { return Reading{c}.list(table); }

decide::FabricFindings findings_of(const record::Case& c, const record::Table& table,
                                   const List& list) {
    return decide::find_in_fabric(list.pairs, list.nodes.size(), list.kinds,
                                  noise_between_replicas(c, table));
}

/// "45% slower (p < 0.0001)"
std::string sure(double slowdown, double p) {
    constexpr double least = 1e-4;
    return say<text::fabric::sure>(slower_by(slowdown),
                                   p < least ? "< 0.0001" : fmt::format("{:.1g}", p));
}
std::string with_alone(const std::string& sentence, decide::Alone alone) {
    if (alone == decide::Alone::slow) return say<text::fabric::alone_slow>(sentence);
    if (alone == decide::Alone::fine) return say<text::fabric::alone_fine>(sentence);
    return say<text::fabric::alone_unknown>(sentence);
}

std::vector<std::string> sentences_of(const List& list, const decide::FabricFindings& found) {
    constexpr std::size_t named = 5; // of each kind
    std::vector<std::string> out;
    const auto say_first = [&](const auto& findings, const auto& sentence) {
        for (std::size_t i = 0; i < std::min(named, findings.size()); ++i)
            out.push_back(sentence(findings[i]));
        if (findings.size() > named)
            out.push_back(say_count<text::fabric::more>(findings.size() - named));
    };
    const auto kind = [&](std::size_t which) { return list.kind_names[which].name; };
    const auto group = [&](std::size_t which, std::size_t number) {
        return list.kind_names[which].groups[number];
    };
    const auto& names = list.nodes;
    say_first(found.groups, [&](const decide::SlowGroup& one) {
        return with_alone(say<text::fabric::group>(kind(one.kind), group(one.kind, one.group),
                                                   sure(one.slowdown, one.p)),
                          one.alone);
    });
    say_first(found.trunks, [&](const decide::SlowTrunk& one) {
        return say<text::fabric::trunk>(kind(one.kind), group(one.kind, one.from),
                                        group(one.kind, one.to), sure(one.slowdown, one.p),
                                        one.pairs);
    });
    say_first(found.shared, [&](const decide::SharedGroup& one) {
        return say<text::fabric::shared>(one.links, one.of, kind(one.kind),
                                         group(one.kind, one.group), sure(one.slowdown, one.p));
    });
    say_first(found.nodes, [&](const decide::NodeFound& one) {
        return with_alone(say<text::pair::node>(names[one.node], sure(one.slowdown, one.p)),
                          one.alone);
    });
    say_first(found.links, [&](const decide::LinkFound& one) {
        return with_alone(
            say<text::pair::link>(names[one.from], names[one.to], sure(one.slowdown, one.p)),
            one.alone);
    });
    say_first(found.one_way, [&](const decide::OneWayPair& one) {
        return say<text::pair::one_way>(names[one.from], names[one.to], sure(one.ratio, one.p));
    });
    return out;
}

std::string times(double factor) { return say<text::fabric::times>(fmt::format("{:.2f}", factor)); }

/// The measured part, and whether the fabric blocks.
void add_coverage(const List& list, const decide::FabricFindings& found, const std::string& label,
                  std::vector<Finding>& out) {
    constexpr double noticed = 1.05; // as in decide::CulpritRule
    std::vector<std::string> said;
    said.push_back(found.pairs < list.possible()
                       ? say<text::fabric::covered>(found.pairs, list.possible(), list.nodes.size())
                       : say<text::fabric::covered_all>(found.pairs, list.nodes.size()));
    if (!found.is_enough) said.push_back(say<text::fabric::too_few>());
    if (list.kinds.empty()) said.push_back(say<text::fabric::no_groups>());
    const auto& blocking = found.blocking;
    const bool is_known = blocking.high > blocking.low;
    const bool blocks = is_known && blocking.low > noticed;
    if (!is_known)
        said.push_back(say<text::fabric::alone_missing>());
    else if (!blocks)
        said.push_back(say<text::fabric::free>(fmt::format("{:.2f}", blocking.slowdown),
                                               times(blocking.low), times(blocking.high),
                                               blocking.pairs));
    out.push_back({Severity::note, say<text::words::labelled>(label, sentences(said)), ""});
    if (blocks)
        out.push_back(
            {Severity::note,
             say<text::words::labelled>(
                 label, say<text::fabric::blocks>(slower_by(blocking.slowdown), times(blocking.low),
                                                  times(blocking.high), blocking.pairs)),
             say<text::fabric::blocks_do>()});
    if (found.never.empty()) return;
    std::vector<std::string> names;
    for (const auto node : found.never) names.push_back(list.nodes[node]);
    out.push_back(
        {Severity::caution,
         say<text::words::labelled>(label, say<text::fabric::never>(list_of_nodes(names))),
         say<text::fabric::never_do>()});
}

} // namespace

bool is_list_of_pairs(const record::Table& table) {
    return table.row_title == "pair" && !table.rows.empty() && !table.columns.empty() &&
           table.values.size() == table.rows.size() * table.columns.size();
}

SlowInFabric slow_in_fabric(const record::Case& c, const record::Table& table) {
    const auto list = read_list(c, table);
    const auto found = findings_of(c, table, list);
    SlowInFabric slow{.says = sentences_of(list, found), .nodes = {}, .groups = {}};
    for (const auto& node : found.nodes) slow.nodes.push_back(list.nodes[node.node]);
    const auto add = [&](std::size_t kind, std::size_t group) {
        auto name = list.kind_names[kind].name + " " + list.kind_names[kind].groups[group];
        if (std::ranges::find(slow.groups, name) == slow.groups.end())
            slow.groups.push_back(std::move(name));
    };
    for (const auto& one : found.groups) add(one.kind, one.group);
    for (const auto& one : found.trunks)
        for (const auto end : {one.from, one.to}) add(one.kind, end);
    for (const auto& one : found.shared) add(one.kind, one.group);
    return slow;
}

record::Table map_of_pairs(const record::Case& c, const record::Table& table, std::size_t& merged) {
    constexpr std::size_t most_lines = 64; // that can be told apart
    const auto list = read_list(c, table);
    const auto* definition = record::find_metric(table.metric);
    const bool higher = definition == nullptr || definition->higher_is_better;
    merged = std::max<std::size_t>((list.nodes.size() + most_lines - 1) / most_lines, 1);
    const std::size_t lines = (list.nodes.size() + merged - 1) / merged;
    std::vector<std::vector<double>> cells(lines * lines);
    const auto add = [&](std::size_t from, std::size_t to, double rate) {
        if (!std::isnan(rate))
            cells[from / merged * lines + to / merged].push_back(higher ? rate : 1 / rate);
    };
    for (const auto& pair : list.pairs) {
        add(pair.from, pair.to, pair.there);
        add(pair.to, pair.from, std::isnan(pair.back) && !higher ? pair.there : pair.back);
    }
    record::Table map{.metric = table.metric,
                      .unit = table.unit,
                      .row_title = "from",
                      .column_title = "to",
                      .rows = {},
                      .columns = {},
                      .values = {}};
    for (std::size_t line = 0; line < lines; ++line) map.rows.push_back(list.nodes[line * merged]);
    map.columns = map.rows;
    for (const auto& cell : cells)
        map.values.push_back(cell.empty() ? std::nullopt : std::optional{stats::median(cell)});
    return map;
}

std::vector<Finding> find_in_fabrics(const record::Run& run) {
    std::vector<Finding> found;
    for (const auto& c : run.cases)
        for (const auto& table : c.tables) {
            if (!is_list_of_pairs(table)) continue;
            const auto list = read_list(c, table);
            const auto said = findings_of(c, table, list);
            const auto label = join({plain(c.benchmark), metric_title(table.metric)});
            if (const auto slow = sentences_of(list, said); !slow.empty())
                found.push_back({Severity::caution,
                                 say<text::words::labelled>(label, sentences(slow)),
                                 say<text::finding::slow_pairs_action>()});
            if (table.metric == "bandwidth") add_coverage(list, said, label, found);
        }
    return found;
}

} // namespace assay::report
