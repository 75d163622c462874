// SPDX-License-Identifier: Apache-2.0
//
// The result of a run, as written to run.json (schema assay.run/2, in schema/; assay.run/1 is read as well) and read
// back. SI base units throughout. An unknown value is absent (std::nullopt, null in JSON), never zero.

#pragma once

#include "base/names.hpp"
#include "base/result.hpp"
#include "record/hardware.hpp"
#include "record/soak.hpp"
#include "record/spread.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace assay::record {

inline constexpr std::string_view schema_name = "assay.run/2";
inline constexpr std::string_view first_schema_name = "assay.run/1"; ///< read for ever

/// How a case ended. Every status but `ok` has a reason.
ASSAY_ENUM(
    Status, ok,
    unstable,    // measured and verified, but drifting or too noisy for the target
    incorrect,   // the check rejected the result: no rate is shown
    skipped,     // does not apply to this machine
    failed,      // reported an error
    timed_out,   // exceeded its time limit
    crashed,     // its process died
    interrupted, // the run was stopped before or during it
    disturbed,   // measured and verified, but something else used the machine in too many windows
    not_started) // no process could be started for it: nothing is known of the case
inline std::string_view expected_text(Status /*any*/) {
    return "the status of a case (ok, unstable, ...)";
}
/// For every enumeration here: to_string gives its name in files, from_text returns false for an unknown name, and
/// expected_text completes an error message ("expected ...").
/// ok, unstable, incorrect and skipped are final; --resume retries the others.
bool is_finished(Status status);
/// ok, unstable and disturbed have a verified value.
bool is_measured(Status status);

/// Why a case is not ok, for programs; the reason text beside it is for people. `none`: ok, or a file from before
/// codes existed. The schema documents each code and its values.
ASSAY_ENUM(ReasonCode, none, other, too_few_batches, drift, no_interval, wide_interval,
           replicas_disagree, wrong_result, check_is_blind, path_contradicted, not_applicable,
           missing_here, nothing_to_compare, benchmark_error, another_rank, no_time, no_metric,
           no_worker, time_limit, process_died, stopped, not_measured, disturbed, two_levels,
           above_bound)
inline std::string_view expected_text(ReasonCode /*any*/) { return "the code of a reason"; }
/// The code of a later version does not make its file invalid.
constexpr bool from_text(std::string_view text, ReasonCode& out) {
    if (!find_name(names_of(out), text, out)) out = ReasonCode::other;
    return true;
}
/// A parameter's or setting's value, with the type it has in JSON.
using Value = std::variant<std::int64_t, double, bool, std::string>;
std::string to_string(const Value& value);

/// An ordered name and value; lists of these are JSON objects.
struct Named {
    std::string name;
    Value value;
    bool operator==(const Named&) const = default;
};
using NamedList = std::vector<Named>;
const Value* find(const NamedList& list, std::string_view name);
/// For many names of one list: find() reads all of it each time. Refers to the list, which must outlive it; of equal
/// names the first counts.
class NameIndex {
public:
    explicit NameIndex(const NamedList& list) {
        values_.reserve(list.size());
        for (const Named& named : list) values_.try_emplace(named.name, &named.value);
    }
    const Value* find(std::string_view name) const {
        const auto found = values_.find(name);
        return found == values_.end() ? nullptr : found->second;
    }

private:
    std::unordered_map<std::string_view, const Value*> values_;
};

/// The parameters of a code. The end of a name gives the unit, in SI base units (_seconds, _hz, share, ...). Not
/// written when empty.
struct Values : NamedList {
    using NamedList::NamedList;
};

/// A text that is not written when empty.
struct Remark : std::string {
    using std::string::string;
    Remark() = default;
    Remark(std::string text) : std::string{std::move(text)} {}
};

/// Other use of the machine during the window of a case, for programs. The schema documents each code.
ASSAY_ENUM(DisturbanceCode, other, foreign_cpu, steal, waiting, quota, too_hot, clock_fell,
           clock_rose, device_slowed, device_capped, memory_uncorrected, memory_corrected,
           row_broken, packets_resent, device_shared, link_narrow, link_slow, driver_silent,
           neighbours, clock_low, cpus_moved, row_pending)
inline std::string_view expected_text(DisturbanceCode /*any*/) {
    return "the code of a disturbance";
}
constexpr bool from_text(std::string_view text, DisturbanceCode& out) {
    if (!find_name(names_of(out), text, out)) out = DisturbanceCode::other; // of a later version
    return true;
}

struct Disturbance {
    DisturbanceCode code = DisturbanceCode::other;
    Values values;
};
/// An integer or a real number; nothing for a string or boolean, or when there is no value of this name.
std::optional<double> number(const Value& value);
std::optional<double> number(const NamedList& list, std::string_view name);
/// The value of this name as text; empty if missing.
std::string text(const NamedList& list, std::string_view name);

/// The host or device that did the work.
struct Place {
    std::string kind; ///< "host", "cuda"
    std::string uuid; ///< of the device; empty for the host
    int index = 0;
    bool operator==(const Place&) const = default;
};
/// "host", "cuda", "cuda:3": device 0 is the usual one, so its series are named by the kind alone.
std::string words_of(const Place& place);

struct Verification {
    bool passed = false;
    std::string method;
    std::optional<double> bound;
    std::optional<double> error;
    std::string detail;
};

/// The links that the data of a case took.
ASSAY_ENUM(Links, unknown,
           host,   // of a device to its host
           nvlink, // between devices
           peer,   // between devices: NVLink where it is up, otherwise PCIe
           other)  // a network, or several of these
inline std::string_view expected_text(Links /*any*/) { return "host, nvlink, peer or other"; }

/// A benchmark's report on its work for the harness to act on; assay_evidence in assay/module.h documents each
/// field. Settings are for people; evidence is for programs.
struct Evidence {
    Links links = Links::unknown;
    std::optional<double> footprint_bytes;
    std::optional<double> cache_bytes;
    std::optional<std::int64_t> directions;
    std::optional<std::int64_t> machines;
    std::optional<std::int64_t> ranks;
    std::optional<std::int64_t> nvlink_devices;
    std::optional<double> nvlink_least_bytes;
    std::optional<double> nvlink_most_bytes;
    std::optional<double> batch_seconds;
    std::optional<double> load_seconds;
    std::string switch_work;
    std::string network_devices;
    std::optional<double> network_bytes_per_second; ///< of these devices, from the machine
    std::string network_rate_source;                ///< or why there is no rate
    bool operator==(const Evidence&) const = default;
    bool empty() const { return *this == Evidence{}; }
};

/// Coverage of an interval.
ASSAY_ENUM(IntervalScope,
           none,             // too little data for an interval
           within_process,   // one process: says nothing about the next one
           between_replicas) // separate processes: what a user sees when running again

/// A matrix beside the metrics: core to core, node to node.
struct Table {
    std::string metric; ///< from the table in metrics.hpp, which also fixes the direction
    std::string unit;
    std::string row_title;
    std::string column_title;
    std::vector<std::string> rows; ///< a label for each
    std::vector<std::string> columns;
    std::vector<std::optional<double>> values; ///< row-major
};

/// One value of a case. The first metric of a case is its primary metric.
struct Metric {
    std::string name; ///< from the table in metrics.hpp, which also fixes unit and direction
    std::string unit;
    bool higher_is_better = true;
    std::optional<double> value; ///< see summarise() in summary.hpp
    std::optional<double> low;   ///< 95% interval
    std::optional<double> high;
    IntervalScope interval_scope = IntervalScope::none;
    std::optional<double> median; ///< over the kept batch values of all replicas
    std::optional<double> min;
    std::optional<double> p95;
    std::optional<double> p99; ///< of single calls, geometric mean over replicas; times only
    std::uint64_t count = 0;   ///< kept batch values behind the value
    std::optional<Levels> levels;
};

ASSAY_ENUM(CeilingKind, none, measured, datasheet)

/// A roofline bound of the primary metric.
struct Ceiling {
    std::optional<double> value; ///< in the primary metric's unit
    CeilingKind kind = CeilingKind::none;
    std::string source;                     ///< where the value comes from, or why it is missing
    std::optional<std::string> measured_by; ///< identity of the case of this run that measured it
};

/// A reason why a device reduced its clocks.
struct Throttle {
    std::string reason;            ///< "power_cap", "thermal", ...: see machine/nvml.hpp
    std::optional<double> seconds; ///< by the device's own counter
    std::optional<double> share;   ///< of the samples taken in the window, 0..1
    bool operator==(const Throttle&) const = default;
};

/// The device during one replica's window. Means and extremes are over samples taken in the window; counts
/// cover the window only.
struct DeviceTelemetry {
    std::optional<std::int64_t> samples;
    std::optional<double> power_watts; ///< mean
    std::optional<double> power_high_watts;
    std::optional<double> clock_hz; ///< mean of the multiprocessors' clock
    std::optional<double> clock_low_hz;
    std::optional<double> memory_clock_hz;     ///< lowest
    std::optional<double> temperature_celsius; ///< highest
    std::optional<double> memory_temperature_celsius;
    std::vector<Throttle> throttles;
    std::optional<std::int64_t> ecc_corrected;
    std::optional<std::int64_t> ecc_uncorrected;
    std::optional<std::int64_t> remapped_rows_corrected; ///< over the device's lifetime
    std::optional<std::int64_t> remapped_rows_uncorrected;
    std::optional<bool> remapping_pending; ///< until the device is reset
    std::optional<bool> remapping_failed;
    std::optional<int> pcie_generation; ///< highest seen: an idle link slows down
    std::optional<int> pcie_width;
    std::optional<int> pcie_generation_max; ///< of this device in this machine
    std::optional<int> pcie_width_max;
    std::optional<std::int64_t> pcie_replays; ///< packets retransmitted
    std::optional<std::int64_t> nvlink_received_bytes;
    std::optional<std::int64_t> nvlink_sent_bytes;
    std::optional<int> other_processes; ///< that used the device, without our own
    bool operator==(const DeviceTelemetry&) const = default;
};

/// The machine during one replica's window.
struct Telemetry {
    std::optional<double> window_seconds;
    std::optional<double>
        core_clock_hz; ///< measured before and after the window, not read from a file
    std::optional<double>
        foreign_cpu; ///< share of the time of the case's CPUs that other processes used, 0..1
    std::optional<double> steal; ///< share of CPU time taken by the hypervisor, 0..1
    /// One way between the CPUs of a virtual machine, which its hypervisor moves: those that share a cache are near.
    std::optional<double> core_latency_seconds;
    std::optional<double> throttle_events; ///< thermal throttling events counted by the kernel
    std::optional<double> page_migrations; ///< NUMA page migrations
    std::optional<double>
        temperature_celsius;                 ///< of the host's processors at the end of the window
    std::optional<double> energy_joules;     ///< used in the window by energy_scope
    std::optional<std::string> energy_scope; ///< "device", "processors", "processors and memory"
    std::optional<std::string> energy_note;  ///< why energy is absent
    std::optional<DeviceTelemetry> device;   ///< of a case on a device
    std::vector<std::string> disturbances;   ///< sentences; empty means a quiet window
    std::vector<Disturbance>
        disturbed_by; ///< the same for programs; empty in files from before codes existed
};

void disturb(Telemetry& telemetry, DisturbanceCode code, Values values, std::string text);
/// Times between virtual CPUs of two places: those that share a cache are 3 to 5 times as near as others.
bool cpus_moved(double one_seconds, double other_seconds);

/// One worker process measuring one case.
struct Replica {
    int index = 0;
    std::string started; ///< UTC, ISO 8601
    Status status = Status::failed;
    std::string reason;
    ReasonCode reason_code = ReasonCode::none;
    Values reason_values;
    // Always known for our own runs; imported results of other tools may lack them.
    std::optional<double> setup_seconds;
    std::optional<double> warmup_seconds;
    std::optional<std::uint64_t> batches; ///< batches measured
    std::optional<std::uint64_t> calls;   ///< calls behind each of `values`
    /// Mean seconds per call of groups of consecutive batches, equal in size: at most 200.
    std::vector<double> values;
    std::optional<double> seconds; ///< mean of `values`: total time / total calls
    std::optional<double> low; ///< 95% interval of `seconds` by batch means, within this process
    std::optional<double> high;
    /// 99th percentile of the time of a call; only if a batch is one call, and from 100 calls on.
    std::optional<double> p99;
    NamedList extra; ///< values that the benchmark reported, by metric name
    std::vector<Table> tables;
    std::optional<double> resident_bytes; ///< memory of the worker after the window
    Telemetry telemetry;
    std::optional<SoakVisit> soak; ///< absent in other runs
};

struct Case {
    std::string benchmark;
    std::uint32_t version = 1;
    Place place;
    std::string library;
    NamedList parameters; ///< part of the identity; may be symbolic: footprint=beyond_cache
    NamedList settings;   ///< resolved values, the kernel chosen: not part of the identity
    Evidence evidence;
    NamedList work;       ///< of one call: flops, bytes, ... by the names of assay_work
    std::string headline; ///< name of the primary metric
    Status status = Status::interrupted;
    std::string reason;
    ReasonCode reason_code = ReasonCode::none;
    Values reason_values;
    std::optional<Verification> verification;
    std::vector<Metric> metrics; ///< empty unless ok or unstable
    std::vector<Table> tables;   ///< medians over the replicas; empty unless ok or unstable
    Ceiling ceiling;
    /// Further bounds of the primary metric, computed otherwise: from a data sheet, at another clock.
    std::vector<Ceiling> other_ceilings;
    Telemetry telemetry; ///< the worst over the replicas' windows
    std::optional<Spread> spread;
    std::vector<std::string> warnings;
    std::vector<Replica> replicas;
};
/// "gemm.square[openblas] precision=fp64 size=1024": by this two runs match their cases.
std::string identity(const Case& c);

/// How a case or a replica ended, and why.
struct Conclusion {
    Status status = Status::failed;
    ReasonCode code = ReasonCode::none;
    std::string reason;
    Values values{};
};
/// skipped when the environment lacks something, otherwise failed. The message is also the value `message`.
Conclusion conclusion(const Error& error);
template <class Ended> // Case or Replica
Conclusion conclusion(const Ended& from) {
    return {.status = from.status,
            .code = from.reason_code,
            .reason = from.reason,
            .values = from.reason_values};
}
template <class Ended>
void set_conclusion(Ended& into, Conclusion from) {
    into.status = from.status;
    into.reason_code = from.code;
    into.reason = std::move(from.reason);
    into.reason_values = std::move(from.values);
}

/// Holds no serial number, no MAC address and no hostname, unless requested.
struct Machine {
    std::string id; ///< same machine, same id; `identity` says how it was made
    MachineIdentity identity;
    std::string hostname;
    std::string cpu_model;
    std::string cpu_vendor;
    std::string architecture; ///< "x86_64", "aarch64"
    std::optional<int> sockets;
    std::optional<int> cores;        ///< physical, online
    std::optional<int> threads;      ///< hardware threads, online
    std::optional<int> usable_cores; ///< after affinity and cgroup quota
    std::optional<int> usable_threads;
    std::optional<int> numa_nodes;
    std::optional<double> core_clock_hz; ///< measured
    std::vector<std::string> isa;
    std::vector<Cache> caches;
    std::optional<std::int64_t> memory_bytes;
    std::optional<std::int64_t> memory_limit_bytes; ///< cgroup
    std::string huge_pages;                         ///< "always", "madvise", "never"
    std::vector<PciDevice> pci;
    std::vector<Device> devices; ///< empty without a driver
    std::string os;
    std::string kernel;
    std::string virtualization; ///< "none", "kvm", "xen", ...; "docker" is in container
    std::string container;
    std::string provider; ///< "aws", "gcp", "azure", "unknown", ...
    std::string instance; ///< "c7a.large", or the product name
    std::string system;   ///< DMI vendor and product
    Platform platform;
    NamedList software; ///< library versions and choices: "openblas.corename"
};

/// A host of a team other than the one that started the run.
struct TeamHost {
    std::string name; ///< as in the setting job.hosts: "node1"
    Machine machine;
};

/// Runs that alternated on one machine (`assay run --interleave`), so that drift affects all alike. Replicas
/// of the same index are paired.
struct Pairing {
    std::string id;      ///< the same in all its runs
    std::string setting; ///< label of this run's variant: "old"
    std::string order;   ///< "ABBA"
    NamedList changes; ///< what this variant changed: "environment.OMP_WAIT_POLICY", "library", ...
    bool operator==(const Pairing&) const = default;
};

/// The source of a run that was imported from another tool.
struct Imported {
    std::string tool;               ///< "nccl-tests"
    std::string tool_version;       ///< empty where the file does not say
    std::string format;             ///< "text", "JSON", "CSV"
    std::string file;               ///< its name without folders
    std::string sha256;             ///< of its bytes
    std::vector<std::string> notes; ///< contents that a run cannot hold
};

/// Something that the suite or the user requested and the plan does not contain.
struct LeftOut {
    std::string note; ///< what, and why: "transfer.copy[cuda] left out: ..."
    bool operator==(const LeftOut&) const = default;
};

/// What shows whether the times of a run can be right, and in which order runs of one boot ended.
struct RunClock {
    std::string built;     ///< day of the program's sources, UTC; empty: not known
    std::string boot;      ///< 16 digits; equal for runs between two starts of a machine
    double up_seconds = 0; ///< since that start, when the run ended
    double step_seconds =
        0; ///< by which the wall clock was set during the run: the largest, < 0: back
    bool operator==(const RunClock&) const = default;
};

struct Run {
    std::string id;
    std::string suite;
    std::string started; ///< may be empty in an imported run
    std::string ended;
    std::string status;  ///< "done", "interrupted"
    std::string version; ///< of assay
    Remark build;        ///< of the program that its workers ran; empty where none started
    std::string digest;  ///< of plan and modules: runs with equal digests measure the same things
    std::optional<Pairing> pairing;   ///< absent unless the run was interleaved with others
    std::optional<Imported> imported; ///< absent in our own runs
    std::vector<LeftOut> left_out;
    std::vector<ErrorCounter> error_counters; ///< those that are not zero, or changed
    std::vector<TeamHost> hosts;
    Remark campaign; ///< that the run belongs to; empty if none was named
    Remark note;     ///< of the person who started it
    Values tags;     ///< by which runs are grouped and filtered: texts
    std::optional<Schedule> schedule;
    RunEnd ended_by = RunEnd::none;
    std::optional<RunClock> clock; ///< absent in imported and older runs
    Remark not_watched_since;      ///< UTC: the metadata service of --watch-preemption fell silent
    std::optional<Soak> soak;      ///< absent in other runs
    Machine machine;
    std::vector<Case> cases;
};

/// The device of this place; null for the host, and for a device that no driver described.
const Device* find_device(const Machine& machine, const Place& place);

} // namespace assay::record
