// SPDX-License-Identifier: Apache-2.0
#include "process/message.hpp"

#include "json/fields.hpp"
#include "json/json.hpp"
#include "record/convert.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace assay::harness::message {
namespace {

constexpr std::string_view from_parent = "message of the parent";
constexpr std::string_view from_worker = "message of a worker";

// --- writing --------------------------------------------------------------------------------------

json::Value to_json(const measure::Protocol& protocol) {
    return {{"target", protocol.target},
            {"min_seconds", protocol.min_seconds},
            {"budget_seconds", protocol.budget_seconds},
            {"limit_seconds", protocol.limit_seconds},
            {"batch_floor", protocol.batch_floor},
            {"clock_factor", protocol.clock_factor},
            {"min_batches", protocol.min_batches},
            {"few_batches", protocol.few_batches},
            {"kept_values", protocol.kept_values},
            {"warmup_seconds", protocol.warmup_seconds},
            {"keep_samples", protocol.keep_samples}};
}

json::Value to_json(const Welcome& m) {
    return {{"type", "welcome"},
            {"machine", record::to_json(m.machine)},
            {"state_folder", m.state_folder},
            {"ranks", m.ranks},
            {"hosts", m.hosts}};
}

json::Value to_json(const Measure& m) {
    return {{"type", "measure"},
            {"id", m.id},
            {"module", m.module},
            {"build", m.build},
            {"benchmark", m.benchmark},
            {"parameters", record::to_json(m.parameters)},
            {"protocol", to_json(m.protocol)},
            {"replica", m.replica},
            {"place", record::to_json(m.place)},
            {"devices", m.devices},
            {"log", m.log}};
}

json::Value to_json(const AskFacts& m) {
    return {{"type", "ask_facts"}, {"id", m.id}, {"module", m.module}};
}

json::Value to_json(const Stop& /*m*/) { return {{"type", "stop"}}; }

json::Value to_json(const Ping& /*m*/) { return {{"type", "ping"}}; }

json::Value to_json(const Hello& m) {
    return {{"type", "hello"},      {"token", m.token}, {"rank", m.rank},      {"pid", m.pid},
            {"version", m.version}, {"build", m.build}, {"machine", m.machine}};
}

json::Value to_json(const Pong& m) { return {{"type", "pong"}, {"state", m.state}}; }

json::Value to_json(const Progress& m) {
    return {{"type", "progress"}, {"id", m.id}, {"phase", m.phase}, {"fraction", m.fraction}};
}

json::Value to_json(const Log& m) { return {{"type", "log"}, {"text", m.text}}; }

json::Value to_json(const Result& m) {
    json::Value value{{"type", "result"},
                      {"id", m.id},
                      {"replica", record::to_json(m.replica)},
                      {"settings", record::to_json(m.settings)},
                      {"work", record::to_json(m.work)},
                      {"samples", m.samples}};
    if (m.verification) value["verification"] = record::to_json(*m.verification);
    return value;
}

json::Value to_json(const Facts& m) {
    return {{"type", "facts"},
            {"id", m.id},
            {"facts", record::to_json(m.facts)},
            {"problem", m.problem}};
}

json::Value to_json(const Done& m) {
    return {{"type", "done"}, {"id", m.id}, {"reason", m.reason}};
}

// --- reading --------------------------------------------------------------------------------------

/// Reads the part of the message at `key` by a function of the record's.
template <class T, class Convert>
void convert_part(const json::Object& m, std::string_view key, T& out, Convert convert,
                  std::string_view source) {
    const auto* value = m.find(key);
    if (value == nullptr) return m.problem(key, "is missing");
    auto converted = convert(*value, source);
    if (converted)
        out = std::move(*converted);
    else
        m.problem(key, converted.error().message);
}

void read(const json::Object& m, measure::Protocol& protocol) {
    m.read("target", protocol.target);
    m.read("min_seconds", protocol.min_seconds);
    m.read("budget_seconds", protocol.budget_seconds);
    m.read("limit_seconds", protocol.limit_seconds);
    m.read("batch_floor", protocol.batch_floor);
    m.read("clock_factor", protocol.clock_factor);
    m.read("min_batches", protocol.min_batches);
    m.read("few_batches", protocol.few_batches);
    m.read("kept_values", protocol.kept_values);
    m.read("warmup_seconds", protocol.warmup_seconds);
    m.read("keep_samples", protocol.keep_samples);
}

void read(const json::Object& m, Welcome& to) {
    convert_part(m, "machine", to.machine, record::machine_from, from_parent);
    m.read("state_folder", to.state_folder);
    m.read("ranks", to.ranks);
    m.read("hosts", to.hosts);
}

void read(const json::Object& m, Measure& to) {
    m.read("id", to.id);
    m.read("module", to.module);
    m.read("build", to.build);
    m.read("benchmark", to.benchmark);
    convert_part(m, "parameters", to.parameters, record::named_list_from, from_parent);
    read(m.object("protocol"), to.protocol);
    m.read("replica", to.replica);
    convert_part(m, "place", to.place, record::place_from, from_parent);
    m.read("devices", to.devices);
    m.read("log", to.log);
}

void read(const json::Object& m, AskFacts& to) {
    m.read("id", to.id);
    m.read("module", to.module);
}

void read(const json::Object& /*m*/, Stop& /*to*/) {}

void read(const json::Object& /*m*/, Ping& /*to*/) {}

void read(const json::Object& m, Pong& to) { m.read("state", to.state); }

void read(const json::Object& m, Hello& to) {
    m.read("token", to.token);
    m.read("rank", to.rank);
    m.read("pid", to.pid);
    // Of a program of another version, all of this may be missing: then it is another one.
    m.read_if("version", to.version);
    m.read_if("build", to.build);
    m.read_if("machine", to.machine);
}

void read(const json::Object& m, Progress& to) {
    m.read("id", to.id);
    m.read("phase", to.phase);
    m.read("fraction", to.fraction);
}

void read(const json::Object& m, Log& to) { m.read("text", to.text); }

void read(const json::Object& m, Result& to) {
    m.read("id", to.id);
    convert_part(m, "replica", to.replica, record::replica_from, from_worker);
    convert_part(m, "settings", to.settings, record::named_list_from, from_worker);
    convert_part(m, "work", to.work, record::named_list_from, from_worker);
    m.read("samples", to.samples);
    if (m.has("verification"))
        convert_part(m, "verification", to.verification, record::verification_from, from_worker);
}

void read(const json::Object& m, Facts& to) {
    m.read("id", to.id);
    convert_part(m, "facts", to.facts, record::named_list_from, from_worker);
    m.read("problem", to.problem);
}

void read(const json::Object& m, Done& to) {
    m.read("id", to.id);
    m.read("reason", to.reason);
}

/// Reads the message as `Kind`; for the tables of types below.
template <class Kind, class Message>
void read_as(const json::Object& m, Message& to) {
    read(m, to.template emplace<Kind>());
}

template <class Message>
struct Type {
    std::string_view name;
    void (*read)(const json::Object& m, Message& to);
};

/// Whatever is wrong with a message, it is the fault of its sender, so of the benchmark that runs
/// there.
template <class Message, std::size_t N>
assay::Result<Message> parse(std::string_view line, std::string_view source,
                             const std::array<Type<Message>, N>& types) {
    constexpr std::size_t longest_type = 40; // of an unknown one, in the error
    const auto value = json::parse(line, source);
    if (!value) return fail(value.error().message, Fault::benchmark);
    json::Document document{*value, source};
    const auto root = document.root();
    std::string name;
    root.read("type", name);
    const auto type = std::ranges::find(types, std::string_view{name}, &Type<Message>::name);
    Message message;
    if (type != types.end())
        type->read(root, message);
    else
        root.problem("type", fmt::format("`{}` is unknown", name.substr(0, longest_type)));
    if (auto read = document.result(); !read) return fail(read.error().message, Fault::benchmark);
    return message;
}

constexpr std::array to_worker_types{
    Type<ToWorker>{.name = "measure", .read = &read_as<Measure, ToWorker>},
    Type<ToWorker>{.name = "ask_facts", .read = &read_as<AskFacts, ToWorker>},
    Type<ToWorker>{.name = "welcome", .read = &read_as<Welcome, ToWorker>},
    Type<ToWorker>{.name = "stop", .read = &read_as<Stop, ToWorker>},
    Type<ToWorker>{.name = "ping", .read = &read_as<Ping, ToWorker>}};

constexpr std::array from_worker_types{
    Type<FromWorker>{.name = "progress", .read = &read_as<Progress, FromWorker>},
    Type<FromWorker>{.name = "result", .read = &read_as<Result, FromWorker>},
    Type<FromWorker>{.name = "hello", .read = &read_as<Hello, FromWorker>},
    Type<FromWorker>{.name = "log", .read = &read_as<Log, FromWorker>},
    Type<FromWorker>{.name = "facts", .read = &read_as<Facts, FromWorker>},
    Type<FromWorker>{.name = "done", .read = &read_as<Done, FromWorker>},
    Type<FromWorker>{.name = "pong", .read = &read_as<Pong, FromWorker>}};

} // namespace

std::string to_line(const ToWorker& message) {
    return json::to_line(std::visit([](const auto& m) { return to_json(m); }, message));
}

std::string to_line(const FromWorker& message) {
    return json::to_line(std::visit([](const auto& m) { return to_json(m); }, message));
}

assay::Result<ToWorker> parse_to_worker(std::string_view line) {
    return parse(line, from_parent, to_worker_types);
}

assay::Result<FromWorker> parse_from_worker(std::string_view line) {
    return parse(line, from_worker, from_worker_types);
}

} // namespace assay::harness::message
