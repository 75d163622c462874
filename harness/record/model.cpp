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
constexpr Names<ReasonCode, 22> reason_names{{
    {ReasonCode::none, "none"},
    {ReasonCode::other, "other"},
    {ReasonCode::too_few_batches, "too_few_batches"},
    {ReasonCode::drift, "drift"},
    {ReasonCode::no_interval, "no_interval"},
    {ReasonCode::wide_interval, "wide_interval"},
    {ReasonCode::replicas_disagree, "replicas_disagree"},
    {ReasonCode::wrong_result, "wrong_result"},
    {ReasonCode::check_is_blind, "check_is_blind"},
    {ReasonCode::path_contradicted, "path_contradicted"},
    {ReasonCode::not_applicable, "not_applicable"},
    {ReasonCode::missing_here, "missing_here"},
    {ReasonCode::nothing_to_compare, "nothing_to_compare"},
    {ReasonCode::benchmark_error, "benchmark_error"},
    {ReasonCode::another_rank, "another_rank"},
    {ReasonCode::no_time, "no_time"},
    {ReasonCode::no_metric, "no_metric"},
    {ReasonCode::no_worker, "no_worker"},
    {ReasonCode::time_limit, "time_limit"},
    {ReasonCode::process_died, "process_died"},
    {ReasonCode::stopped, "stopped"},
    {ReasonCode::not_measured, "not_measured"},
}};
constexpr Names<DisturbanceCode, 18> disturbance_names{{
    {DisturbanceCode::other, "other"},
    {DisturbanceCode::foreign_cpu, "foreign_cpu"},
    {DisturbanceCode::steal, "steal"},
    {DisturbanceCode::waiting, "waiting"},
    {DisturbanceCode::quota, "quota"},
    {DisturbanceCode::too_hot, "too_hot"},
    {DisturbanceCode::clock_fell, "clock_fell"},
    {DisturbanceCode::clock_rose, "clock_rose"},
    {DisturbanceCode::device_slowed, "device_slowed"},
    {DisturbanceCode::device_capped, "device_capped"},
    {DisturbanceCode::memory_uncorrected, "memory_uncorrected"},
    {DisturbanceCode::memory_corrected, "memory_corrected"},
    {DisturbanceCode::row_broken, "row_broken"},
    {DisturbanceCode::packets_resent, "packets_resent"},
    {DisturbanceCode::device_shared, "device_shared"},
    {DisturbanceCode::link_narrow, "link_narrow"},
    {DisturbanceCode::link_slow, "link_slow"},
    {DisturbanceCode::driver_silent, "driver_silent"},
}};
constexpr Names<Links, 5> link_names{{
    {Links::unknown, "unknown"},
    {Links::host, "host"},
    {Links::nvlink, "nvlink"},
    {Links::peer, "peer"},
    {Links::other, "other"},
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

std::string_view to_string(ReasonCode code) { return name_of(reason_names, code); }
bool from_text(std::string_view text, ReasonCode& out) {
    // A code of a later version is no reason to refuse its file.
    if (!find_value(reason_names, text, out)) out = ReasonCode::other;
    return true;
}
std::string_view expected_text(ReasonCode /*code*/) { return "the code of a reason"; }

ReasonCode reason_code(const Error& error) {
    switch (error.fault) {
    case Fault::environment:
        return ReasonCode::missing_here;
    case Fault::another_rank:
        return ReasonCode::another_rank;
    case Fault::usage:
    case Fault::benchmark:
        break;
    }
    return ReasonCode::benchmark_error;
}

std::string_view to_string(DisturbanceCode code) { return name_of(disturbance_names, code); }
bool from_text(std::string_view text, DisturbanceCode& out) {
    if (!find_value(disturbance_names, text, out))
        out = DisturbanceCode::other; // of a later version
    return true;
}
std::string_view expected_text(DisturbanceCode /*code*/) { return "the code of a disturbance"; }
void disturb(Telemetry& telemetry, DisturbanceCode code, Values values, std::string text) {
    telemetry.disturbances.push_back(std::move(text));
    telemetry.disturbed_by.push_back({.code = code, .values = std::move(values)});
}

std::string_view to_string(Links links) { return name_of(link_names, links); }
bool from_text(std::string_view text, Links& out) { return find_value(link_names, text, out); }
std::string_view expected_text(Links /*links*/) { return "host, nvlink, peer or other"; }

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
