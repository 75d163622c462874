// SPDX-License-Identifier: Apache-2.0
//
// Does a machine reach a limit? PASS and FAIL ask different evidence, because what comes from outside only slows: a
// value above the limit shows what the machine can do, whatever disturbed it, and one below shows it only undisturbed.
//
// PASS, of the newest run alone: two replicas clear the limit by far, or a sequential test says so. It must hold for
// every check, so each has the full level (intersection-union test: Berger 1982, Technometrics 24).
// FAIL, of undisturbed replicas: of all runs together, or of any run alone, so that good runs do not outvote a bad one.
// It needs one check, so its level is shared by all of them (Holm 1979).
// The looks at the data share each level, so that repeating does not help. Simulated by `bench-stats --limits`;
// figures in decisions/acceptance.md 0314.

#pragma once

#include "stats/difference.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <span>

namespace assay::decide {

/// Replicas after which FAIL is tested, and PASS.
inline constexpr std::array<std::size_t, 4> fail_looks{5, 10, 20, 40};
inline constexpr std::array<std::size_t, 6> pass_looks{2, 3, 5, 10, 20, 40};

struct AcceptanceLevels {
    double pass = 0.01;  ///< of passing a machine at its limit, each check, in ten runs together
    double fail = 0.001; ///< of failing a healthy machine, all its checks together
};

/// A replica: the logarithm of value over limit, its sign such that above 0 is good.
struct Margin {
    double log_ratio;
    std::size_t run; ///< replicas of one run have the same number; the newest has the highest
    bool disturbed = false; ///< from outside the node
};

/// Prior knowledge of the noise; standard deviations of logarithms.
struct AcceptanceNoise {
    stats::VarianceEstimate replica{.variance = 0,
                                    .degrees = 0}; ///< between replicas; no degrees: unknown
    stats::VarianceEstimate run{.variance = 0,
                                .degrees = 0}; ///< between runs at different times; 0: none
    double limit = 0; ///< variance of the limit itself, where it was measured beside the values
};

struct Acceptance {
    std::size_t looks = 0; ///< that there were enough replicas for
    std::size_t count =
        0; ///< replicas behind the values below: of the last look, or all where there was none
    double mean = stats::unknown; ///< logarithm of value over limit
    double low = stats::unknown;  ///< 95% interval of the mean
    double high = stats::unknown;
    double standard_error = stats::unknown;
    double fixed_variance =
        0; ///< of the standard error: what more replicas of these runs do not reduce
    double degrees = 0;
    /// The smallest over the looks, times their planned number: of a machine at its limit or below (small: it is
    /// above), and of one at its limit or above (small: it is below). 1 where no look was possible.
    double p_pass = 1;
    double p_fail = 1;
};

/// One sequential test of all `margins`, in the order of measurement, at these looks.
Acceptance acceptance(std::span<const Margin> margins, const AcceptanceNoise& noise,
                      std::span<const std::size_t> looks = fail_looks);

/// Two replicas of one run clear the limit by more than five deviations, and by 1%. The deviation is the root of both
/// variances; that between replicas is raised by the scatter of the better half.
bool clears(std::span<const Margin> margins, const AcceptanceNoise& noise);

struct PassTest {
    bool clears =
        false; ///< the newest run clears the limit, and no run has an undisturbed replica below it: PASS
    bool below = false;    ///< an undisturbed replica of the newest run is below the limit
    Acceptance sequential; ///< of the newest run
    double p_pass = 1;     ///< of the sequential test, in ten runs together
};
/// `margins` of all runs, also disturbed ones. Where neighbours of a shared host may speed
/// up a run as a whole by being idle (`started` has the seconds at which each run began),
/// the sequential test needs the last three runs an hour apart.
PassTest pass_test(std::span<const Margin> margins, const AcceptanceNoise& noise,
                   std::span<const double> started = {});

/// `margins` of all runs, undisturbed ones alone. The values are those of all together; p_fail is the least of all
/// together and of each run alone, times their number.
Acceptance fail_test(std::span<const Margin> margins, const AcceptanceNoise& noise);
/// The same where neighbours of a shared host may slow a run as a whole: FAIL needs three or more runs in a row that
/// began at least `apart` seconds after the one before. `started`: seconds, by Margin::run. p_fail is 1 with fewer.
Acceptance fail_test_on_shared_host(std::span<const Margin> margins,
                                    std::span<const double> started, const AcceptanceNoise& noise,
                                    double apart = 3600);

/// Replicas that would decide with a probability of 90% if the true margin is as estimated, at this level; nothing
/// where that is more than the last look has.
std::optional<std::size_t> replicas_to_decide(const Acceptance& found, double level,
                                              std::span<const std::size_t> looks = fail_looks);

/// How far a machine must be from its limit, relative (0.03 is 3%), to be decided on with a probability of `power`
/// after so many replicas of one run, at this level: below it to FAIL, above it to PASS.
double decided_distance(const AcceptanceNoise& noise, std::size_t replicas, double level,
                        double power = 0.99);
} // namespace assay::decide
