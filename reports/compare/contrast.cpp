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
constexpr double confidence = 0.95;

std::vector<double> logs_of(const Sample& sample, double direction = 1) {
    std::vector<double> logs;
    logs.reserve(sample.size());
    for (const auto& unit : sample) logs.push_back(direction * std::log(unit.value));
    return logs;
}

double mean_of(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::optional<double> known(double value) {
    if (std::isfinite(value)) return value;
    return {};
}

/// Why the two sides cannot be compared. Those that took turns saw the same machine at either level, so that their pairs tell
/// what the levels of a side alone hide.
NoVerdict useless(const MeasuredRow& row, std::size_t side, const TestOptions& options) {
    const bool took_turns = side < options.interleaved.size() && options.interleaved[side];
    if (side < row.useless.size())
        for (const auto reason : {row.useless[side], row.useless.front()})
            if (reason != NoVerdict::none && !(took_turns && reason == NoVerdict::two_levels))
                return reason;
    if (!took_turns && side < row.core_latency.size() &&
        record::cpus_moved(row.core_latency.front(), row.core_latency[side]))
        return NoVerdict::cpus_moved;
    return NoVerdict::none;
}

bool knows_times(const MeasuredRow& row, std::size_t side) {
    return side < row.times.size() &&
           (row.times.front().deviation > 0 || row.times[side].deviation > 0);
}

/// Fewer runs do not show how they differ.
constexpr std::size_t enough_runs = 3;

/// The variance of a sum (Satterthwaite 1946).
stats::VarianceEstimate together(const stats::VarianceEstimate& a,
                                 const stats::VarianceEstimate& b) {
    const double sum = a.variance + b.variance;
    const double doubt = a.variance * a.variance / a.degrees + b.variance * b.variance / b.degrees;
    return {.variance = sum,
            .degrees = doubt > 0 ? sum * sum / doubt : std::max(a.degrees, b.degrees)};
}

/// What lies between the times of two sides: the variance of its part of their difference.
stats::VarianceEstimate between(const Times& a, const Times& b) {
    const auto of = [](const Times& known, const Times& side) {
        return stats::VarianceEstimate{.variance = known.deviation * known.deviation /
                                                   static_cast<double>(side.runs.size()),
                                       .degrees = known.degrees};
    };
    return together(of(a.deviation > 0 ? a : b, a), of(b.deviation > 0 ? b : a, b));
}

/// What one row says of one side against the first, before all rows are heard.
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
    if (a.empty() || b.empty() || useless(row, side, options) != NoVerdict::none || has_zero(a) ||
        has_zero(b))
        return own;
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

/// Errors of units, each summed over rows.
class Clusters {
public:
    void add(const std::vector<UnitValue>& deviations, double weight) {
        for (const auto& unit : deviations) sums_[unit.id] += weight * unit.value;
    }
    std::size_t size() const { return sums_.size(); }
    /// Variance of the sum of all, as if drawn anew: sum of squares, n / (n - 1) of it.
    double variance() const {
        double squares = 0;
        for (const auto& [id, sum] : sums_) squares += sum * sum;
        const auto count = static_cast<double>(sums_.size());
        return squares * count / (count - 1);
    }

private:
    std::map<std::uint64_t, double> sums_;
};

/// Of two sides (or of pairs, when `first` is empty). One unit alone does not show how units differ;
/// those of the other side do.
stats::VarianceEstimate error_of(const Clusters& first, const Clusters& second) {
    const auto a = static_cast<double>(first.size());
    const auto b = static_cast<double>(second.size());
    constexpr stats::VarianceEstimate none{.variance = unknown, .degrees = 0};
    if (a == 0) return b > 1 ? stats::VarianceEstimate{second.variance(), b - 1} : none;
    if (a < 2 && b < 2) return none;
    if (a < 2) return {second.variance() * (1 + b / a), b - 1};
    if (b < 2) return {first.variance() * (1 + a / b), a - 1};
    return {first.variance() + second.variance(), a + b - 2};
}

/// Of those with a reason before the test there is no difference.
bool is_tested(const Contrast& contrast) {
    return contrast.outcome != ContrastOutcome::missing && !is_useless(contrast.no_verdict);
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
        const auto all = together({.variance = own * own, .degrees = difference.degrees}, times);
        const std::array ratio{difference.log_ratio};
        difference = stats::paired_difference(ratio, all, confidence);
    }
    const double shares =
        1 / static_cast<double>(a.runs.size()) + 1 / static_cast<double>(b.runs.size());
    return BetweenRuns{.deviation = std::sqrt(times.variance / shares),
                       .history = std::min(a.history, b.history)};
}

bool has_zeros(const MeasuredRow& row, std::size_t side, const TestOptions& options) {
    const Sample& a = row.sides.front();
    const Sample& b = row.sides[side];
    return !a.empty() && !b.empty() && useless(row, side, options) == NoVerdict::none &&
           (has_zero(a) || has_zero(b));
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

bool has_zero(const Sample& sample) {
    return std::ranges::any_of(sample, [](const UnitValue& unit) { return unit.value == 0; });
}

MeanRatio mirrored(MeanRatio mean) {
    const auto inverse = [](const std::optional<double>& value) {
        return value ? std::optional{1 / *value} : std::nullopt;
    };
    mean.ratio = inverse(mean.ratio);
    const auto low = inverse(mean.high);
    mean.high = inverse(mean.low);
    mean.low = low;
    if (mean.outcome == ContrastOutcome::better)
        mean.outcome = ContrastOutcome::worse;
    else if (mean.outcome == ContrastOutcome::worse)
        mean.outcome = ContrastOutcome::better;
    return mean;
}

Tests::Tests(const std::vector<MeasuredRow>& rows, TestOptions options)
    : options_{std::move(options)} {
    std::vector<stats::VarianceEstimate> within;
    for (const auto& row : rows) {
        rows_.emplace_back(row.sides.size());
        differences_.emplace_back(row.sides.size());
        for (std::size_t side = 0; side < row.sides.size(); ++side)
            if (const Sample& sample = row.sides[side];
                sample.size() > 1 && !has_zero(sample) &&
                (row.useless.empty() || row.useless[side] == NoVerdict::none))
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
    for (const auto& row : rows) {
        all.push_back(own_of(row, side, options));
        if (all.back().variance.degrees > 0) variances.push_back(all.back().variance);
    }
    // One value a side says nothing of its variance, in any row: other sides may.
    const auto prior = variances.empty() ? within_ : stats::fit_prior(variances);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Own& own = all[i];
        auto& tested = rows_[i][side];
        if (const auto reason = useless(rows[i], side, options); reason != NoVerdict::none &&
                                                                 !rows[i].sides.front().empty() &&
                                                                 !rows[i].sides[side].empty())
            tested.contrast = {.outcome = ContrastOutcome::cannot_tell, .no_verdict = reason};
        if (has_zeros(rows[i], side, options))
            order(rows[i], side, options, tested, differences_[i][side]);
        if (!own.measured) continue;
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
        tested.contrast = {.outcome = ContrastOutcome::cannot_tell,
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
            if (!is_tested(contrast)) continue;
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
    }
}

std::optional<std::pair<double, double>> Tests::interval(const Sample& sample) const {
    const auto logs = logs_of(sample);
    const auto variance = stats::moderate(stats::own_variance(logs), within_);
    const auto mean = stats::paired_difference(logs, variance, confidence);
    if (!std::isfinite(mean.low) || !std::isfinite(mean.high)) return {};
    return std::pair{std::exp(mean.low), std::exp(mean.high)};
}

// A pair of replicas that take turns has the variance of one replica a side, and no difference between times: those at
// hand say how many pairs are needed. Of runs and machines, and of pairs, as many more as at hand are too few.
std::optional<MoreValues> Tests::more(const stats::VarianceEstimate& own,
                                      const stats::VarianceEstimate& times, std::size_t first,
                                      std::size_t second, const Contrast& contrast) const {
    if (contrast.outcome != ContrastOutcome::cannot_tell || !contrast.detectable || second == 0)
        return {};
    constexpr std::array targets{0.05, 0.02}; // what people ask for
    constexpr std::size_t most = 1000;        // nobody measures more
    const auto target =
        std::ranges::find_if(targets, [&](double share) { return share < *contrast.detectable; });
    if (target == targets.end()) return {};
    const bool anew = first > 0 && options_.unit == Unit::replica;
    const auto now = anew || first == 0 ? own : together(own, times);
    const auto count = first == 0
                           ? static_cast<double>(second)
                           : 2 / (1 / static_cast<double>(first) + 1 / static_cast<double>(second));
    for (std::size_t more = 1; more <= most; ++more) {
        const double all = static_cast<double>(more) + (anew ? 0 : count);
        const std::array ratio{0.0};
        const auto then = stats::paired_difference(
            ratio,
            {.variance = now.variance * count / all,
             .degrees = anew ? all - 1 : now.degrees + static_cast<double>(more)},
            confidence);
        if (stats::detectable_change(then, level_, options_.minimum_effect) <= *target)
            return MoreValues{.count = more, .shows = *target};
    }
    return {};
}

// Rows measured by the same processes, in the same runs, on the same machines err together. So the errors of each
// unit are summed over rows first, and the interval is made of what units differ by (a cluster-robust variance). It is
// never narrower than it would be were all rows independent, and never wider than if they erred wholly together, which
// is known better from the moderated variances of the rows where units are few: what all rows show, their mean shows.
MeanRatio Tests::mean(const std::vector<WeightedRow>& rows, std::size_t side) const {
    constexpr double many = std::numeric_limits<double>::infinity();
    MeanRatio mean;
    double weights = 0;
    double log_sum = 0;
    stats::VarianceEstimate own{.variance = 0, .degrees = many};
    double errors = 0;
    stats::VarianceEstimate times{.variance = 0,
                                  .degrees = many}; // a run's hour is that of all its rows
    Clusters first;
    Clusters second;
    const TestedSide* only = nullptr;
    for (const auto& [row, weight] : rows) {
        const auto& tested = rows_[row][side];
        if (!is_tested(tested.contrast)) continue;
        only = mean.count++ == 0 ? &tested : nullptr;
        weights += weight;
        log_sum += weight * tested.log_ratio;
        own.variance += std::pow(weight * tested.standard_error, 2);
        own.degrees = std::min(own.degrees, tested.degrees);
        errors += weight * tested.standard_error;
        times.variance += weight * tested.between_times;
        if (tested.between_times > 0) times.degrees = std::min(times.degrees, tested.times_degrees);
        first.add(tested.first, weight);
        second.add(tested.second, weight);
    }
    if (mean.count == 0) return mean;
    // As wide as the difference must be to be called.
    const auto width = [&](const stats::VarianceEstimate& error) {
        const std::array middle{0.0};
        return stats::paired_difference(middle, error, 1 - level_).high;
    };
    if (only == nullptr) {
        const stats::VarianceEstimate wholly{.variance = errors * errors, .degrees = own.degrees};
        const auto error = error_of(first, second);
        if (!(error.degrees > 0) || width(error) > width(wholly))
            own = wholly;
        else if (width(error) > width(own))
            own = error;
    }
    times.variance *= times.variance;
    for (auto* part : {&own, &times}) part->variance /= weights * weights;
    if (only != nullptr) {
        static_cast<Contrast&>(mean) = only->contrast;
    } else {
        const std::array ratio{log_sum / weights};
        const auto difference = stats::paired_difference(
            ratio, times.variance > 0 ? together(own, times) : own, confidence);
        mean.ratio = known(std::exp(difference.log_ratio));
        mean.low = known(std::exp(difference.low));
        mean.high = known(std::exp(difference.high));
        mean.paired = first.size() == 0;
        judge(mean, difference, std::min(difference.p * options_.alpha / level_, 1.0)); // or NaN
        if (mean.outcome == ContrastOutcome::cannot_tell && times.variance > own.variance)
            mean.no_verdict = NoVerdict::between_times;
    }
    mean.more = more(own, times, first.size(), second.size(), mean);
    return mean;
}

} // namespace assay::compare
