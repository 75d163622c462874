// SPDX-License-Identifier: Apache-2.0
//
// Whether a second level cache has two partitions, from the latency between each multiprocessor and each line: a line
// is near for one half of the multiprocessors and far for the others. Pure, with unit tests.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace assay::latency {

struct Partitions {
    bool are_two = false;
    double near = 0; ///< means; equal where there are not two
    double far = 0;
    double far_share = 0;      ///< share of all pairs
    std::vector<bool> rows;    ///< side of each multiprocessor
    std::vector<bool> columns; ///< side of each line; near where both are equal
};

namespace detail {

/// mean(|x|)^2 / mean(x^2): 1 where all are as far from 0, 0.75 where they are spread evenly, 0.64 for noise.
inline double concentration(std::span<const double> x) {
    double sizes = 0;
    double squares = 0;
    for (const double each : x) {
        sizes += std::abs(each);
        squares += each * each;
    }
    return squares > 0 ? sizes * sizes / squares / static_cast<double>(x.size()) : 0;
}

} // namespace detail

/// Takes values[row * columns + column] in any unit. Rows differ by their positions, and so do columns: their means are
/// taken away. Two partitions leave one amount with the sign of the row times the sign of the column: the largest
/// singular pair of the rest, found by power iteration. There are two if it explains half of the variance, its entries
/// are of one size, and near and far differ by 3%.
inline Partitions partitions_of(std::span<const float> values, std::size_t columns) {
    constexpr std::size_t fewest = 4;
    constexpr double least_explained = 0.5;
    constexpr double least_concentration = 0.9;
    constexpr double least_difference = 0.03;
    const std::size_t rows = values.size() / columns;
    std::vector<double> row_means(rows);
    std::vector<double> column_means(columns);
    double mean = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        row_means[i / columns] += values[i] / static_cast<double>(columns);
        column_means[i % columns] += values[i] / static_cast<double>(rows);
        mean += values[i] / static_cast<double>(values.size());
    }
    Partitions found{.near = mean,
                     .far = mean,
                     .rows = std::vector<bool>(rows),
                     .columns = std::vector<bool>(columns)};
    if (rows < fewest || columns < fewest) return found;

    const auto left = [&](std::size_t row, std::size_t column) {
        return values[row * columns + column] - row_means[row] - column_means[column] + mean;
    };
    double all = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
        all += left(i / columns, i % columns) * left(i / columns, i % columns);
    // Begins with a row, which has a part of every pair that it takes part in.
    std::vector<double> of_column(columns);
    std::vector<double> of_row(rows);
    for (std::size_t j = 0; j < columns; ++j) of_column[j] = left(0, j);
    double explained = 0;
    for (int round = 0; round < 20; ++round) {
        double size = 0;
        for (std::size_t i = 0; i < rows; ++i) {
            of_row[i] = 0;
            for (std::size_t j = 0; j < columns; ++j) of_row[i] += left(i, j) * of_column[j];
            size += of_row[i] * of_row[i];
        }
        if (size <= 0) return found;
        explained = 0;
        for (double& each : of_row) each /= std::sqrt(size);
        for (std::size_t j = 0; j < columns; ++j) {
            of_column[j] = 0;
            for (std::size_t i = 0; i < rows; ++i) of_column[j] += left(i, j) * of_row[i];
            explained += of_column[j] * of_column[j];
        }
    }

    double near = 0;
    double far = 0;
    std::size_t far_pairs = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const bool is_far = of_row[i / columns] * of_column[i % columns] > 0;
        (is_far ? far : near) += values[i];
        far_pairs += is_far ? 1 : 0;
    }
    if (far_pairs == 0 || far_pairs == values.size()) return found;
    near /= static_cast<double>(values.size() - far_pairs);
    far /= static_cast<double>(far_pairs);
    if (explained < least_explained * all || detail::concentration(of_row) < least_concentration ||
        detail::concentration(of_column) < least_concentration ||
        far - near < least_difference * mean)
        return found;
    found.are_two = true;
    found.near = near;
    found.far = far;
    found.far_share = static_cast<double>(far_pairs) / static_cast<double>(values.size());
    for (std::size_t i = 0; i < rows; ++i) found.rows[i] = of_row[i] > 0;
    for (std::size_t j = 0; j < columns; ++j) found.columns[j] = of_column[j] <= 0;
    return found;
}

/// Columns by their side, and which part of them is near to each row, or far from it: all where there are not two.
struct Lists {
    struct Range {
        unsigned first;
        unsigned last;
    };
    std::vector<unsigned> columns;
    std::vector<Range> of_row;
};
inline Lists lists_of(const Partitions& found, bool far) {
    Lists lists;
    for (const bool side : {false, true})
        for (unsigned j = 0; j < found.columns.size(); ++j)
            if (found.columns[j] == side) lists.columns.push_back(j);
    const auto all = static_cast<unsigned>(lists.columns.size());
    const auto split = static_cast<unsigned>(std::ranges::count(found.columns, false));
    for (const bool side : found.rows) {
        const bool is_second = side != far;
        lists.of_row.push_back(
            {found.are_two && is_second ? split : 0, found.are_two && !is_second ? split : all});
    }
    return lists;
}

/// The mean of each row over the columns of each side: rows x sides.
inline std::vector<double> means_of(const Partitions& found, std::span<const float> values) {
    const std::size_t columns = found.columns.size();
    std::vector<double> means;
    for (std::size_t i = 0; i < found.rows.size(); ++i)
        for (std::size_t side = 0; side < (found.are_two ? 2 : 1); ++side) {
            double sum = 0;
            std::size_t count = 0;
            for (std::size_t j = 0; j < columns; ++j) {
                if (found.columns[j] != (side == 1)) continue;
                sum += values[i * columns + j];
                ++count;
            }
            means.push_back(sum / static_cast<double>(count));
        }
    return means;
}

} // namespace assay::latency
