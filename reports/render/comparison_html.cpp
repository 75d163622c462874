// SPDX-License-Identifier: Apache-2.0

#include "compare/words.hpp"
#include "language/language.hpp"
#include "model/text.hpp"
#include "render/charts.hpp"
#include "render/comparison.hpp"
#include "render/html.hpp"
#include "render/ratio_chart.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay::report {
namespace {

constexpr std::size_t listed = 12; // things left out for one reason; the rest is a number

void heading(std::string& out, const std::string& text) {
    out += fmt::format("<h2>{}</h2>\n", escape_html(text));
}

void facts(std::string& out, const std::vector<Fact>& facts, std::string_view kind) {
    out += fmt::format("<dl class=\"{}\">\n", kind);
    for (const auto& fact : facts)
        out +=
            fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_html(fact.name), escape_html(fact.text));
    out += "</dl>\n";
}

const char* class_of(Outcome outcome) {
    switch (outcome) {
    case Outcome::better:
        return "ok";
    case Outcome::worse:
        return "wrong";
    case Outcome::missing:
        return "weak";
    case Outcome::same:
    case Outcome::cannot_tell:
        break;
    }
    return "soft";
}

std::string small(const std::string& text) {
    return text.empty() ? "" : fmt::format("<small>{}</small>", escape_html(text));
}

std::string verdict(const Contrast& contrast) {
    const auto text = escape_html(contrast_in_words(contrast));
    const bool called = contrast.outcome == Outcome::better || contrast.outcome == Outcome::worse;
    return fmt::format("<span class=\"{}\">{}</span>{}", class_of(contrast.outcome),
                       called ? escape_html(outcome_in_words(contrast.outcome)) : text,
                       called ? fmt::format(" <span class=\"w\">{}</span>", text) : "");
}

std::string figure(const Cell& cell, const ComparedRow& row) {
    std::string notes = interval_in_words(cell);
    for (const auto& note : cell.notes)
        notes += fmt::format("{}{}", notes.empty() ? "" : "; ", note);
    return escape_html(value_in_words(cell, row.unit)) + small(notes);
}

void rows(std::string& out, const Comparison& comparison,
          const std::vector<const ComparedRow*>& rows, const std::string& caption) {
    const auto& sides = comparison.sides;
    const bool apart = sides.size() == 2; // verdicts have a column; of more sides they stand below
    out += fmt::format("<div class=\"wide\"><table>\n<caption>{}</caption>\n<thead><tr>"
                       "<th scope=\"col\">{}</th>",
                       escape_html(caption), say<text::compare::one_case>());
    for (std::size_t side = 0; side < sides.size(); ++side) {
        out += fmt::format("<th scope=\"col\" class=\"n\">{}</th>", escape_html(sides[side].label));
        if (side > 0 && apart)
            out += fmt::format("<th scope=\"col\">{}</th>", say<text::compare::ratio_title>());
    }
    out += "</tr></thead>\n<tbody>\n";
    for (const auto* row : rows) {
        out += fmt::format("<tr><td>{}<small>{}{}</small></td>", escape_html(row->what),
                           escape_html(row->benchmark),
                           row->library.empty() ? ""
                                                : fmt::format(" · {}", escape_html(row->library)));
        for (std::size_t side = 0; side < sides.size(); ++side) {
            const auto& cell = row->cells[side];
            const std::string below = cell.contrast && !apart && cell.value
                                          ? fmt::format("<div>{}</div>", verdict(*cell.contrast))
                                          : std::string{};
            out += fmt::format("<td class=\"n\" data-l=\"{}\">{}{}</td>",
                               escape_html(sides[side].label), figure(cell, *row), below);
            if (cell.contrast && apart)
                out += fmt::format("<td data-l=\"{}\">{}</td>", say<text::compare::verdict>(),
                                   verdict(*cell.contrast));
        }
        out += "</tr>\n";
    }
    out += "</tbody></table></div>\n";
}

void table(std::string& out, const Comparison& comparison, const ComparedTable& table,
           const std::string& id) {
    const auto list = compared_rows(table);
    if (list.empty()) return;
    out += "<section>\n";
    heading(out, table.title);
    if (!table.question.empty())
        out += fmt::format("<p class=\"question\">{}</p>\n", escape_html(table.question));
    std::vector<Fact> lines;
    for (std::size_t side = 1; side < comparison.sides.size(); ++side) {
        const auto& mean = table.means[side];
        if (mean.count == 0) continue;
        lines.push_back({comparison.sides[side].label,
                         join({say<text::compare::mean_of>(mean_in_words(mean), mean.count),
                               tally_in_words(table.tallies[side])}),
                         ""});
    }
    if (!lines.empty()) facts(out, lines, "facts");
    out += ratio_chart(comparison, table, id);
    rows(out, comparison, list, metric_in_words(table));
    if (list.size() < table.rows.size())
        out += fmt::format("<p class=\"foot\">{}</p>\n",
                           say<text::compare::hidden_rows>(table.rows.size() - list.size()));
    out += "</section>\n";
}

void questions(std::string& out, const Comparison& comparison) {
    std::vector<const ComparedRow*> list;
    for (const auto& entry : comparison.questions)
        for (const auto& row : entry.rows)
            if (has_choice(row)) list.push_back(&row);
    if (list.empty()) return;
    out += "<section>\n";
    heading(out, say<text::compare::best_library>());
    rows(out, comparison, list, say<text::compare::best_library_question>());
    out += "</section>\n";
}

void not_compared(std::string& out, const Comparison& comparison) {
    if (comparison.not_compared.empty()) return;
    out += "<section>\n";
    heading(out, say<text::compare::not_compared>());
    out += fmt::format("<table>\n<thead><tr><th scope=\"col\">{}</th><th scope=\"col\">{}</th>"
                       "<th scope=\"col\">{}</th></tr></thead>\n<tbody>\n",
                       say<text::compare::reason>(), say<text::compare::where>(),
                       say<text::compare::what>());
    for (const auto& group : group_not_compared(comparison))
        out += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                           escape_html(group.reason), escape_html(list_of(group.where, listed)),
                           escape_html(list_of(group.what, listed)));
    out += "</tbody></table>\n</section>\n";
}

} // namespace

std::string to_html(const Comparison& comparison) {
    const auto title = title_of(comparison);
    std::string out =
        fmt::format("<article>\n<header>\n<p class=\"kicker\">{}</p>\n<h1>{}</h1>\n</header>\n",
                    say<text::compare::kicker>(), escape_html(title));
    if (!has_common(comparison))
        out += fmt::format("<ul class=\"findings\"><li class=\"serious\"><p>{}</p></li></ul>\n",
                           say<text::compare::nothing_in_common>());
    facts(out, summary_of(comparison), "facts summary");
    heading(out, say<text::compare::sides>());
    std::vector<Fact> sides;
    for (const auto& side : comparison.sides) sides.push_back({side.label, side.what, ""});
    facts(out, sides, "facts");
    for (std::size_t i = 0; i < comparison.tables.size(); ++i)
        table(out, comparison, comparison.tables[i], fmt::format("ratios-{}", i));
    questions(out, comparison);
    not_compared(out, comparison);
    out += "<footer>\n";
    out += fmt::format("<p>{}</p>\n", escape_html(method_in_words(comparison)));
    for (const auto& note : comparison.notes) out += fmt::format("<p>{}</p>\n", escape_html(note));
    return html_page(title, out + "</footer>\n</article>\n");
}

} // namespace assay::report
