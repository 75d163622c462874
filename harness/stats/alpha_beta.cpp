// SPDX-License-Identifier: Apache-2.0
#include "stats/alpha_beta.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace assay::stats {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
// A segment needs more sizes than a line has parameters, or it fits anything.
constexpr std::size_t fewest_sizes = 3;
// Sweeps have a few dozen sizes; the work grows with the square of their number.
constexpr std::size_t most_sizes = 256;
// Savings asked of a further segment, in units of log(points): two parameters, and a break that was searched for.
// Found by simulation, decisions/collectives.md 0185.
constexpr double cost_of_break = 5;
// Differences below half a percent are never worth a segment, however quiet the times are.
constexpr double smallest_spread = 0.005;
// A model is retained while the best is less than exp(6 / 2) = 20 times as likely (Raftery 1995,
// Sociological Methodology 25, 111-163).
constexpr double still_possible = 6;
// Least squared length, from 1: less is rounding error.
constexpr double nothing_left = 1e-12;
// A prediction may leave the measured subspace by this share of its squared length.
constexpr double outside = 1e-6;

struct Sorted {
    std::vector<CostPoint> points; ///< by size
    std::vector<std::size_t> ends; ///< one past the last point of each size
    std::size_t models = 0;

    std::span<const CostPoint> of(std::size_t first, std::size_t last) const {
        const std::size_t begin = first == 0 ? 0 : ends[first - 1];
        return std::span{points}.subspan(begin, ends[last - 1] - begin);
    }
};

bool is_positive(double value) { return std::isfinite(value) && value > 0; }

Sorted sort(std::span<const CostPoint> points) {
    Sorted sorted;
    for (const CostPoint& point : points)
        if (is_positive(point.size) && is_positive(point.seconds) && !point.terms.empty())
            sorted.points.push_back(point);
    std::ranges::stable_sort(sorted.points, {}, &CostPoint::size);
    for (const CostPoint& point : sorted.points)
        sorted.models =
            sorted.models == 0 ? point.terms.size() : std::min(sorted.models, point.terms.size());
    const auto& all = sorted.points;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (i + 1 == all.size() || all[i + 1].size != all[i].size) sorted.ends.push_back(i + 1);
    return sorted;
}

/// Squares of the best model on the sizes first to last - 1, for all of them.
class Table {
public:
    explicit Table(std::size_t sizes) : width_{sizes + 1}, squares_(width_ * width_, infinite) {}
    double& at(std::size_t first, std::size_t last) { return squares_[first * width_ + last]; }
    double at(std::size_t first, std::size_t last) const { return squares_[first * width_ + last]; }

private:
    std::size_t width_;
    std::vector<double> squares_;
};

void add(std::vector<Normal>& sums, std::span<const CostPoint> points) {
    for (const CostPoint& point : points)
        for (std::size_t m = 0; m < sums.size(); ++m)
            sums[m].add(point.terms[m], point.seconds, point.seconds);
}

Table squares_of_pieces(const Sorted& sorted) {
    const std::size_t sizes = sorted.ends.size();
    Table table{sizes};
    for (std::size_t first = 0; first < sizes; ++first) {
        std::vector<Normal> sums(sorted.models);
        for (std::size_t last = first + 1; last <= sizes; ++last) {
            add(sums, sorted.of(last - 1, last));
            if (last - first < fewest_sizes) continue;
            double& least = table.at(first, last);
            for (const Normal& sum : sums) least = std::min(least, solve_not_negative(sum).squares);
        }
    }
    return table;
}

/// Quality of a fit with these `squares`: twice the difference of two is their log likelihood ratio.
double badness(double squares, std::size_t points) {
    const auto count = static_cast<double>(points);
    return count * std::log(std::max(squares / count, smallest_spread * smallest_spread));
}

// Squares of the first i sizes in so many segments, and the first size of the last segment.
struct Best {
    double squares = infinite;
    std::size_t first = 0;
};

std::vector<Best> with_one_more(const std::vector<Best>& segments, const Table& table) {
    std::vector<Best> next(segments.size());
    for (std::size_t last = 1; last < segments.size(); ++last)
        for (std::size_t first = 1; first < last; ++first) {
            const double squares = segments[first].squares + table.at(first, last);
            if (squares < next[last].squares) next[last] = {squares, first};
        }
    return next;
}

/// Where segments begin, by size: the cut whose gain is worth its breaks. Exact, by dynamic programming.
std::vector<std::size_t> cut(const Sorted& sorted, std::size_t most_segments) {
    const std::size_t sizes = sorted.ends.size();
    if (most_segments < 2 || sizes < 2 * fewest_sizes || sizes > most_sizes) return {0};
    const Table table = squares_of_pieces(sorted);
    std::vector<std::vector<Best>> best{std::vector<Best>(sizes + 1)};
    for (std::size_t last = 1; last <= sizes; ++last) best[0][last] = {table.at(0, last), 0};
    const double cost = cost_of_break * std::log(static_cast<double>(sorted.points.size()));
    double least = badness(best[0][sizes].squares, sorted.points.size());
    std::size_t chosen = 0;
    for (std::size_t breaks = 1; breaks < most_segments; ++breaks) {
        best.push_back(with_one_more(best.back(), table));
        const double now = badness(best[breaks][sizes].squares, sorted.points.size()) +
                           cost * static_cast<double>(breaks);
        if (now < least) {
            least = now;
            chosen = breaks;
        }
    }
    std::vector<std::size_t> begins{};
    for (std::size_t last = sizes, breaks = chosen + 1; breaks-- > 0;)
        begins.insert(begins.begin(), last = best[breaks][last].first);
    return begins;
}

/// Adds the part of `direction` that is new to the basis.
void extend(std::vector<Terms>& basis, Terms direction) {
    const double length = std::sqrt(product(direction, direction));
    if (!(length > 0)) return;
    for (double& d : direction) d /= length;
    for (const Terms& known : basis) {
        const double along = product(known, direction);
        for (std::size_t i = 0; i < most_terms; ++i) direction[i] -= along * known[i];
    }
    const double left = product(direction, direction);
    if (left < nothing_left) return;
    for (double& d : direction) d /= std::sqrt(left);
    basis.push_back(direction);
}

Terms scaled(const Terms& terms, const Terms& scale) {
    Terms out{};
    // A term that no point had is a direction that no point lies in.
    for (std::size_t i = 0; i < most_terms; ++i)
        out[i] = scale[i] > 0 ? terms[i] / scale[i] : (terms[i] > 0 ? infinite : 0);
    return out;
}

CostModel fit_model(std::span<const CostPoint> points, std::size_t model) {
    CostModel fitted{.model = model};
    for (const CostPoint& point : points)
        for (std::size_t i = 0; i < most_terms; ++i)
            fitted.scale[i] = std::max(fitted.scale[i], point.terms[model][i]);
    for (const CostPoint& point : points)
        extend(fitted.basis, scaled(point.terms[model], fitted.scale));
    // Relative to the times at first, then to the fitted times: a time that is too short by chance must
    // not have more weight.
    constexpr int rounds = 4;
    for (int round = 0; round < rounds; ++round) {
        Normal sums;
        for (const CostPoint& point : points) {
            const double expected = product(fitted.value, point.terms[model]);
            sums.add(point.terms[model], point.seconds,
                     round > 0 && expected > 0 ? expected : point.seconds);
        }
        const Solution solution = solve_not_negative(sums);
        fitted.value = solution.value;
        fitted.squares = solution.squares;
        unsigned kept = (1U << most_terms) - 1;
        fitted.covariance = inverse_of(sums.squares, kept);
    }
    return fitted;
}

CostSegment segment_from(std::span<const CostPoint> points, std::size_t models) {
    CostSegment segment{
        .from = points.front().size, .to = points.back().size, .points = points.size()};
    for (std::size_t m = 0; m < models; ++m) segment.models.push_back(fit_model(points, m));
    std::ranges::stable_sort(segment.models, {}, &CostModel::squares);
    const double least = badness(segment.models.front().squares, points.size());
    std::erase_if(segment.models, [&](const CostModel& model) {
        return badness(model.squares, points.size()) > least + still_possible;
    });
    return segment;
}

double factor_of_95(double degrees) {
    return degrees >= 1 ? student_factor(degrees, 0.95) : unknown;
}

} // namespace

CostFit fit_cost(std::span<const CostPoint> points, std::size_t most_segments) {
    const Sorted sorted = sort(points);
    CostFit fit;
    if (sorted.points.empty()) return fit;
    const auto begins = cut(sorted, most_segments);
    double squares = 0;
    double parameters = 0;
    for (std::size_t i = 0; i < begins.size(); ++i) {
        const std::size_t end = i + 1 == begins.size() ? sorted.ends.size() : begins[i + 1];
        fit.segments.push_back(segment_from(sorted.of(begins[i], end), sorted.models));
        const CostModel& best = fit.segments.back().models.front();
        squares += best.squares;
        parameters += static_cast<double>(best.basis.size()) + (i == 0 ? 0 : 1);
    }
    fit.degrees = std::max(0.0, static_cast<double>(sorted.points.size()) - parameters);
    fit.spread = fit.degrees > 0 ? std::sqrt(squares / fit.degrees) : unknown;
    double errors = 0;
    for (const CostPoint& point : sorted.points)
        if (std::isfinite(point.log_error)) errors += point.log_error * point.log_error;
    fit.shared = std::sqrt(errors / static_cast<double>(sorted.points.size()));
    return fit;
}

const CostSegment& segment_of(const CostFit& fit, double size) {
    std::size_t i = 0;
    while (i + 1 < fit.segments.size() &&
           size > std::sqrt(fit.segments[i].to) * std::sqrt(fit.segments[i + 1].from))
        ++i;
    return fit.segments[i];
}

Estimate parameter_of(const CostFit& fit, const CostModel& model, std::size_t term) {
    const double value = model.value[term];
    const double own = fit.spread * std::sqrt(std::max(0.0, model.covariance[term][term]));
    const double half = factor_of_95(fit.degrees) * std::hypot(own, fit.shared * value);
    return {.value = value, .low = std::max(0.0, value - half), .high = value + half};
}

Estimate predict(const CostFit& fit, const CostModel& model, const Terms& terms) {
    Terms left = scaled(terms, model.scale);
    const double length = product(left, left);
    const double seconds = product(model.value, terms);
    const Estimate nothing{.value = unknown, .low = unknown, .high = unknown};
    if (!is_positive(length) || !is_positive(seconds)) return nothing;
    for (const Terms& known : model.basis) {
        const double along = product(known, left);
        for (std::size_t i = 0; i < most_terms; ++i) left[i] -= along * known[i];
    }
    if (product(left, left) > outside * length) return nothing;
    const double own = std::max(0.0, product(terms, product(model.covariance, terms)));
    // On logarithms, so that the lower end stays positive.
    // An error common to a run counts twice: for the measured run and for the predicted one.
    const double shared = std::numbers::sqrt2 * fit.shared;
    const double error = std::hypot(fit.spread * std::sqrt(own) / seconds, fit.spread, shared);
    const double factor = std::exp(factor_of_95(fit.degrees) * error);
    return {.value = seconds, .low = seconds / factor, .high = seconds * factor};
}

// --- least squares -------------------------------------------------------------------------------

namespace {

// Least diagonal, from 1: less is the rounding error of a dependent column.
constexpr double dependent = 1e-9;

bool has(unsigned choice, std::size_t term) { return (choice >> term & 1U) != 0; }

TermMatrix scaled(const TermMatrix& matrix, const Terms& scale) {
    TermMatrix out{};
    for (std::size_t i = 0; i < most_terms; ++i)
        for (std::size_t j = 0; j < most_terms; ++j) out[i][j] = matrix[i][j] * scale[i] * scale[j];
    return out;
}

/// Subtracts the pivot's row from the others, in both matrices.
void eliminate(TermMatrix& work, TermMatrix& inverse, std::size_t pivot, unsigned kept) {
    const double factor = 1 / work[pivot][pivot];
    for (std::size_t j = 0; j < most_terms; ++j) {
        work[pivot][j] *= factor;
        inverse[pivot][j] *= factor;
    }
    for (std::size_t i = 0; i < most_terms; ++i) {
        if (i == pivot || !has(kept, i)) continue;
        const double off = work[i][pivot];
        for (std::size_t j = 0; j < most_terms; ++j) {
            work[i][j] -= off * work[pivot][j];
            inverse[i][j] -= off * inverse[pivot][j];
        }
    }
}

} // namespace

double product(const Terms& a, const Terms& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

Terms product(const TermMatrix& matrix, const Terms& vector) {
    Terms out{};
    for (std::size_t i = 0; i < most_terms; ++i) out[i] = product(matrix[i], vector);
    return out;
}

void Normal::add(const Terms& terms, double value, double scale) {
    for (std::size_t i = 0; i < most_terms; ++i) {
        values[i] += terms[i] / scale * (value / scale);
        for (std::size_t j = 0; j < most_terms; ++j)
            squares[i][j] += terms[i] / scale * (terms[j] / scale);
    }
    total += value / scale * (value / scale);
}

TermMatrix inverse_of(const TermMatrix& matrix, unsigned& kept) {
    // Gauss-Jordan on the matrix with a diagonal of 1, because terms are counts and bytes.
    Terms scale{};
    for (std::size_t i = 0; i < most_terms; ++i)
        scale[i] = matrix[i][i] > 0 ? 1 / std::sqrt(matrix[i][i]) : 0;
    TermMatrix work = scaled(matrix, scale);
    TermMatrix inverse{};
    for (std::size_t i = 0; i < most_terms; ++i) inverse[i][i] = 1;
    for (std::size_t pivot = 0; pivot < most_terms; ++pivot) {
        if (!has(kept, pivot)) continue;
        if (work[pivot][pivot] > dependent)
            eliminate(work, inverse, pivot, kept);
        else
            kept &= ~(1U << pivot);
    }
    for (std::size_t i = 0; i < most_terms; ++i)
        if (!has(kept, i)) scale[i] = 0;
    return scaled(inverse, scale);
}

Solution solve_not_negative(const Normal& sums) {
    Solution best{.squares = sums.total};
    for (unsigned choice = 1; choice < (1U << most_terms); ++choice) {
        unsigned kept = choice;
        const TermMatrix inverse = inverse_of(sums.squares, kept);
        if (kept != choice) continue;
        const Terms value = product(inverse, sums.values);
        if (std::ranges::any_of(value, [](double v) { return v < 0; })) continue;
        const double squares = std::max(0.0, sums.total - product(value, sums.values));
        if (squares < best.squares) best = {.value = value, .squares = squares};
    }
    return best;
}

} // namespace assay::stats
