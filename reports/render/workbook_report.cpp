// SPDX-License-Identifier: Apache-2.0

#include "document/words.hpp"
#include "history/dates.hpp"
#include "language/language.hpp"
#include "model/words.hpp"
#include "render/workbook.hpp"
#include "render/workbook_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace assay::report {
namespace {

std::string name_of(const Report& report) {
    return report.label.empty() ? report.source : report.label;
}

void add_facts(Sheet& sheet, const Report& report, const std::vector<Fact>& facts) {
    for (const auto& fact : facts) {
        sheet.text(name_of(report)).text(fact.name).text(fact.text);
        sheet.end_row();
    }
}

void add_case(Sheet& sheet, const Report& report, const Section& section, const Row& row) {
    const auto begin = [&] {
        sheet.text(name_of(report)).text(section.title).text(row.benchmark).text(row.what);
        sheet.text(row.library).text(status_in_words(row.status));
    };
    const std::string notes = fmt::format("{}", fmt::join(row.notes, "; "));
    begin();
    sheet.text(row.title).number(row.number, row.unit).number(row.low, row.unit);
    sheet.number(row.high, row.unit).text(row.unit).number(row.ceiling, row.unit);
    std::optional<double> share;
    if (row.number && row.ceiling && *row.number > 0 && *row.ceiling > 0)
        share = row.higher_is_better ? *row.number / *row.ceiling : *row.ceiling / *row.number;
    sheet.share(share).text(row.covers).text(notes);
    sheet.end_row();
    for (const auto& figure : row.figures) {
        begin();
        sheet.text(figure.title).number(figure.number, figure.unit).number({}, "").number({}, "");
        sheet.text(figure.unit);
        sheet.end_row();
    }
}

/// The latest day that a run began on.
std::optional<double> started_of(std::span<const Report> reports) {
    std::optional<double> last;
    for (const auto& report : reports)
        for (const auto& fact : report.run)
            if (fact.key == text::facts::started.en)
                if (const auto day = seconds_of_date(fact.text.substr(0, fact.text.find('T'))))
                    last = std::max(last.value_or(*day), *day);
    return last;
}

} // namespace

Result<std::string> to_workbook(std::span<const Report> reports) {
    WorkbookFile file{reports.empty() ? "" : reports.front().title, started_of(reports)};
    const std::vector<std::string> facts{say<text::workbook::run>(), say<text::workbook::item>(),
                                         say<text::workbook::content>()};
    auto& summary = file.sheet(say<text::workbook::summary>(), facts, 2);
    auto& figures = file.sheet(say<text::workbook::figures>(),
                               {say<text::workbook::run>(), say<text::workbook::family>(),
                                say<text::workbook::benchmark>(), say<text::workbook::one_case>(),
                                say<text::workbook::library>(), say<text::workbook::status>(),
                                say<text::workbook::metric>(), say<text::workbook::value>(),
                                say<text::workbook::low>(), say<text::workbook::high>(),
                                say<text::workbook::unit>(), say<text::workbook::ceiling>(),
                                say<text::workbook::of_ceiling>(), say<text::workbook::covers>(),
                                say<text::workbook::notes>()},
                               5);
    auto& findings = file.sheet(say<text::workbook::findings>(),
                                {say<text::workbook::run>(), say<text::workbook::severity>(),
                                 say<text::workbook::what>(), say<text::workbook::action>()});
    auto& machine = file.sheet(say<text::workbook::machine>(), facts, 2);
    for (const auto& report : reports) {
        add_facts(summary, report, report.summary);
        add_facts(summary, report, report.run);
        for (const auto& section : report.sections)
            for (const auto& row : section.rows) add_case(figures, report, section, row);
        for (const auto& finding : report.findings) {
            findings.text(name_of(report)).text(severity_in_words(finding.severity));
            findings.text(finding.what).text(finding.action);
            findings.end_row();
        }
        add_facts(machine, report, report.machine);
        add_facts(machine, report, report.software);
    }
    if (const auto cut = figures.rows_left_out(); cut > 0) {
        summary.text("").text(say<text::workbook::figures>()).text(say<text::workbook::cut>(cut));
        summary.end_row();
    }
    return file.finish();
}

} // namespace assay::report
