// SPDX-License-Identifier: Apache-2.0
//
// Does a machine reach a limit? A sequential test with two levels. PASS must hold for every check, so each has the full
// level (intersection-union test: Berger 1982, Technometrics 24). FAIL needs one check, so its level is shared by all of
// them (Holm 1979). Data are looked at after 5, 10, 20 and 40 replicas only, and the looks share both levels, so that
// repeating until it passes does not help. Simulated in decisions/acceptance.md 0314.

#pragma once

#include "stats/difference.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <span>

namespace assay::stats {

inline constexpr std::array<std::size_t, 4> acceptance_looks{5, 10, 20, 40};

struct AcceptanceLevels {
    double pass = 0.01;  ///< of passing a machine at its limit, each check
    double fail = 0.001; ///< of failing a healthy machine, all its checks together
};

/// A replica: the logarithm of value over limit, its sign such that above 0 is good.
struct Margin {
    double log_ratio;
    std::size_t run; ///< replicas of one run have the same number
};

/// What is known of the noise beforehand; standard deviations of logarithms.
struct AcceptanceNoise {
    VarianceEstimate replica{.variance = 0,
                             .degrees = 0};            ///< between replicas; no degrees: unknown
    VarianceEstimate run{.variance = 0, .degrees = 0}; ///< between runs at different times; 0: none
    double limit = 0; ///< variance of the limit itself, where it was measured beside the values
};

struct Acceptance {
    std::size_t looks = 0; ///< that there were enough replicas for
    std::size_t count =
        0; ///< replicas behind the values below: of the last look, or all where there was none
    double mean = unknown; ///< logarithm of value over limit
    double low = unknown;  ///< 95% interval of the mean
    double high = unknown;
    double standard_error = unknown;
    double degrees = 0;
    /// The smallest over the looks, times their planned number: of a machine at its limit or below (small: it is above),
    /// and of one at its limit or above (small: it is below). 1 where no look was possible.
    double p_pass = 1;
    double p_fail = 1;
};

/// `margins` in the order of measurement.
Acceptance acceptance(std::span<const Margin> margins, const AcceptanceNoise& noise);

/// The same where neighbours of a shared host may slow a run as a whole: FAIL needs every one of three or more runs
/// that began at least `apart` seconds after the one before. `started`: seconds, by Margin::run. p_fail is 1 with fewer.
Acceptance acceptance_on_shared_host(std::span<const Margin> margins,
                                     std::span<const double> started, const AcceptanceNoise& noise,
                                     double apart = 3600);

/// Replicas that would decide with a probability of 90% if the true margin is as estimated, at this level; nothing where
/// that is more than the last look has.
std::optional<std::size_t> replicas_to_decide(const Acceptance& found, double level);

/// How far a machine must be from its limit, relative (0.03 is 3%), to be decided on with a probability of `power` after
/// so many replicas of one run, at this level: below it to FAIL, above it to PASS.
double decided_distance(const AcceptanceNoise& noise, std::size_t replicas, double level,
                        double power = 0.99);
} // namespace assay::stats
