// SPDX-License-Identifier: Apache-2.0

#include "stats/history.hpp"

#include <boost/math/distributions/students_t.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <vector>

namespace assay::stats {
namespace {

/// Half the noise of neighbours' differences: their median is not moved by a few steps.
double noise_of(Values values) {
    std::vector<double> differences;
    for (std::size_t i = 1; i < values.size(); ++i)
        differences.push_back(std::abs(values[i] - values[i - 1]));
    const auto middle =
        differences.begin() + static_cast<std::ptrdiff_t>((differences.size() - 1) / 2);
    std::nth_element(differences.begin(), middle, differences.end());
    constexpr double median_of_normal = 0.6745; // of absolute values, in standard deviations
    return *middle / median_of_normal / std::sqrt(2.0);
}

/// A value far outside what its neighbours span (the two nearest, at the ends) is pulled towards them:
/// one bad run is no level, and would hide the steps beside it.
std::vector<double> without_spikes(Values values) {
    std::vector<double> calm(values.begin(), values.end());
    const double reach = 3 * noise_of(values);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t before = i == 0 ? 2 : i - 1;
        const std::size_t after = i + 1 == values.size() ? i - 2 : i + 1;
        const auto [low, high] = std::minmax(values[before], values[after]);
        calm[i] = std::clamp(values[i], low - reach, high + reach);
    }
    return calm;
}

struct Split {
    std::size_t index = 0;
    double t = 0;
    double before = 0;
    double after = 0;
};

class Search {
public:
    Search(std::vector<double> values, double alpha, std::size_t fewest)
        : values_{std::move(values)}, alpha_{alpha}, fewest_{std::max<std::size_t>(fewest, 2)} {}

    std::vector<Step> steps() {
        look(0, values_.size());
        std::ranges::sort(steps_, {}, &Step::index);
        set_levels();
        return std::move(steps_);
    }

private:
    void look(std::size_t from, std::size_t to) {
        const std::size_t count = to - from;
        // Chance puts as many far values side by side as the logarithm of their number.
        const auto margin = std::max(fewest_, static_cast<std::size_t>(std::ceil(
                                                  std::log2(static_cast<double>(count)) / 2)));
        if (count < 2 * margin + 1) return;
        const Values part = Values{values_}.subspan(from, count);
        const Split split = best_split(part, margin);
        if (split.index == 0 || !holds_without_any(part, split)) return;
        const double t = split.t / std::sqrt(inflation(part, split));
        const double p = std::min(1.0, probability(t, count) * static_cast<double>(values_.size()));
        if (p > alpha_) return;
        steps_.push_back({.index = from + split.index, .before = 0, .after = 0, .p = p});
        look(from, from + split.index);
        look(from + split.index, to);
    }

    static double probability(double t, std::size_t count) {
        if (std::isinf(t)) return 0;
        const boost::math::students_t distribution{static_cast<double>(count) - 2};
        return 2 * cdf(complement(distribution, t));
    }

    /// The split with the largest Student's t; none (index 0) where all values are equal.
    static Split best_split(Values part, std::size_t margin) {
        const double center = mean(part);
        double total = 0;
        double squares = 0;
        for (const double value : part) {
            total += value - center;
            squares += (value - center) * (value - center);
        }
        Split best;
        double sum = 0;
        for (std::size_t i = 1; i + margin <= part.size(); ++i) {
            sum += part[i - 1] - center;
            if (i < margin) continue;
            const auto left = static_cast<double>(i);
            const auto right = static_cast<double>(part.size() - i);
            const double between = sum / left - (total - sum) / right;
            const double explained = between * between * left * right / (left + right);
            const double rest = std::max(0.0, squares - explained) / (left + right - 2);
            // What rounding leaves of equal values is no noise.
            const bool is_exact = rest <= 1e-24 * center * center;
            const double t = explained == 0 ? 0
                             : is_exact     ? std::numeric_limits<double>::infinity()
                                            : std::sqrt(explained / rest);
            if (t > best.t)
                best = {.index = i,
                        .t = t,
                        .before = center + sum / left,
                        .after = center + (total - sum) / right};
        }
        return best;
    }

    /// Does half the step stay when the value that speaks loudest for it is left out, on either side?
    static bool holds_without_any(Values part, const Split& split) {
        const double direction = split.after > split.before ? 1 : -1;
        const Values first = part.first(split.index);
        const Values second = part.subspan(split.index);
        const auto less_one = [](double level, Values values, double one) {
            const auto count = static_cast<double>(values.size());
            return (level * count - one) / (count - 1);
        };
        const double low =
            direction > 0 ? *std::ranges::min_element(first) : *std::ranges::max_element(first);
        const double high =
            direction > 0 ? *std::ranges::max_element(second) : *std::ranges::min_element(second);
        const double half = std::abs(split.after - split.before) / 2;
        return direction * (split.after - less_one(split.before, first, low)) >= half &&
               direction * (less_one(split.after, second, high) - split.before) >= half;
    }

    /// Neighbours in time are alike: a mean of correlated values is less sure by (1 + r) / (1 - r). Short
    /// series do not show their correlation, so that 0.2 is taken for granted.
    static double inflation(Values part, const Split& split) {
        std::vector<double> rest(part.begin(), part.end());
        for (std::size_t i = 0; i < rest.size(); ++i)
            rest[i] -= i < split.index ? split.before : split.after;
        const double correlation = std::clamp(lag1_autocorrelation(rest), 0.2, 0.8);
        return (1 + correlation) / (1 - correlation);
    }

    void set_levels() {
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            const std::size_t from = i == 0 ? 0 : steps_[i - 1].index;
            const std::size_t to = i + 1 == steps_.size() ? values_.size() : steps_[i + 1].index;
            const std::size_t here = steps_[i].index;
            steps_[i].before = mean(Values{values_}.subspan(from, here - from));
            steps_[i].after = mean(Values{values_}.subspan(here, to - here));
        }
    }

    std::vector<double> values_;
    double alpha_;
    std::size_t fewest_;
    std::vector<Step> steps_;
};

} // namespace

std::vector<Step> find_steps(Values values, double alpha, std::size_t fewest) {
    const bool is_finite = std::ranges::all_of(values, [](double v) { return std::isfinite(v); });
    if (values.size() < 5 || !is_finite) return {};
    return Search{without_spikes(values), alpha, fewest}.steps();
}

} // namespace assay::stats
