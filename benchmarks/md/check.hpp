// SPDX-License-Identifier: Apache-2.0
//
// Was a run right? What is compared, and the bounds with where they come from.

#pragma once

#include "reference.hpp"

#include <assay/benchmark.hpp>

#include <cstddef>
#include <vector>

namespace assay::md {

/// Steps of a checked run; the bounds hold for this number.
inline constexpr int run_steps = 100;

/// Quantities that may change over a run.
struct Tolerance {
    double energy = 0;   ///< per atom
    double momentum = 0; ///< each component of the total
};

/// `complete`: lists never miss a pair.
Tolerance tolerance_of(std::size_t atoms, double unit_roundoff, bool complete);

/// Compares the end of a run with its start and with forces computed anew. The error of the Check is
/// the largest deviation over its own bound, and 1 is what still passes.
Check check_run(const Particles& start, const Totals& totals, const Particles& end,
                double unit_roundoff, bool complete, int threads);

/// The same with forces that were computed elsewhere, as all_forces() does.
Check check_run(const Particles& start, const Totals& totals, const Particles& end,
                const std::vector<ForceReference>& expected, double unit_roundoff, bool complete,
                int threads);

} // namespace assay::md
