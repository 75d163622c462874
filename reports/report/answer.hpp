// SPDX-License-Identifier: Apache-2.0
//
// What a run says to whoever reads no further: how far to trust it, and what the machine reached.

#pragma once

#include "record/model.hpp"
#include "report/types.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay::report {

/// The value that one asks of a row: of a small message how long it takes, since its bandwidth says nothing.
struct Shown {
    std::string text; ///< empty where the row has no value
    std::string interval;
    std::string title; ///< of the metric
    std::optional<double> number;
    std::optional<double> low;
    std::optional<double> high;
    std::string unit;
    bool higher_is_better = true;
    bool is_primary = true; ///< false: the primary metric is one of the others
    bool wide = false;      ///< known so badly that it says little of the machine
};
Shown shown_of(const Row& row);
/// The first bound of a kind; nothing where there is none.
const Bound* bound_of(const Row& row, record::CeilingKind kind);
/// The part of the bound that a row with a value reaches.
double share_of(const Row& row, const Bound& bound);
/// Verified, undisturbed, and precise enough.
bool is_reliable(const Row& row);
document::Tone tone_of(const Row& row);

/// The best value of each kind (texts/tile.json). Needs sections.
std::vector<document::Fact> tiles_of(const Report& report);
/// Five lines, for programs. Needs sections, findings, missing and tiles.
std::vector<document::Fact> summarise(const record::Run& run, const Report& report);
/// Sets verdict and tone. Needs sections, missing and cause.
void judge(const record::Run& run, Report& report);

} // namespace assay::report
