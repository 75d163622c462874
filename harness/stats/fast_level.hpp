// SPDX-License-Identifier: Apache-2.0
//
// The performance a machine can reach, from replicas some of which were slowed unseen: noise from neighbours only slows
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
};

struct FastLevel {
    std::vector<std::size_t> kept; ///< numbers of the replicas on it, the fastest first
    Combined combined;             ///< of these
    double slow; ///< geometric mean of the others, a lone faster one included; NaN without any
};

/// The fastest level on which two replicas or more agree; a lone fast replica is luck, of a cache or a boost, and no
/// level. A level is a replica and, in order of their values, those within three standard deviations of the mean of the
/// faster ones on it. The deviation is the prior moderated by these, and three are as many as Student's t has at the
/// same probability: a prior that is too small cuts nothing off. Of two replicas both are kept: nothing says which is
/// the odd one. Where no two agree, all are kept. Nothing (NaN, Scope::none) under the conditions of combine_replicas.
///
/// `quiet`: a flag for each replica where something outside slowed others, which is why these scatter. Then a quiet one
/// is a level by itself, and where no two agree the fastest is: it proves that much.
FastLevel fast_level(std::span<const Estimate> replicas, const ReplicaPrior& prior,
                     bool higher_is_better, const std::vector<bool>& quiet = {});

/// Geometric mean of replicas on one level. The interval is Student's t with the variance moderated by the prior, or
/// that of the replicas' own intervals if it is wider; a single replica has none.
Combined combine_level(std::span<const Estimate> replicas, const ReplicaPrior& prior);

/// Half the width, relative, of the 95% interval that so many replicas give when they differ as expected.
double expected_half_width(const ReplicaPrior& prior, std::size_t replicas);

/// Standard deviations of logarithms that earlier runs of one case on one machine show.
struct OwnNoise {
    double between_replicas; ///< pooled over the runs, of the replicas at their fast level
    double between_runs;     ///< of the runs' fast levels
    double degrees;          ///< of freedom of between_runs
};

/// `runs`: the times of the undisturbed replicas of each. Nothing below five runs. The cut is made with `expected`, the
/// deviation of the benchmark's kind, and not with what earlier runs showed, so that no estimate feeds on itself.
/// Replicas agree by chance or by the clock's resolution: at least a quarter of `expected`.
std::optional<OwnNoise> own_noise(std::span<const std::vector<double>> runs, double expected);

} // namespace assay::stats
