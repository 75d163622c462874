// SPDX-License-Identifier: Apache-2.0

#include "store/digest.hpp"

#include "base/utc.hpp"
#include "record/conditions.hpp"
#include "record/metrics.hpp"
#include "record/noise.hpp"
#include "record/summary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace assay::report {
namespace {

bool shows(record::Status status) { return is_measured(status); }

/// Whole numbers are whole numbers: tools that rewrite JSON make 2 of 2.0.
void settle(record::NamedList& list) {
    constexpr double exact = 0x1p53; // up to here every whole number is a double
    for (auto& [name, value] : list)
        if (const auto* real = std::get_if<double>(&value))
            if (std::fabs(*real) < exact && *real == std::floor(*real))
                value = static_cast<std::int64_t>(*real);
}

/// Parameters that benchmarks got behind their others, and what every case before had: what was measured is the same, so
/// older files belong to the same series.
void add_later_parameters(record::Case& c) {
    struct Later {
        std::string_view benchmark;
        const char* name;
        record::Value before;
    };
    static const std::array later{Later{"workload.attention", "group", std::int64_t{1}},
                                  Later{"workload.transformer_layer", "pass", "forward"}};
    for (const auto& [benchmark, name, before] : later)
        if (c.benchmark == benchmark && record::find(c.parameters, name) == nullptr)
            c.parameters.push_back({name, before});
}

/// A metric that is not ours is taken as its file describes it.
Series series_of(record::Case& c, const record::Machine& machine) {
    Series series{.benchmark = std::move(c.benchmark),
                  .version = c.version,
                  .place = record::words_of(c.place),
                  .library = std::move(c.library),
                  .parameters = std::move(c.parameters),
                  .conditions = record::conditions(c, machine),
                  .metric = c.headline};
    if (const auto* definition = record::find_metric(c.headline)) {
        series.unit = definition->unit;
        series.higher_is_better = definition->higher_is_better;
    } else if (!c.metrics.empty() && c.metrics.front().name == c.headline) {
        series.unit = c.metrics.front().unit;
        series.higher_is_better = c.metrics.front().higher_is_better;
    }
    return series;
}

void take_value(const record::Case& c, const Series& series, CaseDigest& digest) {
    if (c.metrics.empty()) {
        digest.defect = Defect::no_value;
        return;
    }
    const record::Metric& first = c.metrics.front();
    if (first.name != c.headline) {
        digest.defect = Defect::other_metric;
        digest.found = first.name;
        return;
    }
    if (first.unit != series.unit || first.higher_is_better != series.higher_is_better) {
        digest.defect = first.unit == series.unit ? Defect::other_direction : Defect::other_unit;
        digest.found = first.unit;
        return;
    }
    digest.value = first.value;
    digest.low = first.low;
    digest.high = first.high;
    digest.scope = first.interval_scope;
    if (!first.value) digest.defect = Defect::no_value;
}

/// A failed check outweighs what the status says.
void judge(record::Case& c) {
    if (!shows(c.status) || !c.verification || c.verification->passed) return;
    c.status = record::Status::incorrect;
    c.reason = std::move(c.verification->detail);
}

/// The worst of the kind that made the case `disturbed`.
std::optional<record::Disturbance> cause_of(const record::Case& c) {
    std::optional<record::Disturbance> worst;
    const auto share = [](const record::Disturbance& by) {
        return record::number(by.values, "share").value_or(0);
    };
    const auto code = record::text(c.reason_values, "cause");
    if (c.status != record::Status::disturbed) return worst;
    for (const auto& by : c.telemetry.disturbed_by)
        if (record::to_string(by.code) == code && (!worst || share(by) > share(*worst))) worst = by;
    return worst;
}

/// The time between the CPUs at the middle of the replicas.
std::optional<double> core_latency(const record::Case& c) {
    std::vector<double> seconds;
    for (const auto& replica : c.replicas)
        if (replica.status != record::Status::disturbed && replica.telemetry.core_latency_seconds)
            seconds.push_back(*replica.telemetry.core_latency_seconds);
    if (seconds.empty()) return {};
    const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
    std::ranges::nth_element(seconds, middle);
    return *middle;
}

std::optional<double> warm_seconds(const record::Case& c) {
    std::optional<double> least;
    if (c.place.kind == "host") return least;
    for (const auto& replica : c.replicas)
        if (const auto& warm = replica.warmup_seconds;
            record::is_measured(replica.status) && warm && !(least && *least <= *warm))
            least = warm;
    return least;
}

std::optional<double> datasheet_bound(const record::Case& c) {
    if (c.ceiling.kind == record::CeilingKind::datasheet) return c.ceiling.value;
    for (const auto& other : c.other_ceilings)
        if (other.kind == record::CeilingKind::datasheet) return other.value;
    return {};
}

std::optional<std::uint32_t> events_of(const record::Case& c) {
    if (!c.telemetry.window_seconds) return {};
    if (c.place.kind != "host" && !c.telemetry.device) return {};
    std::uint32_t events = 0;
    for (const auto& by : c.telemetry.disturbed_by) events |= event_bit(by.code);
    return events;
}

/// By heat or a power brake: telemetry/device_samples.cpp has the reasons. Working at the power limit is normal, and a hot
/// processor does not slow a device.
bool is_throttled(const record::Case& c, const record::Replica& replica) {
    const bool on_host = c.place.kind == "host";
    return std::ranges::any_of(replica.telemetry.disturbed_by, [&](const record::Disturbance& by) {
        return on_host ? by.code == record::DisturbanceCode::too_hot
                       : by.code == record::DisturbanceCode::device_slowed &&
                             record::text(by.values, "reason") != "sync_boost";
    });
}

/// Neighbours and the host's other work only slow, so what scatters upwards on a guest or on a link is the hardware itself.
record::NoiseLevel alone_of(const record::Case& c, const record::Machine& machine) {
    const auto place = record::noise_place(c, machine);
    if (place == record::NoisePlace::device || place == record::NoisePlace::bare_metal)
        return {.between_replicas = c.spread->between_replicas,
                .between_runs = c.spread->between_runs,
                .degrees = c.spread->degrees};
    auto level = record::noise_level(c.spread->source, record::NoisePlace::bare_metal);
    level.between_replicas = std::min(level.between_replicas, c.spread->between_replicas);
    level.between_runs = std::min(level.between_runs, c.spread->between_runs);
    return level;
}

CaseDigest digest_of(record::Case& c, const record::Machine& machine, Series& series,
                     std::vector<MetricKind>& others) {
    judge(c);
    CaseDigest digest{.status = c.status, .reason = std::move(c.reason)};
    if (shows(c.status)) {
        for (const auto& replica : c.replicas)
            if (const auto value = record::headline_of(c, replica))
                digest.replicas.push_back(
                    {.index = replica.index,
                     .value = *value,
                     .disturbed = c.spread && replica.status == record::Status::disturbed,
                     .throttled = is_throttled(c, replica)});
        digest.warm_seconds = warm_seconds(c);
        if (c.spread) digest.planned = c.spread->replicas;
        digest.ceiling = c.ceiling.value;
        digest.cause = cause_of(c);
        if (c.spread) {
            digest.between_runs = c.spread->between_runs;
            digest.between_replicas = c.spread->between_replicas;
            digest.degrees = c.spread->degrees;
            const auto alone = alone_of(c, machine);
            digest.alone_between_replicas = alone.between_replicas;
            digest.alone_between_runs = alone.between_runs;
        }
        digest.datasheet = datasheet_bound(c);
        digest.verified = c.verification && c.verification->passed;
        digest.two_levels = !c.metrics.empty() && c.metrics.front().levels &&
                            c.metrics.front().levels->slow.has_value();
        digest.core_latency = core_latency(c);
    }
    const auto influence = record::influence_of(c);
    const auto& events = c.telemetry.disturbed_by;
    digest.disturbed = events.empty()
                           ? !c.telemetry.disturbances.empty()
                           : std::ranges::any_of(events, [&](const record::Disturbance& by) {
                                 return record::concerns(by.code, influence);
                             });
    digest.events = events_of(c);
    add_later_parameters(c);
    settle(c.parameters);
    series = series_of(c, machine);
    if (shows(c.status)) take_value(c, series, digest);
    if (digest.defect != Defect::none) digest.replicas.clear();
    const bool has_others = shows(c.status) && digest.defect == Defect::none;
    const auto list = has_others ? other_metrics(c) : std::vector<MetricDigest>{};
    others.assign(list.begin(), list.end());
    digest.others_values = packed(std::vector<MetricValues>(list.begin(), list.end()));
    return digest;
}

/// Times of one form: the first and the last as texts.
double strayed_seconds(const record::Run& run) {
    std::string_view first = run.started;
    std::string_view last = run.ended;
    if (first.empty() || last.empty()) return 0;
    for (const auto& c : run.cases)
        for (const auto& replica : c.replicas) {
            if (replica.started.empty()) continue;
            first = std::min<std::string_view>(first, replica.started);
            last = std::max<std::string_view>(last, replica.started);
        }
    const auto between = [](std::string_view from, std::string_view to) {
        if (from == to) return 0.0;
        const auto begin = seconds_of(from);
        const auto end = seconds_of(to);
        return begin && end ? *end - *begin : 0.0;
    };
    return std::max(between(first, run.started), between(run.ended, last));
}

} // namespace

std::uint32_t Pool::add(std::string_view bytes) {
    if (const auto known = numbers_.find(bytes); known != numbers_.end()) return known->second;
    const auto number = static_cast<std::uint32_t>(items_.size());
    numbers_.emplace(items_.emplace_back(bytes), number);
    return number;
}

Digester::Digester(record::Run run) {
    // Measured anew in every run: would make each of them a machine of its own.
    digest_.core_clock_hz = std::exchange(run.machine.core_clock_hz, std::nullopt);
    run.machine.platform.swap_used_bytes.reset();
    run.machine.platform.results_free_bytes.reset();
    digest_.strayed_seconds = strayed_seconds(run);
    machine_ = packed(run.machine);
    Series series;
    std::vector<MetricKind> others;
    for (auto& c : run.cases) {
        digest_.cases.push_back(digest_of(c, run.machine, series, others));
        series_.push_back(packed(series));
        settings_.push_back(packed(c.settings));
        others_.push_back(packed(others));
    }
    run.cases.clear();
    run.hosts.clear();
    digest_.run = std::move(run);
}

std::string Digester::finish(Pools& pools) {
    digest_.machine = pools.machines.add(machine_);
    for (std::size_t i = 0; i < digest_.cases.size(); ++i) {
        digest_.cases[i].series = pools.series.add(series_[i]);
        digest_.cases[i].settings = pools.settings.add(settings_[i]);
        digest_.cases[i].others = pools.others.add(others_[i]);
    }
    return packed(digest_);
}

std::string digest_shape() {
    Shape shape;
    shape.add(RunDigest{});
    shape.add(record::Machine{});
    shape.add(Series{});
    shape.add(MetricKind{});
    shape.add(MetricValues{});
    return shape.text();
}

} // namespace assay::report
