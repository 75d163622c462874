// SPDX-License-Identifier: Apache-2.0
//
// The keys of a record in JSON: one list for the writer, both readers and the test that compares them
// with the schema; see json/codec.hpp. Tables, devices, other ceilings and codes of
// reasons may be missing, because files from before there were any have none, and empty ones are not written.

#pragma once

#include "json/codec.hpp"
#include "record/hardware_layout.hpp"
#include "record/model.hpp"

#include <optional>
#include <vector>

namespace assay::record {

ASSAY_FIELDS(Corruption, of, at, visit, call, held_against, right_again, output, element,
             wrong_elements, wrong_bits, block, wrong_blocks, expected, got, bits, detail)

ASSAY_FIELDS(SoakVisit, begun_seconds, seconds, calls, compared, checked, digest, wrong,
             corruptions)

ASSAY_FIELDS(SoakPoint, begun_seconds, visits, disturbed, seconds, celsius, clock_hz, power_watts)

ASSAY_FIELDS(SoakPhase, of, visits, calls, compared, checked, wrong, digest, points)

ASSAY_FIELDS(Soak, asked_seconds, seconds, wrong, corruptions, phases)

ASSAY_FIELDS(Place, kind, uuid, index)

ASSAY_FIELDS(Verification, passed, method, bound, error, detail)

ASSAY_FIELDS(Levels, mean, slow, share)

ASSAY_FIELDS(Metric, name, unit, higher_is_better, value, low, high, interval_scope, median, min,
             p95, p99, count, levels)

ASSAY_FIELDS(Table, metric, unit, row_title, column_title, rows, columns, values)

ASSAY_FIELDS(Evidence, links, footprint_bytes, cache_bytes, directions, machines, ranks,
             nvlink_devices, nvlink_least_bytes, nvlink_most_bytes, batch_seconds, load_seconds,
             switch_work, network_devices, network_bytes_per_second, network_rate_source)

ASSAY_FIELDS(Ceiling, value, kind, source, measured_by)

ASSAY_FIELDS(Throttle, reason, seconds, share)

ASSAY_FIELDS(DeviceTelemetry, samples, power_watts, power_high_watts, clock_hz, clock_low_hz,
             memory_clock_hz, temperature_celsius, memory_temperature_celsius, throttles,
             ecc_corrected, ecc_uncorrected, remapped_rows_corrected, remapped_rows_uncorrected,
             remapping_pending, remapping_failed, pcie_generation, pcie_width, pcie_generation_max,
             pcie_width_max, pcie_replays, nvlink_received_bytes, nvlink_sent_bytes,
             other_processes)

ASSAY_FIELDS(Disturbance, code, values)

ASSAY_FIELDS(Telemetry, window_seconds, core_clock_hz, foreign_cpu, steal, core_latency_seconds,
             throttle_events, page_migrations, temperature_celsius, energy_joules, energy_scope,
             energy_note, device, disturbances, disturbed_by)

ASSAY_FIELDS(Replica, index, started, status, reason, reason_code, reason_values, setup_seconds,
             warmup_seconds, batches, calls, seconds, low, high, p99, extra, tables, resident_bytes,
             telemetry, soak, values)

ASSAY_FIELDS(Spread, between_replicas, between_runs, degrees, limit, replicas, source, rules)

ASSAY_FIELDS(Case, benchmark, version, place, library, parameters, settings, evidence, work,
             headline, status, reason, reason_code, reason_values, verification, metrics, tables,
             ceiling, other_ceilings, telemetry, spread, warnings, replicas)

ASSAY_FIELDS(Machine, id, identity, hostname, cpu_model, cpu_vendor, architecture, sockets, cores,
             threads, usable_cores, usable_threads, numa_nodes, core_clock_hz, isa, caches,
             memory_bytes, memory_limit_bytes, huge_pages, pci, devices, os, kernel, virtualization,
             container, provider, instance, system, platform, software)

ASSAY_FIELDS(TeamHost, name, machine)

ASSAY_FIELDS(Pairing, id, setting, order, changes)

ASSAY_FIELDS(Imported, tool, tool_version, format, file, sha256, notes)

ASSAY_FIELDS(LeftOut, note)

ASSAY_FIELDS(Stage, name, end, seconds)

ASSAY_FIELDS(Gates, expected, time_limit_seconds, stages)

ASSAY_FIELDS(Schedule, seed, patience_seconds, spent_seconds, always_busy, gates)

ASSAY_FIELDS(RunClock, built, boot, up_seconds, step_seconds)

/// The keys of `run`; the machine and the cases are beside it.
ASSAY_FIELDS(Run, id, suite, started, ended, status, version, build, digest, pairing, imported,
             left_out, error_counters, hosts, campaign, note, tags, schedule, ended_by, clock,
             not_watched_since, soak)

json::Value encode_value(const NamedList& list);
void decode_value(const json::Object& object, std::string_view key, NamedList& out);

template <OneOf<std::vector<Table>, std::vector<Ceiling>, std::vector<LeftOut>,
                std::vector<TeamHost>, std::optional<Levels>, std::optional<Spread>,
                std::optional<Schedule>, std::optional<Gates>, std::optional<RunClock>, ReasonCode,
                RunEnd, Remark, std::vector<Disturbance>, Evidence, std::optional<SoakVisit>,
                std::optional<Soak>, std::vector<Corruption>>
              T>
void json_sparse(const T&);

template <OneOf<Evidence> T>
void json_lenient(const T&);

/// An unknown key of a place would be part of the identity of a series; ignoring it would compare
/// unlike series.
template <OneOf<Place> T>
void json_closed(const T&);

} // namespace assay::record

namespace assay::json {

template <>
inline constexpr bool is_sparse<record::Values> = true;

} // namespace assay::json
