// SPDX-License-Identifier: Apache-2.0

#include "language/language.hpp"
#include "model/text.hpp"
#include "render/lines.hpp"
#include "render/prediction.hpp"
#include "render/prediction_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace assay::report {
namespace {

void print_times(Lines& page, const PredictedCurve& curve) {
    const auto table = times_in_words(curve);
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < table.titles.size(); ++i) {
        widths.push_back(display_width(table.titles[i]));
        for (const auto& row : table.rows) widths[i] = std::max(widths[i], display_width(row[i]));
    }
    const auto line_of = [&](const std::vector<std::string>& cells) {
        std::string line = " ";
        for (std::size_t i = 0; i < cells.size(); ++i)
            line += fmt::format("  {}", fit_right(cells[i], widths[i]));
        return line;
    };
    page.line(page.paint(Paint::dim, line_of(table.titles)));
    for (const auto& row : table.rows) page.line(line_of(row));
}

void print_basis(Lines& page, const PredictedCurve& curve) {
    page.line();
    for (const auto& line : basis_in_words(curve))
        page.paragraph(line.is_link ? "    " : "  ", line.is_link ? 6 : 4, line.text);
}

void print_not_used(Lines& page, const Prediction& prediction) {
    const auto not_used = not_used_in_words(prediction);
    if (not_used.shown.empty()) return;
    page.heading(say<text::predict::not_used>());
    for (const auto& problem : not_used.shown) {
        page.paragraph("  ", 2, problem.reason);
        page.paragraph("", 6, problem.where, true);
    }
    if (!not_used.more.empty()) page.paragraph("  ", 2, not_used.more);
}

} // namespace

std::string to_terminal(const Prediction& prediction, const Terminal& style) {
    Lines page{style};
    page.line(page.paint(Paint::bold, title_in_words(prediction)));
    if (const auto nothing = nothing_in_words(prediction); !nothing.empty()) {
        page.line();
        page.paragraph("  ", 2, nothing);
    }
    for (const auto& curve : prediction.curves) {
        page.heading(name_in_words(curve));
        if (!curve.reason.empty()) {
            page.paragraph("  ", 2, say<text::predict::cannot>(curve.reason));
            continue;
        }
        print_times(page, curve);
        for (const auto& warning : curve.warnings) page.paragraph("  !", 4, warning);
        print_basis(page, curve);
    }
    print_not_used(page, prediction);
    const auto method = method_in_words(prediction);
    if (!method.empty()) page.line();
    for (const auto& line : method) page.paragraph("  ", 2, line, true);
    return page.take();
}

} // namespace assay::report
