// SPDX-License-Identifier: Apache-2.0
#include "record/summary.hpp"

#include "record/format.hpp"
#include "record/metrics.hpp"
#include "stats/fast_level.hpp"
#include "stats/interval.hpp"
#include "stats/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace assay::record {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

std::optional<double> known(double value) {
    if (std::isfinite(value)) return value;
    return {};
}

bool is_measured(const Replica& replica) { return is_measured(replica.status); }

/// NaN if there is no valid one.
double time_of(const Replica& replica) {
    const double seconds = replica.seconds.value_or(unknown);
    return std::isfinite(seconds) && seconds > 0 ? seconds : unknown;
}

bool has_time(const Replica& replica) { return !std::isnan(time_of(replica)); }

IntervalScope scope_from(stats::Scope scope) {
    switch (scope) {
    case stats::Scope::within_process:
        return IntervalScope::within_process;
    case stats::Scope::between_replicas:
        return IntervalScope::between_replicas;
    case stats::Scope::none:
        break;
    }
    return IntervalScope::none;
}

Metric empty_metric(const MetricDefinition& definition) {
    return {.name = std::string{definition.name},
            .unit = std::string{definition.unit},
            .higher_is_better = definition.higher_is_better};
}

void describe(Metric& metric, const std::vector<double>& values) {
    metric.median = known(stats::median(values));
    metric.min = known(stats::min(values));
    constexpr double slow_tail = 0.95; // share of the values below p95
    metric.p95 = known(stats::quantile(values, slow_tail));
    metric.count = values.size();
}

/// The replica's own value of the primary metric, if that is not computed from its time; otherwise NaN.
/// So a tool that prints a bandwidth and no time has a value too.
double reported_headline(const Case& c, const Replica& replica) {
    const double figure = number(replica.extra, c.headline).value_or(unknown);
    return std::isfinite(figure) && figure > 0 && find_metric(c.headline) != nullptr ? figure
                                                                                     : unknown;
}

/// The work of one call that the metric is a rate of, or 0.
double amount_of(const Case& c, const MetricDefinition* definition) {
    if (definition == nullptr || definition->work.empty()) return 0;
    const double amount = number(c.work, definition->work).value_or(0);
    return std::isfinite(amount) && amount > 0 ? amount : 0;
}

/// The benchmark's primary metric, or its substitute if this case does no such work.
void choose_headline(Case& c) {
    const MetricDefinition* declared = find_metric(c.headline);
    if (declared == nullptr || amount_of(c, declared) > 0) return;
    if (amount_of(c, find_metric(declared->instead)) > 0) c.headline = declared->instead;
}

/// A value that the benchmark measured itself.
std::optional<double> reported_by(const Replica& replica, const MetricDefinition& definition) {
    const auto figure = number(replica.extra, definition.name);
    return figure && std::isfinite(*figure) ? figure : std::nullopt;
}

/// How many `values` there are, also where the reader left them out: each is the mean of 2^j batches, at most 200.
double values_of(const Replica& replica) {
    if (!replica.values.empty()) return static_cast<double>(replica.values.size());
    constexpr double most = 200;
    auto batches = static_cast<double>(replica.batches.value_or(0));
    while (batches > most) batches /= 2;
    return batches;
}

/// The mean power of a window; nothing if much of it was spent outside timed calls (flushing caches,
/// restoring inputs), because then their power is unknown.
std::optional<double> watts_of(const Replica& replica) {
    constexpr double least_busy = 0.9; // of the window: the power is wrong by a tenth at worst
    const double window = replica.telemetry.window_seconds.value_or(0);
    const double joules = replica.telemetry.energy_joules.value_or(0);
    if (!(window > 0) || !(joules > 0) || !replica.calls) return {};
    const double timed =
        time_of(replica) * static_cast<double>(*replica.calls) * values_of(replica);
    if (!(timed >= least_busy * window)) return {};
    return joules / window;
}

struct PerWatt {
    std::string_view name;
    std::string_view rate; ///< the metric that is divided by the power
};
constexpr std::array per_watt{
    PerWatt{.name = "flop_rate_per_watt", .rate = "flop_rate"},
    PerWatt{.name = "operation_rate_per_watt", .rate = "operation_rate"},
    PerWatt{.name = "bandwidth_per_watt", .rate = "bandwidth"},
    PerWatt{.name = "item_rate_per_watt", .rate = "item_rate"},
};

/// Energy per call, or the primary rate per watt.
std::optional<double> by_energy(const Case& c, const Replica& replica,
                                const MetricDefinition& definition) {
    const bool is_energy = definition.name == "energy";
    const auto ratio = std::ranges::find(per_watt, definition.name, &PerWatt::name);
    if (!is_energy && (ratio == per_watt.end() || ratio->rate != c.headline)) return {};
    const auto watts = watts_of(replica);
    if (!watts) return {};
    if (is_energy) return known(*watts * time_of(replica));
    const double amount = amount_of(c, find_metric(ratio->rate));
    if (!(amount > 0)) return {};
    return known(amount / time_of(replica) / *watts);
}

class Summary {
public:
    explicit Summary(const Case& c) : case_{c}, basis_{basis_of(c)} {
        std::vector<stats::Estimate> estimates;
        for (const Replica* replica : basis_.kept) {
            if (!has_time(*replica)) continue;
            estimates.push_back({.value = time_of(*replica),
                                 .low = replica->low.value_or(unknown),
                                 .high = replica->high.value_or(unknown)});
            values_.insert(values_.end(), replica->values.begin(), replica->values.end());
            if (replica->p99) slowest_.push_back(*replica->p99);
        }
        seconds_ = combine(estimates);
    }

    std::vector<Metric> metrics() const {
        std::vector<Metric> metrics;
        add(metrics, case_.headline);
        add(metrics, "time");
        for (const MetricDefinition& definition : metric_table)
            if (!definition.work.empty()) add(metrics, definition.name);
        for (const MetricDefinition& definition : metric_table)
            if (definition.work.empty()) add(metrics, definition.name);
        if (case_.spread && !metrics.empty() && metrics.front().name == case_.headline)
            metrics.front().levels = levels();
        return metrics;
    }

private:
    /// Adds the metric if it is known and not yet present.
    void add(std::vector<Metric>& metrics, std::string_view name) const {
        const MetricDefinition* definition = find_metric(name);
        if (definition == nullptr ||
            std::ranges::find(metrics, name, &Metric::name) != metrics.end())
            return;
        const auto metric = measure(*definition);
        if (metric && metric->value) metrics.push_back(*metric);
    }

    std::optional<Metric> measure(const MetricDefinition& definition) const {
        if (definition.name == "time") return time(definition);
        if (amount_of(case_, &definition) == 0) return reported(definition);
        return definition.higher_is_better ? rate(definition) : share(definition);
    }

    Metric time(const MetricDefinition& definition) const {
        Metric metric = empty_metric(definition);
        metric.value = known(seconds_.value);
        metric.low = known(seconds_.low);
        metric.high = known(seconds_.high);
        metric.interval_scope = scope_from(seconds_.scope);
        describe(metric, values_);
        metric.p99 = slowest_call(metric);
        return metric;
    }
    /// In seconds. Nothing where batches took longer: too few calls were timed alone to see what is slow.
    std::optional<double> slowest_call(const Metric& batches, double parts = 1) const {
        const double seconds = slowest_.empty() ? unknown : stats::geometric_mean(slowest_);
        return seconds / parts >= batches.p95.value_or(0) ? known(seconds) : std::nullopt;
    }

    Metric rate(const MetricDefinition& definition) const {
        const double amount = amount_of(case_, &definition);
        Metric metric = empty_metric(definition);
        metric.value = known(amount / seconds_.value);
        // An interval of the time that includes zero gives no bound of the rate.
        if (seconds_.scope != stats::Scope::none && seconds_.low > 0) {
            metric.low = known(amount / seconds_.high);
            metric.high = known(amount / seconds_.low);
            metric.interval_scope = scope_from(seconds_.scope);
        }
        std::vector<double> rates;
        rates.reserve(values_.size());
        for (const double seconds : values_) rates.push_back(amount / seconds);
        describe(metric, rates);
        return metric;
    }

    /// The time of one of several equal parts of a call.
    Metric share(const MetricDefinition& definition) const {
        const double amount = amount_of(case_, &definition);
        Metric metric = empty_metric(definition);
        metric.value = known(seconds_.value / amount);
        metric.low = known(seconds_.low / amount);
        metric.high = known(seconds_.high / amount);
        metric.interval_scope = scope_from(seconds_.scope);
        std::vector<double> times;
        times.reserve(values_.size());
        for (const double seconds : values_) times.push_back(seconds / amount);
        describe(metric, times);
        if (const auto slowest = slowest_call(metric, amount)) metric.p99 = *slowest / amount;
        return metric;
    }

    /// A value that the benchmark measured itself, or that follows from the energy of its window: one
    /// for each replica.
    std::optional<Metric> reported(const MetricDefinition& definition) const {
        const auto estimates = reports(definition);
        if (estimates.empty()) return {};
        std::vector<double> figures;
        for (const auto& estimate : estimates) figures.push_back(estimate.value);
        Metric metric = empty_metric(definition);
        const stats::Combined combined = definition.name == case_.headline ? combine(estimates)
                                         : definition.may_be_zero
                                             ? stats::combine_with_zeros(estimates)
                                             : stats::combine_replicas(estimates);
        metric.value = known(combined.value);
        metric.low = known(combined.low);
        metric.high = known(combined.high);
        metric.interval_scope = scope_from(combined.scope);
        describe(metric, figures);
        return metric;
    }

    std::vector<stats::Estimate> reports(const MetricDefinition& definition) const {
        std::vector<stats::Estimate> estimates;
        for (const Replica* replica : basis_.kept) {
            auto figure = reported_by(*replica, definition);
            if (!figure) figure = by_energy(case_, *replica, definition);
            if (figure) estimates.push_back({.value = *figure, .low = unknown, .high = unknown});
        }
        return estimates;
    }

    stats::Combined combine(std::span<const stats::Estimate> estimates) const {
        if (!case_.spread) return stats::combine_replicas(estimates);
        return stats::combine_level(estimates, {.deviation = case_.spread->between_replicas,
                                                .degrees = case_.spread->degrees});
    }

    Levels levels() const {
        std::vector<double> all;
        for (const Replica& replica : case_.replicas)
            if (const auto value = headline_of(case_, replica)) all.push_back(*value);
        std::vector<double> others;
        for (const Replica* replica : basis_.considered)
            if (std::ranges::find(basis_.kept, replica) == basis_.kept.end())
                if (const auto value = headline_of(case_, *replica)) others.push_back(*value);
        Levels levels{.mean = known(stats::geometric_mean(all))};
        levels.share =
            static_cast<double>(basis_.kept.size()) / static_cast<double>(basis_.considered.size());
        if (!others.empty()) levels.slow = known(stats::geometric_mean(others));
        return levels;
    }

    const Case& case_;
    Basis basis_;
    std::vector<double> values_;  ///< kept batch values of them, seconds per call
    std::vector<double> slowest_; ///< 99th percentile of single calls, one for each replica
    stats::Combined seconds_{};
};

bool same_shape(const Table& a, const Table& b) {
    return a.metric == b.metric && a.rows == b.rows && a.columns == b.columns &&
           a.values.size() == b.values.size();
}

/// The tables of the first replica that counts, with the median over all that have the same one.
std::vector<Table> tables_of(const Case& c) {
    const auto replicas = counted(c);
    if (replicas.empty()) return {};
    std::vector<Table> tables = replicas.front()->tables;
    for (Table& table : tables)
        for (std::size_t i = 0; i < table.values.size(); ++i) {
            std::vector<double> values;
            for (const Replica* replica : replicas)
                for (const Table& other : replica->tables)
                    if (same_shape(other, table) && other.values[i])
                        values.push_back(*other.values[i]);
            table.values[i] = values.empty() ? std::nullopt : known(stats::median(values));
        }
    return tables;
}

} // namespace

double cost_of(const Case& c, const Replica& replica) {
    if (has_time(replica)) return time_of(replica);
    const double figure = reported_headline(c, replica);
    const MetricDefinition* definition = find_metric(c.headline);
    return definition != nullptr && definition->higher_is_better ? 1 / figure : figure;
}

void summarise(Case& c) {
    c.metrics.clear();
    c.tables.clear();
    if (!is_measured(c.status)) return;
    c.metrics = Summary{c}.metrics();
    c.tables = tables_of(c);
}

void conclude(Case& c, int planned_replicas) {
    if (c.spread) planned_replicas = c.spread->replicas;
    mark_disturbed(c);
    choose_headline(c);
    set_conclusion(c, conclusion_of(c, planned_replicas));
    c.telemetry = worst_telemetry(c.replicas);
    summarise(c);
    const bool shows = is_measured(c.status);
    if (!shows || (!c.metrics.empty() && c.metrics.front().name == c.headline)) return;
    set_conclusion(
        c, {.status = Status::failed,
            .code = ReasonCode::no_metric,
            .reason = fmt::format("its primary metric `{}` cannot be computed from what it reports",
                                  c.headline),
            .values = {{"metric", c.headline}}});
    c.metrics.clear();
}

bool is_computed(const Case& c, std::string_view metric) {
    return metric == "time" || amount_of(c, find_metric(metric)) > 0;
}

std::optional<double> metric_of(const Case& c, const Replica& replica, std::string_view metric) {
    const MetricDefinition* definition = find_metric(metric);
    if (definition == nullptr || !is_measured(replica)) return {};
    const double amount = amount_of(c, definition);
    double figure = time_of(replica);
    if (amount > 0)
        figure = definition->higher_is_better ? amount / figure : figure / amount;
    else if (definition->name != "time") {
        auto reported = reported_by(replica, *definition);
        if (!reported) reported = by_energy(c, replica, *definition);
        figure = reported.value_or(unknown);
    }
    const bool is_nothing = figure == 0 && definition->may_be_zero && metric != c.headline;
    if (!(figure > 0) && !is_nothing) return {};
    return known(figure);
}

std::optional<double> headline_of(const Case& c, const Replica& replica) {
    return metric_of(c, replica, c.headline);
}

std::optional<double> share_of_ceiling(const Case& c) { return share_of_ceiling(c, c.ceiling); }

std::optional<double> share_of_ceiling(const Case& c, const Ceiling& ceiling) {
    if (c.metrics.empty() || !ceiling.value) return {};
    const Metric& headline = c.metrics.front();
    if (!headline.value || headline.name != c.headline) return {};
    const double reached = *headline.value;
    const double limit = *ceiling.value;
    if (!(reached > 0) || !(limit > 0)) return {};
    return headline.higher_is_better ? reached / limit : limit / reached;
}

namespace {

/// The share from which on a case is above its bound: 103%, and all of its interval, since both are measured. In files
/// without a Spread: 100%.
double beyond_doubt(const Case& c) {
    if (!c.spread) return 1;
    const Metric& headline = c.metrics.front();
    const auto& nearest = headline.higher_is_better ? headline.low : headline.high;
    constexpr double above = 1.03;
    if (!nearest || !headline.value || !(*nearest > 0)) return above;
    return above * std::max(headline.higher_is_better ? *headline.value / *nearest
                                                      : *nearest / *headline.value,
                            1.0);
}

} // namespace

std::vector<std::string> above_ceiling(const Case& c) {
    const auto share = share_of_ceiling(c);
    if (!share || *share <= beyond_doubt(c)) return {};
    const auto begin =
        fmt::format("{:.1f}% of its ceiling: the ceiling ({})", *share * 100, c.ceiling.source);
    return {begin + " is not the actual limit", begin + " is not the limit it was taken for"};
}

std::string shown_unit(const Case& c, const Metric& metric) {
    const auto* definition = find_metric(metric.name);
    const auto* items = find(c.settings, "items");
    const auto* name = items == nullptr ? nullptr : std::get_if<std::string>(items);
    const bool is_named = definition != nullptr && definition->name.starts_with("item_rate") &&
                          metric.unit == definition->unit && name != nullptr && is_item_name(*name);
    return is_named ? *name + metric.unit.substr(1) : metric.unit; // "1/s", "1/J"
}

} // namespace assay::record
