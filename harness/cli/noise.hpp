// SPDX-License-Identifier: Apache-2.0
//
// The noise profile in words: what was seen, and what it means for measurements here.

#pragma once

#include "doctor/noise.hpp"
#include "json/json.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace assay::cli {

/// What the noise alone makes of a figure that `replicas` processes measure for that long each.
struct NoiseExpectation {
    const char* suite;
    std::size_t replicas;
    double window_seconds;
    stats::Expectation arithmetic;
    stats::Expectation memory;
};
std::vector<NoiseExpectation> noise_expectations(const harness::NoiseProfile& profile);

/// A name and a text, line by line; the histogram is one of them.
struct NoiseLine {
    std::string name;
    std::string text;
};
std::vector<NoiseLine> noise_lines(const harness::NoiseProfile& profile);
json::Value noise_json(const harness::NoiseProfile& profile);

} // namespace assay::cli
