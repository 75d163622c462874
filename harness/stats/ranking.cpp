// SPDX-License-Identifier: Apache-2.0
#include "stats/ranking.hpp"

#include "stats/interval.hpp"
#include "stats/summary.hpp"

#include <boost/random/chi_squared_distribution.hpp>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::stats {
namespace {

double variance_of_mean(const TypeScore& type) { return 1 / static_cast<double>(type.machines); }
double error_of(const TypeScore& a, const TypeScore& b, const PooledSpread& spread) {
    return spread.deviation * std::sqrt(variance_of_mean(a) + variance_of_mean(b));
}

/// The cheapest candidate of each type, the first of equal ones; the number of candidates if a type has none.
std::vector<std::size_t> cheapest(std::size_t types, std::span<const Candidate> candidates) {
    std::vector<std::size_t> found(types, candidates.size());
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        auto& best = found[candidates[i].type];
        if (best == candidates.size() || candidates[i].log_price < candidates[best].log_price)
            best = i;
    }
    return found;
}

} // namespace

PooledSpread pool_spread(std::span<const std::vector<double>> types, const SpreadPrior& prior) {
    double squares = prior.degrees * prior.deviation * prior.deviation;
    double degrees = prior.degrees;
    for (const auto& logs : types) {
        if (logs.size() < 2) continue;
        const double middle = mean(logs);
        for (const double log : logs) squares += (log - middle) * (log - middle);
        degrees += static_cast<double>(logs.size() - 1);
    }
    return {std::sqrt(squares / degrees), degrees};
}

TypeScore type_score(std::span<const double> logs) { return {mean(logs), logs.size()}; }

double probability_above(const TypeScore& a, const TypeScore& b, double handicap,
                         const PooledSpread& spread) {
    return student_below((a.mean - b.mean - handicap) / error_of(a, b, spread), spread.degrees);
}

double half_width(const TypeScore& a, const TypeScore& b, const PooledSpread& spread,
                  double confidence) {
    return student_factor(spread.degrees, confidence) * error_of(a, b, spread);
}

double percentile_of_next(const TypeScore& type, const PooledSpread& spread, double share) {
    const double t = student_quantile(share, spread.degrees);
    return type.mean + t * spread.deviation * std::sqrt(1 + variance_of_mean(type));
}

std::vector<double> probabilities_best(std::span<const TypeScore> types,
                                       std::span<const Candidate> candidates,
                                       const PooledSpread& spread, std::size_t draws,
                                       std::uint64_t seed) {
    // Boost's distributions give the same numbers everywhere, those of the standard library need not.
    boost::random::mt19937_64 random{seed};
    boost::random::normal_distribution<double> normal;
    boost::random::chi_squared_distribution<double> chi{spread.degrees};
    struct Drawn {
        std::size_t candidate;
        double middle;
        double error;
    };
    std::vector<Drawn> each;
    for (const auto at : cheapest(types.size(), candidates))
        if (at < candidates.size()) {
            const auto& type = types[candidates[at].type];
            each.push_back({at, type.mean - candidates[at].log_price,
                            spread.deviation * std::sqrt(variance_of_mean(type))});
        }
    std::vector<double> share(candidates.size(), 0);
    if (each.empty()) return share;
    // Candidates without a chance against the leader cost draws and change nothing visible.
    constexpr double no_chance = 1e-8;
    const auto leader = *std::ranges::max_element(each, {}, &Drawn::middle);
    std::erase_if(each, [&](const Drawn& one) {
        const double gap = (leader.middle - one.middle) / std::hypot(leader.error, one.error);
        return student_above(gap, spread.degrees) < no_chance;
    });
    for (std::size_t i = 0; i < draws; ++i) {
        const double scale = std::sqrt(spread.degrees / chi(random));
        double best = -std::numeric_limits<double>::infinity();
        std::size_t winner = 0;
        for (const auto& one : each) {
            const double value = one.middle + scale * one.error * normal(random);
            if (value > best) {
                best = value;
                winner = one.candidate;
            }
        }
        share[winner] += 1 / static_cast<double>(draws);
    }
    return share;
}

} // namespace assay::stats
