// SPDX-License-Identifier: Apache-2.0
//
// What is wrong with files of limits: bounds that no device can reach or that every device reaches, limits of another
// chip, of another precision, for nothing, out of date. A gate that is wrong by a factor of 1000 passes for years.
//
// Codes are for programs and stay as they are: unreadable, unit_missing, unit_slip (a factor of 1000 away from what the
// hardware can do), above_peak (no device can reach it), below_half (a device at half its speed passes), reached_by_all
// (so does a device that does next to nothing), neighbours_differ (limits of one chip, a factor of 3 apart), gates_differ
// (two limits for the same thing), stacked (a tolerance of a tolerance), odd_share (another share of the measured value
// than in the rest of the file), precision_differs (its name says bf16, its cases are fp16), other_chip (measured on a
// chip that it is not for), matches_nothing, expired, waiver_expired.

#pragma once

#include "document/lint.hpp"
#include "judge/limits.hpp"
#include "judge/peaks.hpp"
#include "store/collection.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::report {

struct LintOptions {
    std::optional<double> now;                     ///< seconds since 1970; the clock's otherwise
    const datasheet::Hardware* hardware = nullptr; ///< no peaks without
    const Collection* runs = nullptr;              ///< whose machines and cases limits may be for
};

/// `file`: as Limit::file has it.
struct NamedLimits {
    std::string file;
    LimitsFile limits;
};
/// In the order of files and limits.
std::vector<document::LintRow> lint(const std::vector<NamedLimits>& files,
                                    const LintOptions& options = {});

/// A file that cannot be read as limits, and why: as precisely as can be.
std::vector<document::LintRow> lint_unreadable(const std::string& file, std::string_view text,
                                               const std::string& error);

} // namespace assay::report
