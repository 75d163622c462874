// SPDX-License-Identifier: Apache-2.0
//
// The noise profile as text: the observations, and their meaning for measurements here.

#pragma once

#include "doctor/noise.hpp"
#include "json/json.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace assay::cli {

/// The effect of the noise alone on a value measured by `replicas` processes for that long each.
struct NoiseExpectation {
    const char* suite;
    std::size_t replicas;
    double window_seconds;
    stats::Expectation arithmetic;
    stats::Expectation memory;
};
std::vector<NoiseExpectation> noise_expectations(const harness::NoiseProfile& profile);

/// A name and a text for each line; the histogram is one of them.
struct NoiseLine {
    std::string name;
    std::string text;
};
std::vector<NoiseLine> noise_lines(const harness::NoiseProfile& profile);
json::Value noise_json(const harness::NoiseProfile& profile);

} // namespace assay::cli
