// SPDX-License-Identifier: Apache-2.0

#include "render/html.hpp"

#include "language/language.hpp"
#include "model/text.hpp"
#include "model/words.hpp"
#include "render/charts.hpp"
#include "render/heat_map.hpp"
#include "render/line_chart.hpp"
#include "render/style.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace assay::report {
namespace {

constexpr std::size_t cases_listed =
    12; // of those not measured for one reason; the rest is a number

constexpr std::size_t checks_shown = 8; // passed ones of a benchmark, before they are folded away

void heading(std::string& out, std::string_view text) {
    out += fmt::format("<h2>{}</h2>\n", escape_html(text));
}

void facts(std::string& out, const std::vector<Fact>& facts, std::string_view kind = "facts") {
    out += fmt::format("<dl class=\"{}\">\n", kind);
    for (const auto& fact : facts)
        out +=
            fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_html(fact.name), escape_html(fact.text));
    out += "</dl>\n";
}

template <const Entry& Name>
std::string fact_text(const std::vector<Fact>& facts) {
    for (const auto& fact : facts)
        if (fact.key == Name.en) return fact.text;
    return "";
}

void top(std::string& out, const Report& report) {
    out += fmt::format(
        "<header>\n<p class=\"kicker\">{}</p>\n<h1>{}</h1>\n",
        escape_html(report.label.empty() ? say<text::report::benchmark_report>() : report.label),
        escape_html(report.title));
    std::string sub;
    const auto add = [&](const std::string& text) {
        if (!text.empty()) sub += (sub.empty() ? "" : " · ") + text;
    };
    add(fact_text<text::facts::provider>(report.machine));
    add(fact_text<text::facts::operating_system>(report.machine));
    if (const auto suite = fact_text<text::facts::suite>(report.run); !suite.empty())
        add(say<text::report::suite>(suite));
    add(fact_text<text::facts::started>(report.run));
    out += fmt::format("<p class=\"sub\">{}</p>\n</header>\n", escape_html(sub));
}

void findings(std::string& out, const Report& report) {
    if (report.findings.empty()) return;
    heading(out, say<text::report::findings>());
    out += "<ul class=\"findings\">\n";
    for (const auto& finding : report.findings) {
        out += fmt::format("<li class=\"{}\"><p>{}</p>", to_string(finding.severity),
                           escape_html(finding.what));
        if (!finding.action.empty())
            out += fmt::format("<p class=\"do\">{}</p>", escape_html(finding.action));
        out += "</li>\n";
    }
    out += "</ul>\n";
}

void machine(std::string& out, const Report& report) {
    if (report.software.empty()) {
        heading(out, say<text::report::the_machine>());
        facts(out, report.machine);
        return;
    }
    out += "<div class=\"two\">\n<section>\n";
    heading(out, say<text::report::the_machine>());
    facts(out, report.machine);
    out += "</section>\n<section>\n";
    heading(out, say<text::report::libraries>());
    facts(out, report.software);
    out += "</section>\n</div>\n";
}

std::string_view class_of(record::Status status) {
    if (status == record::Status::ok) return "ok";
    return is_measured(status) ? "weak" : "wrong";
}

std::string small(std::string_view text) {
    return text.empty() ? "" : fmt::format("<small>{}</small>", escape_html(text));
}

void cell(std::string& out, std::string_view label, std::string_view content,
          std::string_view kind = "") {
    if (content.empty())
        out += fmt::format("<td{}></td>", kind.empty() ? "" : " class=\"n\"");
    else
        out += fmt::format("<td data-l=\"{}\"{}>{}</td>", label,
                           kind.empty() ? "" : fmt::format(" class=\"{}\"", kind), content);
}

void table_row(std::string& out, const Section& section, const Row& row, bool strips,
               Palette& palette) {
    const std::size_t colour = palette.colour(row.library);
    std::vector<std::string> figures;
    for (const auto& figure : row.figures) figures.push_back(figure.title + " " + figure.text);
    std::string what = escape_html(row.what) + small(row.settings) + small(join(figures));
    for (const auto& note : row.notes) what += small(note);
    const std::string covers = section.covers.empty() ? small(row.covers) : "";
    std::string share = escape_html(row.share.empty() && row.ceiling_note ? "–" : row.share);
    if (row.ceiling_note) share += fmt::format(" <sup>{}</sup>", *row.ceiling_note + 1);
    out += "<tr>";
    out += fmt::format("<td>{}</td>", what);
    cell(out, say<text::report::library>(),
         fmt::format("<span class=\"dot c{}\"></span>{}", colour, escape_html(row.library)),
         row.library.size() < 16 ? "w" : "");
    cell(out, say<text::report::value>(), escape_html(row.value), "n v");
    cell(out, say<text::report::interval>(),
         row.interval.empty() ? covers : escape_html(row.interval) + covers, "n");
    cell(out, say<text::report::of_ceiling>(), share, "n");
    if (strips) {
        const std::string strip = strip_chart(row);
        cell(out, say<text::report::batches>(),
             strip.empty() ? "" : fmt::format("<span class=\"c{}\">{}</span>", colour, strip));
    }
    cell(out, say<text::report::status>(),
         fmt::format("<span class=\"{}\">{}</span>", class_of(row.status),
                     status_in_words(row.status)),
         "w");
    out += "</tr>\n";
}

/// A column's title.
void column(std::string& out, const std::string& title, std::string_view kind = "") {
    out += fmt::format("<th scope=\"col\"{}>{}</th>",
                       kind.empty() ? "" : fmt::format(" class=\"{}\"", kind), capitalised(title));
}

void table_head(std::string& out, const std::string& benchmark, bool strips) {
    out += fmt::format("<table>\n<caption>{}</caption>\n<thead><tr>", escape_html(benchmark));
    column(out, say<text::report::one_case>());
    column(out, say<text::report::library>());
    column(out, say<text::report::value>(), "n");
    column(out, say<text::report::interval>(), "n");
    column(out, say<text::report::of_ceiling>(), "n");
    if (strips) column(out, say<text::report::batches_over_time>());
    column(out, say<text::report::status>());
    out += "</tr></thead>\n<tbody>\n";
}

/// Of the rows that are points of curves, or of the others.
void tables(std::string& out, const Section& section, bool on_curve, Palette& palette) {
    bool strips = false;
    for (const auto& row : section.rows) strips = strips || !row.strips.empty();
    strips = strips && !on_curve;
    std::string benchmark;
    bool open = false;
    for (const auto& row : section.rows) {
        if (row.on_curve != on_curve) continue;
        if (!open || row.benchmark != benchmark) {
            if (open) out += "</tbody></table>\n";
            table_head(out, row.benchmark, strips);
            benchmark = row.benchmark;
            open = true;
        }
        table_row(out, section, row, strips, palette);
    }
    if (open) out += "</tbody></table>\n";
}

/// A long table of points is there for who wants it, and otherwise out of the way.
void curves(std::string& out, const Section& section, const std::string& id, Palette& palette) {
    for (std::size_t i = 0; i < section.curves.size(); ++i)
        out += line_chart(section.curves[i], fmt::format("{}-line-{}", id, i));
    const auto points = static_cast<std::size_t>(
        std::ranges::count_if(section.rows, [](const Row& row) { return row.on_curve; }));
    if (points == 0) return;
    out += fmt::format("<details><summary>{}</summary>\n", say_count<text::report::points>(points));
    tables(out, section, true, palette);
    out += "</details>\n";
}

void section(std::string& out, const Section& section, const std::string& id, Palette& palette) {
    out += "<section>\n";
    heading(out, section.title);
    if (!section.question.empty())
        out += fmt::format("<p class=\"question\">{}</p>\n", escape_html(section.question));
    out += bar_charts(section, id, palette);
    tables(out, section, false, palette);
    curves(out, section, id, palette);
    for (std::size_t i = 0; i < section.maps.size(); ++i)
        out += heat_map(section.maps[i], fmt::format("{}-map-{}", id, i));
    if (!section.covers.empty())
        out += fmt::format("<p class=\"foot\">{}</p>\n",
                           escape_html(say<text::report::intervals_cover>(section.covers)));
    if (!section.ceilings.empty()) {
        out += "<ol class=\"foot\">\n";
        for (const auto& note : section.ceilings)
            out += fmt::format("<li>{}</li>\n", escape_html(note));
        out += "</ol>\n";
    }
    out += "</section>\n";
}

void missing(std::string& out, const Report& report) {
    if (report.missing.empty()) return;
    out += "<section>\n";
    heading(out, say<text::report::not_measured>());
    out += fmt::format("<table>\n<caption>{}</caption>\n<thead><tr>",
                       say<text::report::without_figure>());
    column(out, say<text::report::status>());
    column(out, say<text::report::reason>());
    column(out, say<text::report::cases>());
    out += "</tr></thead>\n<tbody>\n";
    for (const auto& group : report.missing) {
        out += "<tr>";
        cell(out, say<text::report::status>(), status_in_words(group.status));
        cell(out, say<text::report::reason>(), escape_html(group.reason));
        cell(out, say<text::report::cases>(), escape_html(list_of(group.cases, cases_listed)));
        out += "</tr>\n";
    }
    out += "</tbody></table>\n</section>\n";
}

void checks(std::string& out, const Report& report) {
    if (report.checks.empty()) return;
    out += "<section>\n";
    heading(out, say<text::report::checks>());
    for (const auto& group : report.checks) {
        // A long list of what passed is there for who wants it.
        const bool folded = group.checks.size() > checks_shown && group.passed == group.total;
        out += fmt::format(
            "<h3>{}</h3>\n<p class=\"question\">{}</p>\n{}<table>\n<caption>{}</caption>\n"
            "<thead><tr>",
            escape_html(group.benchmark), escape_html(group.method),
            folded ? fmt::format("<details><summary>{}</summary>\n", escape_html(group.outcome))
                   : "",
            escape_html(say<text::words::sentence>(group.outcome)));
        column(out, say<text::report::one_case>());
        column(out, say<text::report::error>(), "n");
        column(out, say<text::report::bound>(), "n");
        column(out, say<text::report::result>());
        out += "</tr></thead>\n<tbody>\n";
        for (const auto& check : group.checks) {
            out += fmt::format("<tr><td>{}{}</td>", escape_html(check.what), small(check.detail));
            cell(out, say<text::report::error>(), check.error, "n");
            cell(out, say<text::report::bound>(), check.bound, "n");
            cell(out, say<text::report::result>(),
                 fmt::format("<span class=\"{}\">{}</span>", check.passed ? "ok" : "wrong",
                             check.passed ? say<text::report::passed>()
                                          : say<text::report::wrong>()));
            out += "</tr>\n";
        }
        out += folded ? "</tbody></table>\n</details>\n" : "</tbody></table>\n";
    }
    out += "</section>\n";
}

void bottom(std::string& out, const Report& report) {
    out += "<section>\n";
    heading(out, say<text::report::the_run>());
    facts(out, report.run);
    out += "</section>\n<footer>\n";
    for (const auto& cap : report.caps) out += fmt::format("<p>{}</p>\n", escape_html(cap));
    out += fmt::format("<p>{}</p>\n</footer>\n", say<text::report::how_to_read>());
}

} // namespace

std::string cause_html(std::string_view cause) {
    if (cause.empty()) return "";
    return fmt::format("<ul class=\"findings\"><li class=\"caution\"><p>{}</p></li></ul>\n",
                       escape_html(cause));
}

std::string html_page(const std::string& title, const std::string& body) {
    const bool chinese = language_in_use() == Language::zh;
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"{}\">\n<head>\n<meta charset=\"utf-8\"/>\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'; base-uri 'none'; form-action 'none'\"/>\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
        "<meta name=\"generator\" "
        "content=\"assay\"/>\n<title>{}</title>\n<style>{}{}</style>\n</head>\n"
        "<body>\n<main>\n{}</main>\n</body>\n</html>\n",
        chinese ? "zh-CN" : "en", escape_html(title), style_sheet, chinese ? chinese_fonts : "",
        body);
}

std::string to_html(std::span<const Report> reports) {
    const std::string title =
        reports.empty() ? say<text::report::benchmark_report>() : reports.front().title;
    std::string out;
    std::size_t number = 0;
    for (const auto& report : reports) {
        Palette palette;
        out += "<article>\n";
        top(out, report);
        out += cause_html(report.cause);
        facts(out, report.summary, "facts summary");
        findings(out, report);
        machine(out, report);
        for (std::size_t i = 0; i < report.sections.size(); ++i)
            section(out, report.sections[i], fmt::format("chart-{}-{}", number, i), palette);
        missing(out, report);
        checks(out, report);
        bottom(out, report);
        out += "</article>\n";
        ++number;
    }
    return html_page(title, out);
}

} // namespace assay::report
