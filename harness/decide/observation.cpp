// SPDX-License-Identifier: Apache-2.0
#include "decide/observation.hpp"

#include "base/hash.hpp"
#include "record/conditions.hpp"
#include "record/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace assay::decide {

std::string name_of(const Series& series) {
    record::Case entry; // as one expression GCC 12 warns of members that it has not
    entry.benchmark = series.benchmark;
    entry.version = series.version;
    entry.place.kind = series.place;
    entry.library = series.library;
    entry.parameters = series.parameters;
    return record::identity(entry);
}

bool is_good(const Observation& seen) {
    return seen.value && std::isfinite(*seen.value) && *seen.value > 0 &&
           (seen.status == record::Status::ok || seen.status == record::Status::unstable);
}

std::vector<ReplicaValue> counted(const Observation& seen) {
    std::vector<ReplicaValue> kept;
    std::ranges::copy_if(seen.replicas, std::back_inserter(kept), &ReplicaValue::kept);
    return kept;
}

record::Knowledge knowledge_of(const Observation& seen) {
    using record::Knowledge;
    if (!seen.value || seen.knowledge != Knowledge::none) return seen.knowledge;
    return seen.status == record::Status::disturbed  ? Knowledge::at_least
           : seen.status == record::Status::unstable ? Knowledge::rough
                                                     : Knowledge::known;
}

std::optional<Delivered> delivered_of(const Observation& seen) {
    if (seen.replicas.empty()) return {};
    double logs = 0;
    for (const auto& replica : seen.replicas) logs += std::log(replica.value);
    const auto all = static_cast<double>(seen.replicas.size());
    return Delivered{.value = std::exp(logs / all),
                     .share = static_cast<double>(counted(seen).size()) / all};
}

bool is_guest(const record::Machine& machine) {
    return !machine.virtualization.empty() && machine.virtualization != "none";
}

bool is_partial(const Observation& seen) {
    return !seen.replicas.empty() && std::cmp_less(seen.replicas.size(), seen.planned);
}

/// A metric that is not ours is taken as its file describes it.
Series series_of(const record::Case& c, const record::Machine& machine) {
    Series series{.benchmark = c.benchmark,
                  .version = c.version,
                  .place = record::words_of(c.place),
                  .library = c.library,
                  .parameters = c.parameters,
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

namespace {

bool is_figure(const std::optional<double>& value) {
    return value && std::isfinite(*value) && *value > 0;
}
std::optional<double> figure(const std::optional<double>& value) {
    return is_figure(value) ? value : std::nullopt;
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

/// Two processes never measure the same to the last bit.
std::uint32_t print_of(const record::Replica& replica) {
    if (!replica.seconds || !replica.low || !replica.high || !(*replica.low < *replica.high))
        return 0;
    // Short calls on a clock that ticks coarsely may agree in their mean: hardly in the order of their batches.
    auto parts = replica.values;
    parts.insert(parts.end(), {*replica.seconds, *replica.low, *replica.high});
    return crc32({reinterpret_cast<const char*>(parts.data()), parts.size() * sizeof parts[0]});
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

/// Values and what belongs to them, of a case that has them.
void fill(Observation& seen, const record::Case& c, const record::Machine& machine) {
    const auto& first = c.metrics.front();
    seen.value = first.value;
    seen.low = figure(first.low);
    seen.high = figure(first.high);
    seen.scope = first.interval_scope;
    seen.knowledge = record::knowledge_of(c);
    seen.two_levels = first.levels && first.levels->slow;
    const auto kept = record::counted(c);
    for (const auto& replica : c.replicas)
        if (const auto value = figure(record::headline_of(c, replica)))
            seen.replicas.push_back(
                {.index = replica.index,
                 .value = *value,
                 .kept = std::ranges::find(kept, &replica) != kept.end(),
                 .disturbed = c.spread && replica.status == record::Status::disturbed,
                 .throttled = is_throttled(c, replica),
                 .print = print_of(replica)});
    seen.warm_seconds = figure(warm_seconds(c));
    seen.ceiling = figure(c.ceiling.value);
    seen.datasheet = figure(datasheet_bound(c));
    seen.cause = cause_of(c);
    seen.core_latency = figure(core_latency(c));
    seen.verified = c.verification && c.verification->passed;
    if (!c.spread) return;
    seen.planned = c.spread->replicas;
    seen.between_runs = figure(c.spread->between_runs);
    seen.between_replicas = figure(c.spread->between_replicas);
    seen.degrees = figure(c.spread->degrees);
    const auto alone = alone_of(c, machine);
    seen.alone_between_replicas = figure(alone.between_replicas);
    seen.alone_between_runs = figure(alone.between_runs);
}

bool is_disturbed(const record::Case& c) {
    const auto& events = c.telemetry.disturbed_by;
    if (events.empty()) return !c.telemetry.disturbances.empty();
    const auto influence = record::influence_of(c);
    return std::ranges::any_of(events, [&](const record::Disturbance& by) {
        return record::concerns(by.code, influence);
    });
}

} // namespace

ValueProblem problem_of(const record::Case& c, const Series& series) {
    if (c.metrics.empty()) return ValueProblem::no_value;
    const record::Metric& first = c.metrics.front();
    if (first.name != c.headline) return ValueProblem::other_metric;
    if (first.unit != series.unit) return ValueProblem::other_unit;
    if (first.higher_is_better != series.higher_is_better) return ValueProblem::direction;
    if (!first.value) return ValueProblem::no_value;
    return is_figure(first.value) ? ValueProblem::none : ValueProblem::not_positive;
}

Observation observation_of(const record::Case& c, const record::Machine& machine, bool has_value) {
    Observation seen{.status = c.status,
                     .reason = c.reason,
                     .disturbed = is_disturbed(c),
                     .events = events_of(c)};
    if (has_value) fill(seen, c, machine);
    return seen;
}

} // namespace assay::decide
