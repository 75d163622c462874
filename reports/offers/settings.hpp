// SPDX-License-Identifier: Apache-2.0
//
// Inputs of calculations that people give: `--set NAME=VALUE`.

#pragma once

#include "base/result.hpp"
#include "offers/calculation.hpp"

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace assay::report {

struct Setting {
    std::string_view key;
    std::string_view unit;       ///< "money/h": in the currency that is shown
    std::optional<double> usual; ///< taken where it is not given, and marked as assumed
    double least = 0;
    double most = 1e12;
};
using Given = std::map<std::string, double, std::less<>>;

/// "pue=1.3"; fails with the names there are, or the range.
Result<void> add_setting(const std::string& text, std::span<const Setting> table, Given& given);
/// A line for each: given, usual or not known. `money` takes the place of that unit.
void add_inputs(Calculation& lines, std::span<const Setting> table, const Given& given,
                const std::string& money = {});

} // namespace assay::report
