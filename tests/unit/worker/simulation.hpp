// SPDX-License-Identifier: Apache-2.0
//
// Is a 95% interval a 95% interval? Series of known mean, measured by the real engine.

#pragma once

#include "worker/engine.hpp"

#include <functional>
#include <memory>
#include <random>

namespace assay::measure {

/// How much slower than a second a call in the next batch is, and is expected to be; a function of the
/// time measured so far. Made anew for every run.
struct Draw {
    double value;
    double expected = 1;
};
using Series = std::function<Draw(double measured_seconds)>;
using MakeSeries = std::function<Series(std::uint64_t seed)>;

/// Skewed like real times: a gamma distribution of mean 1.
MakeSeries independent(double deviation);
/// A tenth of the batches is late by an exponential time: interrupts.
MakeSeries spiky(double lateness);
/// Neighbouring batches are correlated by `correlation`; `deviation` of a single batch.
MakeSeries autoregressive(double correlation, double deviation);
/// Two modes, the slow one `gap` above the fast one, each lasting `dwell` batches on average.
MakeSeries two_mode(double gap, double dwell);
/// Slower in proportion to the time measured: by `drift` at the end of `span` seconds, about a mean of 1.
MakeSeries drifting(double drift, double span, double deviation);

struct Coverage {
    double ok = 0;          ///< share of runs with status ok
    double covered_ok = 0;  ///< share of the ok runs whose interval holds the true mean, 1
    double covered_all = 0; ///< the same of all runs
    double honest = 0;      ///< share of runs that were covered or called unstable
    double mean_batches = 0;
    double mean_half_width = 0; ///< relative, of the ok runs
};
Coverage simulate(const MakeSeries& make, const Protocol& protocol, int runs);

/// The same of published figures: three processes each, combined. ok: all three were.
Coverage simulate_published(const MakeSeries& make, const Protocol& protocol, int runs);

} // namespace assay::measure
