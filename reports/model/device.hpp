// SPDX-License-Identifier: Apache-2.0
//
// Devices in words: what they are, and how they were while a case was measured on one.

#pragma once

#include "record/model.hpp"

#include <string>
#include <vector>

namespace assay::report {

/// "2 x NVIDIA H200 (140 GiB)": a text for each kind.
std::vector<std::string> device_kinds(const record::Machine& machine);

/// "device while measuring: 640 W (at most 690 W), 1.76 GHz, 61 °C, slowed by its power limit for 1.2 s";
/// empty where nothing is known.
std::string device_in_words(const record::Case& c);

} // namespace assay::report
