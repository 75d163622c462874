// SPDX-License-Identifier: Apache-2.0

#include "store/digest.hpp"

#include "base/console.hpp"
#include "base/utc.hpp"
#include "document/language.hpp"
#include "document/texts/store.hpp"
#include "record/conditions.hpp"
#include "record/metrics.hpp"
#include "record/noise.hpp"
#include "record/summary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace assay::store {

using namespace document;
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

bool is_figure(const std::optional<double>& value) {
    return value && std::isfinite(*value) && *value > 0;
}
std::optional<double> figure(const std::optional<double>& value) {
    return is_figure(value) ? value : std::nullopt;
}

/// Why a measured case has no value to go on with; empty where it has one.
std::string problem_of(const record::Case& c, const Series& series) {
    if (c.metrics.empty())
        return say<text::store::no_value>(record::to_string(c.status), series.metric);
    const record::Metric& first = c.metrics.front();
    if (first.name != c.headline) return say<text::store::other_metric>(series.metric, first.name);
    if (first.unit != series.unit)
        return say<text::store::other_unit>(series.metric, first.unit, series.unit);
    if (first.higher_is_better != series.higher_is_better)
        return say<text::store::higher_or_lower>(series.metric);
    if (!first.value) return say<text::store::no_value>(record::to_string(c.status), series.metric);
    if (!is_figure(first.value)) return say<text::store::not_positive>(series.metric, *first.value);
    return "";
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

/// Values and what belongs to them, of a case that has them.
void fill(Observation& seen, const record::Case& c, const record::Machine& machine) {
    const auto& first = c.metrics.front();
    seen.value = first.value;
    seen.low = figure(first.low);
    seen.high = figure(first.high);
    seen.scope = first.interval_scope;
    seen.two_levels = first.levels && first.levels->slow.has_value();
    for (const auto& replica : c.replicas)
        if (const auto value = figure(record::headline_of(c, replica)))
            seen.replicas.push_back(
                {.index = replica.index,
                 .value = *value,
                 .disturbed = c.spread && replica.status == record::Status::disturbed,
                 .throttled = is_throttled(c, replica)});
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

RunInfo info_of(record::Run& run) {
    // Measured anew in every run: would make each of them a machine of its own.
    const auto core_clock_hz = std::exchange(run.machine.core_clock_hz, std::nullopt);
    run.machine.platform.swap_used_bytes.reset();
    run.machine.platform.results_free_bytes.reset();
    const auto strayed = strayed_seconds(run);
    return {.id = std::move(run.id),
            .suite = std::move(run.suite),
            .started = run.started,
            .ended = std::move(run.ended),
            .started_seconds = seconds_of(run.started).value_or(0),
            .status = run.status,
            .partial = run.status == "interrupted",
            .version = std::move(run.version),
            .build = plain(run.build, 64),
            .digest = std::move(run.digest),
            .campaign = std::move(run.campaign),
            .tags = std::move(run.tags),
            .error_counters = std::move(run.error_counters),
            .core_clock_hz = figure(core_clock_hz),
            .pairing = std::move(run.pairing),
            .gates = run.schedule ? run.schedule->gates : std::nullopt,
            .soak = std::move(run.soak),
            .strayed_seconds = strayed};
}

} // namespace

Digester::Digester(record::Run run, const MetricChoice& choice)
    : digest_{.run = info_of(run)}, machine_{std::move(run.machine)} {
    const auto& machine = machine_.value;
    for (auto& c : run.cases) {
        judge(c);
        const bool is_shown = shows(c.status);
        CaseDigest digest{.seen = {.status = c.status,
                                   .reason = std::move(c.reason),
                                   .disturbed = is_disturbed(c),
                                   .events = events_of(c)}};
        add_later_parameters(c);
        settle(c.parameters);
        auto series = series_of(c, machine);
        std::vector<MetricKind> others;
        if (is_shown) digest.problem = problem_of(c, series);
        if (is_shown && digest.problem.empty()) {
            fill(digest.seen, c, machine);
            for (auto& other : other_metrics(c)) {
                if (choice.other(other))
                    digest.values.push_back(std::move(static_cast<MetricValues&>(other)));
                others.push_back(std::move(static_cast<MetricKind&>(other)));
            }
        }
        digest_.cases.push_back(std::move(digest));
        series_.emplace_back(std::move(series));
        settings_.emplace_back(std::move(c.settings));
        others_.emplace_back(std::move(others));
    }
}

RunDigest Digester::finish(Pools& pools) {
    digest_.run.machine = pools.machines.add(std::move(machine_));
    for (std::size_t i = 0; i < digest_.cases.size(); ++i) {
        auto& c = digest_.cases[i];
        c.seen.series = pools.series.add(std::move(series_[i]));
        c.seen.settings = pools.settings.add(std::move(settings_[i]));
        c.others = pools.others.add(std::move(others_[i]));
    }
    return std::move(digest_);
}

} // namespace assay::store
