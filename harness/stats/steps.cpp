// SPDX-License-Identifier: Apache-2.0

#include "stats/history.hpp"
#include "stats/interval.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace assay::stats {
namespace {

/// Half the noise of neighbours' differences: a few change points do not affect their median.
double noise_of(Values values) {
    std::vector<double> differences;
    for (std::size_t i = 1; i < values.size(); ++i)
        differences.push_back(std::abs(values[i] - values[i - 1]));
    const auto middle =
        differences.begin() + static_cast<std::ptrdiff_t>((differences.size() - 1) / 2);
    std::nth_element(differences.begin(), middle, differences.end());
    constexpr double median_of_normal = 0.6745; // of absolute values, in standard deviations
    return *middle / median_of_normal / std::numbers::sqrt2;
}

/// A value far outside the range of its neighbours (the two nearest, at the ends) is pulled towards them: one bad
/// run does not make a level, and would hide change points beside it.
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

struct Range {
    std::size_t from;
    std::size_t to;
    std::size_t size() const { return to - from; }
    bool holds(const Range& other) const { return from <= other.from && other.to <= to; }
};

/// The best change point within a range, and the chance of one as good without any.
struct Split {
    Range range{};
    std::size_t index = 0;
    double before = 0;
    double after = 0;
    double p = 1; ///< allows for the search
};

/// Ranges of lengths that shrink by the root of two, each overlapping half of the next (Kovacs et al.
/// 2023, Biometrika 110, "seeded binary segmentation"): some of them contain exactly one change point, however
/// many the whole has, and testing all costs n log n.
std::vector<Range> seeded_ranges(std::size_t count, std::size_t fewest) {
    std::vector<Range> ranges;
    double length = static_cast<double>(count) / std::numbers::sqrt2;
    while (length >= static_cast<double>(fewest)) {
        const auto size = static_cast<std::size_t>(length);
        const std::size_t shifts = (2 * (count - size) + size - 1) / size;
        for (std::size_t i = 0; i <= shifts; ++i) {
            const std::size_t from = (count - size) * i / shifts;
            ranges.push_back({from, from + size});
        }
        length /= std::numbers::sqrt2;
    }
    return ranges;
}

class Search {
public:
    Search(std::vector<double> values, double alpha, std::size_t fewest)
        : values_{std::move(values)}, alpha_{alpha} {
        // By chance as many outliers are adjacent as the logarithm of their number.
        const double log = std::log2(static_cast<double>(values_.size()));
        margin_ = std::max({fewest, std::size_t{2}, static_cast<std::size_t>(std::ceil(log / 2))});
        for (std::size_t i = 1; i < values_.size(); ++i) {
            const double difference = values_[i] - values_[i - 1];
            squared_differences_ += difference * difference;
        }
        prepare_seeded();
    }

    std::vector<Step> steps() {
        look({0, values_.size()});
        std::ranges::sort(places_);
        settle();
        return levels();
    }

private:
    /// Half of alpha is for the whole series (and its parts between change points), half for all seeded ranges;
    /// short series have none.
    void prepare_seeded() {
        constexpr std::size_t fewest_in_range = 8; // below, Student's t has no power to search with
        const auto ranges =
            seeded_ranges(values_.size(), std::max(fewest_in_range, 2 * margin_ + 1));
        std::size_t candidates = 0;
        has_seeded_ = !ranges.empty();
        for (const Range& range : ranges) candidates += range.size() - (2 * margin_) + 1;
        for (const Range& range : ranges) {
            const Split split = best_split(range, 2 * static_cast<double>(candidates));
            if (split.p <= alpha_) seeded_.push_back(split);
        }
    }
    double whole_factor() const {
        const double candidates =
            static_cast<double>(values_.size() + 1) - (2 * static_cast<double>(margin_));
        return (has_seeded_ ? 2 : 1) * std::max(candidates, 1.0);
    }

    void look(const Range& range) {
        if (range.size() < 2 * margin_ + 1) return;
        Split best = best_split(range, whole_factor());
        for (const Split& split : seeded_)
            if (range.holds(split.range) && split.p < best.p) best = split;
        if (best.p > alpha_) return;
        places_.push_back(best.index);
        look({range.from, best.index});
        look({best.index, range.to});
    }

    /// A range with two change points may show one at a shifted position: each is searched again between its
    /// neighbours, and must be significant there.
    void settle() {
        for (int pass = 0; pass < 2; ++pass) {
            splits_.clear();
            std::size_t from = 0;
            for (std::size_t i = 0; i < places_.size(); ++i) {
                const std::size_t to = i + 1 < places_.size() ? places_[i + 1] : values_.size();
                const Split split = best_split({from, to}, whole_factor());
                if (split.p > alpha_) continue;
                splits_.push_back(split);
                from = split.index;
            }
            places_.clear();
            for (const Split& split : splits_) places_.push_back(split.index);
        }
    }

    std::vector<Step> levels() const {
        std::vector<Step> steps;
        steps.reserve(splits_.size());
        for (const Split& split : splits_) {
            steps.push_back(
                {.index = split.index,
                 .before = mean(part({steps.empty() ? 0 : steps.back().index, split.index})),
                 .after = 0,
                 .p = split.p});
        }
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const std::size_t to = i + 1 < steps.size() ? steps[i + 1].index : values_.size();
            steps[i].after = mean(part({steps[i].index, to}));
        }
        return steps;
    }

    Values part(const Range& range) const {
        return Values{values_}.subspan(range.from, range.size());
    }

    /// The split with the largest Student's t, tested; p is 1 without a split.
    Split best_split(const Range& range, double factor) const {
        const Values values = part(range);
        Split best{.range = range};
        if (values.size() < 2 * margin_ + 1) return best;
        const double center = mean(values);
        double total = 0;
        double squares = 0;
        for (const double value : values) {
            total += value - center;
            squares += (value - center) * (value - center);
        }
        double most = 0;
        double sum = 0;
        for (std::size_t i = 1; i + margin_ <= values.size(); ++i) {
            sum += values[i - 1] - center;
            if (i < margin_) continue;
            const auto left = static_cast<double>(i);
            const auto right = static_cast<double>(values.size() - i);
            const double between = sum / left - (total - sum) / right;
            const double explained = between * between * left * right / (left + right);
            if (explained <= most) continue;
            most = explained;
            best.index = range.from + i;
            best.before = center + sum / left;
            best.after = center + (total - sum) / right;
        }
        if (most > 0 && holds_without_any(best))
            best.p = probability(best, most, std::max(0.0, squares - most), factor);
        return best;
    }

    /// Two-sided, of Student's t, times the number of positions tested.
    double probability(const Split& split, double explained, double rest, double places) const {
        double degrees = static_cast<double>(split.range.size()) - 2;
        double noise = rest / degrees;
        if (2 * split.range.size() < values_.size()) {
            // A few values of many may look quiet by chance: noise is at least that of neighbours' differences over
            // the whole series (without the change's own). The mean square of n differences is worth 2/3 n values
            // (von Neumann 1941).
            const double count = static_cast<double>(values_.size()) - 2;
            const double jump = values_[split.index] - values_[split.index - 1];
            noise = std::max(noise, (squared_differences_ - (jump * jump)) / (2 * count));
            degrees = std::max(degrees, 2 * count / 3);
        }
        // Rounding errors of equal values do not count as noise.
        const double scale = std::abs(split.before) + std::abs(split.after);
        if (noise <= 1e-24 * scale * scale) return 0;
        const double t = std::sqrt(explained / noise / inflation(split));
        // The normal distribution's tail is shorter, and a hundred times as fast to compute.
        if (places * std::erfc(t / std::numbers::sqrt2) > alpha_) return 1;
        return std::min(1.0, places * 2 * student_above(t, degrees));
    }

    /// Does half the change remain without the most influential value, on either side?
    bool holds_without_any(const Split& split) const {
        const double sign = split.after > split.before ? 1 : -1;
        const auto less_one = [sign](Values values, double level, double side) {
            double loudest = values.front();
            for (const double value : values)
                if (sign * side * value > sign * side * loudest) loudest = value;
            const auto count = static_cast<double>(values.size());
            return (level * count - loudest) / (count - 1);
        };
        const double before = less_one(part({split.range.from, split.index}), split.before, -1);
        const double after = less_one(part({split.index, split.range.to}), split.after, 1);
        const double half = std::abs(split.after - split.before) / 2;
        return sign * (split.after - before) >= half && sign * (after - split.before) >= half;
    }

    /// Neighbours in time are correlated: the variance of a mean grows by (1 + r) / (1 - r). Short series
    /// do not show their correlation, so 0.2 is assumed; subtracting two means makes the rest look less
    /// correlated by about two in n.
    double inflation(const Split& split) const {
        const Values values = part(split.range);
        std::vector<double> rest(values.begin(), values.end());
        const std::size_t left = split.index - split.range.from;
        for (std::size_t i = 0; i < rest.size(); ++i)
            rest[i] -= i < left ? split.before : split.after;
        const double seen = lag1_autocorrelation(rest) + (2 / static_cast<double>(rest.size()));
        const double correlation = std::clamp(seen, 0.2, 0.8);
        return (1 + correlation) / (1 - correlation);
    }

    std::vector<double> values_;
    double alpha_;
    std::size_t margin_ = 2;
    double squared_differences_ = 0;
    bool has_seeded_ = false;
    std::vector<Split> seeded_;
    std::vector<std::size_t> places_;
    std::vector<Split> splits_;
};

} // namespace

std::vector<Step> find_steps(Values values, double alpha, std::size_t fewest) {
    const bool is_finite = std::ranges::all_of(values, [](double v) { return std::isfinite(v); });
    if (values.size() < 5 || !is_finite) return {};
    return Search{without_spikes(values), alpha, fewest}.steps();
}

} // namespace assay::stats
