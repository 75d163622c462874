// SPDX-License-Identifier: Apache-2.0
#include "process/message.hpp"

#include "record/convert.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <type_traits>

namespace assay::process::message {

ASSAY_FIELDS(Welcome, machine, state_folder, ranks, hosts, describe)
ASSAY_FIELDS(Measure, id, module, build, benchmark, parameters, protocol, replica, place, devices,
             log, has_siblings, only_load, expected)
ASSAY_FIELDS(Proceed, id, point)
ASSAY_FIELDS(Reached, id, point)
ASSAY_FIELDS(AskFacts, id, module)
ASSAY_FIELDS(Stop)
ASSAY_FIELDS(Ping)
ASSAY_FIELDS(Hello, token, rank, pid, version, build, machine)
ASSAY_FIELDS(Described, machine)
ASSAY_FIELDS(Pong, state)
ASSAY_FIELDS(Phase, id, phase)
ASSAY_FIELDS(Log, text)
ASSAY_FIELDS(Result, id, result, samples, reference)
ASSAY_FIELDS(Facts, id, facts, problem)
ASSAY_FIELDS(Done, id, reason, reason_code, reason_values)

} // namespace assay::process::message

/// The hello of another version may lack any field: a missing one is a difference.
template <>
inline constexpr bool assay::json::is_lenient<assay::process::message::Hello> = true;

namespace assay::process::message {
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

/// Reads the alternative of the variant with this name; false for an unknown one.
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

} // namespace assay::process::message
