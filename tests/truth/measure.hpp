// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "child.hpp"
#include "figures.hpp"
#include "json/json.hpp"
#include "recording.hpp"

#include <filesystem>
#include <map>
#include <string>
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
    std::size_t acceptances = 10; ///< healthy and slowed ones of each case
};

/// JSON printed by a program; its exit code is 0 or 1.
json::Value answer_of(const std::vector<std::string>& arguments, const peers::Variables& variables);

/// One series of a comparison: what was said of it, and its pairs.
struct Seen {
    std::string outcome = "missing";
    double ratio = 0;
    double detectable = 0;
    Recorded recorded;
};
using Comparison = std::map<std::string, Seen>; ///< by "benchmark library what"
bool is_called(const Seen& seen);
/// Compares variant A of a suite in tests/truth with `second` ("B: SLOWED_BY=0.03").
Comparison compare(const Measurement& measurement, const std::string& suite,
                   const std::string& second, std::size_t pairs,
                   const std::filesystem::path& folder);

struct Measured {
    std::vector<Figure> figures;
    std::vector<Recorded> recorded; ///< of the settings that are the same
};

/// Throws std::runtime_error where a program fails.
Measured measure(const Measurement& measurement);

/// Runs quick on the quiet machine and under planted loads, compares all runs with each other, and finds a planted
/// slowdown under load: some 20 minutes, nothing else running.
std::vector<Figure> measure_busy(const Measurement& measurement);

/// Acceptance runs of single cases, healthy and slowed, each judged by itself: some ten minutes, nothing else running.
std::vector<Figure> measure_acceptance(const Measurement& measurement);

} // namespace assay::truth
