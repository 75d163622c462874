// SPDX-License-Identifier: Apache-2.0

#include "store/metrics.hpp"

#include "record/metrics.hpp"
#include "record/summary.hpp"
#include "stats/interval.hpp"
#include "stats/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

namespace assay::store {
namespace {

using record::Case;
using record::Metric;
using record::Replica;

bool is_value(const std::optional<double>& value) {
    return value && std::isfinite(*value) && *value > 0;
}

/// The same, or nothing of what may be none: packets lost.
bool is_amount(const std::optional<double>& value, std::string_view metric) {
    const auto* const definition = record::find_metric(metric);
    return is_value(value) || (value == 0.0 && definition != nullptr && definition->may_be_zero);
}

/// Values of the replicas; where there are several their spread gives the interval of `value`.
using Of = std::function<std::optional<double>(const Replica&)>;
MetricDigest made_of(const Case& c, MetricDigest metric, const Of& of) {
    std::vector<stats::Estimate> estimates;
    const double unknown = std::nan("");
    for (const auto* replica : counted(c))
        if (const auto value = of(*replica); is_amount(value, metric.name)) {
            metric.replicas.push_back({.index = replica->index,
                                       .value = *value,
                                       .disturbed = replica->status == record::Status::disturbed});
            estimates.push_back({.value = *value, .low = unknown, .high = unknown});
        }
    if (estimates.size() < 2 || metric.low) return metric;
    const auto combined = stats::combine_replicas(estimates);
    if (!(combined.low > 0) || !std::isfinite(combined.high)) return metric;
    metric.low = combined.low;
    metric.high = combined.high;
    metric.scope = record::IntervalScope::between_replicas;
    return metric;
}

MetricDigest described(const Metric& metric) {
    return {{.name = metric.name, .unit = metric.unit, .higher_is_better = metric.higher_is_better},
            {}};
}

void add_metric(const Case& c, const Metric& metric, std::vector<MetricDigest>& list) {
    const Metric& primary = c.metrics.front();
    if (&metric == &primary || metric.name == primary.name || !is_amount(metric.value, metric.name))
        return;
    auto digest = described(metric);
    if (metric.name == "energy" || metric.name.ends_with("_per_watt"))
        digest.energy_scope = c.telemetry.energy_scope.value_or("");
    if (record::is_computed(c, metric.name) && record::is_computed(c, primary.name)) {
        digest.is_computed = true;
        digest.factor = metric.higher_is_better == primary.higher_is_better
                            ? *metric.value / *primary.value
                            : *metric.value * *primary.value;
    } else {
        digest.value = metric.value;
        digest.low = metric.low;
        digest.high = metric.high;
        digest.scope = metric.interval_scope;
        digest = made_of(c, std::move(digest), [&](const Replica& replica) {
            return record::metric_of(c, replica, metric.name);
        });
    }
    list.push_back(std::move(digest));
}

/// Tail of the primary metric if that is a time of a call or of a part of it, otherwise of the time of a call.
void add_slow_tail(const Case& c, std::vector<MetricDigest>& list) {
    const auto time = std::ranges::find(c.metrics, "time", &Metric::name);
    const auto& primary = c.metrics.front();
    if (time == c.metrics.end() || !is_value(time->value) || !is_value(time->p99)) return;
    const Metric& metric = is_value(primary.p99) ? primary : *time;
    const double part = *metric.value / *time->value;
    auto digest = described(metric);
    digest.name += ".p99";
    digest.value = metric.p99;
    list.push_back(
        made_of(c, std::move(digest), [&](const Replica& replica) -> std::optional<double> {
            if (!replica.p99) return {};
            return *replica.p99 * part;
        }));
}

struct Extremes {
    double worst = 0;
    double median = 0;
    double spread = 0;
};
std::optional<Extremes> extremes_of(const record::Table& table, bool higher_is_better) {
    std::vector<double> values;
    for (const auto& value : table.values)
        if (is_value(value)) values.push_back(*value);
    if (values.size() < 3) return {}; // they would be one value
    const auto [least, most] = std::ranges::minmax(values);
    return Extremes{.worst = higher_is_better ? least : most,
                    .median = stats::median(values),
                    .spread = most / least};
}

void add_tables(const Case& c, std::vector<MetricDigest>& list) {
    std::map<std::string, std::size_t> seen;
    for (std::size_t at = 0; at < c.tables.size(); ++at) {
        const auto& table = c.tables[at];
        const auto* definition = record::find_metric(table.metric);
        const bool higher = definition != nullptr && definition->higher_is_better;
        const auto all = extremes_of(table, higher);
        if (definition == nullptr || !all) continue;
        const auto number = ++seen[table.metric];
        const auto name = number == 1 ? table.metric : fmt::format("{}.{}", table.metric, number);
        const auto add = [&](const char* which, double Extremes::* member) {
            const bool is_spread = member == &Extremes::spread;
            const MetricDigest digest{{.name = name + which,
                                       .unit = is_spread ? "x" : table.unit,
                                       .higher_is_better = higher && !is_spread},
                                      {.value = *all.*member}};
            list.push_back(made_of(c, digest, [&](const Replica& replica) -> std::optional<double> {
                if (at >= replica.tables.size()) return {};
                const auto own = extremes_of(replica.tables[at], higher);
                if (!own) return {};
                return *own.*member;
            }));
        };
        add(".worst", &Extremes::worst);
        add(".median", &Extremes::median);
        add(".spread", &Extremes::spread);
    }
}

} // namespace

std::vector<MetricDigest> other_metrics(const Case& c) {
    std::vector<MetricDigest> list;
    if (c.metrics.empty() || !is_value(c.metrics.front().value)) return list;
    for (const auto& metric : c.metrics) add_metric(c, metric, list);
    add_slow_tail(c, list);
    add_tables(c, list);
    return list;
}

MetricChoice::MetricChoice(const std::vector<std::string>& names, bool others)
    : primary_{names.empty()}, others_{others} {
    for (const auto& name : names)
        if (name == "all")
            all_ = true;
        else if (name == "primary")
            primary_ = true;
        else
            names_.push_back(name);
}
bool MetricChoice::is_named(std::string_view name) const {
    return all_ || std::ranges::find(names_, name) != names_.end();
}

} // namespace assay::store
