// SPDX-License-Identifier: Apache-2.0

#include "document/texts/workbook.hpp"

#include "document/document.hpp"
#include "document/language.hpp"
#include "document/texts/words.hpp"
#include "write/formats.hpp"
#include "write/workbook_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace assay::write {
namespace {

using namespace document;
using document::say;

bool is_of_physics(const std::string& unit) {
    return unit != unit_count && unit != unit_ratio && unit != unit_share && unit != unit_p &&
           unit != unit_date;
}

/// Columns that the tables of one sheet need.
struct Parts {
    bool text = false; ///< beside the number: words that it does not say
    bool number = false;
    bool interval = false;
    bool detail = false;
};

/// Text stands beside a number only if it is more than its rendering: a verdict beside a ratio.
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

/// Cells with names, for formulas, by their row or document; empty where several have the name.
using Names = std::map<std::pair<const void*, std::string>, std::string>;

/// The formula for a workbook; empty if a name is unknown.
std::string formula_of(const std::string& formula, const Row& row, const Document* document,
                       const Names& names) {
    constexpr auto of_words = "abcdefghijklmnopqrstuvwxyz0123456789_.";
    std::string out;
    for (std::size_t i = 0, end = 0; i < formula.size(); i = end) {
        end = std::min(formula.size(), std::max(i + 1, formula.find_first_not_of(of_words, i)));
        auto word = formula.substr(i, end - i);
        if (word.front() >= 'a' && word.front() <= 'z') {
            auto found = names.find({&row, word});
            if (found == names.end()) found = names.find({document, word});
            if (found == names.end() || found->second.empty()) return {};
            word = found->second;
        }
        out += word;
    }
    return out;
}

/// Units of times below one second: no format can show a prefix for them, so these are what cells hold.
struct TimeUnit {
    const char* name = "s";
    double in_second = 1;
};
TimeUnit unit_for(double seconds) {
    if (seconds >= 1 || !(seconds > 0)) return {};
    if (seconds >= 1e-3) return {.name = "ms", .in_second = 1e3};
    return seconds >= 1e-6 ? TimeUnit{.name = "µs", .in_second = 1e6}
                           : TimeUnit{.name = "ns", .in_second = 1e9};
}
/// The unit of a row: that of its first number of physics.
const std::string* unit_of(const Row& row) {
    const auto first = std::ranges::find_if(row.cells, [](const Cell& cell) {
        return cell.number && !cell.unit.empty() && is_of_physics(cell.unit);
    });
    return first == row.cells.end() ? nullptr : &first->unit;
}

void add_number(Sheet& sheet, const std::optional<double>& number, const std::string& unit,
                const TimeUnit& time) {
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
    else if (unit == "s" && number)
        sheet.number(*number * time.in_second, time.name);
    else
        sheet.number(number, unit);
}

/// All tables of one sheet below each other.
class SheetWriter {
public:
    SheetWriter(std::string name, const std::vector<Placed>& tables, bool several)
        : name_{std::move(name)}, tables_{tables}, several_{several},
          parts_(tables.front().table->columns.size()) {
        for (const auto& [section, document, table] : tables_)
            for (const auto& row : table->rows) {
                grouped_ = grouped_ || !row.group.empty();
                families_ = families_ || !row.tags.family.empty();
                for (std::size_t i = 0; i < parts_.size(); ++i) {
                    const auto& cell = row.cells[i];
                    look_at(parts_[i], table->columns[i], cell);
                    noted_ = noted_ || !cell.notes.empty();
                    units_ = units_ || (cell.number && is_of_physics(cell.unit));
                }
            }
        choose_times();
    }

    void name_cells(Names& names) const {
        std::uint32_t line = 0;
        for (const auto& [section, document, table] : tables_)
            for (const auto& row : table->rows) {
                ++line;
                std::size_t column = before();
                for (std::size_t i = 0; i < parts_.size(); column += width(parts_[i++])) {
                    const auto& cell = row.cells[i];
                    if (!cell.live || cell.live->name.empty() || !cell.number) continue;
                    names[{&row, cell.live->name}] = cell_name(line, column, "");
                    const auto [entry, is_new] = names.try_emplace({document, cell.live->name},
                                                                   cell_name(line, column, name_));
                    if (!is_new) entry->second.clear();
                }
            }
    }
    /// Rows that found no place.
    std::size_t write(WorkbookFile& file, const Names& names) {
        const auto titles = titles_of();
        auto& sheet = file.sheet(name_, titles, frozen());
        for (const auto& placed : tables_)
            for (const auto& row : placed.table->rows) add(sheet, placed, row, names);
        return sheet.rows_left_out();
    }

private:
    std::size_t before() const { return (several_ ? 1 : 0) + (grouped_ ? 1 : 0) + 1U; }
    std::size_t frozen() const { return before() + 1; }
    static std::size_t width(const Parts& parts) {
        return (parts.number || !parts.text ? 1U : 0U) + (parts.interval ? 2 : 0) +
               (parts.text ? 1 : 0) + (parts.detail ? 1 : 0);
    }
    std::vector<std::string> titles_of() const {
        std::vector<std::string> titles;
        if (several_) titles.push_back(say<text::workbook::run>());
        titles.push_back(families_ ? say<text::workbook::family>()
                                   : say<text::workbook::section>());
        if (grouped_)
            titles.push_back(families_ ? say<text::workbook::benchmark>()
                                       : say<text::workbook::group>());
        const auto& columns = tables_.front().table->columns;
        const auto& sides = tables_.front().document->sides;
        for (std::size_t i = 0; i < columns.size(); ++i) {
            std::string title = columns[i].title;
            if (columns[i].side > 0 && title != sides[columns[i].side - 1])
                title = say<text::words::labelled>(sides[columns[i].side - 1], title);
            const auto of = [&](const std::string& what) {
                return say<text::words::labelled>(title, what);
            };
            if (parts_[i].number || !parts_[i].text) titles.push_back(title);
            if (parts_[i].interval) {
                titles.push_back(of(say<text::workbook::low>()));
                titles.push_back(of(say<text::workbook::high>()));
            }
            if (parts_[i].text)
                titles.push_back(parts_[i].number ? of(say<text::workbook::what>()) : title);
            if (parts_[i].detail) titles.push_back(of(say<text::workbook::covers>()));
        }
        if (units_) titles.push_back(say<text::workbook::unit>());
        if (noted_) titles.push_back(say<text::workbook::notes>());
        return titles;
    }
    /// Rows of one group and metric.
    static std::string group_of(const Table& table, const Row& row) {
        auto name = row.group;
        for (std::size_t i = 0; i < table.columns.size(); ++i)
            if (table.columns[i].key == "metric") name += '\n' + row.cells[i].text;
        return name;
    }
    /// Their times have one unit, so that they can be compared and drawn: that of the shortest.
    void choose_times() {
        std::map<std::string, double> shortest;
        for (const auto& placed : tables_)
            for (const auto& row : placed.table->rows) {
                if (const auto* unit = unit_of(row); unit == nullptr || *unit != "s") continue;
                for (const auto& cell : row.cells) {
                    if (!cell.number || cell.unit != "s") continue;
                    auto& least = shortest.try_emplace(group_of(*placed.table, row), *cell.number)
                                      .first->second;
                    if (*cell.number > 0) least = std::min(least, *cell.number);
                    if (cell.live) least = 1; // formulas calculate with seconds
                }
            }
        for (const auto& [group, least] : shortest) times_[group] = unit_for(least);
    }
    void add(Sheet& sheet, const Placed& placed, const Row& row, const Names& names) const {
        TimeUnit time;
        if (const auto* own = unit_of(row); own != nullptr && *own == "s")
            time = times_.at(group_of(*placed.table, row));
        const auto& document = *placed.document;
        const auto& section = *placed.section;
        if (several_) sheet.text(document.title);
        sheet.text(section.title);
        if (grouped_) sheet.text(row.group);
        std::string unit;
        std::vector<std::string> notes;
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            const auto& cell = row.cells[i];
            const auto& parts = parts_[i];
            if (parts.number || !parts.text) {
                if (cell.live)
                    sheet.live(formula_of(cell.live->formula, row, placed.document, names));
                add_number(sheet, cell.number, cell.unit, time);
            }
            if (parts.interval) {
                add_number(sheet, cell.low, cell.unit, time);
                add_number(sheet, cell.high, cell.unit, time);
            }
            if (parts.text) sheet.text(cell.number ? "" : cell.text, cell.tone);
            if (parts.detail) sheet.text(cell.detail, cell.tone);
            if (cell.number && unit.empty() && is_of_physics(cell.unit)) unit = cell.unit;
            const auto side = tables_.front().table->columns[i].side;
            for (const auto& note : cell.notes)
                notes.push_back(
                    side == 0 ? note : say<text::words::labelled>(document.sides[side - 1], note));
        }
        if (units_) sheet.text(unit == "s" ? time.name : unit);
        if (noted_) sheet.text(fmt::format("{}", fmt::join(notes, "; ")));
        sheet.end_row();
    }

    std::string name_;
    const std::vector<Placed>& tables_;
    bool several_; ///< documents
    std::vector<Parts> parts_;
    bool grouped_ = false;
    bool families_ = false;
    bool noted_ = false;
    bool units_ = false;
    std::map<std::string, TimeUnit> times_; ///< by group
};

/// Everything except tables, in the order of the document.
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
    SummaryWriter summary{file.sheet(say<text::workbook::summary>(),
                                     {say<text::workbook::section>(), say<text::workbook::item>(),
                                      say<text::workbook::content>(), say<text::workbook::notes>()},
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
        summary(Section{.title = say<text::workbook::method>()});
        for (const auto& paragraph : document.foot) summary(paragraph);
    }
    std::vector<SheetWriter> writers;
    Names cells;
    for (const auto& name : names) {
        writers.emplace_back(name, sheets[name], documents.size() > 1);
        writers.back().name_cells(cells);
    }
    for (std::size_t i = 0; i < names.size(); ++i)
        if (const auto cut = writers[i].write(file, cells); cut > 0)
            summary.line(names[i], say<text::workbook::cut>(cut));
    return file.finish();
}

} // namespace assay::write
