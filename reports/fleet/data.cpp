// SPDX-License-Identifier: Apache-2.0

#include "document/text.hpp"
#include "fleet/document.hpp"
#include "json/codec.hpp"
#include "write/csv_line.hpp"

#include <cmath>
#include <optional>
#include <string_view>

namespace assay::decide {

ASSAY_FIELDS(FleetRule, screen, accuse, retests, (fleet::retest_runs, "runs"))

} // namespace assay::decide

namespace assay::fleet {

using namespace document;
namespace {

std::vector<std::string> plain_texts(const std::vector<std::string>& texts) {
    std::vector<std::string> list;
    for (const auto& text : texts) list.push_back(plain(text, 300));
    return list;
}

/// A part of a fleet, which has what it refers to by number.
template <class Part>
struct In {
    const Fleet& fleet;
    const Part& one;
};
template <class Part>
std::vector<In<Part>> all_in(const Fleet& fleet, const std::vector<Part>& parts) {
    std::vector<In<Part>> list;
    for (const auto& part : parts) list.push_back({fleet, part});
    return list;
}

ASSAY_FIELDS(In<Suspect>, (record.one.item, "item"),
             (plain(record.fleet.items[record.one.item].name, 300), "name"),
             (plain(record.one.place, 60), "place"), (record.one.ratio, "ratio"),
             (record.one.again, "retest_ratio"), (record.one.replicas, "retest_replicas"),
             (record.one.runs, "retest_runs"),
             (record.one.slow      ? "slow"
              : record.one.decided ? "cleared"
                                   : "again",
              "verdict"))

std::optional<std::string> type_of(const In<FleetNode>& node) {
    if (!node.one.answered()) return {};
    return node.fleet.types[node.one.type].name;
}
std::optional<std::string> command_of(const In<FleetNode>& node) {
    using enum NodeState;
    const auto state = node.one.state;
    if (state != again && state != partial && state != missing) return {};
    auto command = command_for(node.fleet, node.one);
    return command.empty() ? std::nullopt : std::optional{std::move(command)};
}
std::vector<std::string> machines_of(const In<FleetNode>& node) {
    std::vector<std::string> machines;
    std::string last;
    for (const auto run : node.one.runs) {
        const auto& all = node.fleet.collection;
        const auto& id = all.machines[all.runs[run].machine].id;
        if (id != last) machines.push_back(plain(id, 60));
        last = id;
    }
    return machines;
}
/// Three digits say what a ratio says, and ten thousand nodes have many.
std::vector<double> ratios_of(const FleetNode& node) {
    std::vector<double> ratios;
    for (const float one : node.columns)
        ratios.push_back(std::round(static_cast<double>(one) * 1e4) / 1e4);
    return ratios;
}
ASSAY_FIELDS(In<FleetNode>, (record.one.name, "node"), (record.one.state, "state"),
             (record.one.expected, "expected"), (record.one.answered(), "answered"),
             (type_of(record), "type"), (machines_of(record), "machines"),
             (record.one.runs.size(), "runs"), (record.one.cases, "cases"),
             (record.one.missing, "missing"),
             (all_in(record.fleet, record.one.suspects), "suspects"),
             (plain_texts(record.one.wrong), "wrong"), (ratios_of(record.one), "ratios"),
             (command_of(record), "command"))

double median_of(const FleetItem& item) {
    if (!item.judged) return stats::unknown;
    return std::exp(item.series.higher_is_better ? item.center : -item.center);
}
ASSAY_FIELDS(In<FleetItem>, (plain(record.one.name, 300), "name"),
             (record.fleet.types[record.one.type].name, "type"),
             (plain(record.one.series.metric), "metric"), (plain(record.one.series.unit), "unit"),
             (record.one.nodes, "nodes"), (record.one.left_out, "left_out"),
             (median_of(record.one), "median"), (record.one.deviation, "deviation"),
             (record.one.deviation_low, "deviation_low"),
             (record.one.deviation_high, "deviation_high"),
             (record.one.p05, "reached_by_95_percent"),
             (std::exp(-record.one.bounds.screen), "screened_below"),
             (std::exp(-record.one.bounds.accuse), "slow_below"))

json::Value counts_of(const Fleet& fleet) {
    json::Value counts = json::Value::object();
    for (const auto state : all_values<NodeState>())
        counts[std::string{to_string(state)}] = count_of(fleet, state);
    return counts;
}

struct Answer {
    const Fleet& fleet;
    int exit_code;
};
ASSAY_FIELDS(Answer, ("assay.fleet/1", "schema"), (answer_of(record.fleet), "text"), exit_code,
             (record.fleet.since, "since"), (record.fleet.until, "until"),
             (record.fleet.has_expected, "expected"), (record.fleet.rule, "rule"),
             (counts_of(record.fleet), "counts"), (record.fleet.columns, "columns"),
             (all_in(record.fleet, record.fleet.nodes), "nodes"),
             (all_in(record.fleet, record.fleet.items), "items"),
             (record.fleet.unfinished, "unfinished"), (record.fleet.faults, "faults"),
             (record.fleet.pairs, "pairs"))

} // namespace

ASSAY_FIELDS(MissingCase, (plain(record.what, 300), "case"),
             (record.absent ? std::string_view{"absent"} : to_string(record.status), "status"))
ASSAY_FIELDS(Unfinished, node, suite, (plain(record.journal.string(), 1000), "journal"), done,
             cases, (record.left, "left_seconds"), (record.silent, "silent_seconds"), stalled,
             (record.damaged, "damaged_lines"))
ASSAY_FIELDS(FleetFault, code, (is_serious(record.code), "serious"), nodes,
             (plain_texts(record.evidence), "evidence"))
ASSAY_FIELDS(SlowPairs, what, (plain_texts(record.nodes), "nodes"),
             (plain_texts(record.groups), "groups"), (record.says, "text"))

std::string to_json(const Fleet& fleet, int exit_code) {
    return json::to_text(json::encode(Answer{fleet, exit_code}));
}

std::string to_csv(const Fleet& fleet) {
    std::string out{"node,state,type,expected,benchmark,ratio,suspects,missing\r\n"};
    for (const auto& node : fleet.nodes) {
        const auto add = [&](std::string_view column, const std::optional<double>& value) {
            const auto type = node.answered() ? fleet.types[node.type].name : "";
            write::CsvLine line{out};
            line.cells(node.name, node.state, type, node.expected, column, value,
                       node.suspects.size(), node.missing.size());
            line.end();
        };
        if (node.columns.empty() || !node.answered()) add("", {});
        for (std::size_t i = 0; node.answered() && i < node.columns.size(); ++i)
            if (std::isfinite(node.columns[i]))
                add(fleet.columns[i], static_cast<double>(node.columns[i]));
    }
    return out;
}

} // namespace assay::fleet
