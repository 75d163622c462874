// SPDX-License-Identifier: Apache-2.0

#include "stats/difference.hpp"

#include "stats/student.hpp"

#include <cmath>

namespace assay::stats {
namespace {

double sum_of_squares(Values values) {
    return values.size() < 2 ? 0 : variance(values) * static_cast<double>(values.size() - 1);
}
double degrees_of(Values values) {
    return values.size() < 2 ? 0 : static_cast<double>(values.size() - 1);
}

/// Two-sided p value and the interval about `log_ratio`. If all values agree to the last digit
/// the standard error is 0: then any difference is certain.
Difference tested(double log_ratio, double standard_error, double degrees, double confidence) {
    Difference result{.log_ratio = log_ratio,
                      .standard_error = standard_error,
                      .degrees = degrees,
                      .p = unknown,
                      .low = unknown,
                      .high = unknown};
    if (!std::isfinite(log_ratio) || !std::isfinite(standard_error) || !(degrees > 0))
        return result;
    if (standard_error == 0) {
        result.p = log_ratio == 0 ? 1 : 0;
        result.low = result.high = log_ratio;
        return result;
    }
    const double t = std::abs(log_ratio) / standard_error;
    result.p = std::isfinite(t) ? 2 * student_above(t, degrees) : 0;
    const double half = student_factor(degrees, confidence) * standard_error;
    result.low = log_ratio - half;
    result.high = log_ratio + half;
    return result;
}

} // namespace

VarianceEstimate own_variance(Values logs) { return pooled_variance(logs, {}); }

VarianceEstimate pooled_variance(Values log_a, Values log_b) {
    const double degrees = degrees_of(log_a) + degrees_of(log_b);
    const double squares = sum_of_squares(log_a) + sum_of_squares(log_b);
    if (degrees == 0 || !std::isfinite(squares)) return {.variance = unknown, .degrees = 0};
    return {.variance = squares / degrees, .degrees = degrees};
}

Difference difference(Values log_a, Values log_b, const VarianceEstimate& variance,
                      double confidence) {
    const double share =
        1 / static_cast<double>(log_a.size()) + 1 / static_cast<double>(log_b.size());
    return tested(mean(log_b) - mean(log_a), std::sqrt(variance.variance * share), variance.degrees,
                  confidence);
}

Difference paired_difference(Values log_differences, const VarianceEstimate& variance,
                             double confidence) {
    const auto count = static_cast<double>(log_differences.size());
    return tested(mean(log_differences), std::sqrt(variance.variance / count), variance.degrees,
                  confidence);
}

} // namespace assay::stats
