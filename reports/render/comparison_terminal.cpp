// SPDX-License-Identifier: Apache-2.0

#include "compare/words.hpp"
#include "language/language.hpp"
#include "model/text.hpp"
#include "render/comparison.hpp"
#include "render/lines.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay::report {
namespace {

constexpr std::size_t longest_library = 12;
constexpr std::size_t shortest_label = 10;
constexpr std::size_t longest_label = 28;
constexpr std::size_t narrowest_case = 22; // columns; a case takes two or three lines there

Paint colour_of(Outcome outcome) {
    switch (outcome) {
    case Outcome::better:
        return Paint::green;
    case Outcome::worse:
        return Paint::red;
    case Outcome::missing:
        return Paint::yellow;
    case Outcome::same:
    case Outcome::cannot_tell:
        break;
    }
    return Paint::dim;
}

bool is_called(const Contrast& contrast) {
    return contrast.outcome == Outcome::better || contrast.outcome == Outcome::worse;
}

/// "1.08x [1.05, 1.11]  better", "~ cannot tell below 4%"
std::string verdict_of(const Contrast& contrast, std::size_t columns) {
    const auto text = contrast_in_words(contrast);
    return is_called(contrast)
               ? fmt::format("{}  {}", fit(text, columns), outcome_in_words(contrast.outcome))
               : text;
}

struct Columns {
    std::size_t what = 0;
    std::size_t library = 0; ///< 0: there is no such column
    std::size_t label = 0;
    std::size_t value = 0;
    std::size_t interval = 0;
    std::size_t ratio = 0; ///< of those that are called
    std::size_t verdict = 0;
    bool stacked = false; ///< sides below each other
};

Columns columns_of(const Comparison& comparison, const std::vector<const ComparedRow*>& rows,
                   std::size_t width) {
    Columns columns;
    const auto widen = [](std::size_t& column, const std::string& text) {
        column = std::max(column, display_width(text));
    };
    widen(columns.what, say<text::compare::one_case>());
    for (const auto& side : comparison.sides) widen(columns.label, side.label);
    for (const auto* row : rows) {
        widen(columns.what, row->what);
        if (!row->library.empty()) widen(columns.library, row->library);
        for (const auto& cell : row->cells) {
            widen(columns.value, value_in_words(cell, row->unit));
            widen(columns.interval, interval_in_words(cell));
            if (cell.contrast && is_called(*cell.contrast))
                widen(columns.ratio, contrast_in_words(*cell.contrast));
        }
    }
    for (const auto* row : rows)
        for (const auto& cell : row->cells)
            if (cell.contrast) widen(columns.verdict, verdict_of(*cell.contrast, columns.ratio));
    if (columns.library > 0) {
        widen(columns.library, say<text::compare::library>());
        columns.library = std::min(columns.library, longest_library);
    }
    const std::size_t figure = columns.value + 1 + columns.interval;
    const std::size_t side = std::max(figure, columns.label);
    const std::size_t others =
        2 + (columns.library > 0 ? columns.library + 2 : 0) + 2 * (side + 2) + 2 + columns.verdict;
    columns.stacked = comparison.sides.size() > 2 || columns.label > figure + 8 ||
                      width < others + std::min(columns.what, narrowest_case);
    if (!columns.stacked) {
        columns.value = side - 1 - columns.interval;
        columns.what = std::min(columns.what, width - others);
    }
    return columns;
}

std::string figure_of(const Cell& cell, const std::string& unit, const Columns& columns) {
    return fmt::format("{} {}", fit_right(value_in_words(cell, unit), columns.value),
                       fit_right(interval_in_words(cell), columns.interval));
}

void print_notes(Lines& page, const Comparison& comparison, const ComparedRow& row) {
    for (std::size_t side = 0; side < row.cells.size(); ++side)
        for (const auto& note : row.cells[side].notes)
            page.paragraph("", 6, say<text::compare::of_side>(comparison.sides[side].label, note),
                           true);
}

void print_row(Lines& page, const Comparison& comparison, const ComparedRow& row,
               const Columns& columns) {
    const auto painted = [&](const Contrast& contrast) {
        return page.paint(colour_of(contrast.outcome), verdict_of(contrast, columns.ratio));
    };
    if (columns.stacked) {
        page.paragraph("  ", 4,
                       row.library.empty() ? row.what
                                           : fmt::format("{} ({})", row.what, row.library));
        const std::size_t figures = 6 + 2 + columns.value + 1 + columns.interval;
        const std::size_t whole = figures + 2 + columns.verdict;
        // Labels are cut before verdicts have to move to a line of their own.
        const bool together = whole + std::min(columns.label, shortest_label) <= page.width();
        const std::size_t taken = together ? whole : figures;
        const std::size_t label =
            std::min({columns.label, longest_label, page.width() - std::min(taken, page.width())});
        for (std::size_t side = 0; side < row.cells.size(); ++side) {
            const auto& cell = row.cells[side];
            if (!cell.value && row.cells.size() > 2) continue; // the list at the end says why
            const std::string line =
                fmt::format("      {}  {}", fit(comparison.sides[side].label, label),
                            figure_of(cell, row.unit, columns));
            const std::string verdict =
                cell.contrast && cell.value ? painted(*cell.contrast) : std::string{};
            page.line(together ? fmt::format("{}  {}", line, verdict) : line);
            if (!together && !verdict.empty()) page.line(fmt::format("          {}", verdict));
        }
    } else {
        const auto what = wrap(row.what, columns.what);
        std::string line = fmt::format("  {}  ", fit(what.front(), columns.what));
        if (columns.library > 0) line += fmt::format("{}  ", fit(row.library, columns.library));
        for (const auto& cell : row.cells) {
            line += fmt::format("{}  ", figure_of(cell, row.unit, columns));
            if (cell.contrast) line += painted(*cell.contrast);
        }
        page.line(line);
        for (std::size_t i = 1; i < what.size(); ++i) page.line(fmt::format("    {}", what[i]));
    }
    print_notes(page, comparison, row);
}

void print_head(Lines& page, const Comparison& comparison, const Columns& columns) {
    if (columns.stacked) return;
    const std::size_t side = columns.value + 1 + columns.interval;
    std::string line = fmt::format("  {}  ", fit(say<text::compare::one_case>(), columns.what));
    if (columns.library > 0)
        line += fmt::format("{}  ", fit(say<text::compare::library>(), columns.library));
    for (const auto& entry : comparison.sides)
        line += fmt::format("{}  ", fit_right(entry.label, side));
    line += say<text::compare::ratio_title>();
    page.line(page.paint(Paint::dim, line));
}

void print_rows(Lines& page, const Comparison& comparison,
                const std::vector<const ComparedRow*>& rows) {
    const auto columns = columns_of(comparison, rows, page.width());
    print_head(page, comparison, columns);
    std::string benchmark;
    for (const auto* row : rows) {
        if (row->benchmark != benchmark)
            page.line(fmt::format("  {}", page.paint(Paint::bold, row->benchmark)));
        benchmark = row->benchmark;
        print_row(page, comparison, *row, columns);
    }
}

void print_table(Lines& page, const Comparison& comparison, const ComparedTable& table) {
    const auto rows = compared_rows(table);
    if (rows.empty()) return;
    page.heading(table.title);
    if (!table.question.empty()) page.paragraph("  ", 2, table.question, true);
    page.paragraph("  ", 2, metric_in_words(table), true);
    page.line();
    print_rows(page, comparison, rows);
    if (rows.size() < table.rows.size())
        page.paragraph("  ", 4, say<text::compare::hidden_rows>(table.rows.size() - rows.size()),
                       true);
    for (std::size_t side = 1; side < comparison.sides.size(); ++side) {
        const auto& mean = table.means[side];
        if (mean.count == 0) continue;
        page.paragraph("  ", 4,
                       say<text::compare::of_side>(
                           comparison.sides[side].label,
                           say<text::compare::mean_of>(mean_in_words(mean), mean.count)));
    }
}

void print_questions(Lines& page, const Comparison& comparison) {
    std::vector<const ComparedRow*> rows;
    for (const auto& table : comparison.questions)
        for (const auto& row : table.rows)
            if (has_choice(row)) rows.push_back(&row);
    if (rows.empty()) return;
    page.heading(say<text::compare::best_library>());
    page.paragraph("  ", 2, say<text::compare::best_library_question>(), true);
    page.line();
    print_rows(page, comparison, rows);
}

void print_not_compared(Lines& page, const Comparison& comparison) {
    if (comparison.not_compared.empty()) return;
    page.heading(say<text::compare::not_compared>());
    constexpr std::size_t shown = 6; // of those with one reason; the rest is a number
    for (const auto& group : group_not_compared(comparison)) {
        const auto where = list_of(group.where, shown);
        page.paragraph("  ", 2,
                       where.empty() ? group.reason
                                     : say<text::compare::of_side>(where, group.reason));
        page.paragraph("", 6, list_of(group.what, shown), true);
    }
}

} // namespace

std::string to_terminal(const Comparison& comparison, const Terminal& style) {
    Lines page{style};
    page.paragraph("", 0, title_of(comparison));
    if (!has_common(comparison)) {
        page.line();
        page.paragraph("", 0, say<text::compare::nothing_in_common>());
    }
    page.heading(say<text::compare::in_short>());
    page.facts(summary_of(comparison));
    page.heading(say<text::compare::sides>());
    std::vector<Fact> sides;
    for (const auto& side : comparison.sides) {
        Fact fact;
        fact.name = side.label;
        fact.text = side.what;
        sides.push_back(std::move(fact));
    }
    page.facts(sides);
    for (const auto& table : comparison.tables) print_table(page, comparison, table);
    print_questions(page, comparison);
    print_not_compared(page, comparison);
    page.heading(say<text::compare::how>());
    page.paragraph("  ", 2, method_in_words(comparison), true);
    for (const auto& note : comparison.notes) page.paragraph("  -", 4, note, true);
    return page.take();
}

} // namespace assay::report
