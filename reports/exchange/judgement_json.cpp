// SPDX-License-Identifier: Apache-2.0

#include "document/text.hpp"
#include "exchange/data.hpp"
#include "json/codec.hpp"
#include "json/json.hpp"
#include "judge/words.hpp"
#include "store/find.hpp"
#include "write/csv_line.hpp"

#include <optional>
#include <string_view>
#include <utility>

namespace assay::exchange {
namespace {

using json::Value;
using write::CsvLine;

Value text(std::string_view value) { return value.empty() ? Value(nullptr) : Value(plain(value)); }
template <class Code>
Value code(Code value) {
    const auto name = to_string(value);
    return name == "none" ? Value(nullptr) : Value(std::string{name});
}

/// Something of a judgement.
template <class T>
struct In {
    const judge::Judgement& judgement;
    const T& one;
};

Value limit_of(const In<judge::Check>& check) {
    if (!check.one.limit) return nullptr;
    const auto& limit = check.judgement.limits.limits[*check.one.limit];
    return {
        {"id", plain(limit.id)},
        {"kind", to_string(limit.kind)},
        {"source", plain(limit.source)},
        {"file", plain(limit.file)},
        {"share_of", text(limit.share_of)},
        {"samples", json::encode(limit.samples)},
        {"false_reject", json::encode(limit.errors ? limit.errors->false_reject : std::nullopt)},
        {"false_accept", json::encode(limit.errors ? limit.errors->false_accept : std::nullopt)},
        {"date", text(limit.date)},
        {"author", text(limit.author)},
        {"expires", text(limit.expires)}};
}
Value waiver_of(const In<judge::Check>& check) {
    if (!check.one.waiver) return nullptr;
    const auto& found = check.judgement.limits.waivers[*check.one.waiver];
    return {{"owner", plain(found.owner)},
            {"reason", plain(found.reason)},
            {"expires", plain(found.expires)},
            {"cause", code(check.one.waived)}};
}
Value case_of(const In<judge::Check>& check) {
    if (!check.one.series) return nullptr;
    const auto& series = check.judgement.collection.series[*check.one.series];
    return {{"benchmark", plain(series.benchmark)},
            {"version", series.version},
            {"place", plain(series.place)},
            {"library", plain(series.library)},
            {"parameters", plain(store::joined(series.parameters))},
            {"metric", plain(series.metric)}};
}
ASSAY_FIELDS(In<judge::Check>, (document::plain(record.one.id), "id"),
             (document::plain(record.one.part), "part"),
             (name_of(record.judgement, record.one), "name"), (record.one.outcome, "verdict"),
             (code(record.one.cause), "cause"), (code(meaning_of(record.one.cause).blame), "blame"),
             (code(severity_of(record.one.outcome, record.one.action)), "severity"),
             (code(record.one.action), "action"), (record.one.required, "required"),
             (case_of(record), "case"), (limit_of(record), "limit"),
             (text(record.one.unit), "unit"), (record.one.value, "value"), (record.one.low, "low"),
             (record.one.high, "high"), (record.one.bound, "bound"),
             (record.one.at_least ? "at_least" : "at_most", "direction"),
             (record.one.replicas, "replicas"), (record.one.runs, "runs"),
             (code(record.one.knowledge), "known"), (record.one.p_pass, "p_pass"),
             (record.one.p_fail, "p_fail"), (record.one.repeats, "replicas_to_decide"),
             (record.one.is_warm, "warm"), (record.one.beside.of_datasheet, "of_datasheet"),
             (record.one.beside.of_fleet, "of_fleet"), (record.one.beside.slower, "slower_nodes"),
             (record.one.beside.nodes, "fleet_nodes"),
             (record.one.beside.of_contract, "of_contract"), (text(record.one.detail), "detail"),
             (waiver_of(record), "waiver"))

/// All but its checks.
Value node_of(const judge::Judgement& judgement, const judge::Node& node) {
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

void write_node(const judge::Judgement& judgement, const judge::Node& node, json::Stream& out) {
    out.open_object();
    write_members(node_of(judgement, node), out);
    if (node.outcome != judge::Outcome::pass || judgement.nodes.size() == 1) {
        out.key("checks");
        out.open_array();
        for (const auto& check : node.checks)
            out.value(json::encode(In<judge::Check>{judgement, check}));
        out.close();
    }
    out.close();
}

} // namespace

bool write_json(const judge::Judgement& judgement, int exit_code, const Sink& sink) {
    const auto answer = answer_of(judgement);
    const auto counts = counts_of(judgement);
    Value counted = Value::object();
    for (std::size_t i = 0; i < counts.size(); ++i)
        counted[std::string{to_string(static_cast<judge::Outcome>(i))}] = counts.at(i);
    Value lines = {answer.verdict, answer.worst};
    if (!answer.next.empty()) lines.push_back(answer.next);
    for (const auto& line : scope_of(judgement)) lines.push_back(line);
    if (!answer.missing.empty()) lines.push_back(answer.missing);
    Value problems = Value::array();
    for (const auto& problem : judgement.collection.problems)
        problems.push_back({{"code", std::string{to_string(problem.code)}},
                            {"where", plain(problem.where)},
                            {"reason", plain(problem.reason)}});
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

std::string to_json(const judge::Judgement& judgement, int exit_code) {
    std::string text;
    write_json(judgement, exit_code, [&](std::string_view part) {
        text += part;
        return true;
    });
    return text;
}

std::string to_csv(const judge::Judgement& judgement) {
    std::string out{"node,machine,campaign,node_verdict,check,verdict,cause,blame,severity,action,"
                    "required,benchmark,place,library,parameters,metric,unit,value,low,high,bound,"
                    "direction,replicas,runs,p_pass,p_fail,replicas_to_decide,of_datasheet,"
                    "of_fleet,of_contract,detail\r\n"};
    const auto code_of = [](std::string_view name) {
        return name == "none" ? std::string_view{} : name;
    };
    static const decide::Series none;
    for (const auto& node : judgement.nodes) {
        const auto name = machine_name(judgement, node);
        const auto machine = plain(judgement.collection.machines[node.machine].id);
        for (const auto& check : node.checks) {
            const auto& series = check.series ? judgement.collection.series[*check.series] : none;
            CsvLine line{out};
            line.cells(name, machine, plain(node.campaign), node.outcome, plain(check.id),
                       check.outcome, code_of(to_string(check.cause)),
                       code_of(to_string(meaning_of(check.cause).blame)),
                       code_of(to_string(severity_of(check.outcome, check.action))),
                       code_of(to_string(check.action)), check.required ? "1" : "0",
                       plain(series.benchmark), plain(series.place), plain(series.library),
                       plain(store::joined(series.parameters)), plain(series.metric),
                       plain(check.unit), check.value, check.low, check.high, check.bound,
                       check.at_least ? "at_least" : "at_most", check.replicas, check.runs,
                       check.p_pass, check.p_fail, check.repeats, check.beside.of_datasheet,
                       check.beside.of_fleet, check.beside.of_contract, plain(check.detail));
            line.end();
        }
    }
    return out;
}

} // namespace assay::exchange
