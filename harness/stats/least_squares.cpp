// SPDX-License-Identifier: Apache-2.0
#include "stats/least_squares.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace assay::stats {
namespace {

// Of a diagonal that was 1: less is the rounding error of a dependent column.
constexpr double nothing_left = 1e-9;

bool has(unsigned choice, std::size_t term) { return (choice >> term & 1U) != 0; }

TermMatrix scaled(const TermMatrix& matrix, const Terms& scale) {
    TermMatrix out{};
    for (std::size_t i = 0; i < most_terms; ++i)
        for (std::size_t j = 0; j < most_terms; ++j) out[i][j] = matrix[i][j] * scale[i] * scale[j];
    return out;
}

/// Subtracts the pivot's row from the others, in both matrices.
void eliminate(TermMatrix& work, TermMatrix& inverse, std::size_t pivot, unsigned kept) {
    const double factor = 1 / work[pivot][pivot];
    for (std::size_t j = 0; j < most_terms; ++j) {
        work[pivot][j] *= factor;
        inverse[pivot][j] *= factor;
    }
    for (std::size_t i = 0; i < most_terms; ++i) {
        if (i == pivot || !has(kept, i)) continue;
        const double off = work[i][pivot];
        for (std::size_t j = 0; j < most_terms; ++j) {
            work[i][j] -= off * work[pivot][j];
            inverse[i][j] -= off * inverse[pivot][j];
        }
    }
}

} // namespace

double product(const Terms& a, const Terms& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

Terms product(const TermMatrix& matrix, const Terms& vector) {
    Terms out{};
    for (std::size_t i = 0; i < most_terms; ++i) out[i] = product(matrix[i], vector);
    return out;
}

void Normal::add(const Terms& terms, double value, double scale) {
    for (std::size_t i = 0; i < most_terms; ++i) {
        values[i] += terms[i] / scale * (value / scale);
        for (std::size_t j = 0; j < most_terms; ++j)
            squares[i][j] += terms[i] / scale * (terms[j] / scale);
    }
    total += value / scale * (value / scale);
}

TermMatrix inverse_of(const TermMatrix& matrix, unsigned& kept) {
    // Gauss-Jordan on the matrix with a diagonal of 1, because terms are counts and bytes.
    Terms scale{};
    for (std::size_t i = 0; i < most_terms; ++i)
        scale[i] = matrix[i][i] > 0 ? 1 / std::sqrt(matrix[i][i]) : 0;
    TermMatrix work = scaled(matrix, scale);
    TermMatrix inverse{};
    for (std::size_t i = 0; i < most_terms; ++i) inverse[i][i] = 1;
    for (std::size_t pivot = 0; pivot < most_terms; ++pivot) {
        if (!has(kept, pivot)) continue;
        if (work[pivot][pivot] > nothing_left)
            eliminate(work, inverse, pivot, kept);
        else
            kept &= ~(1U << pivot);
    }
    for (std::size_t i = 0; i < most_terms; ++i)
        if (!has(kept, i)) scale[i] = 0;
    return scaled(inverse, scale);
}

Solution solve_not_negative(const Normal& sums) {
    Solution best{.squares = sums.total};
    for (unsigned choice = 1; choice < (1U << most_terms); ++choice) {
        unsigned kept = choice;
        const TermMatrix inverse = inverse_of(sums.squares, kept);
        if (kept != choice) continue;
        const Terms value = product(inverse, sums.values);
        if (std::ranges::any_of(value, [](double v) { return v < 0; })) continue;
        const double squares = std::max(0.0, sums.total - product(value, sums.values));
        if (squares < best.squares) best = {.value = value, .squares = squares};
    }
    return best;
}

} // namespace assay::stats
