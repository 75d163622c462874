// SPDX-License-Identifier: Apache-2.0

#include "stats/student.hpp"

#include <boost/math/distributions/students_t.hpp>
#include <boost/math/policies/policy.hpp>

namespace assay::stats {
namespace {

/// In double: Boost's default, long double, takes five times as long for a 16th digit. `assay check` of 10,000 nodes
/// asks a million times.
using Student = boost::math::students_t_distribution<
    double, boost::math::policies::policy<boost::math::policies::promote_double<false>>>;

} // namespace

double student_below(double t, double degrees) { return cdf(Student{degrees}, t); }

double student_quantile(double p, double degrees) { return quantile(Student{degrees}, p); }

double student_factor(double degrees, double confidence) {
    return student_quantile(0.5 + (confidence / 2), degrees);
}

} // namespace assay::stats
