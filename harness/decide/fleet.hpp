// SPDX-License-Identifier: Apache-2.0
//
// What must a node reach, by a fleet that holds bad nodes? One value per node, as a logarithm whose sign is such that
// above is good. Bounds are tolerance bounds: the median less k standard deviations of the good nodes. The variance is
// of what lies within -3 S (1 + 4/n) .. 4.5 S (1 + 4/n) of the median (S = 1.4826 MAD), corrected for what that cuts
// off, and moderated over all metrics; bad nodes otherwise widen the limit and hide each other. A node is screened by
// one value and accused by the median of retests alone, because no fleet is large enough to know the tail of one value.
// Simulated in decisions/acceptance.md 0315.

#pragma once

#include "stats/difference.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace assay::decide {

struct FleetRule {
    double screen = 0.01;  ///< of screening a healthy node, each metric
    double accuse = 0.001; ///< of accusing a healthy node, all metrics together
    std::size_t retests = 9;
    double power = 0.99; ///< of finding a bad node, for slowdowns
};

/// Median and variance of the good nodes.
struct FleetLevel {
    std::size_t nodes = 0;
    std::size_t left_out = 0; ///< too far from the median to count
    double center = stats::unknown;
    stats::VarianceEstimate variance{.variance = stats::unknown, .degrees = 0};
};
FleetLevel fleet_level(stats::Values logs);

/// The square root of a variance, and its 95% interval by chi-squared.
struct DeviationInterval {
    double deviation = stats::unknown;
    double low = stats::unknown;
    double high = stats::unknown;
};
DeviationInterval deviation_interval(const stats::VarianceEstimate& variance,
                                     double confidence = 0.95);

/// k(level) = t(1 - level, degrees) sqrt(1 + pi / (2 nodes)): how many standard deviations below the median of so many
/// nodes a value of a healthy node is with this probability.
double fleet_factor(double level, double degrees, std::size_t nodes);

/// Distances below the median, of logarithms.
struct FleetBounds {
    double screen = stats::unknown;
    double accuse = stats::unknown;       ///< of the median of the retests, or of the node itself
    double sd_of_value = stats::unknown;  ///< of healthy nodes' single values
    double sd_of_median = stats::unknown; ///< of medians of retests
};
/// `variance`: of single values, moderated. `noise`: the part of it that another time would change.
FleetBounds fleet_bounds(const stats::VarianceEstimate& variance, double noise, std::size_t nodes,
                         std::size_t metrics, const FleetRule& rule = {});
/// The smallest slowdown, relative, that is found with `power` by screening and retests.
double fleet_slowdown(const FleetBounds& bounds, std::size_t nodes, const FleetRule& rule = {});
/// The probability that a node that is slower by this passes, at most.
double fleet_false_accept(const FleetBounds& bounds, double slowdown);

/// Nodes, all of them good, whose smallest value is below that of a share 1 - `level` of all with this confidence,
/// whatever the distribution (Wilks 1941).
std::size_t nodes_without_distribution(double level, double confidence = 0.95);
/// The order statistic (1: the smallest) of so many good nodes that is such a bound; nothing where they are too few.
std::optional<std::size_t> rank_without_distribution(std::size_t nodes, double level,
                                                     double confidence = 0.95);

// --- where variance comes from ---------------------------------------------------------------------

/// A value and the groups it is in, the largest first: node, device, day, run.
struct Nested {
    std::vector<std::uint32_t> groups;
    double value = 0;
};
/// The variance within each kind of group but not within the next smaller one, the largest last: between values of a
/// run, runs of a day, days, devices, nodes. By the moments of a nested analysis of variance. No degrees: unknown.
std::vector<stats::VarianceEstimate> nested_variances(std::span<const Nested> values);

// --- plans of two parties -----------------------------------------------------------------------------

/// The smallest number of failures to allow among so many trials, each failing with probability `each`, so that more
/// happen with a probability of at most `risk`.
std::size_t allowed_failures(std::size_t trials, double each, double risk);
/// Probability of at most so many failures.
double probability_of_at_most(std::size_t failures, std::size_t trials, double each);

/// A test of how often something fails (Poisson): as short as both risks allow.
struct ReliabilityPlan {
    std::size_t allowed = 0;
    double length = 0; ///< in promised times between failures, all nodes together
};
/// `ratio`: the promised time between failures over the one that is not acceptable, above 1. The vendor's risk is that
/// a system that keeps the promise fails, the buyer's that one at the unacceptable time passes. Nothing for a ratio so
/// near to 1 that more than 1000 failures are needed.
std::optional<ReliabilityPlan> reliability_plan(double ratio, double vendor_risk,
                                                double buyer_risk);

} // namespace assay::decide
