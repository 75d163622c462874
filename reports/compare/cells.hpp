// SPDX-License-Identifier: Apache-2.0
//
// Cells of a comparison's tables, and the tables of its cases: a row for each, a column for each side.

#pragma once

#include "compare/comparison.hpp"
#include "document/chart.hpp"
#include "document/document.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::compare {

/// Without a text the number is written with its unit.
document::Cell number(const std::optional<double>& value, const char* unit, std::string text = "");
/// A ratio with its interval: as text in full or in short, and as numbers.
document::Cell ratio_cell(const Contrast& contrast, std::string text);
/// By which columns and charts know a side.
std::uint8_t side_number(std::size_t side);

class CaseTables {
public:
    explicit CaseTables(const Comparison& comparison);

    /// Without rows. By question: with the library of each side.
    document::Table table(bool by_question) const;
    document::Row row(const ComparedRow& row, bool by_question) const;

private:
    const Comparison& comparison_;
    bool has_libraries_ = false;
};

// --- curves --------------------------------------------------------------------------------------
// Sweeps side by side: rows that differ in one number alone are a curve for each side (report/curves.hpp does the same
// for one run). Text formats have these rows in their tables.

std::vector<document::Chart> curves_of(const Comparison& comparison, const ComparedTable& table);

} // namespace assay::compare
