// SPDX-License-Identifier: Apache-2.0
//
// Which of several types of machine is the best, from a few machines of each, and how probable is it? The spread
// between machines of a type is what decides, and few machines show little of it: resampling them invents certainty. So
// one variance is pooled over the types and moderated by a prior (decision 0338). Scores are natural logarithms.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace assay::stats {

/// Prior knowledge of the spread.
struct SpreadPrior {
    double deviation = 0.03; ///< of the log score between machines of one type
    double degrees = 4;      ///< worth so many measured degrees of freedom
};

struct PooledSpread {
    double deviation = 0;
    double degrees = 0;
};
/// v = (d0 s0^2 + sum SS_j) / df, df = d0 + sum (n_j - 1); `types`: log scores of the machines of each type.
PooledSpread pool_spread(std::span<const std::vector<double>> types, const SpreadPrior& prior = {});

/// One type: the mean log score of its machines.
struct TypeScore {
    double mean = 0;
    std::size_t machines = 1; ///< 1 or more
};
TypeScore type_score(std::span<const double> logs);

/// The probability that the type of `a` is better than that of `b` by more than `handicap`, a logarithm: that of the
/// ratio of prices for value for money.
double probability_above(const TypeScore& a, const TypeScore& b, double handicap,
                         const PooledSpread& spread);

/// Half the 95% interval of the difference of their means.
double half_width(const TypeScore& a, const TypeScore& b, const PooledSpread& spread,
                  double confidence = 0.95);

/// The score that one more machine of the type falls below in `share` of cases: what one may get.
double percentile_of_next(const TypeScore& type, const PooledSpread& spread, double share = 0.05);

/// A type at a price. `log_price`: of the unit that the price is for.
struct Candidate {
    std::size_t type = 0;
    double log_price = 0;
};
/// For each candidate the probability that it is the best in score for its price. Only the cheapest of one type may
/// be the best, the first of equal ones. Draws are seeded: equal input, equal output.
std::vector<double> probabilities_best(std::span<const TypeScore> types,
                                       std::span<const Candidate> candidates,
                                       const PooledSpread& spread, std::size_t draws = 10'000,
                                       std::uint64_t seed = 1);

/// "Sure": at 97.5% equal offers are called in 5 of 100 cases. Two standard errors of 10,000 draws above it, so that
/// the draws do not make it more.
inline constexpr double sure_probability = 0.978;
inline constexpr std::size_t sure_machines = 3; ///< of each of the two types compared

} // namespace assay::stats
