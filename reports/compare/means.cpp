// SPDX-License-Identifier: Apache-2.0

#include "compare/contrast.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace assay::compare {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

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

/// Error of two sides (or of pairs, when `first` is empty). One unit alone does not show how units differ; those of
/// the other side do.
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

} // namespace

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

// A pair of replicas that take turns has the variance of one replica a side, and no difference between times: those at
// hand say how many pairs are needed. Two machines cannot take turns: they need runs. Runs, machines and pairs
// at hand count: the result is how many more are needed.
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
    const bool of_replicas = first > 0 && options_.unit == Unit::replica;
    const bool anew = of_replicas && options_.one_machine;
    const bool runs = of_replicas && !options_.one_machine; // one a side so far
    if (runs && !(times.variance > 0)) return {};
    const auto now = anew || first == 0 ? own : stats::sum_of(own, times);
    const auto count = runs ? 1
                       : first == 0
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
            return MoreValues{.count = more, .shows = *target, .are_pairs = anew || first == 0};
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
        if (!is_counted(tested.contrast)) continue;
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
    // The width that a difference must exceed to be called.
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
            ratio, times.variance > 0 ? stats::sum_of(own, times) : own, confidence);
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

bool stands_for_all(const Comparison& comparison, std::size_t common) {
    constexpr std::size_t fewest = 5;
    std::size_t measured = 0;
    for (const auto& table : comparison.tables)
        for (const auto& row : table.rows)
            measured += std::ranges::any_of(
                row.cells, [](const Cell& cell) { return cell.value.has_value(); });
    const auto& tally = comparison.tallies[1];
    const auto ratios = tally.better + tally.worse + tally.same + tally.cannot_tell;
    return common > 0 && (comparison.sides.size() > 2 || 2 * common >= ratios) &&
           (2 * common >= measured || (common >= fewest && 10 * common >= measured));
}

} // namespace assay::compare
