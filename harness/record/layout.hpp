// SPDX-License-Identifier: Apache-2.0
//
// Which keys a record has in JSON: one list for the writer, both readers and the test that holds them
// against the schema; see json/codec.hpp. Tables, devices, other ceilings and codes of
// reasons may be missing, because files from before there were any have none, and empty ones are not written.

#pragma once

#include "json/codec.hpp"
#include "record/hardware_layout.hpp"
#include "record/model.hpp"

#include <optional>
#include <vector>

namespace assay::record {

template <class Visitor>
void each_field(Visitor&& visitor, Maybe<Corruption> auto& corruption) {
    visitor("of", corruption.of);
    visitor("at", corruption.at);
    visitor("visit", corruption.visit);
    visitor("call", corruption.call);
    visitor("held_against", corruption.held_against);
    visitor("right_again", corruption.right_again);
    visitor("output", corruption.output);
    visitor("element", corruption.element);
    visitor("wrong_elements", corruption.wrong_elements);
    visitor("wrong_bits", corruption.wrong_bits);
    visitor("block", corruption.block);
    visitor("wrong_blocks", corruption.wrong_blocks);
    visitor("expected", corruption.expected);
    visitor("got", corruption.got);
    visitor("bits", corruption.bits);
    visitor("detail", corruption.detail);
}

template <class Visitor>
void each_field(Visitor&& visitor, Maybe<SoakVisit> auto& visit) {
    visitor("begun_seconds", visit.begun_seconds);
    visitor("seconds", visit.seconds);
    visitor("calls", visit.calls);
    visitor("compared", visit.compared);
    visitor("checked", visit.checked);
    visitor("digest", visit.digest);
    visitor("wrong", visit.wrong);
    visitor("corruptions", visit.corruptions);
}

template <class Visitor>
void each_field(Visitor&& visitor, Maybe<SoakPoint> auto& point) {
    visitor("begun_seconds", point.begun_seconds);
    visitor("visits", point.visits);
    visitor("disturbed", point.disturbed);
    visitor("seconds", point.seconds);
    visitor("celsius", point.celsius);
    visitor("clock_hz", point.clock_hz);
    visitor("power_watts", point.power_watts);
}

template <class Visitor>
void each_field(Visitor&& visitor, Maybe<SoakPhase> auto& phase) {
    visitor("of", phase.of);
    visitor("visits", phase.visits);
    visitor("calls", phase.calls);
    visitor("compared", phase.compared);
    visitor("checked", phase.checked);
    visitor("wrong", phase.wrong);
    visitor("digest", phase.digest);
    visitor("points", phase.points);
}

template <class Visitor>
void each_field(Visitor&& visitor, Maybe<Soak> auto& soak) {
    visitor("asked_seconds", soak.asked_seconds);
    visitor("seconds", soak.seconds);
    visitor("wrong", soak.wrong);
    visitor("corruptions", soak.corruptions);
    visitor("phases", soak.phases);
}

template <class Visit>
void each_field(Visit&& visit, Maybe<Place> auto& place) {
    visit("kind", place.kind);
    visit("uuid", place.uuid);
    visit("index", place.index);
}

template <class Visit>
void each_field(Visit&& visit, Maybe<Verification> auto& verification) {
    visit("passed", verification.passed);
    visit("method", verification.method);
    visit("bound", verification.bound);
    visit("error", verification.error);
    visit("detail", verification.detail);
}

template <class Visit>
void each_field(Visit&& visit, Maybe<Levels> auto& levels) {
    visit("mean", levels.mean);
    visit("slow", levels.slow);
    visit("share", levels.share);
}

template <class Visit>
void each_field(Visit&& visit, Maybe<Metric> auto& metric) {
    visit("name", metric.name);
    visit("unit", metric.unit);
    visit("higher_is_better", metric.higher_is_better);
    visit("value", metric.value);
    visit("low", metric.low);
    visit("high", metric.high);
    visit("interval_scope", metric.interval_scope);
    visit("median", metric.median);
    visit("min", metric.min);
    visit("p95", metric.p95);
    visit("p99", metric.p99);
    visit("count", metric.count);
    visit("levels", metric.levels);
}

template <class Visit>
void each_field(Visit&& visit, Maybe<Table> auto& table) {
    visit("metric", table.metric);
    visit("unit", table.unit);
    visit("row_title", table.row_title);
    visit("column_title", table.column_title);
    visit("rows", table.rows);
    visit("columns", table.columns);
    visit("values", table.values);
}

template <class Visit>
void each_field(Visit&& visit, Maybe<Evidence> auto& evidence) {
    visit("links", evidence.links);
    visit("footprint_bytes", evidence.footprint_bytes);
    visit("cache_bytes", evidence.cache_bytes);
    visit("directions", evidence.directions);
    visit("machines", evidence.machines);
    visit("ranks", evidence.ranks);
    visit("nvlink_devices", evidence.nvlink_devices);
    visit("nvlink_least_bytes", evidence.nvlink_least_bytes);
    visit("nvlink_most_bytes", evidence.nvlink_most_bytes);
    visit("batch_seconds", evidence.batch_seconds);
    visit("load_seconds", evidence.load_seconds);
    visit("switch_work", evidence.switch_work);
    visit("network_devices", evidence.network_devices);
    visit("network_bytes_per_second", evidence.network_bytes_per_second);
    visit("network_rate_source", evidence.network_rate_source);
}

template <class Visit>
void each_field(Visit&& visit, Maybe<Ceiling> auto& ceiling) {
    visit("value", ceiling.value);
    visit("kind", ceiling.kind);
    visit("source", ceiling.source);
    visit("measured_by", ceiling.measured_by);
}

template <class Visit>
void each_field(Visit&& visit, Maybe<Throttle> auto& throttle) {
    visit("reason", throttle.reason);
    visit("seconds", throttle.seconds);
    visit("share", throttle.share);
}

template <class Visit>
void each_field(Visit&& visit, Maybe<DeviceTelemetry> auto& device) {
    visit("samples", device.samples);
    visit("power_watts", device.power_watts);
    visit("power_high_watts", device.power_high_watts);
    visit("clock_hz", device.clock_hz);
    visit("clock_low_hz", device.clock_low_hz);
    visit("memory_clock_hz", device.memory_clock_hz);
    visit("temperature_celsius", device.temperature_celsius);
    visit("memory_temperature_celsius", device.memory_temperature_celsius);
    visit("throttles", device.throttles);
    visit("ecc_corrected", device.ecc_corrected);
    visit("ecc_uncorrected", device.ecc_uncorrected);
    visit("remapped_rows_corrected", device.remapped_rows_corrected);
    visit("remapped_rows_uncorrected", device.remapped_rows_uncorrected);
    visit("remapping_pending", device.remapping_pending);
    visit("remapping_failed", device.remapping_failed);
    visit("pcie_generation", device.pcie_generation);
    visit("pcie_width", device.pcie_width);
    visit("pcie_generation_max", device.pcie_generation_max);
    visit("pcie_width_max", device.pcie_width_max);
    visit("pcie_replays", device.pcie_replays);
    visit("nvlink_received_bytes", device.nvlink_received_bytes);
    visit("nvlink_sent_bytes", device.nvlink_sent_bytes);
    visit("other_processes", device.other_processes);
}

template <class Visit>
void each_field(Visit&& visit, Maybe<Disturbance> auto& disturbance) {
    visit("code", disturbance.code);
    visit("values", disturbance.values);
}

template <class Visit>
void each_field(Visit&& visit, Maybe<Telemetry> auto& telemetry) {
    visit("window_seconds", telemetry.window_seconds);
    visit("core_clock_hz", telemetry.core_clock_hz);
    visit("foreign_cpu", telemetry.foreign_cpu);
    visit("steal", telemetry.steal);
    visit("core_latency_seconds", telemetry.core_latency_seconds);
    visit("throttle_events", telemetry.throttle_events);
    visit("page_migrations", telemetry.page_migrations);
    visit("temperature_celsius", telemetry.temperature_celsius);
    visit("energy_joules", telemetry.energy_joules);
    visit("energy_scope", telemetry.energy_scope);
    visit("energy_note", telemetry.energy_note);
    visit("device", telemetry.device);
    visit("disturbances", telemetry.disturbances);
    visit("disturbed_by", telemetry.disturbed_by);
}

template <class Visit>
void each_field(Visit&& visit, Maybe<Replica> auto& replica) {
    visit("index", replica.index);
    visit("started", replica.started);
    visit("status", replica.status);
    visit("reason", replica.reason);
    visit("reason_code", replica.reason_code);
    visit("reason_values", replica.reason_values);
    visit("setup_seconds", replica.setup_seconds);
    visit("warmup_seconds", replica.warmup_seconds);
    visit("batches", replica.batches);
    visit("calls", replica.calls);
    visit("seconds", replica.seconds);
    visit("low", replica.low);
    visit("high", replica.high);
    visit("p99", replica.p99);
    visit("extra", replica.extra);
    visit("tables", replica.tables);
    visit("resident_bytes", replica.resident_bytes);
    visit("telemetry", replica.telemetry);
    visit("soak", replica.soak);
    visit("values", replica.values);
}

template <class Visit>
void each_field(Visit&& visit, Maybe<Spread> auto& spread) {
    visit("between_replicas", spread.between_replicas);
    visit("between_runs", spread.between_runs);
    visit("degrees", spread.degrees);
    visit("limit", spread.limit);
    visit("replicas", spread.replicas);
    visit("source", spread.source);
    visit("rules", spread.rules);
}

template <class Visit>
void each_field(Visit&& visit, Maybe<Case> auto& c) {
    visit("benchmark", c.benchmark);
    visit("version", c.version);
    visit("place", c.place);
    visit("library", c.library);
    visit("parameters", c.parameters);
    visit("settings", c.settings);
    visit("evidence", c.evidence);
    visit("work", c.work);
    visit("headline", c.headline);
    visit("status", c.status);
    visit("reason", c.reason);
    visit("reason_code", c.reason_code);
    visit("reason_values", c.reason_values);
    visit("verification", c.verification);
    visit("metrics", c.metrics);
    visit("tables", c.tables);
    visit("ceiling", c.ceiling);
    visit("other_ceilings", c.other_ceilings);
    visit("telemetry", c.telemetry);
    visit("spread", c.spread);
    visit("warnings", c.warnings);
    visit("replicas", c.replicas);
}

template <class Visit>
void each_field(Visit&& visit, Maybe<Machine> auto& machine) {
    visit("id", machine.id);
    visit("identity", machine.identity);
    visit("hostname", machine.hostname);
    visit("cpu_model", machine.cpu_model);
    visit("cpu_vendor", machine.cpu_vendor);
    visit("architecture", machine.architecture);
    visit("sockets", machine.sockets);
    visit("cores", machine.cores);
    visit("threads", machine.threads);
    visit("usable_cores", machine.usable_cores);
    visit("usable_threads", machine.usable_threads);
    visit("numa_nodes", machine.numa_nodes);
    visit("core_clock_hz", machine.core_clock_hz);
    visit("isa", machine.isa);
    visit("caches", machine.caches);
    visit("memory_bytes", machine.memory_bytes);
    visit("memory_limit_bytes", machine.memory_limit_bytes);
    visit("huge_pages", machine.huge_pages);
    visit("pci", machine.pci);
    visit("devices", machine.devices);
    visit("os", machine.os);
    visit("kernel", machine.kernel);
    visit("virtualization", machine.virtualization);
    visit("container", machine.container);
    visit("provider", machine.provider);
    visit("instance", machine.instance);
    visit("system", machine.system);
    visit("platform", machine.platform);
    visit("software", machine.software);
}

template <class Visit>
void each_field(Visit&& visit, Maybe<TeamHost> auto& host) {
    visit("name", host.name);
    visit("machine", host.machine);
}

template <class Visit>
void each_field(Visit&& visit, Maybe<Pairing> auto& pairing) {
    visit("id", pairing.id);
    visit("setting", pairing.setting);
    visit("order", pairing.order);
    visit("changes", pairing.changes);
}

template <class Visit>
void each_field(Visit&& visit, Maybe<Imported> auto& imported) {
    visit("tool", imported.tool);
    visit("tool_version", imported.tool_version);
    visit("format", imported.format);
    visit("file", imported.file);
    visit("sha256", imported.sha256);
    visit("notes", imported.notes);
}

template <class Visit>
void each_field(Visit&& visit, Maybe<LeftOut> auto& left_out) {
    visit("note", left_out.note);
}

template <class Visit>
void each_field(Visit&& visit, Maybe<Stage> auto& stage) {
    visit("name", stage.name);
    visit("end", stage.end);
    visit("seconds", stage.seconds);
}

template <class Visit>
void each_field(Visit&& visit, Maybe<Gates> auto& gates) {
    visit("expected", gates.expected);
    visit("time_limit_seconds", gates.time_limit_seconds);
    visit("stages", gates.stages);
}

template <class Visit>
void each_field(Visit&& visit, Maybe<Schedule> auto& schedule) {
    visit("seed", schedule.seed);
    visit("patience_seconds", schedule.patience_seconds);
    visit("spent_seconds", schedule.spent_seconds);
    visit("always_busy", schedule.always_busy);
    visit("gates", schedule.gates);
}

/// The keys of `run`; the machine and the cases are beside it.
template <class Visit>
void each_field(Visit&& visit, Maybe<Run> auto& run) {
    visit("id", run.id);
    visit("suite", run.suite);
    visit("started", run.started);
    visit("ended", run.ended);
    visit("status", run.status);
    visit("version", run.version);
    visit("build", run.build);
    visit("digest", run.digest);
    visit("pairing", run.pairing);
    visit("imported", run.imported);
    visit("left_out", run.left_out);
    visit("error_counters", run.error_counters);
    visit("hosts", run.hosts);
    visit("campaign", run.campaign);
    visit("note", run.note);
    visit("tags", run.tags);
    visit("schedule", run.schedule);
    visit("ended_by", run.ended_by);
    visit("soak", run.soak);
}

json::Value encode_value(const NamedList& list);
void decode_value(const json::Object& object, std::string_view key, NamedList& out);

} // namespace assay::record

namespace assay::json {

template <>
inline constexpr bool is_sparse<std::vector<record::Table>> = true;
template <>
inline constexpr bool is_sparse<std::vector<record::Ceiling>> = true;
template <>
inline constexpr bool is_sparse<std::vector<record::LeftOut>> = true;
template <>
inline constexpr bool is_sparse<std::vector<record::TeamHost>> = true;
template <>
inline constexpr bool is_sparse<std::optional<record::Levels>> = true;
template <>
inline constexpr bool is_sparse<std::optional<record::Spread>> = true;
template <>
inline constexpr bool is_sparse<std::optional<record::Schedule>> = true;
template <>
inline constexpr bool is_sparse<std::optional<record::Gates>> = true;
template <>
inline constexpr bool is_sparse<record::ReasonCode> = true;
template <>
inline constexpr bool is_sparse<record::RunEnd> = true;
template <>
inline constexpr bool is_sparse<record::Values> = true;
template <>
inline constexpr bool is_sparse<record::Remark> = true;
template <>
inline constexpr bool is_sparse<std::vector<record::Disturbance>> = true;
template <>
inline constexpr bool is_sparse<record::Evidence> = true;
template <>
inline constexpr bool is_lenient<record::Evidence> = true;

/// An unknown key of a place would be part of the identity of a series; ignoring it would compare
/// unlike series.
template <>
inline constexpr bool is_closed<record::Place> = true;

} // namespace assay::json

namespace assay::json {

template <>
inline constexpr bool is_sparse<std::optional<record::SoakVisit>> = true;
template <>
inline constexpr bool is_sparse<std::optional<record::Soak>> = true;
template <>
inline constexpr bool is_sparse<std::vector<record::Corruption>> = true;
} // namespace assay::json
