// SPDX-License-Identifier: Apache-2.0
#include "record/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace assay::record {
namespace {

/// In the order of the enumeration.
template <std::size_t N>
using Names = std::array<std::string_view, N>;

constexpr Names<10> status_names{"ok",        "unstable",   "incorrect", "skipped",
                                 "failed",    "timed_out",  "crashed",   "interrupted",
                                 "disturbed", "not_started"};
constexpr Names<25> reason_names{"none",
                                 "other",
                                 "too_few_batches",
                                 "drift",
                                 "no_interval",
                                 "wide_interval",
                                 "replicas_disagree",
                                 "wrong_result",
                                 "check_is_blind",
                                 "path_contradicted",
                                 "not_applicable",
                                 "missing_here",
                                 "nothing_to_compare",
                                 "benchmark_error",
                                 "another_rank",
                                 "no_time",
                                 "no_metric",
                                 "no_worker",
                                 "time_limit",
                                 "process_died",
                                 "stopped",
                                 "not_measured",
                                 "disturbed",
                                 "two_levels",
                                 "above_bound"};
constexpr Names<4> stage_names{"sanity", "validation", "performance", "stress"};
constexpr Names<6> stage_end_names{"done",        "part_missing", "wrong_result",
                                   "out_of_time", "interrupted",  "not_begun"};
constexpr Names<7> run_end_names{"none",       "completed",    "signal",      "preempted",
                                 "time_limit", "part_missing", "wrong_result"};
constexpr Names<21> disturbance_names{"other",
                                      "foreign_cpu",
                                      "steal",
                                      "waiting",
                                      "quota",
                                      "too_hot",
                                      "clock_fell",
                                      "clock_rose",
                                      "device_slowed",
                                      "device_capped",
                                      "memory_uncorrected",
                                      "memory_corrected",
                                      "row_broken",
                                      "packets_resent",
                                      "device_shared",
                                      "link_narrow",
                                      "link_slow",
                                      "driver_silent",
                                      "neighbours",
                                      "clock_low",
                                      "cpus_moved"};
constexpr Names<3> replay_names{"none", "same_state", "fresh_state"};
constexpr Names<3> held_names{"calls", "others", "check"};
constexpr Names<5> link_names{"unknown", "host", "nvlink", "peer", "other"};
constexpr Names<3> scope_names{"none", "within_process", "between_replicas"};
constexpr Names<3> ceiling_names{"none", "measured", "datasheet"};

template <class Enum, std::size_t N>
std::string_view name_of(const Names<N>& names, Enum value) {
    const auto index = static_cast<std::size_t>(value);
    return index < N ? names[index] : "?";
}

template <class Enum, std::size_t N>
bool find_value(const Names<N>& names, std::string_view text, Enum& out) {
    const auto found = std::ranges::find(names, text);
    if (found == names.end()) return false;
    out = static_cast<Enum>(found - names.begin());
    return true;
}

} // namespace

std::string_view to_string(Status status) { return name_of(status_names, status); }
bool from_text(std::string_view text, Status& out) { return find_value(status_names, text, out); }
std::string_view expected_text(Status /*status*/) {
    return "the status of a case (ok, unstable, ...)";
}

std::string_view to_string(StageName name) { return name_of(stage_names, name); }
bool from_text(std::string_view text, StageName& out) { return find_value(stage_names, text, out); }
std::string_view expected_text(StageName /*name*/) { return "the name of a stage"; }

std::string_view to_string(RunEnd end) { return name_of(run_end_names, end); }
bool from_text(std::string_view text, RunEnd& out) { return find_value(run_end_names, text, out); }
std::string_view expected_text(RunEnd /*end*/) { return "why a run ended"; }
std::string_view to_string(Replay replay) { return name_of(replay_names, replay); }
bool from_text(std::string_view text, Replay& out) { return find_value(replay_names, text, out); }
std::string_view expected_text(Replay /*replay*/) { return "none, same_state or fresh_state"; }
std::string_view to_string(HeldAgainst held) { return name_of(held_names, held); }
bool from_text(std::string_view text, HeldAgainst& out) {
    return find_value(held_names, text, out);
}
std::string_view expected_text(HeldAgainst /*held*/) { return "calls, others or check"; }
std::string_view to_string(StageEnd end) { return name_of(stage_end_names, end); }
bool from_text(std::string_view text, StageEnd& out) {
    return find_value(stage_end_names, text, out);
}
std::string_view expected_text(StageEnd /*end*/) { return "how a stage ended"; }

std::string_view to_string(ReasonCode code) { return name_of(reason_names, code); }
bool from_text(std::string_view text, ReasonCode& out) {
    // A code of a later version is no reason to refuse its file.
    if (!find_value(reason_names, text, out)) out = ReasonCode::other;
    return true;
}
std::string_view expected_text(ReasonCode /*code*/) { return "the code of a reason"; }

Conclusion conclusion(const Error& error) {
    const bool missing = error.fault == Fault::environment;
    return {.status = missing ? Status::skipped : Status::failed,
            .code = missing                              ? ReasonCode::missing_here
                    : error.fault == Fault::another_rank ? ReasonCode::another_rank
                                                         : ReasonCode::benchmark_error,
            .reason = error.message,
            .values = {{"message", error.message}}};
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

bool cpus_moved(double one_seconds, double other_seconds) {
    constexpr double factor = 2;
    return std::max(one_seconds, other_seconds) > factor * std::min(one_seconds, other_seconds);
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
