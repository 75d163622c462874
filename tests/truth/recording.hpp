// SPDX-License-Identifier: Apache-2.0
//
// Replicas of series whose two settings were the same: what machines do when nothing changed.

#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace assay::truth {

/// One series of one or more comparisons.
struct Recorded {
    std::string series;
    /// Values of both sides that took turns, relative to the series' mean; above 1 is better.
    std::vector<std::pair<double, double>> pairs;

    /// Standard deviation of the logarithms of the ratios within the pairs.
    double paired_deviation() const;
};

/// Lines `series,a,b` below a header. Throws std::runtime_error where a file is not like that.
std::vector<Recorded> read_recording(const std::filesystem::path& file);
void write_recording(const std::filesystem::path& file, const std::vector<Recorded>& recorded);

} // namespace assay::truth
