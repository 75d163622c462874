// SPDX-License-Identifier: Apache-2.0
//
// Student's t distribution; with infinite degrees of freedom the normal one. `degrees` above 0, probabilities between 0
// and 1, both exclusive.

#pragma once

namespace assay::stats {

/// The probability of a value of at most `t`.
double student_below(double t, double degrees);
/// Of one above it, exact far out where 1 - student_below() is 0.
inline double student_above(double t, double degrees) { return student_below(-t, degrees); }

/// student_below() of it is `p`.
double student_quantile(double p, double degrees);

/// Half a two-sided interval, in standard errors: 1.96 for 0.95 and infinite degrees.
double student_factor(double degrees, double confidence);

} // namespace assay::stats
