// SPDX-License-Identifier: Apache-2.0
//
// Non-negative least squares of up to four parameters: few enough to try every choice of the parameters
// that are not 0, so the answer is exact.

#pragma once

#include <array>
#include <cstddef>
#include <limits>

namespace assay::stats {

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

} // namespace assay::stats
