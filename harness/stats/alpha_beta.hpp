// SPDX-License-Identifier: Apache-2.0
//
// The cost of a message: latency plus size over bandwidth (Hockney 1994, Parallel Computing 20, 389-398),
// with other parameters where a library changes its protocol: short messages are sent eagerly, long ones
// after a rendezvous. The breaks are found from the times.
//
// Sizes span nine decades, so errors are relative: 3% of a microsecond counts as 3% of a second.
// Intervals by the delta method; their coverage: decisions/collectives.md 0185.

#pragma once

#include "stats/interval.hpp"

#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace assay::stats {

// --- least squares -------------------------------------------------------------------------------
// Non-negative least squares of up to four parameters: few enough to try every choice of the parameters
// that are not 0, so the answer is exact.

inline constexpr std::size_t most_terms = 4;
/// The factors of the parameters; 0 for those that a model does not have.
using Terms = std::array<double, most_terms>;
using TermMatrix = std::array<Terms, most_terms>;

double product(const Terms& a, const Terms& b);
Terms product(const TermMatrix& matrix, const Terms& vector);

/// Sums over rows: terms * parameters = value.
struct Normal {
    TermMatrix squares{};
    Terms values{};
    double total = 0; ///< of the squares of the values

    /// Both sides divided by `scale`: errors count relative to it.
    void add(const Terms& terms, double value, double scale);
};

/// Inverse over the terms whose bit is in `kept`; those that depend on earlier ones are left out, and
/// their rows and columns are 0 (a generalised inverse).
TermMatrix inverse_of(const TermMatrix& matrix, unsigned& kept);

struct Solution {
    Terms value{};
    double squares = std::numeric_limits<double>::infinity(); ///< of what is left
};
Solution solve_not_negative(const Normal& sums);

// -------------------------------------------------------------------------------------------------

/// One measured time. `terms` holds an entry for each model that may explain it: the plain one is
/// {{1, size}}, whose parameters are a latency and the seconds of a byte; an algorithm of several
/// messages has their number and bytes instead. All points of a fit have the same models, in one order.
struct CostPoint {
    double size; ///< bytes: the axis of the segments
    double seconds;
    std::vector<Terms> terms;
    /// Standard error of the logarithm of `seconds`, by the measurement's own interval; 0 where unknown.
    double log_error = 0;
};

/// Parameters of one model on one segment.
struct CostModel {
    std::size_t model = 0; ///< index into CostPoint::terms
    Terms value{};
    TermMatrix covariance{};  ///< of the parameters, over the square of CostFit::spread
    double squares = 0;       ///< sum of the squares of relative errors
    Terms scale{};            ///< the largest of each term among the points
    std::vector<Terms> basis; ///< orthonormal: the directions of terms / scale that points lie in
};

struct CostSegment {
    double from; ///< smallest size measured on it
    double to;   ///< largest
    std::size_t points = 0;
    /// The best model, then those that the points do not exclude, the likelier first.
    std::vector<CostModel> models;
};

struct CostFit {
    std::vector<CostSegment> segments; ///< in order of size; none if there was nothing to fit
    double spread = 0;                 ///< standard deviation of a point's relative error
    double degrees = 0;                ///< of freedom of `spread`; intervals are NaN with none
    /// Standard error common to all points, because one process measured them: it is in their own
    /// intervals, and the scatter about a fit does not show it.
    double shared = 0;
};

/// Points whose size or time is not positive and finite do not count. With `most_segments` 1 breaks are not
/// searched for.
CostFit fit_cost(std::span<const CostPoint> points, std::size_t most_segments = 4);

/// The segment of a size, for a fit that has one: between two the nearer by ratio, outside the outermost.
const CostSegment& segment_of(const CostFit& fit, double size);

/// A parameter and its 95% interval, which does not go below 0.
Estimate parameter_of(const CostFit& fit, const CostModel& model, std::size_t term);

/// The time for these terms, and the range of another run's time in 95 of 100 cases. All NaN if the
/// points do not determine it: times within a node say nothing about a network.
Estimate predict(const CostFit& fit, const CostModel& model, const Terms& terms);

} // namespace assay::stats
