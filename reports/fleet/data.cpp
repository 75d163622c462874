// SPDX-License-Identifier: Apache-2.0

#include "fleet/data.hpp"

#include "fleet/words.hpp"
#include "json/json.hpp"
#include "report/text.hpp"
#include "write/csv_line.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <string_view>

namespace assay::report {
namespace {

using json::Value;

Value number_or_null(double value) { return std::isfinite(value) ? Value(value) : Value(nullptr); }
/// Three digits say what a ratio says, and ten thousand nodes have many.
Value rounded(float value) {
    return std::isfinite(value) ? Value(std::round(static_cast<double>(value) * 1e4) / 1e4)
                                : Value(nullptr);
}
Value list_of_texts(const std::vector<std::string>& texts) {
    Value list = Value::array();
    for (const auto& text : texts) list.push_back(plain(text, 300));
    return list;
}

Value case_of(const Fleet& fleet, std::uint32_t number) {
    const auto& item = fleet.items[number];
    return {{"item", number}, {"name", plain(item.name, 300)}};
}

Value node_of(const Fleet& fleet, const FleetNode& node) {
    Value suspects = Value::array();
    for (const auto& one : node.suspects) {
        auto entry = case_of(fleet, one.item);
        entry["place"] = plain(one.place, 60);
        entry["ratio"] = number_or_null(one.ratio);
        entry["retest_ratio"] = number_or_null(one.again);
        entry["retest_replicas"] = one.replicas;
        entry["retest_runs"] = one.runs;
        entry["verdict"] = one.slow ? "slow" : one.decided ? "cleared" : "again";
        suspects.push_back(std::move(entry));
    }
    Value missing = Value::array();
    for (const auto& one : node.missing)
        missing.push_back({{"case", plain(one.what, 300)},
                           {"status", one.absent ? "absent" : std::string{to_string(one.status)}}});
    Value drifts = Value::array();
    for (const auto& one : node.drifts) {
        auto entry = case_of(fleet, one.item);
        entry["ratio"] = number_or_null(one.ratio);
        entry["beside_fleet"] = number_or_null(one.beside_fleet);
        drifts.push_back(std::move(entry));
    }
    Value ratios = Value::array();
    for (const float one : node.columns) ratios.push_back(rounded(one));
    Value machines = Value::array();
    std::string last;
    for (const auto run : node.runs) {
        const auto& id = fleet.collection.machines[fleet.collection.runs[run].machine].id;
        if (id != last) machines.push_back(plain(id, 60));
        last = id;
    }
    return {{"node", node.name},
            {"state", std::string{to_string(node.state)}},
            {"expected", node.expected},
            {"answered", node.answered()},
            {"type", node.answered() ? Value(fleet.types[node.type].name) : Value(nullptr)},
            {"machines", std::move(machines)},
            {"runs", node.runs.size()},
            {"cases", node.cases},
            {"missing", std::move(missing)},
            {"suspects", std::move(suspects)},
            {"wrong", list_of_texts(node.wrong)},
            {"drifts", std::move(drifts)},
            {"ratios", std::move(ratios)},
            {"command",
             node.state == NodeState::again ? Value(command_for(fleet, node)) : Value(nullptr)}};
}

Value item_of(const Fleet& fleet, const FleetItem& item) {
    const double median = std::exp(item.series.higher_is_better ? item.center : -item.center);
    return {{"name", plain(item.name, 300)},
            {"type", fleet.types[item.type].name},
            {"metric", plain(item.series.metric)},
            {"unit", plain(item.series.unit)},
            {"nodes", item.nodes},
            {"left_out", item.left_out},
            {"median", item.judged ? number_or_null(median) : Value(nullptr)},
            {"deviation", number_or_null(item.deviation)},
            {"deviation_low", number_or_null(item.deviation_low)},
            {"deviation_high", number_or_null(item.deviation_high)},
            {"reached_by_95_percent", number_or_null(item.p05)},
            {"screened_below", number_or_null(std::exp(-item.bounds.screen))},
            {"slow_below", number_or_null(std::exp(-item.bounds.accuse))}};
}

} // namespace

std::string to_json(const Fleet& fleet, int exit_code) {
    Value counts = Value::object();
    for (int i = 0; i <= static_cast<int>(NodeState::wrong); ++i) {
        const auto state = static_cast<NodeState>(i);
        counts[std::string{to_string(state)}] = count_of(fleet, state);
    }
    Value document{{"schema", "assay.fleet/1"},
                   {"text", answer_of(fleet)},
                   {"exit_code", exit_code},
                   {"since", fleet.since},
                   {"until", fleet.until},
                   {"expected", fleet.has_expected},
                   {"rule",
                    {{"screen", fleet.rule.screen},
                     {"accuse", fleet.rule.accuse},
                     {"retests", fleet.rule.retests},
                     {"runs", retest_runs}}},
                   {"counts", std::move(counts)},
                   {"columns", fleet.columns},
                   {"nodes", Value::array()},
                   {"items", Value::array()},
                   {"unfinished", Value::array()},
                   {"faults", Value::array()},
                   {"pairs", Value::array()},
                   {"drifts", Value::array()}};
    for (const auto& node : fleet.nodes) document["nodes"].push_back(node_of(fleet, node));
    for (const auto& item : fleet.items) document["items"].push_back(item_of(fleet, item));
    for (const auto& run : fleet.unfinished)
        document["unfinished"].push_back(
            {{"node", run.node},
             {"suite", run.suite},
             {"journal", plain(run.journal.string(), 1000)},
             {"done", run.done},
             {"cases", run.cases ? Value(*run.cases) : Value(nullptr)},
             {"left_seconds", run.left ? Value(*run.left) : Value(nullptr)},
             {"silent_seconds", run.silent},
             {"stalled", run.stalled},
             {"damaged_lines", run.damaged}});
    for (const auto& fault : fleet.faults)
        document["faults"].push_back({{"code", std::string{to_string(fault.code)}},
                                      {"serious", is_serious(fault.code)},
                                      {"nodes", fault.nodes},
                                      {"evidence", list_of_texts(fault.evidence)}});
    for (const auto& pairs : fleet.pairs)
        document["pairs"].push_back({{"what", pairs.what},
                                     {"nodes", list_of_texts(pairs.nodes)},
                                     {"groups", list_of_texts(pairs.groups)},
                                     {"text", pairs.says}});
    for (const auto& drift : fleet.drifts) {
        auto entry = case_of(fleet, drift.item);
        entry["nodes"] = drift.nodes;
        entry["ratio"] = number_or_null(drift.ratio);
        entry["low"] = number_or_null(drift.low);
        entry["high"] = number_or_null(drift.high);
        entry["beyond"] = drift.beyond;
        document["drifts"].push_back(std::move(entry));
    }
    return json::to_text(document);
}

std::string to_csv(const Fleet& fleet) {
    using write::CsvLine;
    static constexpr std::array columns{"node",      "state", "type",     "expected",
                                        "benchmark", "ratio", "suspects", "missing"};
    std::string out;
    CsvLine head{out};
    for (const auto* name : columns) head.text(name);
    head.end();
    for (const auto& node : fleet.nodes) {
        const auto add = [&](std::string_view column, const std::optional<double>& value) {
            CsvLine line{out};
            line.text(node.name).text(to_string(node.state));
            line.text(node.answered() ? fleet.types[node.type].name : "");
            line.raw(node.expected ? "true" : "false").text(column).number(value);
            line.raw(std::to_string(node.suspects.size())).raw(std::to_string(node.missing.size()));
            line.end();
        };
        if (node.columns.empty() || !node.answered()) add("", {});
        for (std::size_t i = 0; node.answered() && i < node.columns.size(); ++i)
            if (std::isfinite(node.columns[i]))
                add(fleet.columns[i], static_cast<double>(node.columns[i]));
    }
    return out;
}

} // namespace assay::report
