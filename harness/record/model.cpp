// SPDX-License-Identifier: Apache-2.0
#include "record/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace assay::record {
namespace {

template <class Enum, std::size_t N>
using Names = std::array<std::pair<Enum, std::string_view>, N>;

constexpr Names<Status, 8> status_names{{
    {Status::ok, "ok"},
    {Status::unstable, "unstable"},
    {Status::incorrect, "incorrect"},
    {Status::skipped, "skipped"},
    {Status::failed, "failed"},
    {Status::timed_out, "timed_out"},
    {Status::crashed, "crashed"},
    {Status::interrupted, "interrupted"},
}};
constexpr Names<IntervalScope, 3> scope_names{{
    {IntervalScope::none, "none"},
    {IntervalScope::within_process, "within_process"},
    {IntervalScope::between_replicas, "between_replicas"},
}};
constexpr Names<CeilingKind, 3> ceiling_names{{
    {CeilingKind::none, "none"},
    {CeilingKind::measured, "measured"},
    {CeilingKind::datasheet, "datasheet"},
}};

template <class Enum, std::size_t N>
std::string_view name_of(const Names<Enum, N>& names, Enum value) {
    const auto found = std::ranges::find(names, value, &std::pair<Enum, std::string_view>::first);
    return found == names.end() ? "?" : found->second;
}

template <class Enum, std::size_t N>
bool find_value(const Names<Enum, N>& names, std::string_view text, Enum& out) {
    const auto found = std::ranges::find(names, text, &std::pair<Enum, std::string_view>::second);
    if (found == names.end()) return false;
    out = found->first;
    return true;
}

} // namespace

std::string_view to_string(Status status) { return name_of(status_names, status); }
bool from_text(std::string_view text, Status& out) { return find_value(status_names, text, out); }
std::string_view expected_text(Status /*status*/) {
    return "the status of a case (ok, unstable, ...)";
}

std::string_view to_string(IntervalScope scope) { return name_of(scope_names, scope); }
bool from_text(std::string_view text, IntervalScope& out) {
    return find_value(scope_names, text, out);
}
std::string_view expected_text(IntervalScope /*scope*/) {
    return "none, within_process or between_replicas";
}

std::string_view to_string(CeilingKind kind) { return name_of(ceiling_names, kind); }
bool from_text(std::string_view text, CeilingKind& out) {
    return find_value(ceiling_names, text, out);
}
std::string_view expected_text(CeilingKind /*kind*/) { return "none, measured or datasheet"; }

bool is_finished(Status status) {
    return status == Status::ok || status == Status::unstable || status == Status::incorrect ||
           status == Status::skipped;
}

std::string to_string(const Value& value) {
    return std::visit(
        [](const auto& v) {
            if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::string>)
                return v;
            else
                return fmt::format("{}", v);
        },
        value);
}

const Value* find(const NamedList& list, std::string_view name) {
    const auto found = std::ranges::find(list, name, &Named::name);
    return found == list.end() ? nullptr : &found->value;
}

std::string words_of(const Place& place) {
    return place.index == 0 ? place.kind : fmt::format("{}:{}", place.kind, place.index);
}

std::string identity(const Case& c) {
    std::string text = c.benchmark;
    // Almost everything is version 1 and on the host; what is usual is not said.
    if (c.version != 1) text += fmt::format("/{}", c.version);
    text += fmt::format("[{}]", c.library);
    if (c.place.kind != "host") text += fmt::format("@{}", words_of(c.place));
    for (const Named& parameter : c.parameters)
        text += fmt::format(" {}={}", parameter.name, to_string(parameter.value));
    return text;
}

const Device* find_device(const Machine& machine, const Place& place) {
    const auto is_it = [&](const Device& device) {
        if (device.kind != place.kind) return false;
        return place.uuid.empty() ? device.index == place.index : device.uuid == place.uuid;
    };
    const auto found = std::ranges::find_if(machine.devices, is_it);
    return found == machine.devices.end() ? nullptr : &*found;
}

} // namespace assay::record
