// SPDX-License-Identifier: Apache-2.0

#include "record/noise.hpp"
#include "record/summary.hpp"
#include "stats/summary.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace assay::record {
namespace {

/// A value that contradicts a data sheet stays refused.
bool is_due(const Case& c) {
    const bool has_value = is_measured(c.status) || c.status == Status::interrupted;
    return c.spread && c.spread->rules.value_or(1) < current_rules && has_value &&
           std::ranges::any_of(
               c.replicas, [](const Replica& one) { return is_measured(one.status); });
}

/// The target is not in the file, but its limit was at least that.
Spread spread_at(const Case& c, const Machine& machine) {
    Spread spread = *c.spread;
    spread.rules = current_rules;
    if (spread.source == "history") return spread;
    return expected_spread(noise_level(spread.source, noise_place(c, machine)), spread.limit,
                           spread.replicas, spread.source);
}

/// Batch values of metrics for which none were read; the stored ones hold if no replica was left out.
void describe(Case& c, const std::vector<Metric>& stored) {
    if (std::ranges::any_of(c.replicas, [](const Replica& one) { return !one.values.empty(); }))
        return;
    const auto basis = basis_of(c);
    const bool is_whole = std::cmp_equal(basis.kept.size(), undisturbed(c));
    for (Metric& metric : c.metrics) {
        if (metric.count > 0) continue; // what replicas report themselves
        const auto same = std::ranges::find(stored, metric.name, &Metric::name);
        if (same != stored.end() && is_whole) {
            metric.median = same->median;
            metric.min = same->min;
            metric.p95 = same->p95;
            metric.count = same->count;
            continue;
        }
        std::vector<double> values;
        for (const Replica* replica : basis.kept)
            if (const auto value = metric_of(c, *replica, metric.name)) values.push_back(*value);
        if (values.empty()) continue;
        metric.median = stats::median(values);
        metric.count = values.size();
    }
}

} // namespace

void judge_again(Run& run) {
    for (Case& c : run.cases) {
        if (!is_due(c)) continue;
        c.spread = spread_at(c, run.machine);
        for (Replica& replica : c.replicas)
            if (replica.status == Status::disturbed && replica.reason_code == ReasonCode::disturbed)
                set_conclusion(replica,
                               {.status = Status::ok, .code = ReasonCode::none, .reason = {}});
        const auto stored = std::exchange(c.metrics, {});
        conclude(c, c.spread->replicas);
        describe(c, stored);
    }
}

} // namespace assay::record
