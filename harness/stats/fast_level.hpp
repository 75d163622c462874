// SPDX-License-Identifier: Apache-2.0
//
// What a machine can do, told from replicas some of which something slowed unseen: noise from neighbours only slows
// (Chen and Revels 2016, arXiv:1608.04295), so the fastest replicas that agree are the machine's own level.
// Simulated in decisions/timing.md 0291.

#pragma once

#include "stats/interval.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace assay::stats {

/// The expected standard deviation of the logarithm between replicas, worth `degrees` degrees of freedom.
struct ReplicaPrior {
    double deviation;
    double degrees;
    /// The cut trusts the deviation as if it were known, as in files of rules 1 (record/spread.hpp).
    bool is_certain = false;
};

struct FastLevel {
    Combined combined;    ///< of the kept replicas
    std::size_t kept = 0; ///< the fastest ones
    double slow;          ///< geometric mean of the others; NaN without any
};

/// The fastest replica and, in order of their values, those within three standard deviations of the mean of the
/// faster ones. The deviation is the prior moderated by the faster ones, and three are as many as Student's t has at the same
/// probability: a prior that is too small cuts nothing off. Of two replicas both are kept: nothing says which is the odd one. The interval is Student's t with
/// the variance moderated by the prior, or that of the replicas' own intervals if it is wider; a single kept one of
/// several has none. Nothing (NaN, Scope::none) under the conditions of combine_replicas.
FastLevel fast_level(std::span<const Estimate> replicas, const ReplicaPrior& prior,
                     bool higher_is_better, double confidence = 0.95);

/// Half the width, relative, of the 95% interval that so many replicas give when they differ as expected.
double expected_half_width(const ReplicaPrior& prior, std::size_t replicas,
                           double confidence = 0.95);

/// Standard deviations of logarithms that earlier runs of one case on one machine show.
struct OwnNoise {
    double between_replicas; ///< pooled over the runs, of the replicas at their fast level
    double between_runs;     ///< of the runs' fast levels
};

/// `runs`: the times of the undisturbed replicas of each. Nothing below ten runs. The cut is made with `expected`, the
/// deviation of the benchmark's kind, and not with what earlier runs showed, so that no estimate feeds on itself.
/// Replicas agree by chance or by the clock's resolution: at least a quarter of `expected`.
std::optional<OwnNoise> own_noise(std::span<const std::vector<double>> runs, double expected);

} // namespace assay::stats
