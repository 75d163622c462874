// SPDX-License-Identifier: Apache-2.0

#include "language/language.hpp"
#include "render/charts.hpp"
#include "render/html.hpp"
#include "render/prediction.hpp"
#include "render/prediction_words.hpp"

#include <fmt/format.h>

namespace assay::report {
namespace {

void times(std::string& out, const PredictedCurve& curve) {
    const auto table = times_in_words(curve);
    out += "<div class=\"wide\"><table>\n<thead><tr>";
    for (const auto& title : table.titles)
        out += fmt::format("<th scope=\"col\" class=\"n\">{}</th>", escape_html(title));
    out += "</tr></thead>\n<tbody>\n";
    for (const auto& row : table.rows) {
        out += "<tr>";
        for (std::size_t i = 0; i < row.size(); ++i)
            out += i == 0 ? fmt::format("<td class=\"n\">{}</td>", escape_html(row[i]))
                          : fmt::format("<td data-l=\"{}\" class=\"n{}\">{}</td>",
                                        escape_html(table.titles[i]), i == 1 ? " v" : "",
                                        escape_html(row[i]));
        out += "</tr>\n";
    }
    out += "</tbody></table></div>\n";
}

void curve(std::string& out, const PredictedCurve& curve) {
    out += fmt::format("<section>\n<h2>{}</h2>\n", escape_html(name_in_words(curve)));
    if (!curve.reason.empty()) {
        out += fmt::format("<p>{}</p>\n</section>\n",
                           escape_html(say<text::predict::cannot>(curve.reason)));
        return;
    }
    times(out, curve);
    if (!curve.warnings.empty()) out += "<ul class=\"findings\">\n";
    for (const auto& warning : curve.warnings)
        out += fmt::format("<li class=\"caution\"><p>{}</p></li>\n", escape_html(warning));
    if (!curve.warnings.empty()) out += "</ul>\n";
    for (const auto& basis : basis_in_words(curve))
        out += basis.is_link
                   ? fmt::format("<p class=\"question\">{}</p>\n", escape_html(basis.text))
                   : fmt::format("<p>{}</p>\n", escape_html(basis.text));
    out += "</section>\n";
}

void not_used(std::string& out, const Prediction& prediction) {
    const auto list = not_used_in_words(prediction);
    if (list.shown.empty()) return;
    out += fmt::format("<section>\n<h2>{}</h2>\n<dl class=\"facts\">\n",
                       say<text::predict::not_used>());
    for (const auto& problem : list.shown)
        out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_html(problem.reason),
                           escape_html(problem.where));
    out += "</dl>\n";
    if (!list.more.empty()) out += fmt::format("<p>{}</p>\n", escape_html(list.more));
    out += "</section>\n";
}

} // namespace

std::string to_html(const Prediction& prediction) {
    const auto title = title_in_words(prediction);
    std::string out =
        fmt::format("<article>\n<header>\n<h1>{}</h1>\n</header>\n", escape_html(title));
    if (const auto nothing = nothing_in_words(prediction); !nothing.empty())
        out += fmt::format("<p>{}</p>\n", escape_html(nothing));
    for (const auto& one : prediction.curves) curve(out, one);
    not_used(out, prediction);
    out += "<footer>\n";
    for (const auto& line : method_in_words(prediction))
        out += fmt::format("<p>{}</p>\n", escape_html(line));
    return html_page(title, out + "</footer>\n</article>\n");
}

} // namespace assay::report
