// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "figures.hpp"
#include "recording.hpp"

#include <filesystem>
#include <vector>

namespace assay::truth {

struct Measurement {
    std::filesystem::path build;  ///< holds bin/, lib/assay/ and tests/
    std::filesystem::path suites; ///< holds twelve.json and planted.json
    std::filesystem::path out;    ///< where results go
    std::size_t comparisons = 20; ///< of two settings that are the same
    std::size_t pairs = 5;        ///< of each of these
    double seconds = 1200;        ///< none begins that would not end in time
    std::size_t planted = 3;      ///< comparisons with 3% planted in all series, of ten pairs each
};

struct Measured {
    std::vector<Figure> figures;
    std::vector<Recorded> recorded; ///< of the settings that are the same
};

/// Throws std::runtime_error where a program fails.
Measured measure(const Measurement& measurement);

} // namespace assay::truth
