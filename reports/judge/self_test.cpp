// SPDX-License-Identifier: Apache-2.0

#include "judge/self_test.hpp"

#include "judge/judge.hpp"
#include "record/convert.hpp"
#include "record/reader.hpp"
#include "store/gather.hpp"

#include <fmt/format.h>

#include <functional>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

namespace assay::report {
namespace {

constexpr int devices = 8;
constexpr int replicas = 5;
constexpr double today = 1.8e9; // seconds since 1970: 2027-01-15
constexpr const char* source = "self-test";

/// Limits of the made-up node, by all kinds of bounds.
constexpr std::string_view limits_text = R"({
  "schema": "assay.limits/1", "name": "self-test", "date": "2027-01-01",
  "expect": [{ "expect": ["gpu=8", "cores=64", "governor=performance"] }],
  "limits": [
    { "id": "gemm", "kind": "spec", "case": { "benchmark": "gemm.square", "place": "cuda*" },
      "metric": "flop_rate", "at_least": 0.7, "share_of": "datasheet", "source": "made up" },
    { "id": "gemm.siblings", "kind": "fleet", "case": { "benchmark": "gemm.square", "place": "cuda*" },
      "at_least": 0.95, "share_of": "siblings", "source": "made up" },
    { "id": "gemm.together", "kind": "spec", "case": { "benchmark": "gemm.square", "together": "devices:8" },
      "metric": "together_to_alone", "unit": "1", "at_least": 0.95, "source": "made up" },
    { "id": "copy", "kind": "contract", "case": { "benchmark": "transfer.copy", "place": "cuda*" },
      "metric": "bandwidth", "unit": "B/s", "at_least": 5e10, "source": "made up" },
    { "id": "memory", "kind": "fleet", "case": { "benchmark": "memory.stream", "place": "host" },
      "metric": "bandwidth", "unit": "B/s", "at_least": 4.4e11, "center": 4.6e11, "samples": 40,
      "spread": { "replica": 0.01, "degrees": 30 }, "source": "made up" },
    { "id": "latency", "kind": "spec", "case": { "benchmark": "memory.latency" },
      "metric": "latency", "unit": "s", "at_most": 1.5e-7, "source": "made up" }
  ]
})";

struct Kind {
    const char* benchmark;
    const char* library;
    const char* headline;
    const char* unit;
    bool higher_is_better;
    const char* work;
    double amount;  ///< of one call
    double seconds; ///< of a healthy call
    std::optional<double> datasheet;
};

record::Case made_case(const Kind& kind, const record::Place& place, double seconds) {
    record::Case c{.benchmark = kind.benchmark,
                   .place = place,
                   .library = kind.library,
                   .work = {{kind.work, kind.amount}},
                   .headline = kind.headline,
                   .status = record::Status::ok,
                   .verification = record::Verification{.passed = true, .method = "exact"}};
    const auto value_at = [&](double time) {
        return kind.higher_is_better ? kind.amount / time : time / kind.amount;
    };
    const double value = value_at(seconds);
    c.metrics = {{.name = kind.headline,
                  .unit = kind.unit,
                  .higher_is_better = kind.higher_is_better,
                  .value = value,
                  .low = 0.995 * value,
                  .high = 1.005 * value,
                  .interval_scope = record::IntervalScope::between_replicas}};
    if (kind.datasheet)
        c.ceiling = {
            .value = kind.datasheet, .kind = record::CeilingKind::datasheet, .source = source};
    c.spread = record::Spread{.between_replicas = 0.005,
                              .between_runs = 0.01,
                              .degrees = 6,
                              .limit = 0.03,
                              .replicas = replicas,
                              .source = source,
                              .rules = record::current_rules};
    c.telemetry.window_seconds = 1;
    if (place.kind != "host") c.telemetry.device = record::DeviceTelemetry{.samples = 10};
    const int middle = replicas / 2;
    for (int i = 0; i < replicas; ++i) {
        const double off = 1 + (0.002 * (i - middle));
        record::Replica replica{.index = i,
                                .status = record::Status::ok,
                                .batches = 100,
                                .calls = 1,
                                .seconds = seconds * off};
        replica.telemetry.window_seconds = 1;
        c.replicas.push_back(std::move(replica));
    }
    return c;
}

constexpr Kind gemm{"gemm.square", "cublaslt", "flop_rate", "FLOP/s", true,
                    "flops",       1e12,       1e12 / 8e14, 9.9e14};
constexpr Kind copy{"transfer.copy", "cuda", "bandwidth",  "B/s", true,
                    "bytes",         1e9,    1e9 / 5.5e10, {}};
constexpr Kind stream{"memory.stream", "host", "bandwidth",  "B/s", true,
                      "bytes",         1e9,    1e9 / 4.6e11, {}};
constexpr Kind chase{"memory.latency", "host", "latency",    "s", false,
                     "steps",          1e6,    1e6 * 1.2e-7, {}};

void slow_down(record::Case& c, double factor) {
    for (auto& replica : c.replicas) replica.seconds = *replica.seconds * factor;
    auto& metric = c.metrics.front();
    for (auto* value : {&metric.value, &metric.low, &metric.high})
        *value = metric.higher_is_better ? **value / factor : **value * factor;
}

record::Case& of(record::Run& run, std::string_view benchmark, int device = 0) {
    for (auto& c : run.cases)
        if (c.benchmark == benchmark && c.place.index == device) return c;
    return run.cases.front();
}

/// A case of all devices at once; its values compared with the same case alone.
record::Case together(record::Case c, double to_alone) {
    c.parameters.push_back({"together", fmt::format("devices:{}", devices)});
    slow_down(c, 1 / to_alone);
    c.metrics.push_back({.name = "together_to_alone",
                         .unit = "1",
                         .higher_is_better = true,
                         .value = to_alone,
                         .interval_scope = record::IntervalScope::between_replicas});
    for (auto& replica : c.replicas) replica.extra = {{"together_to_alone", to_alone}};
    return c;
}

void disturb(record::Case& c, record::DisturbanceCode code, record::Values values = {}) {
    record::disturb(c.telemetry, code, std::move(values), source);
}

/// Half as slow again in every window, for this cause.
void disturb_all(record::Case& c, record::DisturbanceCode code) {
    slow_down(c, 1.5);
    c.status = record::Status::disturbed;
    c.reason_values = {{"cause", std::string{to_string(code)}}};
    disturb(c, code);
    for (auto& replica : c.replicas) {
        replica.status = record::Status::disturbed;
        record::disturb(replica.telemetry, code, {}, source);
    }
}

void end_with(record::Case& c, record::Status status) {
    c.status = status;
    c.reason = source;
    if (!record::is_measured(status)) {
        c.metrics.clear();
        c.replicas.clear();
    }
}

LimitsFile own_limits() { return parse_limits(limits_text, source).value_or(LimitsFile{}); }

struct Fault {
    const char* name;
    Outcome outcome;
    Cause cause;
    std::function<void(record::Run&)> make;
};

std::vector<Fault> faults() { // NOLINT(readability-function-size): a table
    using record::DisturbanceCode;
    using record::Run;
    using record::Status;
    constexpr auto bad = Outcome::fail;
    constexpr auto open = Outcome::inconclusive;
    return {
        {"healthy", Outcome::pass, Cause::none, [](Run&) {}},
        {"one device 10% slow", bad, Cause::slower_than_siblings,
         [](Run& run) { slow_down(of(run, "gemm.square", 3), 1 / 0.9); }},
        {"all devices 20% slow", bad, Cause::below_limit,
         [](Run& run) {
             for (auto& c : run.cases)
                 if (c.benchmark == "gemm.square") slow_down(c, 1 / 0.8);
         }},
        {"latency 50% higher", bad, Cause::above_limit,
         [](Run& run) { slow_down(of(run, "memory.latency"), 1.5); }},
        {"wrong result", bad, Cause::wrong_result,
         [](Run& run) { end_with(of(run, "gemm.square", 5), Status::incorrect); }},
        {"device missing", bad, Cause::part_missing,
         [](Run& run) {
             run.machine.devices.pop_back();
             std::erase_if(run.cases, [](const auto& c) { return c.place.index == devices - 1; });
         }},
        {"device not measured", open, Cause::not_measured,
         [](Run& run) {
             std::erase_if(run.cases, [](const auto& c) { return c.place.index == devices - 1; });
         }},
        {"all devices slower together than alone", bad, Cause::below_limit,
         [](Run& run) {
             for (auto& c : run.cases)
                 if (record::find(c.parameters, "together") != nullptr)
                     c = together(made_case(gemm, c.place, gemm.seconds), 0.9);
         }},
        {"throttles when all work", bad, Cause::overheated,
         [](Run& run) {
             for (auto& replica : of(run, "gemm.square", 2).replicas)
                 record::disturb(replica.telemetry, DisturbanceCode::device_slowed, {}, source);
         }},
        {"half the PCIe width", bad, Cause::link_narrow,
         [](Run& run) { disturb(of(run, "transfer.copy", 4), DisturbanceCode::link_narrow); }},
        {"one memory channel of twelve missing", bad, Cause::below_limit,
         [](Run& run) { slow_down(of(run, "memory.stream"), 12.0 / 11); }},
        {"uncorrectable memory error", bad, Cause::memory_uncorrected,
         [](Run& run) { disturb(of(run, "gemm.square", 1), DisturbanceCode::memory_uncorrected); }},
        {"memory row cannot be remapped", bad, Cause::row_broken,
         [](Run& run) { disturb(of(run, "gemm.square", 1), DisturbanceCode::row_broken); }},
        {"value is not a number", open, Cause::no_value,
         [](Run& run) {
             of(run, "transfer.copy").metrics.front().value =
                 std::numeric_limits<double>::quiet_NaN();
         }},
        {"metric missing", open, Cause::no_value,
         [](Run& run) { of(run, "transfer.copy").metrics.clear(); }},
        {"wrong unit", open, Cause::no_value,
         [](Run& run) { of(run, "transfer.copy").metrics.front().unit = "GB/s"; }},
        {"unknown data sheet", open, Cause::no_datasheet,
         [](Run& run) {
             for (auto& c : run.cases) c.ceiling = {};
         }},
        {"no telemetry", open, Cause::no_telemetry,
         [](Run& run) {
             for (auto& c : run.cases) c.telemetry = {};
         }},
        {"no check of results", open, Cause::not_verified,
         [](Run& run) { of(run, "gemm.square").verification.reset(); }},
        {"slow in half of its replicas", open, Cause::undecided,
         [](Run& run) {
             auto& replicas = of(run, "memory.stream").replicas;
             for (std::size_t i = 0; i < replicas.size(); i += 2)
                 replicas[i].seconds = *replicas[i].seconds * 1.2;
         }},
        {"disturbed", open, Cause::other_load,
         [](Run& run) { disturb_all(of(run, "memory.stream"), DisturbanceCode::foreign_cpu); }},
        {"case crashed", Outcome::error, Cause::case_crashed,
         [](Run& run) { end_with(of(run, "memory.stream"), Status::crashed); }},
        {"case timed out", Outcome::error, Cause::case_timed_out,
         [](Run& run) { end_with(of(run, "memory.stream"), Status::timed_out); }},
        {"case skipped", open, Cause::not_applicable,
         [](Run& run) { end_with(of(run, "memory.stream"), Status::skipped); }},
        {"run interrupted", open, Cause::interrupted,
         [](Run& run) { end_with(of(run, "memory.stream"), Status::interrupted); }},
        {"one replica", open, Cause::too_few_replicas,
         [](Run& run) { of(run, "memory.stream").replicas.resize(1); }},
        {"at the limit", open, Cause::unsettled,
         [](Run& run) { slow_down(of(run, "memory.stream"), 4.6 / 4.4); }},
        {"other processes on a device", open, Cause::device_shared,
         [](Run& run) { disturb_all(of(run, "gemm.square", 6), DisturbanceCode::device_shared); }},
        {"power limit lowered", open, Cause::device_capped,
         [](Run& run) { disturb(of(run, "gemm.square", 6), DisturbanceCode::device_capped); }},
        {"divided device", open, Cause::device_divided,
         [](Run& run) { run.machine.devices.front().mode = "mig 1g.10gb"; }},
        {"error correction off", open, Cause::ecc_off,
         [](Run& run) { run.machine.devices.front().ecc = false; }},
        {"governor that saves power", open, Cause::setup_differs,
         [](Run& run) { run.machine.platform.governor = "powersave"; }},
        {"device code executed on a CPU", open, Cause::executed_on_cpu,
         [](Run& run) {
             for (auto& c : run.cases)
                 if (c.place.kind == "cuda")
                     c.settings.push_back({"executed_on", std::string{"cpu"}});
         }},
        {"corrected memory errors", Outcome::warn, Cause::memory_corrected,
         [](Run& run) { disturb(of(run, "gemm.square", 1), DisturbanceCode::memory_corrected); }},
        {"error counter rose", Outcome::warn, Cause::counter_rose,
         [](Run& run) {
             run.error_counters = {{.source = "pcie",
                                    .device = "0000:01:00.0",
                                    .counter = "BadTLP",
                                    .before = 0,
                                    .after = 7}};
         }},
        {"device in a slot with half its lanes", bad, Cause::link_narrow,
         [](Run& run) {
             run.machine.pci.push_back(
                 {.address = "0000:03:00.0", .link = {.width = 8, .width_max = 16}});
         }},
        {"card in a slot with half its lanes", Outcome::warn, Cause::slot_narrow,
         [](Run& run) {
             run.machine.pci.push_back(
                 {.address = "0000:41:00.0", .link = {.width = 8, .width_max = 16}});
         }},
        {"one of two ports at half its rate", Outcome::warn, Cause::port_slow,
         [](Run& run) {
             for (const auto* address : {"0000:42:00.0", "0000:43:00.0"}) {
                 run.machine.pci.push_back(
                     {.address = address, .vendor_id = "15b3", .device_id = "1021"});
                 run.machine.platform.network.push_back({.name = "mlx5",
                                                         .address = address,
                                                         .bytes_per_second = 50e9,
                                                         .state = "active"});
             }
             run.machine.platform.network.back().bytes_per_second = 25e9;
         }},
        {"one memory channel of twelve without a module", bad, Cause::module_missing,
         [](Run& run) {
             run.machine.platform.memory_channels = 11;
             run.machine.platform.memory_channels_most = 12;
         }},
        {"half the memory channels without a module", Outcome::warn, Cause::channels_empty,
         [](Run& run) {
             run.machine.platform.memory_channels = 6;
             run.machine.platform.memory_channels_most = 12;
         }},
        {"other suite", open, Cause::not_measured,
         [](Run& run) {
             for (auto& c : run.cases) c.benchmark = "other." + c.benchmark;
         }},
        {"zero cases", open, Cause::nothing_measured, [](Run& run) { run.cases.clear(); }},
    };
}

} // namespace

record::Run healthy_node() {
    record::Run run{.id = "self-test",
                    .suite = "acceptance",
                    .started = "2027-01-10T12:00:00Z",
                    .ended = "2027-01-10T12:05:00Z",
                    .status = "done"};
    run.machine.id = "m-self-test";
    run.machine.virtualization = "none";
    run.machine.usable_cores = 64;
    run.machine.platform.governor = "performance";
    for (int i = 0; i < devices; ++i) {
        const auto address = fmt::format("0000:0{}:00.0", i);
        run.machine.devices.push_back({.kind = "cuda",
                                       .index = i,
                                       .uuid = fmt::format("GPU-{}", i),
                                       .pci_address = address,
                                       .name = "Made-up device",
                                       .ecc = true});
        const record::Place place{.kind = "cuda", .uuid = fmt::format("GPU-{}", i), .index = i};
        // Devices differ a little, as real ones do.
        run.cases.push_back(made_case(gemm, place, gemm.seconds * (1 + (0.001 * i))));
        run.cases.push_back(together(run.cases.back(), 0.99));
        run.cases.push_back(made_case(copy, place, copy.seconds));
    }
    run.cases.push_back(made_case(stream, {.kind = "host"}, stream.seconds));
    run.cases.push_back(made_case(chase, {.kind = "host"}, chase.seconds));
    return run;
}

SelfTest judged(const std::string& run_json, LimitsFile file) {
    SelfTest result{.outcome = Outcome::inconclusive};
    Batch batch;
    if (auto run = record::parse_run(run_json, source, {.values = false, .details = false})) {
        Digester digester{*std::move(run)};
        if (auto digest = unpacked<RunDigest>(digester.finish(batch.pools)))
            batch.candidates.push_back({.digest = *std::move(digest)});
    }
    std::vector<Batch> batches;
    batches.push_back(std::move(batch));
    std::vector<LimitsFile> files;
    files.push_back(std::move(file));
    auto limits = layered(std::move(files));
    if (!limits) return result;
    auto options = collecting_for(*limits);
    options.now = today + 1e6;
    const auto all = judge(gather(std::move(batches), options), *std::move(limits), {.now = today});
    if (!all) return result;
    result.outcome = all->outcome;
    if (all->nodes.empty())
        result.cause = Cause::nothing_measured;
    else if (!all->nodes.front().checks.empty())
        result.cause = all->nodes.front().checks.front().cause;
    return result;
}

SelfTest judged(const std::string& run_json) { return judged(run_json, own_limits()); }
SelfTest judged(const record::Run& run) { return judged(record::to_text(run)); }

std::vector<SelfTest> self_test() {
    std::vector<SelfTest> results;
    const auto add = [&](const char* name, Outcome outcome, Cause cause, SelfTest result) {
        result.name = name;
        result.expected = outcome;
        result.expected_cause = cause;
        results.push_back(std::move(result));
    };
    for (const auto& fault : faults()) {
        auto run = healthy_node();
        fault.make(run);
        add(fault.name, fault.outcome, fault.cause, judged(run));
    }
    const auto text = record::to_text(healthy_node());
    add("truncated file", Outcome::inconclusive, Cause::nothing_measured,
        judged(text.substr(0, text.size() / 2)));
    auto expired = own_limits();
    for (auto& limit : expired.limits) limit.expires = "2026-12-31";
    add("expired limits", Outcome::inconclusive, Cause::limit_expired, judged(text, expired));
    auto of_others = own_limits();
    of_others.expect.clear();
    for (auto& limit : of_others.limits) limit.machine = {{"device", "Another device"}};
    add("unknown machine", Outcome::inconclusive, Cause::no_limits, judged(text, of_others));
    add("no limits", Outcome::inconclusive, Cause::no_limits, judged(text, LimitsFile{}));
    return results;
}

} // namespace assay::report
