// SPDX-License-Identifier: Apache-2.0
#include "record/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace assay::record {

Conclusion conclusion(const Error& error) {
    const bool missing = error.fault == Fault::environment;
    return {.status = missing ? Status::skipped : Status::failed,
            .code = missing                              ? ReasonCode::missing_here
                    : error.fault == Fault::another_rank ? ReasonCode::another_rank
                                                         : ReasonCode::benchmark_error,
            .reason = error.message,
            .values = {{"message", error.message}}};
}

void disturb(Telemetry& telemetry, DisturbanceCode code, Values values, std::string text) {
    telemetry.disturbances.push_back(std::move(text));
    telemetry.disturbed_by.push_back({.code = code, .values = std::move(values)});
}

bool cpus_moved(double one_seconds, double other_seconds) {
    constexpr double factor = 2;
    return std::max(one_seconds, other_seconds) > factor * std::min(one_seconds, other_seconds);
}

bool is_measured(Status status) {
    return status == Status::ok || status == Status::unstable || status == Status::disturbed;
}

bool is_finished(Status status) {
    return (is_measured(status) && status != Status::disturbed) || status == Status::incorrect ||
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

std::optional<double> number(const Value& value) {
    if (const auto* real = std::get_if<double>(&value)) return *real;
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
    return {};
}

std::optional<double> number(const NamedList& list, std::string_view name) {
    const auto* value = find(list, name);
    return value == nullptr ? std::nullopt : number(*value);
}

std::string text(const NamedList& list, std::string_view name) {
    const auto* value = find(list, name);
    return value == nullptr ? "" : to_string(*value);
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
