// SPDX-License-Identifier: Apache-2.0
#include "process/message.hpp"

#include "record/convert.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <type_traits>

namespace assay::harness::message {

template <class Visit>
void each_field(Visit&& visit, Maybe<Welcome> auto& m) {
    visit("machine", m.machine);
    visit("state_folder", m.state_folder);
    visit("ranks", m.ranks);
    visit("hosts", m.hosts);
    visit("describe", m.describe);
}
template <class Visit>
void each_field(Visit&& visit, Maybe<Measure> auto& m) {
    visit("id", m.id);
    visit("module", m.module);
    visit("build", m.build);
    visit("benchmark", m.benchmark);
    visit("parameters", m.parameters);
    visit("protocol", m.protocol);
    visit("replica", m.replica);
    visit("place", m.place);
    visit("devices", m.devices);
    visit("log", m.log);
    visit("has_siblings", m.has_siblings);
    visit("only_load", m.only_load);
    visit("expected", m.expected);
}
template <class Visit>
void each_field(Visit&& visit, Maybe<Proceed> auto& m) {
    visit("id", m.id);
    visit("point", m.point);
}
template <class Visit>
void each_field(Visit&& visit, Maybe<Reached> auto& m) {
    visit("id", m.id);
    visit("point", m.point);
}
template <class Visit>
void each_field(Visit&& visit, Maybe<AskFacts> auto& m) {
    visit("id", m.id);
    visit("module", m.module);
}
template <class Visit>
void each_field(Visit&& /*visit*/, Maybe<Stop> auto& /*m*/) {}
template <class Visit>
void each_field(Visit&& /*visit*/, Maybe<Ping> auto& /*m*/) {}
template <class Visit>
void each_field(Visit&& visit, Maybe<Hello> auto& m) {
    visit("token", m.token);
    visit("rank", m.rank);
    visit("pid", m.pid);
    visit("version", m.version);
    visit("build", m.build);
    visit("machine", m.machine);
}
template <class Visit>
void each_field(Visit&& visit, Maybe<Described> auto& m) {
    visit("machine", m.machine);
}
template <class Visit>
void each_field(Visit&& visit, Maybe<Pong> auto& m) {
    visit("state", m.state);
}
template <class Visit>
void each_field(Visit&& visit, Maybe<Phase> auto& m) {
    visit("id", m.id);
    visit("phase", m.phase);
}
template <class Visit>
void each_field(Visit&& visit, Maybe<Log> auto& m) {
    visit("text", m.text);
}
template <class Visit>
void each_field(Visit&& visit, Maybe<Result> auto& m) {
    visit("id", m.id);
    visit("result", m.result);
    visit("samples", m.samples);
    visit("reference", m.reference);
}
template <class Visit>
void each_field(Visit&& visit, Maybe<Facts> auto& m) {
    visit("id", m.id);
    visit("facts", m.facts);
    visit("problem", m.problem);
}
template <class Visit>
void each_field(Visit&& visit, Maybe<Done> auto& m) {
    visit("id", m.id);
    visit("reason", m.reason);
    visit("reason_code", m.reason_code);
    visit("reason_values", m.reason_values);
}

} // namespace assay::harness::message

/// The hello of another version may lack any field: a missing one is a difference.
template <>
inline constexpr bool assay::json::is_lenient<assay::harness::message::Hello> = true;

namespace assay::harness::message {
namespace {

template <class Message>
std::string line_of(const Message& message) {
    return std::visit(
        []<class Kind>(const Kind& m) {
            json::Value value{{"type", Kind::type}};
            value.update(json::encode(m));
            return json::to_line(value);
        },
        message);
}

/// Reads the alternative of the variant with this name; false when there is none.
template <class... Kinds>
bool read_as(std::string_view name, const json::Object& from, std::variant<Kinds...>& to) {
    const auto read = [&]<class Kind>(std::type_identity<Kind>) {
        if (Kind::type != name) return false;
        json::decode(from, to.template emplace<Kind>());
        return true;
    };
    return (read(std::type_identity<Kinds>{}) || ...);
}

/// Whatever is wrong with a message is the fault of its sender, hence of the benchmark that runs
/// there.
template <class Message>
assay::Result<Message> parse(std::string_view line, std::string_view source) {
    constexpr std::size_t longest_type = 40; // of an unknown one, in the error
    const auto value = json::parse(line, source);
    if (!value) return fail(value.error().message, Fault::benchmark);
    json::Document document{*value, source};
    const auto root = document.root();
    std::string name;
    root.read("type", name);
    Message message;
    if (!read_as(name, root, message))
        root.problem("type", fmt::format("`{}` is unknown", name.substr(0, longest_type)));
    if (auto read = document.result(); !read) return fail(read.error().message, Fault::benchmark);
    return message;
}

} // namespace

std::string to_line(const ToWorker& message) { return line_of(message); }
std::string to_line(const FromWorker& message) { return line_of(message); }

assay::Result<ToWorker> parse_to_worker(std::string_view line) {
    return parse<ToWorker>(line, "message of the parent");
}
assay::Result<FromWorker> parse_from_worker(std::string_view line) {
    return parse<FromWorker>(line, "message of a worker");
}

} // namespace assay::harness::message
