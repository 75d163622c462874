// SPDX-License-Identifier: Apache-2.0
//
// The version of assay, from CMakeLists.txt, and its day: printed by the programs and recorded in results.

#pragma once

#include <string_view>

namespace assay {

std::string_view version();
/// "2026-01-31": the day of the sources that were built, by UTC; no run can be older. Empty: not known.
std::string_view built();

} // namespace assay
