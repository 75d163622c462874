// SPDX-License-Identifier: Apache-2.0

#include "document/document.hpp"

#include "document/language.hpp"
#include "document/texts/finding.hpp"

#include <algorithm>

namespace assay::document {

Cell count_cell(std::size_t value) {
    return {
        .text = std::to_string(value), .number = static_cast<double>(value), .unit = unit_count};
}

std::string severity_in_words(Severity severity) {
    switch (severity) {
    case Severity::note:
        return document::say<text::finding::note>();
    case Severity::caution:
        return document::say<text::finding::caution>();
    case Severity::serious:
        break;
    }
    return document::say<text::finding::serious>();
}

bool is_shown(const Table& table) {
    return !table.rows.empty() && !table.only_workbook && table.folded.empty();
}

std::vector<std::size_t> shown_columns(const Table& table) {
    std::vector<std::size_t> shown;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        const auto says = [&](const Row& row) {
            const auto& cell = row.cells[i];
            return !cell.text.empty() || !cell.strips.empty() || !cell.notes.empty();
        };
        if (!table.columns[i].data && (i == 0 || std::ranges::any_of(table.rows, says)))
            shown.push_back(i);
    }
    return shown;
}

} // namespace assay::document
