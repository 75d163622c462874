// SPDX-License-Identifier: Apache-2.0

#include "compare/contrast.hpp"

#include <boost/math/distributions/students_t.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace assay::compare {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

std::vector<double> logs_of(const Sample& sample, double direction = 1) {
    std::vector<double> logs;
    logs.reserve(sample.size());
    for (const auto& unit : sample) logs.push_back(direction * std::log(unit.value));
    return logs;
}

double mean_of(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Limits by the values of both sides, and the size up to which a difference may be made by something else.
struct Doubt {
    RatioKind kind = RatioKind::exact;
    NoVerdict reason = NoVerdict::none;
    double hidden = 0; ///< logarithm
};

/// Load has slowed devices by a factor of 2 and messages by more than their replicas scatter; what is beyond both many
/// times over it did not do.
constexpr double most_load = 10;
constexpr double most_spreads = 3;
constexpr double least_of_pairs = 0.5; ///< of a difference, in the middle of all pairs

/// Sides that took turns saw the same machine, load and levels. Their pairs tell what the sides alone hide, unless the
/// values of both are of different levels: then most pairs, of all that were measured, do not show the difference.
Doubt doubt_of(const MeasuredRow& row, std::size_t side, const TestOptions& options,
               double log_ratio) {
    Doubt doubt;
    if (side < options.interleaved.size() && options.interleaved[side]) {
        const double direction = row.higher_is_better ? 1 : -1;
        if (side < row.all_pairs.size() &&
            direction * row.all_pairs[side] / log_ratio < least_of_pairs) {
            doubt.reason = NoVerdict::two_levels;
            doubt.hidden = std::numeric_limits<double>::infinity();
        }
        return doubt;
    }
    const auto raise = [&](NoVerdict reason, double hidden) {
        if (hidden > doubt.hidden) {
            doubt.reason = reason;
            doubt.hidden = hidden;
        }
    };
    if (side < row.core_latency.size() &&
        record::cpus_moved(row.core_latency.front(), row.core_latency[side]))
        raise(NoVerdict::cpus_moved,
              2 * std::abs(std::log(row.core_latency[side] / row.core_latency.front())));
    if (side >= row.quality.size()) return doubt;
    const auto& a = row.quality.front();
    const auto& b = row.quality[side];
    raise(NoVerdict::two_levels, std::max(a.levels, b.levels));
    const bool known_a = a.knowledge == record::Knowledge::known;
    const bool known_b = b.knowledge == record::Knowledge::known;
    if (known_a && known_b) return doubt;
    raise(NoVerdict::disturbed,
          std::max(std::log(most_load), most_spreads * std::max(a.spread, b.spread)));
    doubt.kind = known_a ? RatioKind::at_least : known_b ? RatioKind::at_most : RatioKind::about;
    return doubt;
}

/// Expected difference of the independent values of a row; 0 if nothing is known.
double expected_variance(const MeasuredRow& row, std::size_t side, const TestOptions& options) {
    if (side >= row.times.size()) return 0;
    const auto of = [&](const Times& times) {
        return options.unit == Unit::replica ? times.replicas : times.deviation;
    };
    return std::pow(std::max(of(row.times.front()), of(row.times[side])), 2);
}

bool is_known(const MeasuredRow& row, std::size_t side) {
    return side >= row.quality.size() || row.quality[side].knowledge == record::Knowledge::known;
}

bool knows_times(const MeasuredRow& row, std::size_t side) {
    return side < row.times.size() &&
           (row.times.front().deviation > 0 || row.times[side].deviation > 0);
}

/// Variance between the times of two sides: its part of their difference.
stats::VarianceEstimate between(const Times& a, const Times& b) {
    const auto of = [](const Times& known, const Times& side) {
        return stats::VarianceEstimate{.variance = known.deviation * known.deviation /
                                                   static_cast<double>(side.runs.size()),
                                       .degrees = known.degrees};
    };
    return stats::sum_of(of(a.deviation > 0 ? a : b, a), of(b.deviation > 0 ? b : a, b));
}

/// One row's result for one side against the first, before all rows are heard.
struct Own {
    std::vector<double> first;       ///< oriented logarithms
    std::vector<double> second;      ///< the same; of pairs: their differences
    std::vector<std::uint64_t> ids;  ///< of `second`
    std::vector<std::uint64_t> base; ///< of `first`
    stats::VarianceEstimate variance{.variance = unknown, .degrees = 0};
    bool measured = false;
    bool paired = false;
};

std::vector<std::uint64_t> ids_of(const Sample& sample) {
    std::vector<std::uint64_t> ids;
    for (const auto& unit : sample) ids.push_back(unit.id);
    return ids;
}

Own own_of(const MeasuredRow& row, std::size_t side, const TestOptions& options) {
    const bool paired = side < options.paired.size() && options.paired[side];
    Own own{.paired = paired};
    const Sample& a = row.sides.front();
    const Sample& b = row.sides[side];
    if (a.empty() || b.empty() || has_zero(a) || has_zero(b)) return own;
    const double direction = row.higher_is_better ? 1 : -1;
    if (!paired) {
        own.first = logs_of(a, direction);
        own.second = logs_of(b, direction);
        own.base = ids_of(a);
        own.ids = ids_of(b);
        own.variance = stats::pooled_variance(own.first, own.second);
        own.measured = true;
        return own;
    }
    std::map<std::uint64_t, double> of_first;
    for (const auto& unit : a)
        if (unit.pair != 0) of_first.emplace(unit.pair, unit.value);
    for (const auto& unit : b) {
        const auto partner = of_first.find(unit.pair);
        if (partner == of_first.end()) continue;
        own.second.push_back(direction * std::log(unit.value / partner->second));
        own.ids.push_back(unit.pair);
    }
    own.variance = stats::own_variance(own.second);
    own.measured = !own.second.empty();
    return own;
}

std::vector<UnitValue> deviations(const std::vector<std::uint64_t>& ids,
                                  const std::vector<double>& logs) {
    std::vector<UnitValue> list;
    if (logs.empty()) return list;
    const double middle = mean_of(logs);
    const auto count = static_cast<double>(logs.size());
    for (std::size_t i = 0; i < logs.size(); ++i)
        list.push_back({.id = ids[i], .value = (logs[i] - middle) / count});
    return list;
}

ContrastOutcome outcome_of(stats::Verdict verdict) {
    switch (verdict) {
    case stats::Verdict::better:
        return ContrastOutcome::better;
    case stats::Verdict::worse:
        return ContrastOutcome::worse;
    case stats::Verdict::same:
        return ContrastOutcome::same;
    case stats::Verdict::cannot_tell:
        break;
    }
    return ContrastOutcome::cannot_tell;
}

/// Adds what lies between times to `difference`, where runs are too few to show it.
std::optional<BetweenRuns> widen(const MeasuredRow& row, std::size_t side,
                                 const TestOptions& options, TestedSide& tested,
                                 stats::Difference& difference) {
    if (!needs_times(row, side, options)) return {};
    const Times& a = row.times.front();
    const Times& b = row.times[side];
    const auto times = between(a, b);
    if (!(times.variance > 0)) return {};
    tested.between_times = std::sqrt(times.variance);
    tested.times_degrees = times.degrees;
    const double own = difference.standard_error;
    if (std::isfinite(own)) {
        const auto all =
            stats::sum_of({.variance = own * own, .degrees = difference.degrees}, times);
        const std::array ratio{difference.log_ratio};
        difference = stats::paired_difference(ratio, all, confidence);
    }
    const double shares =
        1 / static_cast<double>(a.runs.size()) + 1 / static_cast<double>(b.runs.size());
    return BetweenRuns{.deviation = std::sqrt(times.variance / shares),
                       .history = std::min(a.history, b.history)};
}

bool has_zeros(const MeasuredRow& row, std::size_t side) {
    const Sample& a = row.sides.front();
    const Sample& b = row.sides[side];
    return !a.empty() && !b.empty() && (has_zero(a) || has_zero(b));
}

/// Sides with zeros have no ratio, but an order: where all values of one are above all of the other, the chance of that
/// (a permutation test, two-sided). Values of one time show nothing of others.
void order(const MeasuredRow& row, std::size_t side, const TestOptions& options, TestedSide& tested,
           stats::Difference& difference) {
    const auto ends = [](const Sample& sample) {
        return std::ranges::minmax(sample, {}, &UnitValue::value);
    };
    const Sample& first = row.sides.front();
    const Sample& second = row.sides[side];
    const auto a = ends(first);
    const auto b = ends(second);
    difference.p = unknown;
    const bool are_nothing = a.max.value == 0 && b.max.value == 0;
    tested.contrast = {.outcome =
                           are_nothing ? ContrastOutcome::same : ContrastOutcome::cannot_tell,
                       .no_verdict = NoVerdict::zero};
    const bool is_above = b.min.value > a.max.value;
    if ((!is_above && b.max.value >= a.min.value) || needs_times(row, side, options)) return;
    tested.apart = is_above == row.higher_is_better ? 1 : -1;
    difference.p = 2;
    for (std::size_t i = 1; i <= second.size(); ++i)
        difference.p *= static_cast<double>(i) / static_cast<double>(first.size() + i);
}

} // namespace

MeasuredRow of_two(const MeasuredRow& row, std::size_t first, std::size_t second) {
    const auto both = [&](const auto& list) {
        return list.empty() ? list : std::decay_t<decltype(list)>{list[first], list[second]};
    };
    return {.higher_is_better = row.higher_is_better,
            .sides = both(row.sides),
            .quality = both(row.quality),
            .core_latency = both(row.core_latency),
            .times = both(row.times)};
}

bool needs_times(const MeasuredRow& row, std::size_t side, const TestOptions& options) {
    if (side >= row.times.size() ||
        (side < options.interleaved.size() && options.interleaved[side]))
        return false;
    const auto& a = row.times.front().runs;
    const auto& b = row.times[side].runs;
    return !a.empty() && !b.empty() && a != b && std::min(a.size(), b.size()) < enough_runs;
}

double average(const Sample& sample) {
    std::vector<double> values;
    for (const auto& unit : sample) values.push_back(unit.value);
    return stats::average(values);
}

bool is_counted(const Contrast& contrast) {
    return contrast.outcome != ContrastOutcome::missing && contrast.kind == RatioKind::exact &&
           contrast.no_verdict != NoVerdict::two_levels &&
           contrast.no_verdict != NoVerdict::cpus_moved;
}

bool has_zero(const Sample& sample) {
    return std::ranges::any_of(sample, [](const UnitValue& unit) { return unit.value == 0; });
}

Tests::Tests(const std::vector<MeasuredRow>& rows, TestOptions options)
    : options_{std::move(options)} {
    std::vector<stats::VarianceEstimate> within;
    for (const auto& row : rows) {
        rows_.emplace_back(row.sides.size());
        differences_.emplace_back(row.sides.size());
        for (std::size_t side = 0; side < row.sides.size(); ++side)
            if (const Sample& sample = row.sides[side];
                sample.size() > 1 && !has_zero(sample) && is_known(row, side))
                within.push_back(stats::own_variance(logs_of(sample)));
    }
    within_ = stats::fit_prior(within);
    const std::size_t sides = rows.empty() ? 0 : rows.front().sides.size();
    for (std::size_t side = 1; side < sides; ++side) test(rows, side);
    judge();
}

void Tests::test(const std::vector<MeasuredRow>& rows, std::size_t side) {
    const auto& options = options_;
    std::vector<Own> all;
    std::vector<stats::VarianceEstimate> variances;
    // Rows are alike in how far they are from what their kind of work is expected to do, not in how much that is.
    std::vector<double> expected;
    for (const auto& row : rows) expected.push_back(expected_variance(row, side, options));
    const bool is_known = std::ranges::all_of(expected, [](double value) { return value > 0; });
    if (!is_known) std::ranges::fill(expected, 1);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        all.push_back(own_of(rows[i], side, options));
        auto variance = all.back().variance;
        variance.variance /= expected[i];
        if (variance.degrees > 0 && compare::is_known(rows[i], 0) &&
            compare::is_known(rows[i], side))
            variances.push_back(variance);
    }
    // One value a side says nothing of its variance, in any row: other sides may.
    const bool shows = !variances.empty();
    const auto common = shows ? stats::fit_prior(variances) : within_;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Own& own = all[i];
        auto& tested = rows_[i][side];
        if (has_zeros(rows[i], side)) order(rows[i], side, options, tested, differences_[i][side]);
        if (!own.measured) continue;
        auto prior = common;
        if (shows) prior.variance *= expected[i];
        auto variance = stats::moderate(own.variance, prior);
        // An hour of a run is that of all its series: they say no more of it than one does.
        if (options.unit == Unit::run && knows_times(rows[i], side) && own.variance.degrees > 0)
            variance.degrees = std::min(variance.degrees, own.variance.degrees);
        auto& difference = differences_[i][side];
        difference = own.paired ? stats::paired_difference(own.second, variance, confidence)
                                : stats::difference(own.first, own.second, variance, confidence);
        tested.log_ratio = difference.log_ratio;
        tested.standard_error = difference.standard_error;
        tested.degrees = difference.degrees;
        const auto between_runs = widen(rows[i], side, options, tested, difference);
        const auto doubt = doubt_of(rows[i], side, options, difference.log_ratio);
        tested.doubt = doubt.reason;
        tested.hidden = doubt.hidden;
        tested.contrast = {.outcome = ContrastOutcome::cannot_tell,
                           .kind = doubt.kind,
                           .ratio = known(std::exp(difference.log_ratio)),
                           .low = known(std::exp(difference.low)),
                           .high = known(std::exp(difference.high)),
                           .paired = own.paired,
                           .between_runs = between_runs};
        tested.first = deviations(own.base, own.first);
        tested.second = deviations(own.ids, own.second);
    }
}

void Tests::judge(Contrast& contrast, const stats::Difference& difference, double p) const {
    contrast.p = known(p);
    contrast.detectable =
        known(stats::detectable_change(difference, level_, options_.minimum_effect));
    contrast.outcome = outcome_of(stats::classify(
        difference, p, {.alpha = options_.alpha, .minimum_effect = options_.minimum_effect}));
}

/// A one-sided answer, and none where something else may have made the difference.
void Tests::bound(TestedSide& tested, const stats::Difference& difference) {
    auto& contrast = tested.contrast;
    const bool better = contrast.outcome == ContrastOutcome::better;
    const bool is_called = better || contrast.outcome == ContrastOutcome::worse;
    const bool is_beyond = (better ? difference.low : -difference.high) > tested.hidden;
    const bool is_allowed = contrast.kind == (better ? RatioKind::at_least : RatioKind::at_most) &&
                            tested.doubt == NoVerdict::disturbed;
    if (is_called && !is_beyond && !is_allowed && tested.doubt != NoVerdict::none) {
        contrast.outcome = ContrastOutcome::cannot_tell;
        contrast.no_verdict = tested.doubt;
    }
    if (contrast.kind == RatioKind::exact) {
        if (contrast.detectable && std::isfinite(tested.hidden))
            contrast.detectable = std::max(*contrast.detectable, std::expm1(tested.hidden));
        return;
    }
    // Beyond all that load does, the other direction is resolved, but not its size.
    if (is_called && is_beyond && !is_allowed) contrast.kind = RatioKind::about;
    if (contrast.outcome == ContrastOutcome::same) contrast.outcome = ContrastOutcome::cannot_tell;
    if (contrast.outcome == ContrastOutcome::cannot_tell)
        contrast.no_verdict = NoVerdict::disturbed;
    if (contrast.kind != RatioKind::at_least) contrast.low.reset();
    if (contrast.kind != RatioKind::at_most) contrast.high.reset();
    contrast.detectable.reset();
}

void Tests::judge_order(TestedSide& tested, double p) const {
    tested.contrast.p = known(p);
    if (tested.apart == 0 || !(p <= options_.alpha)) return;
    tested.contrast.outcome = tested.apart > 0 ? ContrastOutcome::better : ContrastOutcome::worse;
}

void Tests::judge() {
    std::vector<double> p;
    std::vector<std::pair<std::size_t, std::size_t>> where;
    for (std::size_t row = 0; row < rows_.size(); ++row)
        for (std::size_t side = 1; side < rows_[row].size(); ++side) {
            const auto& contrast = rows_[row][side].contrast;
            if (contrast.outcome == ContrastOutcome::missing) continue;
            p.push_back(differences_[row][side].p);
            where.emplace_back(row, side);
        }
    count_ = p.size() - static_cast<std::size_t>(std::ranges::count_if(
                            p, [](double value) { return std::isnan(value); }));
    const bool discovery = options_.correction == Correction::false_discovery;
    const auto adjusted = discovery ? stats::benjamini_hochberg(p) : stats::holm(p);
    level_ = discovery ? stats::level_of_next_discovery(p, options_.alpha)
                       : stats::level_of_next_holm(p, options_.alpha);
    for (std::size_t i = 0; i < where.size(); ++i) {
        auto& tested = rows_[where[i].first][where[i].second];
        if (tested.contrast.no_verdict == NoVerdict::zero) {
            judge_order(tested, adjusted[i]);
            continue;
        }
        judge(tested.contrast, differences_[where[i].first][where[i].second], adjusted[i]);
        if (tested.contrast.outcome == ContrastOutcome::cannot_tell &&
            tested.between_times > tested.standard_error)
            tested.contrast.no_verdict = NoVerdict::between_times;
        bound(tested, differences_[where[i].first][where[i].second]);
    }
}

std::optional<std::pair<double, double>> Tests::interval(const Sample& sample) const {
    const auto logs = logs_of(sample);
    const auto variance = stats::moderate(stats::own_variance(logs), within_);
    const auto mean = stats::paired_difference(logs, variance, confidence);
    if (!std::isfinite(mean.low) || !std::isfinite(mean.high)) return {};
    return std::pair{std::exp(mean.low), std::exp(mean.high)};
}

} // namespace assay::compare
