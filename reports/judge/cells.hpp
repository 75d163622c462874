// SPDX-License-Identifier: Apache-2.0
//
// Cells of tables about checks.

#pragma once

#include "document/document.hpp"
#include "judge/judgement.hpp"

#include <optional>
#include <string>

namespace assay::judge {

/// Empty without a finite value.
document::Cell number_cell(const std::optional<double>& value, const std::string& unit,
                           std::string text);
document::Cell outcome_cell(Outcome outcome);
/// "4.37 TB/s ±0.03%"
document::Cell value_cell(const Check& check);
/// "+17%" where the value is 1.17 times the limit; see share_of_bar().
document::Cell margin_cell(const Check& check);
/// Numbers without a unit have none in a workbook either.
std::string unit_of(const Check& check);

// --- first screen --------------------------------------------------------------------------------

/// What a reader sees first of one node: what failed, with what to do, or the values with the smallest margins.
struct First {
    document::Section section; ///< without blocks where there is nothing to show
    std::size_t shown = 0;     ///< required checks
};
First first_of(const Judgement& judgement, const Node& node);

} // namespace assay::judge
