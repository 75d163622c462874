// SPDX-License-Identifier: Apache-2.0

#include "stats/forecast.hpp"

#include "stats/interval.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>

namespace assay::stats {
namespace {

constexpr std::size_t year = 12;
constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

struct State {
    double level = 0;
    double trend = 0;
    double damping = 1;
    std::array<double, year> season{};

    /// Months from the state's own, which was month `at - 1` of the series.
    double ahead(std::size_t at, std::size_t months) const {
        double sum = 0;
        for (double factor = damping; months > 0; factor *= damping, --months, ++at) sum += factor;
        return std::max(level + sum * trend + season[(at + year - 1) % year], 0.0);
    }
};

/// Before the first month, by a line through the first ones: `slope` of its
/// slope.
State begin(Values first, bool seasonal, double slope) {
    const auto half = first.size() / 2;
    State state{.level = mean(first),
                .trend = slope * (mean(first.last(half)) - mean(first.first(half))) /
                         static_cast<double>(half)};
    state.level -= state.trend * static_cast<double>(first.size() + 1) / 2;
    if (!seasonal) return state;
    const auto years = static_cast<double>(first.size() / year);
    for (std::size_t i = 0; i < first.size(); ++i)
        state.season[i % year] +=
            (first[i] - state.level - state.trend * static_cast<double>(i + 1)) / years;
    return state;
}

/// The best fit to the first t values, for each t that is enough: one pass for
/// each set of parameters gives all of them.
std::vector<State> fits(Values values, bool seasonal) {
    const std::size_t enough = seasonal ? 2 * year : 4;
    std::vector<State> best(values.size() + 1);
    std::vector<double> least(values.size() + 1, std::numeric_limits<double>::infinity());
    if (values.size() < enough) return best;
    const auto pass = [&](State state, double alpha, double beta, double gamma) {
        double squares = 0;
        for (std::size_t t = 0; t < values.size(); ++t) {
            auto& season = state.season[t % year];
            const double carried = state.level + state.damping * state.trend;
            const double error = values[t] - carried - season;
            squares += error * error;
            state.level = carried + alpha * error;
            state.trend = state.damping * state.trend + alpha * beta * error;
            season += gamma * error;
            if (t + 1 < enough || squares >= least[t + 1]) continue;
            least[t + 1] = squares;
            best[t + 1] = state;
        }
    };
    for (const double slope : {0.0, 1.0}) {
        auto start = begin(values.first(enough), seasonal, slope);
        for (const double damping : {0.8, 0.9, 0.95, 0.98}) // 0.8 to 0.98: as recommended there
            for (const double alpha : {0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9})
                for (const double beta : {0.0, 0.05, 0.15, 0.3})
                    for (const double share : {0.0, 0.1, 0.3, 0.5}) {
                        if (share > 0 && !seasonal) break;
                        start.damping = damping;
                        pass(start, alpha, beta, share * (1 - alpha)); // stable
                    }
    }
    return best;
}

using Months = std::vector<double>;

/// Actual less forecast, from each origin on.
struct Rolled {
    std::vector<Months> errors;

    double mean_absolute(std::size_t skip) const {
        double sum = 0;
        double count = 0;
        for (auto i = skip; i < errors.size(); ++i)
            for (const double error : errors[i]) {
                sum += std::abs(error);
                ++count;
            }
        return sum / count;
    }

    /// Half the 80% interval of the sum over these horizons.
    double half(std::size_t from, std::size_t to) const {
        double squares = 0;
        double count = 0;
        for (const auto& origin : errors) {
            if (origin.size() < to) break; // as are all later ones
            double sum = 0;
            for (auto h = from; h < to; ++h) sum += origin[h];
            squares += sum * sum;
            ++count;
        }
        constexpr double fewest = 6;
        constexpr double confidence = 0.8;
        return count < fewest ? nothing
                              : student_factor(count, confidence) * std::sqrt(squares / count);
    }
};

} // namespace

Forecast forecast_months(Values values) {
    const auto size = values.size();
    assert(size >= fewest_months);
    // Six origins make an interval: a method is judged in the form that it has,
    // as soon as there are so many.
    constexpr std::size_t six = 6;
    const bool repeats_year = size >= year + six;
    const std::size_t naive_from = repeats_year ? year : 4;
    const std::size_t damped_from = size >= 2 * year + six ? 2 * year : naive_from;
    const auto plain = fits(values, false);
    const auto seasonal = fits(values, true);
    const auto naive = [&](std::size_t t, std::size_t h) {
        return values[repeats_year ? t - year + h : t - 1];
    };
    const auto damped = [&](std::size_t t, std::size_t h) {
        return (t >= 2 * year ? seasonal : plain)[t].ahead(t, h + 1);
    };
    const auto roll = [&](std::size_t from, const auto& method) {
        Rolled rolled;
        for (auto t = from; t < size; ++t) {
            auto& errors = rolled.errors.emplace_back();
            for (std::size_t h = 0; h < std::min(months_ahead, size - t); ++h)
                errors.push_back(values[t + h] - method(t, h));
        }
        return rolled;
    };
    const auto naively = roll(naive_from, naive);
    const auto smoothed = roll(damped_from, damped);
    Forecast found{.naive_error = naively.mean_absolute(damped_from - naive_from),
                   .damped_error = smoothed.mean_absolute(0),
                   .months = {},
                   .quarters = {}};
    constexpr double rounding = 1e-9;
    const bool is_damped = found.damped_error + rounding * mean(values) < found.naive_error;
    if (is_damped) found.method = Method::damped_holt_winters;
    const auto& errors = is_damped ? smoothed : naively;
    const auto add = [&](std::vector<Expected>& to, std::size_t months) {
        double widest = 0;
        for (std::size_t h = 0; h < months_ahead; h += months) {
            widest = std::max(errors.half(h, h + months),
                              widest); // NaN stays: it comes first
            double value = 0;
            for (auto i = h; i < h + months; ++i)
                value += is_damped ? damped(size, i) : naive(size, i);
            const double low = std::isnan(widest) ? widest : std::max(value - widest, 0.0);
            to.push_back({.value = value, .low = low, .high = value + widest});
        }
    };
    add(found.months, 1);
    constexpr std::size_t quarter = 3;
    add(found.quarters, quarter);
    return found;
}

} // namespace assay::stats
