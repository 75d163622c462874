// SPDX-License-Identifier: Apache-2.0

#include "compare/words.hpp"
#include "language/language.hpp"
#include "model/text.hpp"
#include "render/comparison.hpp"
#include "render/markdown_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay::report {
namespace {

using markdown::quote;

void row(std::string& out, const std::vector<std::string>& cells) {
    out += fmt::format("| {} |\n", fmt::join(cells, " | "));
}

std::string figure(const Cell& cell, const std::string& unit) {
    const auto interval = interval_in_words(cell);
    return quote(interval.empty() ? value_in_words(cell, unit)
                                  : fmt::format("{} {}", value_in_words(cell, unit), interval));
}

std::string verdict(const Contrast& contrast) {
    const auto text = quote(contrast_in_words(contrast));
    const bool called = contrast.outcome == Outcome::better || contrast.outcome == Outcome::worse;
    return called ? fmt::format("**{}** {}", outcome_in_words(contrast.outcome), text) : text;
}

void add_rows(std::string& out, const Comparison& comparison,
              const std::vector<const ComparedRow*>& rows, bool by_question) {
    std::vector<std::string> heads{say<text::compare::benchmark>(), say<text::compare::one_case>()};
    std::vector<std::string> rule{"---", "---"};
    if (!by_question) {
        heads.push_back(say<text::compare::library>());
        rule.emplace_back("---");
    }
    for (std::size_t side = 0; side < comparison.sides.size(); ++side) {
        heads.push_back(quote(comparison.sides[side].label));
        rule.emplace_back("---:");
        if (side == 0) continue;
        heads.push_back(say<text::compare::ratio_title>());
        rule.emplace_back("---");
    }
    out += '\n';
    row(out, heads);
    row(out, rule);
    for (const auto* entry : rows) {
        std::vector<std::string> cells{quote(entry->benchmark), quote(entry->what)};
        if (!by_question) cells.push_back(quote(entry->library));
        for (const auto& cell : entry->cells) {
            cells.push_back(figure(cell, entry->unit));
            if (!cell.notes.empty())
                cells.back() +=
                    fmt::format(" ({})", quote(fmt::format("{}", fmt::join(cell.notes, "; "))));
            if (cell.contrast) cells.push_back(verdict(*cell.contrast));
        }
        row(out, cells);
    }
}

void add_table(std::string& out, const Comparison& comparison, const ComparedTable& table) {
    const auto rows = compared_rows(table);
    if (rows.empty()) return;
    out += fmt::format("\n## {}\n\n", quote(table.title));
    if (!table.question.empty()) out += fmt::format("{}\n\n", quote(table.question));
    out += fmt::format("{}\n", quote(metric_in_words(table)));
    add_rows(out, comparison, rows, false);
    if (rows.size() < table.rows.size())
        out +=
            fmt::format("\n{}\n", say<text::compare::hidden_rows>(table.rows.size() - rows.size()));
    for (std::size_t side = 1; side < comparison.sides.size(); ++side)
        if (const auto& mean = table.means[side]; mean.count > 0)
            out += fmt::format("\n{}: {}; {}\n", quote(comparison.sides[side].label),
                               quote(say<text::compare::mean_of>(mean_in_words(mean), mean.count)),
                               quote(tally_in_words(table.tallies[side])));
}

void add_questions(std::string& out, const Comparison& comparison) {
    std::vector<const ComparedRow*> rows;
    for (const auto& table : comparison.questions)
        for (const auto& entry : table.rows)
            if (has_choice(entry)) rows.push_back(&entry);
    if (rows.empty()) return;
    out += fmt::format("\n## {}\n\n{}\n", say<text::compare::best_library>(),
                       quote(say<text::compare::best_library_question>()));
    add_rows(out, comparison, rows, true);
}

void add_not_compared(std::string& out, const Comparison& comparison) {
    if (comparison.not_compared.empty()) return;
    out += fmt::format("\n## {}\n\n", say<text::compare::not_compared>());
    row(out,
        {say<text::compare::reason>(), say<text::compare::where>(), say<text::compare::what>()});
    row(out, {"---", "---", "---"});
    constexpr std::size_t shown = 6; // of those with one reason; the rest is a number
    for (const auto& group : group_not_compared(comparison))
        row(out, {quote(group.reason), quote(list_of(group.where, shown)),
                  quote(list_of(group.what, shown))});
}

} // namespace

std::string to_markdown(const Comparison& comparison) {
    std::string out = fmt::format("# {}\n\n", quote(title_of(comparison)));
    if (!has_common(comparison))
        out += fmt::format("**{}**\n\n", say<text::compare::nothing_in_common>());
    row(out, {say<text::compare::in_short>(), ""});
    row(out, {"---", "---"});
    for (const auto& fact : summary_of(comparison)) row(out, {quote(fact.name), quote(fact.text)});
    out += '\n';
    row(out, {say<text::compare::sides>(), ""});
    row(out, {"---", "---"});
    for (const auto& side : comparison.sides) row(out, {quote(side.label), quote(side.what)});
    for (const auto& table : comparison.tables) add_table(out, comparison, table);
    add_questions(out, comparison);
    add_not_compared(out, comparison);
    out += fmt::format("\n## {}\n\n{}\n\n", say<text::compare::how>(),
                       quote(method_in_words(comparison)));
    for (const auto& note : comparison.notes) out += fmt::format("- {}\n", quote(note));
    return out;
}

} // namespace assay::report
