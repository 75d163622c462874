// SPDX-License-Identifier: Apache-2.0
//
// Figures of the catalogue in words, by their paths.

#pragma once

#include "json/json.hpp"

#include <string>
#include <string_view>

namespace assay::report {

/// "B/s"; empty for counts and texts.
std::string_view unit_of_figure(std::string_view path);
/// "Tensor peak, bf16": a name where the path, or what it begins with, has one.
std::string name_of_figure(std::string_view path);
/// "3.35 TB/s", "192 GiB".
std::string figure_in_words(std::string_view path, const json::Value& value);

} // namespace assay::report
