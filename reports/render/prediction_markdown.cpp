// SPDX-License-Identifier: Apache-2.0

#include "language/language.hpp"
#include "render/markdown_text.hpp"
#include "render/prediction.hpp"
#include "render/prediction_words.hpp"

#include <fmt/format.h>

namespace assay::report {
namespace {

using markdown::quote;

void times(std::string& out, const PredictedCurve& curve) {
    const auto table = times_in_words(curve);
    const auto line = [&](const std::vector<std::string>& cells) {
        out += '|';
        for (const auto& cell : cells) out += fmt::format(" {} |", quote(cell));
        out += '\n';
    };
    line(table.titles);
    out += '|';
    for (std::size_t i = 0; i < table.titles.size(); ++i) out += " ---: |";
    out += '\n';
    for (const auto& row : table.rows) line(row);
}

} // namespace

std::string to_markdown(const Prediction& prediction) {
    std::string out = fmt::format("# {}\n", quote(title_in_words(prediction)));
    if (const auto nothing = nothing_in_words(prediction); !nothing.empty())
        out += fmt::format("\n{}\n", quote(nothing));
    for (const auto& curve : prediction.curves) {
        out += fmt::format("\n## {}\n\n", quote(name_in_words(curve)));
        if (!curve.reason.empty()) {
            out += quote(say<text::predict::cannot>(curve.reason)) + '\n';
            continue;
        }
        times(out, curve);
        for (const auto& warning : curve.warnings) out += fmt::format("\n> {}\n", quote(warning));
        out += '\n';
        for (const auto& basis : basis_in_words(curve))
            out += fmt::format("{}- {}\n", basis.is_link ? "  " : "", quote(basis.text));
    }
    const auto not_used = not_used_in_words(prediction);
    if (!not_used.shown.empty()) out += fmt::format("\n## {}\n\n", say<text::predict::not_used>());
    for (const auto& problem : not_used.shown)
        out +=
            fmt::format("- {}\n", quote(say<text::words::labelled>(problem.reason, problem.where)));
    if (!not_used.more.empty()) out += fmt::format("- {}\n", quote(not_used.more));
    for (const auto& line : method_in_words(prediction)) out += fmt::format("\n{}\n", quote(line));
    return out;
}

} // namespace assay::report
