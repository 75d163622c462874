// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace assay::cli {

/// Verbs of assay-report, which people may type after `assay` as well.
inline constexpr std::array<std::string_view, 7> report_verbs{
    "report", "compare", "history", "predict", "import", "export", "verify"};
/// Replaces this program by assay-report, which lies beside it, with the same arguments. Returns only
/// when that fails.
ExitCode hand_over(const std::vector<std::string>& arguments);
bool is_report_verb(std::string_view name);

} // namespace assay::cli
