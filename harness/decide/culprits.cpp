// SPDX-License-Identifier: Apache-2.0
#include "decide/culprits.hpp"

#include "stats/difference.hpp"
#include "stats/interval.hpp"
#include "stats/summary.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace assay::decide {
namespace {

// Huber's constant: 95% as good as plain least squares where errors are normal.
constexpr double huber = 1.345;
// The median of absolute normal errors is 0.6745 of their standard deviation.
constexpr double normal_median = 0.6745;
// The median of absolute errors is as precise as the squares of 37% of the values would be.
constexpr double worth = 0.37;
// With fewer degrees of freedom Student's tails are too long to call anything.
constexpr double fewest_degrees = 3;

struct Pair {
    std::size_t a;
    std::size_t b;
    double there; // logarithm of slowness
    double back;
    double log;        // the mean of both ways
    double left = 0;   // beyond the effects
    double weight = 1; // Huber's
};

/// Logarithm of the slowness of from -> to.
double slowness(const PairMatrix& m, std::size_t from, std::size_t to) {
    const double value = m.values[from * m.nodes + to];
    if (!std::isfinite(value) || !(value > 0)) return stats::unknown;
    return m.higher_is_better ? -std::log(value) : std::log(value);
}

std::vector<MeasuredPair> pairs_of(const PairMatrix& m) {
    std::vector<MeasuredPair> pairs;
    for (std::size_t a = 0; a < m.nodes; ++a)
        for (std::size_t b = a + 1; b < m.nodes; ++b)
            pairs.push_back(
                {.from = a, .to = b, .there = slowness(m, a, b), .back = slowness(m, b, a)});
    return pairs;
}

std::vector<Pair> known_of(std::span<const MeasuredPair> pairs, std::size_t nodes) {
    std::vector<Pair> known;
    for (const auto& pair : pairs) {
        const double both = (pair.there + pair.back) / 2;
        const double log =
            std::isnan(both) ? (std::isnan(pair.there) ? pair.back : pair.there) : both;
        if (std::isfinite(log) && pair.from < nodes && pair.to < nodes && pair.from != pair.to)
            known.push_back(
                {.a = pair.from, .b = pair.to, .there = pair.there, .back = pair.back, .log = log});
    }
    return known;
}

double median_of(const std::vector<double>& values) {
    return values.empty() ? stats::unknown : stats::median(values);
}

/// The common level, and an effect for each node that has pairs; effects have median 0.
struct Effects {
    double common = 0;
    std::vector<double> node;
    std::vector<double> weight; ///< of a node's pairs together
};

class Fit {
public:
    Fit(std::vector<Pair>& pairs, std::size_t nodes, double known_noise)
        : pairs_{pairs}, known_{known_noise} {
        effects_.node.assign(nodes, 0);
        effects_.weight.assign(nodes, 0);
        std::vector<double> logs;
        logs.reserve(pairs_.size());
        for (const Pair& pair : pairs_) logs.push_back(pair.log);
        effects_.common = median_of(logs);
    }

    const Effects& run() {
        std::vector<bool> seen(effects_.node.size(), false);
        for (const Pair& pair : pairs_) seen[pair.a] = seen[pair.b] = true;
        const auto nodes = static_cast<double>(std::ranges::count(seen, true));
        degrees_ = static_cast<double>(pairs_.size()) - nodes;
        constexpr int rounds = 100;
        for (int round = 0; round < rounds; ++round) {
            const double moved = improve();
            leave();
            weigh();
            if (moved < 1e-10) break;
        }
        return effects_;
    }
    double noise() const { return noise_; }
    double degrees() const { return degrees_; }

private:
    /// One node after the other, given the others (Gauss-Seidel); returns the largest change.
    double improve() {
        std::vector<double> sums(effects_.node.size(), 0);
        std::ranges::fill(effects_.weight, 0);
        for (const Pair& pair : pairs_) {
            effects_.weight[pair.a] += pair.weight;
            effects_.weight[pair.b] += pair.weight;
        }
        double most = 0;
        // Nodes do not see each other's changes of this round, but half of each converges.
        for (const Pair& pair : pairs_) {
            const double off =
                pair.log - effects_.common - effects_.node[pair.a] - effects_.node[pair.b];
            sums[pair.a] += pair.weight * off;
            sums[pair.b] += pair.weight * off;
        }
        for (std::size_t i = 0; i < sums.size(); ++i) {
            if (!(effects_.weight[i] > 0)) continue;
            const double move = sums[i] / effects_.weight[i] / 2;
            effects_.node[i] += move;
            most = std::max(most, std::fabs(move));
        }
        std::vector<double> known;
        for (std::size_t i = 0; i < sums.size(); ++i)
            if (effects_.weight[i] > 0) known.push_back(effects_.node[i]);
        const double middle = median_of(known);
        for (double& effect : effects_.node) effect -= middle;
        effects_.common += 2 * middle;
        return most;
    }
    void leave() {
        for (Pair& pair : pairs_)
            pair.left = pair.log - effects_.common - effects_.node[pair.a] - effects_.node[pair.b];
    }
    void weigh() {
        std::vector<double> sizes;
        sizes.reserve(pairs_.size());
        for (const Pair& pair : pairs_) sizes.push_back(std::fabs(pair.left));
        const auto count = static_cast<double>(pairs_.size());
        // The effects absorbed some of the scatter.
        const double lost = degrees_ > 0 ? std::sqrt(count / degrees_) : 1;
        noise_ = std::max(known_, median_of(sizes) / normal_median * lost);
        for (Pair& pair : pairs_) {
            const double far = std::fabs(pair.left) / noise_;
            pair.weight = far <= huber || !(noise_ > 0) ? 1 : huber / far;
        }
    }

    std::vector<Pair>& pairs_;
    Effects effects_;
    double known_;
    double noise_ = 0;
    double degrees_ = 0;
};

std::vector<double> adjusted(std::vector<double> p) { return stats::holm(p); }

class Search {
public:
    Search(std::span<const MeasuredPair> pairs, std::size_t nodes, double log_noise,
           const CulpritRule& rule)
        : nodes_{nodes}, log_noise_{log_noise}, rule_{rule}, least_{std::log1p(rule.least)},
          pairs_{known_of(pairs, nodes)} {}

    Culprits run() {
        out_.pairs = pairs_.size();
        out_.noise = stats::unknown;
        if (pairs_.size() >= 3) one_way();
        Fit fit{pairs_, nodes_, log_noise_};
        if (pairs_.empty()) return out_;
        const Effects effects = fit.run();
        if (!(fit.degrees() >= fewest_degrees)) return out_;
        out_.noise = std::max(fit.noise(), quiet);
        for (std::size_t i = 0; i < nodes_; ++i)
            out_.effects.push_back(effects.weight[i] > 0 ? effects.node[i] : stats::unknown);
        for (const Pair& pair : pairs_) out_.rests.push_back({pair.a, pair.b, pair.left});
        nodes(effects, fit.degrees());
        links(effects, fit.degrees());
        return out_;
    }

private:
    // A tenth of a percent: values that agree more closely are rounded.
    static constexpr double quiet = 1e-3;

    void nodes(const Effects& effects, double degrees) {
        std::vector<std::size_t> which;
        std::vector<double> p;
        for (std::size_t i = 0; i < nodes_; ++i) {
            if (!(effects.weight[i] > 0)) continue;
            which.push_back(i);
            p.push_back(p_of_excess(effects.node[i] / (out_.noise / std::sqrt(effects.weight[i])),
                                    degrees));
        }
        const auto sure = adjusted(p);
        for (std::size_t i = 0; i < which.size(); ++i)
            if (effects.node[which[i]] >= least_ && sure[i] <= rule_.alpha)
                out_.nodes.push_back(
                    {.node = which[i], .slowdown = std::exp(effects.node[which[i]]), .p = sure[i]});
        std::ranges::stable_sort(out_.nodes, std::ranges::greater{}, &SlowNode::slowdown);
    }
    void links(const Effects& effects, double degrees) {
        std::vector<double> p;
        for (const Pair& pair : pairs_) {
            // Both ends' effects are uncertain too.
            const double ends = 1 / effects.weight[pair.a] + 1 / effects.weight[pair.b];
            p.push_back(p_of_excess(pair.left / (out_.noise * std::sqrt(1 + ends)), degrees));
        }
        const auto sure = adjusted(p);
        for (std::size_t i = 0; i < pairs_.size(); ++i)
            if (pairs_[i].left >= least_ && sure[i] <= rule_.alpha)
                out_.links.push_back({.from = pairs_[i].a,
                                      .to = pairs_[i].b,
                                      .slowdown = std::exp(pairs_[i].left),
                                      .p = sure[i]});
        std::ranges::stable_sort(out_.links, std::ranges::greater{}, &SlowLink::slowdown);
    }
    /// One direction against the other; most pairs are symmetric, so their median shows how much differs by
    /// chance.
    void one_way() {
        std::vector<OneWayPair> found;
        std::vector<double> logs;
        for (const Pair& pair : pairs_) {
            const double log = pair.there - pair.back;
            if (std::isnan(log)) continue;
            const bool forth = log >= 0;
            logs.push_back(std::fabs(log));
            found.push_back({.from = forth ? pair.a : pair.b,
                             .to = forth ? pair.b : pair.a,
                             .ratio = std::exp(std::fabs(log)),
                             .p = 1});
        }
        const auto degrees = static_cast<double>(logs.size()) - 1;
        if (degrees < fewest_degrees) return;
        const double noise =
            std::max({median_of(logs) / normal_median, std::numbers::sqrt2 * log_noise_, quiet});
        std::vector<double> p;
        p.reserve(logs.size());
        for (const double log : logs)
            p.push_back(std::min(1.0, 2 * p_of_excess(log / noise, degrees)));
        const auto sure = adjusted(p);
        for (std::size_t i = 0; i < found.size(); ++i)
            if (logs[i] >= least_ && sure[i] <= rule_.alpha) {
                found[i].p = sure[i];
                out_.one_way.push_back(found[i]);
            }
        std::ranges::stable_sort(out_.one_way, std::ranges::greater{}, &OneWayPair::ratio);
    }

    std::size_t nodes_;
    double log_noise_;
    CulpritRule rule_;
    double least_;
    std::vector<Pair> pairs_;
    Culprits out_;
};

} // namespace

double p_of_excess(double errors, double degrees) {
    if (std::isnan(errors)) return stats::unknown;
    return stats::student_above(std::min(errors, 1e6), worth * degrees);
}

Culprits find_culprits(const PairMatrix& matrix, const CulpritRule& rule) {
    if (matrix.nodes < 2 || matrix.values.size() != matrix.nodes * matrix.nodes) return {};
    return find_culprits(pairs_of(matrix), matrix.nodes, matrix.log_noise, rule);
}

Culprits find_culprits(std::span<const MeasuredPair> pairs, std::size_t nodes, double log_noise,
                       const CulpritRule& rule) {
    return Search{pairs, nodes, log_noise, rule}.run();
}

} // namespace assay::decide
