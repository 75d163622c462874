// SPDX-License-Identifier: Apache-2.0

#include "export/each_run.hpp"
#include "export/judgement_data.hpp"
#include "json/json.hpp"
#include "json/stream.hpp"
#include "judge/words.hpp"
#include "report/text.hpp"
#include "write/csv_line.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

namespace assay::report {
namespace {

using json::Value;
using write::CsvLine;

Value number(const std::optional<double>& value) {
    return value && std::isfinite(*value) ? Value(*value) : Value(nullptr);
}
Value number(const std::optional<std::size_t>& value) {
    return value ? Value(*value) : Value(nullptr);
}
Value text(std::string_view value) { return value.empty() ? Value(nullptr) : Value(plain(value)); }
template <class Code>
Value code(Code value) {
    const auto name = to_string(value);
    return name == "none" ? Value(nullptr) : Value(std::string{name});
}

Value case_of(const Series& series) {
    return {{"benchmark", plain(series.benchmark)},
            {"version", series.version},
            {"place", plain(series.place)},
            {"library", plain(series.library)},
            {"parameters", plain(joined(series.parameters))},
            {"metric", plain(series.metric)}};
}

Value limit_of(const Limit& limit) {
    return {{"id", plain(limit.id)},
            {"kind", std::string{to_string(limit.kind)}},
            {"source", plain(limit.source)},
            {"file", plain(limit.file)},
            {"share_of", text(limit.share_of)},
            {"samples", limit.samples ? Value(*limit.samples) : Value(nullptr)},
            {"false_reject", number(limit.errors ? limit.errors->false_reject : std::nullopt)},
            {"false_accept", number(limit.errors ? limit.errors->false_accept : std::nullopt)},
            {"date", text(limit.date)},
            {"author", text(limit.author)},
            {"expires", text(limit.expires)}};
}

Value check_of(const Judgement& judgement, const Check& check) {
    Value waiver = nullptr;
    if (check.waiver) {
        const auto& found = judgement.limits.waivers[*check.waiver];
        waiver = {{"owner", plain(found.owner)},
                  {"reason", plain(found.reason)},
                  {"expires", plain(found.expires)},
                  {"cause", code(check.waived)}};
    }
    return {
        {"id", plain(check.id)},
        {"part", plain(check.part)},
        {"name", name_of(judgement, check)},
        {"verdict", std::string{to_string(check.outcome)}},
        {"cause", code(check.cause)},
        {"blame", code(meaning_of(check.cause).blame)},
        {"severity", code(severity_of(check.outcome, check.action))},
        {"action", code(check.action)},
        {"required", check.required},
        {"case",
         check.series ? case_of(judgement.collection.series[*check.series]) : Value(nullptr)},
        {"limit", check.limit ? limit_of(judgement.limits.limits[*check.limit]) : Value(nullptr)},
        {"unit", text(check.unit)},
        {"value", number(check.value)},
        {"low", number(check.low)},
        {"high", number(check.high)},
        {"bound", number(check.bound)},
        {"direction", check.at_least ? "at_least" : "at_most"},
        {"replicas", check.replicas},
        {"runs", check.runs},
        {"p_pass", number(check.p_pass)},
        {"p_fail", number(check.p_fail)},
        {"replicas_to_decide", number(check.repeats)},
        {"warm", check.is_warm},
        {"of_datasheet", number(check.beside.of_datasheet)},
        {"of_fleet", number(check.beside.of_fleet)},
        {"slower_nodes", number(check.beside.slower)},
        {"fleet_nodes", number(check.beside.nodes)},
        {"of_contract", number(check.beside.of_contract)},
        {"detail", text(check.detail)},
        {"waiver", std::move(waiver)}};
}

/// All but its checks.
Value node_of(const Judgement& judgement, const Node& node) {
    const auto& collection = judgement.collection;
    const auto& machine = collection.machines[node.machine];
    Value runs = Value::array();
    for (const auto run : node.runs) runs.push_back(plain(collection.runs[run].file.string()));
    Value parts = Value::array();
    for (const auto& part : node.parts)
        parts.push_back({{"part", plain(part.part)},
                         {"verdict", std::string{to_string(part.outcome)}},
                         {"measured", part.measured}});
    Value worst = nullptr;
    if (const auto* found = worst_of(node); found != nullptr) {
        worst = {{"id", plain(found->id)},
                 {"cause", code(found->cause)},
                 {"blame", code(meaning_of(found->cause).blame)},
                 {"severity", code(severity_of(found->outcome, found->action))},
                 {"action", code(found->action)},
                 {"text", finding_of(judgement, *found)}};
    }
    return {{"name", machine_name(judgement, node)},
            {"machine", plain(machine.id)},
            {"campaign", text(node.campaign)},
            {"verdict", std::string{to_string(node.outcome)}},
            {"parts", std::move(parts)},
            {"required", node.required},
            {"ran", node.ran},
            {"not_judged", node.not_judged},
            {"runs", std::move(runs)},
            {"before_repair", node.before_repair},
            {"repair", text(node.repair)},
            {"worst", std::move(worst)}};
}

void write_members(const Value& object, json::Stream& out) {
    for (const auto& [name, value] : object.items()) {
        out.key(name);
        out.value(value);
    }
}

void write_node(const Judgement& judgement, const Node& node, json::Stream& out) {
    out.open_object();
    write_members(node_of(judgement, node), out);
    if (node.outcome != Outcome::pass || judgement.nodes.size() == 1) {
        out.key("checks");
        out.open_array();
        for (const auto& check : node.checks) out.value(check_of(judgement, check));
        out.close();
    }
    out.close();
}

} // namespace

bool write_json(const Judgement& judgement, int exit_code, const Sink& sink) {
    const auto answer = answer_of(judgement);
    const auto counts = counts_of(judgement);
    Value counted = Value::object();
    for (std::size_t i = 0; i < counts.size(); ++i)
        counted[std::string{to_string(static_cast<Outcome>(i))}] = counts.at(i);
    Value lines = {answer.verdict, answer.worst};
    for (const auto* line : {&answer.next, &answer.missing})
        if (!line->empty()) lines.push_back(*line);
    Value problems = Value::array();
    for (const auto& problem : judgement.collection.problems)
        problems.push_back({{"where", plain(problem.where)}, {"reason", plain(problem.reason)}});
    Value names = Value::array();
    for (const auto& name : judgement.limits.names) names.push_back(plain(name));
    json::Stream out{sink};
    out.open_object();
    write_members({{"schema", "assay.verdict/1"},
                   {"verdict", std::string{to_string(judgement.outcome)}},
                   {"text", std::move(lines)},
                   {"part", std::string{to_string(judgement.part)}},
                   {"exit_code", exit_code},
                   {"counts", std::move(counted)},
                   {"levels", {{"pass", judgement.levels.pass}, {"fail", judgement.levels.fail}}},
                   {"limits", std::move(names)}},
                  out);
    out.key("nodes");
    out.open_array();
    for (const auto& node : judgement.nodes) write_node(judgement, node, out);
    out.close();
    write_members({{"problems", std::move(problems)}}, out);
    out.close();
    return out.finish();
}

std::string to_json(const Judgement& judgement, int exit_code) {
    std::string text;
    write_json(judgement, exit_code, [&](std::string_view part) {
        text += part;
        return true;
    });
    return text;
}

std::string to_csv(const Judgement& judgement) {
    static constexpr std::array columns{"node",         "machine",  "campaign",
                                        "node_verdict", "check",    "verdict",
                                        "cause",        "blame",    "severity",
                                        "action",       "required", "benchmark",
                                        "place",        "library",  "parameters",
                                        "metric",       "unit",     "value",
                                        "low",          "high",     "bound",
                                        "direction",    "replicas", "runs",
                                        "p_pass",       "p_fail",   "replicas_to_decide",
                                        "of_datasheet", "of_fleet", "of_contract",
                                        "detail"};
    std::string out;
    CsvLine head{out};
    for (const auto* name : columns) head.raw(name);
    head.end();
    const auto code_of = [](std::string_view name) {
        return name == "none" ? std::string_view{} : name;
    };
    const auto whole = [](const std::optional<std::size_t>& value) {
        return value ? std::optional{static_cast<double>(*value)} : std::nullopt;
    };
    static const Series none;
    for (const auto& node : judgement.nodes) {
        const auto name = machine_name(judgement, node);
        const auto machine = plain(judgement.collection.machines[node.machine].id);
        for (const auto& check : node.checks) {
            const auto& series = check.series ? judgement.collection.series[*check.series] : none;
            CsvLine line{out};
            line.text(name).text(machine).text(plain(node.campaign));
            line.raw(to_string(node.outcome)).text(plain(check.id)).raw(to_string(check.outcome));
            line.raw(code_of(to_string(check.cause)));
            line.raw(code_of(to_string(meaning_of(check.cause).blame)));
            line.raw(code_of(to_string(severity_of(check.outcome, check.action))));
            line.raw(code_of(to_string(check.action))).raw(check.required ? "1" : "0");
            line.text(plain(series.benchmark)).text(plain(series.place));
            line.text(plain(series.library)).text(plain(joined(series.parameters)));
            line.text(plain(series.metric)).text(plain(check.unit)).number(check.value);
            line.number(check.low).number(check.high).number(check.bound);
            line.raw(check.at_least ? "at_least" : "at_most");
            line.number(static_cast<double>(check.replicas))
                .number(static_cast<double>(check.runs));
            line.number(check.p_pass).number(check.p_fail).number(whole(check.repeats));
            line.number(check.beside.of_datasheet).number(check.beside.of_fleet);
            line.number(check.beside.of_contract).text(plain(check.detail)).end();
        }
    }
    return out;
}

} // namespace assay::report
