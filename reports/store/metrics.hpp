// SPDX-License-Identifier: Apache-2.0
//
// What a case says beside its primary metric: every other metric, the slow tail of single calls ("time.p99"), and of
// each matrix its worst, median and spread ("latency.worst", "latency.median", "latency.spread": worst over best), from
// three values on.

#pragma once

#include "base/fields.hpp"
#include "decide/observation.hpp"
#include "record/model.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::store {

/// Common part of many cases.
struct MetricKind {
    std::string name;
    std::string unit;
    bool higher_is_better = true;
    bool is_computed = false;   ///< from the time of a call, as the primary metric is
    std::string energy_scope{}; ///< of a metric made of energy: Telemetry::energy_scope
};
struct MetricValues {
    /// Factor of a computed metric, which has no values of its own: what the primary one is multiplied by, or where
    /// the directions differ, what it divides.
    double factor = 0;
    std::optional<double> value;
    std::optional<double> low;
    std::optional<double> high;
    record::IntervalScope scope = record::IntervalScope::none;
    std::vector<decide::ReplicaValue> replicas;
};
struct MetricDigest : MetricKind, MetricValues {};
/// Metrics of a measured case whose primary metric has a value.
std::vector<MetricDigest> other_metrics(const record::Case& c);

/// The metrics that are asked for.
class MetricChoice {
public:
    /// Names of metrics, "primary" or "all"; only primary ones where it is empty. `others`: see CollectOptions.
    explicit MetricChoice(const std::vector<std::string>& names, bool others = false);
    bool primary(std::string_view name) const { return primary_ || is_named(name); }
    bool is_named(std::string_view name) const;
    /// Metrics that are not primary.
    bool other(const MetricKind& kind) const {
        return is_named(kind.name) || (others_ && !kind.is_computed);
    }
    /// Are the primary ones all that is asked for?
    bool only_primary() const { return !all_ && !others_ && names_.empty(); }

private:
    std::vector<std::string> names_;
    bool primary_ = false;
    bool all_ = false;
    bool others_ = false;
};

ASSAY_FIELDS(MetricKind, name, unit, higher_is_better, is_computed, energy_scope)

} // namespace assay::store
