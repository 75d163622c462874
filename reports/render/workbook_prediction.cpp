// SPDX-License-Identifier: Apache-2.0

#include "language/language.hpp"
#include "render/prediction_words.hpp"
#include "render/workbook.hpp"
#include "render/workbook_file.hpp"

#include <cmath>

namespace assay::report {
namespace {

constexpr std::size_t fixed_columns = 3; // of begin()

std::vector<std::string> titles(std::initializer_list<std::string> more) {
    std::vector<std::string> all{say<text::workbook::machine>(), say<text::workbook::library>(),
                                 say<text::workbook::one_case>()};
    all.insert(all.end(), more);
    return all;
}

Sheet& begin(Sheet& sheet, const PredictedCurve& curve) {
    return sheet.text(curve.machine).text(curve.library).text(curve.what);
}

std::optional<double> finite(double value) {
    return std::isfinite(value) ? std::optional{value} : std::nullopt;
}

void add_times(Sheet& sheet, const PredictedCurve& curve) {
    for (const auto& time : curve.times) {
        begin(sheet, curve).number(time.bytes, "B").number(finite(time.seconds.value), "s");
        sheet.number(finite(time.seconds.low), "s").number(finite(time.seconds.high), "s");
        sheet.number(time.algorithm_rate, "B/s").number(time.bus_rate, "B/s");
        sheet.number(time.most_bus_rate, "B/s").text(time.algorithm);
        sheet.end_row();
    }
}

/// Why there is no prediction, or warnings and what it was fitted on.
void add_basis(Sheet& sheet, const PredictedCurve& curve) {
    const auto line = [&](const std::string& text) {
        begin(sheet, curve).text(text);
        sheet.end_row();
    };
    if (!curve.reason.empty()) return line(say<text::predict::cannot>(curve.reason));
    for (const auto& warning : curve.warnings) line(warning);
    for (const auto& basis : basis_in_words(curve)) line(basis.text);
}

} // namespace

Result<std::string> to_workbook(const Prediction& prediction) {
    WorkbookFile file{title_in_words(prediction), std::nullopt};
    auto& times =
        file.sheet(say<text::workbook::figures>(),
                   titles({say<text::predict::size>(), say<text::predict::time>(),
                           say<text::workbook::low>(), say<text::workbook::high>(),
                           say<text::predict::algorithm_rate>(), say<text::predict::bus_rate>(),
                           say<text::predict::bound>(), say<text::predict::algorithm>()}),
                   fixed_columns);
    auto& basis = file.sheet(say<text::workbook::method>(), titles({say<text::workbook::what>()}),
                             fixed_columns);
    auto& rest = file.sheet(say<text::workbook::not_used>(),
                            {say<text::workbook::where>(), say<text::workbook::reason>()});
    basis.text("").text("").text("").text(title_in_words(prediction));
    basis.end_row();
    if (const auto nothing = nothing_in_words(prediction); !nothing.empty()) {
        basis.text("").text("").text("").text(nothing);
        basis.end_row();
    }
    for (const auto& curve : prediction.curves) {
        add_times(times, curve);
        add_basis(basis, curve);
    }
    for (const auto& line : method_in_words(prediction)) {
        basis.text("").text("").text("").text(line);
        basis.end_row();
    }
    for (const auto& problem : prediction.not_used) {
        rest.text(problem.where).text(problem.reason);
        rest.end_row();
    }
    return file.finish();
}

} // namespace assay::report
