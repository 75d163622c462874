// SPDX-License-Identifier: Apache-2.0
//
// Least squares of up to four parameters, none of them negative. Small enough that every choice of the
// parameters that are not 0 can be tried, so the answer is exact.

#pragma once

#include <array>
#include <cstddef>
#include <limits>

namespace assay::stats {

inline constexpr std::size_t most_terms = 4;
/// What the parameters are multiplied with; those that a model does not have are 0.
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

/// Inverse over the terms whose bit is in `kept`; those that depend on earlier ones drop out of it, and
/// their rows and columns are 0 (a generalised inverse then).
TermMatrix inverse_of(const TermMatrix& matrix, unsigned& kept);

struct Solution {
    Terms value{};
    double squares = std::numeric_limits<double>::infinity(); ///< of what is left
};
Solution solve_not_negative(const Normal& sums);

} // namespace assay::stats
