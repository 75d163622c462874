// SPDX-License-Identifier: Apache-2.0

#include "write/workbook.hpp"

#include "document/words.hpp"
#include "language/language.hpp"
#include "write/workbook_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <variant>
#include <vector>

namespace assay::write {
namespace {

using namespace document;
using report::say;

bool is_of_physics(const std::string& unit) {
    return unit != unit_count && unit != unit_ratio && unit != unit_share && unit != unit_p &&
           unit != unit_date;
}

void add_number(Sheet& sheet, const std::optional<double>& number, const std::string& unit) {
    if (unit == unit_count)
        sheet.count(number);
    else if (unit == unit_ratio)
        sheet.ratio(number);
    else if (unit == unit_share)
        sheet.share(number);
    else if (unit == unit_p)
        sheet.probability(number);
    else if (unit == unit_date)
        sheet.date(number.value_or(0));
    else
        sheet.number(number, unit);
}

/// What the tables of one sheet need in columns.
struct Parts {
    bool text = false; ///< beside the number: words that it does not say
    bool number = false;
    bool interval = false;
    bool detail = false;
};

/// A number has its text beside it only where that is no rendering of it: a verdict beside a ratio.
void look_at(Parts& parts, const Column& column, const Cell& cell) {
    if (cell.number) {
        parts.number = true;
        parts.interval = parts.interval || cell.low || cell.high;
    } else if (!cell.text.empty()) {
        parts.text = true;
    }
    if (!cell.detail.empty() && !column.numeric) parts.detail = true;
}

struct Placed {
    const Section* section = nullptr;
    const Document* document = nullptr;
    const Table* table = nullptr;
};

/// All tables of one sheet below each other.
class SheetWriter {
public:
    SheetWriter(const std::vector<Placed>& tables, bool several)
        : tables_{tables}, several_{several}, parts_(tables.front().table->columns.size()) {
        for (const auto& [section, document, table] : tables_)
            for (const auto& row : table->rows) {
                grouped_ = grouped_ || !row.group.empty();
                for (std::size_t i = 0; i < parts_.size(); ++i) {
                    const auto& cell = row.cells[i];
                    look_at(parts_[i], table->columns[i], cell);
                    noted_ = noted_ || !cell.notes.empty();
                    units_ = units_ || (cell.number && is_of_physics(cell.unit));
                }
            }
    }

    /// Rows that found no place.
    std::size_t write(WorkbookFile& file, const std::string& name) {
        const auto titles = titles_of();
        auto& sheet = file.sheet(name, titles, frozen());
        for (const auto& [section, document, table] : tables_)
            for (const auto& row : table->rows) add(sheet, *document, *section, row);
        return sheet.rows_left_out();
    }

private:
    std::size_t frozen() const { return (several_ ? 1 : 0) + (grouped_ ? 1 : 0) + 2U; }
    std::vector<std::string> titles_of() const {
        std::vector<std::string> titles;
        if (several_) titles.push_back(say<report::text::workbook::run>());
        titles.push_back(say<report::text::workbook::family>());
        if (grouped_) titles.push_back(say<report::text::workbook::benchmark>());
        const auto& columns = tables_.front().table->columns;
        const auto& sides = tables_.front().document->sides;
        for (std::size_t i = 0; i < columns.size(); ++i) {
            std::string title = columns[i].title;
            if (columns[i].side > 0 && title != sides[columns[i].side - 1])
                title = say<report::text::words::labelled>(sides[columns[i].side - 1], title);
            const auto of = [&](const std::string& what) {
                return say<report::text::words::labelled>(title, what);
            };
            if (parts_[i].number || !parts_[i].text) titles.push_back(title);
            if (parts_[i].interval) {
                titles.push_back(of(say<report::text::workbook::low>()));
                titles.push_back(of(say<report::text::workbook::high>()));
            }
            if (parts_[i].text)
                titles.push_back(parts_[i].number ? of(say<report::text::workbook::what>())
                                                  : title);
            if (parts_[i].detail) titles.push_back(of(say<report::text::workbook::covers>()));
        }
        if (units_) titles.push_back(say<report::text::workbook::unit>());
        if (noted_) titles.push_back(say<report::text::workbook::notes>());
        return titles;
    }
    void add(Sheet& sheet, const Document& document, const Section& section, const Row& row) const {
        if (several_) sheet.text(document.title);
        sheet.text(section.title);
        if (grouped_) sheet.text(row.group);
        std::string unit;
        std::vector<std::string> notes;
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            const auto& cell = row.cells[i];
            const auto& parts = parts_[i];
            if (parts.number || !parts.text) add_number(sheet, cell.number, cell.unit);
            if (parts.interval) {
                add_number(sheet, cell.low, cell.unit);
                add_number(sheet, cell.high, cell.unit);
            }
            if (parts.text) sheet.text(cell.number ? "" : cell.text, cell.tone);
            if (parts.detail) sheet.text(cell.detail, cell.tone);
            if (cell.number && unit.empty() && is_of_physics(cell.unit)) unit = cell.unit;
            const auto side = tables_.front().table->columns[i].side;
            for (const auto& note : cell.notes)
                notes.push_back(
                    side == 0 ? note
                              : say<report::text::words::labelled>(document.sides[side - 1], note));
        }
        if (units_) sheet.text(unit);
        if (noted_) sheet.text(fmt::format("{}", fmt::join(notes, "; ")));
        sheet.end_row();
    }

    const std::vector<Placed>& tables_;
    bool several_; ///< documents
    std::vector<Parts> parts_;
    bool grouped_ = false;
    bool noted_ = false;
    bool units_ = false;
};

/// Whatever is no table, in the order of the document.
class SummaryWriter {
public:
    explicit SummaryWriter(Sheet& sheet) : sheet_{sheet} {}

    void line(const std::string& what, const std::string& text, const std::string& more = "") {
        sheet_.text(section_).text(what).text(text).text(more);
        sheet_.end_row();
    }
    void operator()(const Section& section) { section_ = section.title; }
    void operator()(const Paragraph& paragraph) { line(paragraph.mark, paragraph.text); }
    void operator()(const Facts& facts) {
        for (const auto& fact : facts.facts) line(fact.name, fact.text, fact.detail);
    }
    void operator()(const Findings& findings) {
        for (const auto& finding : findings.findings)
            line(severity_in_words(finding.severity), finding.what, finding.action);
    }
    void operator()(const Table&) {}
    void operator()(const Chart& chart) {
        for (const auto& note : chart.notes) line(chart.title, note);
    }

private:
    Sheet& sheet_;
    std::string section_;
};

} // namespace

Result<std::string> to_workbook(std::span<const Document> documents) {
    std::optional<double> date;
    for (const auto& document : documents)
        if (document.date) date = std::max(date.value_or(*document.date), *document.date);
    WorkbookFile file{documents.empty() ? "" : documents.front().title, date};
    SummaryWriter summary{
        file.sheet(say<report::text::workbook::summary>(),
                   {say<report::text::workbook::section>(), say<report::text::workbook::item>(),
                    say<report::text::workbook::content>(), say<report::text::workbook::notes>()},
                   2)};
    std::vector<std::string> names; // in the order of the documents
    std::map<std::string, std::vector<Placed>> sheets;
    for (const auto& document : documents) {
        summary(Section{.title = document.kicker});
        summary.line(document.title, document.verdict, document.sub);
        for (const auto& line : document.lead) summary.line("", line);
        for (const auto& section : document.sections) {
            summary(section);
            for (const auto& block : section.blocks) {
                std::visit(summary, block);
                const auto* table = std::get_if<Table>(&block);
                if (table == nullptr || table->sheet.empty() || table->rows.empty()) continue;
                auto& placed = sheets[table->sheet];
                if (placed.empty()) names.push_back(table->sheet);
                placed.push_back({&section, &document, table});
            }
        }
        summary(Section{.title = say<report::text::workbook::method>()});
        for (const auto& paragraph : document.foot) summary(paragraph);
    }
    for (const auto& name : names)
        if (const auto cut = SheetWriter{sheets[name], documents.size() > 1}.write(file, name);
            cut > 0)
            summary.line(name, say<report::text::workbook::cut>(cut));
    return file.finish();
}

} // namespace assay::write
