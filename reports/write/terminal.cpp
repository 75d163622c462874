// SPDX-License-Identifier: Apache-2.0
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/words.hpp"
#include "write/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace assay::write {
namespace {

// --- lines ---------------------------------------------------------------------------------------

// Lines of plain text for a terminal: wrapped, indented, painted where there is colour.

constexpr std::size_t narrowest = 60; // below this a table of values does not fit

class Lines {
public:
    explicit Lines(Terminal terminal) : terminal_{terminal} {
        terminal_.width = std::max(terminal_.width, narrowest);
    }
    std::string paint(Paint paint, std::string_view text) const {
        return assay::paint(terminal_, paint, text);
    }
    void line(std::string_view text = "") {
        const auto end = text.find_last_not_of(' ');
        out_ += text.substr(0, end == std::string_view::npos ? 0 : end + 1);
        out_ += '\n';
    }
    /// An empty line and `text` in bold.
    void heading(std::string_view text) {
        line();
        line(paint(Paint::bold, text));
    }
    /// `text` wrapped behind `first`, later lines indented to the same column.
    void paragraph(std::string_view first, std::size_t indent, std::string_view text,
                   bool dim = false) {
        const auto lines = wrap(text, width() > indent + 20 ? width() - indent : 20);
        for (std::size_t i = 0; i < lines.size(); ++i) {
            const std::string body = dim ? paint(Paint::dim, lines[i]) : lines[i];
            line((i == 0 ? fit(first, indent) : std::string(indent, ' ')) + body);
        }
    }
    std::size_t width() const { return terminal_.width; }
    std::string take() { return std::move(out_); }

private:
    Terminal terminal_;
    std::string out_;
};

// -------------------------------------------------------------------------------------------------

using namespace document;
using document::Table;

constexpr std::size_t narrowest_name =
    26; // columns of the first cell; it takes two or three lines there
constexpr std::size_t longest_name_of_fact = 24;

std::optional<Paint> paint_of(Tone tone) {
    switch (tone) {
    case Tone::good:
        return Paint::green;
    case Tone::weak:
        return Paint::yellow;
    case Tone::bad:
        return Paint::red;
    case Tone::quiet:
        return Paint::dim;
    case Tone::plain:
        break;
    }
    return std::nullopt;
}

/// Filled with blanks, and never cut.
std::string padded(std::string_view text, std::size_t columns) {
    return fit(text, std::max(columns, display_width(text)));
}

std::string painted(const Lines& page, Tone tone, std::string_view text) {
    const auto paint = paint_of(tone);
    return paint ? page.paint(*paint, text) : std::string{text};
}

constexpr std::size_t share_bar_width = 10;
/// "########  ": of the whole width.
std::string share_bar(const std::optional<double>& share) {
    constexpr auto whole = static_cast<double>(share_bar_width);
    const auto filled = std::lround(whole * std::clamp(share.value_or(0), 0.0, 1.0));
    return fit(std::string(static_cast<std::size_t>(filled), '#'), share_bar_width);
}

/// A column as it is laid out: texts in one line below each other, details in another.
struct Width {
    std::size_t text = 0; ///< of cells that have a detail
    std::size_t detail = 0;
    std::size_t all = 0;
    void add(const Cell& cell) {
        if (!cell.detail.empty()) {
            text = std::max(text, display_width(cell.text));
            detail = std::max(detail, display_width(cell.detail));
        }
        all = std::max(all, display_width(cell.text));
        if (detail > 0) all = std::max(all, text + 1 + detail);
    }
};

/// Rows under titles where there is room for that; otherwise each row's cells below its name, and the sides of a
/// comparison below each other.
class Layout {
public:
    Layout(const Table& table, const std::vector<std::string>& sides, std::size_t width)
        : table_{table}, sides_{sides}, width_{width}, widths_(table.columns.size()),
          shown_{shown_columns(table)} {
        for (const auto i : shown_)
            for (const auto& row : table.rows) widths_[i].add(row.cells[i]);
        for (const auto i : shown_)
            widths_[i].all = std::max(widths_[i].all, display_width(table.columns[i].title));
        drop_what_does_not_fit();
        stacked_ = others() + std::min(widths_[0].all, narrowest_name) > width_;
        if (stacked_)
            widen_sides();
        else
            widths_[0].all = std::min(widths_[0].all, width_ - others());
    }

    void head(Lines& page) const {
        if (stacked_ && !sides_.empty()) return;
        std::string line = "  ";
        if (!stacked_) line += fit(table_.columns[0].title, widths_[0].all);
        for (const auto i : shown_)
            if (i > 0) line += "  " + aligned(i, table_.columns[i].title, widths_[i].all);
        page.line(page.paint(Paint::dim, line));
    }

    void row(Lines& page, const Row& row) const {
        if (stacked_)
            stack(page, row);
        else
            one_line(page, row);
        for (const auto i : shown_)
            for (const auto& note : row.cells[i].notes) {
                const std::size_t side = table_.columns[i].side;
                page.paragraph(
                    "", 6,
                    side == 0 ? note : document::say<text::words::labelled>(sides_[side - 1], note),
                    true);
            }
    }

    /// Titles of columns that do not fit.
    std::vector<std::string> dropped() const {
        std::vector<std::string> titles;
        for (const auto i : dropped_)
            if (!table_.columns[i].title.empty()) titles.push_back(table_.columns[i].title);
        return titles;
    }

private:
    std::size_t others() const {
        std::size_t sum = 2;
        for (const auto i : shown_)
            if (i > 0) sum += 2 + widths_[i].all;
        return sum;
    }
    void drop_what_does_not_fit() {
        while (others() + std::min(widths_[0].all, narrowest_name) > width_) {
            const auto last = std::ranges::max_element(
                shown_, {}, [&](std::size_t i) { return table_.columns[i].rank; });
            if (table_.columns[*last].rank == 0) return;
            dropped_.push_back(*last);
            shown_.erase(last);
        }
    }
    /// Below each other the same column of every side is as wide.
    void widen_sides() {
        for (const auto i : shown_)
            for (const auto j : shown_) {
                const auto& a = table_.columns[i];
                const auto& b = table_.columns[j];
                if (a.side == 0 || b.side == 0 || a.key != b.key) continue;
                widths_[i].text = std::max(widths_[i].text, widths_[j].text);
                widths_[i].detail = std::max(widths_[i].detail, widths_[j].detail);
                widths_[i].all = std::max(widths_[i].all, widths_[j].all);
            }
    }
    std::string aligned(std::size_t column, std::string_view text, std::size_t width) const {
        return table_.columns[column].numeric ? fit_right(text, width) : fit(text, width);
    }
    std::string cell(const Lines& page, std::size_t column, const Cell& cell) const {
        const auto& width = widths_[column];
        if (cell.detail.empty() && width.detail == 0)
            return painted(page, cell.tone, aligned(column, cell.text, width.all));
        if (cell.detail.empty() && display_width(cell.text) > width.text)
            return painted(page, cell.tone, fit(cell.text, width.all));
        const auto both =
            fmt::format("{} {}", painted(page, cell.tone, aligned(column, cell.text, width.text)),
                        aligned(column, cell.detail, width.detail));
        const std::size_t columns = width.text + 1 + width.detail;
        const std::string rest(width.all > columns ? width.all - columns : 0, ' ');
        return table_.columns[column].numeric ? rest + both : both + rest;
    }
    void one_line(Lines& page, const Row& row) const {
        const auto name = wrap(row.cells[0].text, widths_[0].all);
        std::string line =
            "  " + painted(page, row.cells[0].tone, fit(name.front(), widths_[0].all));
        for (const auto i : shown_)
            if (i > 0) line += "  " + cell(page, i, row.cells[i]);
        page.line(line);
        for (std::size_t i = 1; i < name.size(); ++i)
            page.line(fmt::format("    {}", painted(page, row.cells[0].tone, name[i])));
    }
    void stack(Lines& page, const Row& row) const {
        std::string name = row.cells[0].text;
        std::vector<std::size_t> fields;
        for (const auto i : shown_) {
            if (i == 0 || table_.columns[i].side > 0 || row.cells[i].text.empty()) continue;
            if (sides_.empty())
                fields.push_back(i);
            else
                name = document::say<text::words::in_brackets>(name, row.cells[i].text);
        }
        page.paragraph("  ", 4, name);
        stack_fields(page, row, fields);
        std::size_t label = 0;
        for (const auto& side : sides_) label = std::max(label, display_width(side));
        for (std::size_t side = 1; side <= sides_.size(); ++side)
            stack_side(page, row, side, label);
    }
    /// In one line; the last one, if it is a text that does not fit, in several.
    void stack_fields(Lines& page, const Row& row, const std::vector<std::size_t>& fields) const {
        if (fields.empty()) return;
        std::string line = "  ";
        std::size_t taken = 2;
        for (const auto i : fields) {
            line += "  ";
            taken += 2;
            const auto& last = row.cells[i];
            if (i == fields.back() && !table_.columns[i].numeric && last.detail.empty() &&
                taken + display_width(last.text) > width_)
                return page.paragraph(line, taken, last.text);
            line += cell(page, i, last);
            taken += widths_[i].all;
        }
        page.line(line);
    }
    void stack_side(Lines& page, const Row& row, std::size_t side, std::size_t label) const {
        std::vector<std::size_t> columns;
        std::size_t taken = 6;
        bool said = false;
        for (const auto i : shown_)
            if (table_.columns[i].side == side) {
                columns.push_back(i);
                taken += 2 + widths_[i].all;
                said = said || !row.cells[i].text.empty();
            }
        if (columns.empty() || (!said && sides_.size() > 2)) return;
        // Labels are cut before what is last has to move to a line of its own.
        constexpr std::size_t shortest_label = 10;
        constexpr std::size_t longest_label = 28;
        const bool apart = taken + std::min(label, shortest_label) > width_ && columns.size() > 1;
        if (apart) taken -= 2 + widths_[columns.back()].all;
        const std::size_t room = width_ > taken ? width_ - taken : shortest_label;
        const std::size_t columns_of_label = std::min({label, longest_label, room});
        const auto labels = cut_apart(sides_, columns_of_label);
        std::string line = "      " + padded(labels[side - 1], columns_of_label);
        for (const auto i : columns) {
            if (apart && i == columns.back()) {
                page.line(line);
                line = "        ";
                if (row.cells[i].text.empty()) return;
            }
            line += "  " + cell(page, i, row.cells[i]);
        }
        page.line(line);
    }

    const Table& table_;
    const std::vector<std::string>& sides_;
    std::size_t width_;
    std::vector<Width> widths_; ///< one for each column of the table
    std::vector<std::size_t> shown_;
    std::vector<std::size_t> dropped_; ///< columns that do not fit
    bool stacked_ = false;
};

/// Most important first: bad, weak, good; among equals the ratio furthest from 1.
std::pair<int, double> importance(const Row& row) {
    std::pair<int, double> most{0, 0};
    for (const auto& cell : row.cells) {
        const int tone = cell.tone == Tone::bad    ? 3
                         : cell.tone == Tone::weak ? 2
                         : cell.tone == Tone::good ? 1
                                                   : 0;
        most.first = std::max(most.first, tone);
        if (cell.unit == unit_ratio && cell.number && *cell.number > 0)
            most.second = std::max(most.second, std::abs(std::log(*cell.number)));
    }
    return most;
}

/// The table with its `count` most important rows, in the order that they had.
Table shortened(const Table& table, std::size_t count) {
    std::vector<std::pair<std::pair<int, double>, const Row*>> rows;
    for (const auto& row : table.rows) rows.emplace_back(importance(row), &row);
    std::ranges::stable_sort(rows, std::ranges::greater{},
                             [](const auto& entry) { return entry.first; });
    rows.resize(count);
    std::ranges::sort(rows, {}, [](const auto& entry) { return entry.second; }); // of one vector
    Table out{.caption = table.caption, .columns = table.columns};
    for (const auto& [important, row] : rows) out.rows.push_back(*row);
    return out;
}

class Printer {
public:
    Printer(Lines& page, const Document& document, std::size_t most_rows)
        : page_{page}, document_{document}, most_rows_{most_rows} {}

    void operator()(const Paragraph& paragraph) {
        const auto mark = paragraph.mark.empty() ? "  " : fmt::format("  {}", paragraph.mark);
        const std::size_t indent = paragraph.mark.empty() ? 2 : display_width(mark) + 1;
        const auto paint = paint_of(paragraph.tone);
        if (!paint || *paint == Paint::dim)
            page_.paragraph(mark, indent, paragraph.text, paint.has_value());
        else
            page_.paragraph(page_.paint(*paint, mark), indent, paragraph.text);
    }
    void operator()(const Facts& facts) {
        std::size_t name = 0;
        std::size_t text = 0;
        for (const auto& fact : facts.facts) {
            name = std::max(name, display_width(fact.name));
            if (!fact.detail.empty()) text = std::max(text, display_width(fact.text));
        }
        name = std::min(name, longest_name_of_fact);
        constexpr std::size_t of_detail = 24; // columns beside the bars
        const bool bars = page_.width() >= name + text + share_bar_width + 8 + of_detail &&
                          std::ranges::any_of(
                              facts.facts, [](const Fact& fact) { return fact.share.has_value(); });
        std::vector<std::string> names;
        for (const auto& fact : facts.facts) names.push_back(fact.name);
        names = cut_apart(names, name);
        for (const auto& fact : facts.facts) {
            const auto first = fmt::format("  {}", padded(names[&fact - facts.facts.data()], name));
            if (fact.detail.empty())
                page_.paragraph(first, name + 4, fact.text);
            else
                page_.paragraph(fmt::format("{}  {}{}", first,
                                            painted(page_, fact.tone, fit(fact.text, text)),
                                            bars ? fmt::format("  {}", share_bar(fact.share)) : ""),
                                name + text + (bars ? share_bar_width + 8 : 6), fact.detail, true);
        }
    }
    void operator()(const Findings& findings) {
        for (const auto& finding : findings.findings) {
            const bool serious = finding.severity == Severity::serious;
            page_.paragraph(serious                                 ? "  !!"
                            : finding.severity == Severity::caution ? "  !"
                                                                    : "  -",
                            5, finding.what);
            if (!finding.action.empty()) page_.paragraph("", 5, finding.action, true);
        }
    }
    void operator()(const Table& table) {
        if (!is_shown(table)) return;
        if (most_rows_ > 0 && table.rows.size() > most_rows_) {
            (*this)(shortened(table, most_rows_));
            page_.paragraph(
                "  ", 2,
                document::say_count<text::words::more_rows>(table.rows.size() - most_rows_), true);
            return;
        }
        if (!table.caption.empty()) page_.paragraph("  ", 2, table.caption, true);
        if (!fresh_ || !table.caption.empty()) page_.line();
        const Layout layout{table, document_.sides, page_.width()};
        layout.head(page_);
        for (const auto& title : layout.dropped())
            if (std::ranges::find(dropped_, title) == dropped_.end()) dropped_.push_back(title);
        std::string group;
        for (const auto& row : table.rows) {
            if (row.group != group)
                page_.line(fmt::format("  {}", page_.paint(Paint::bold, row.group)));
            group = row.group;
            layout.row(page_, row);
        }
    }
    void operator()(const Chart& chart) {
        if (chart.lines.empty() && chart.notes.empty()) return;
        page_.line(fmt::format("  {}", page_.paint(Paint::bold, chart.title)));
        if (!chart.caption.empty()) page_.paragraph("", 4, chart.caption, true);
        for (const auto& line : chart.lines) page_.paragraph("   ", 4, line);
        for (const auto& note : chart.notes) page_.paragraph("", 6, note, true);
    }

    void operator()(const Section& section) {
        if (std::ranges::none_of(section.blocks, has_text)) return;
        if (section.heading)
            page_.heading(section.title);
        else
            page_.line();
        if (!section.question.empty()) page_.paragraph("  ", 2, section.question, true);
        fresh_ = section.question.empty();
        for (const auto& block : section.blocks) {
            std::visit(*this, block);
            fresh_ = fresh_ && !has_text(block);
        }
    }

    /// Names what the width left no room for.
    void tell_dropped() {
        if (dropped_.empty()) return;
        page_.line();
        page_.paragraph("  ", 2,
                        document::say<text::words::too_narrow_for>(document::join(dropped_)), true);
    }

private:
    static bool has_text(const Block& block) {
        if (const auto* table = std::get_if<Table>(&block)) return is_shown(*table);
        if (const auto* chart = std::get_if<Chart>(&block))
            return !chart->lines.empty() || !chart->notes.empty();
        if (const auto* findings = std::get_if<Findings>(&block))
            return !findings->findings.empty();
        const auto* facts = std::get_if<Facts>(&block);
        return facts == nullptr || !facts->facts.empty();
    }

    Lines& page_;
    const Document& document_;
    std::size_t most_rows_;
    bool fresh_ = true; ///< nothing of the section below its title yet
    std::vector<std::string> dropped_;
};

void print(Lines& page, const Document& document, std::size_t most_rows) {
    if (!document.verdict.empty()) {
        for (const auto& line : wrap(document.verdict, page.width()))
            page.line(page.paint(Paint::bold, painted(page, document.tone, line)));
        for (const auto& line : document.lead)
            if (display_width(line) <= page.width())
                page.line(line);
            else
                page.paragraph("", 0, line);
        page.line();
    }
    page.paragraph("", 0, document.title);
    if (!document.sub.empty()) page.paragraph("", 0, document.sub, true);
    const bool brief = most_rows > 0 && !document.rest.empty();
    Printer printer{page, document, most_rows};
    for (const auto& section : document.sections)
        if (!brief || !section.detail) printer(section);
    if (brief) return page.paragraph("  ", 2, document.rest, true);
    printer.tell_dropped();
    if (!document.foot.empty()) page.line();
    for (const auto& paragraph : document.foot) printer(paragraph);
}

} // namespace

std::string to_terminal(std::span<const Document> documents, const Terminal& style,
                        std::size_t most_rows) {
    Lines page{style};
    for (const auto& document : documents) {
        if (&document != &documents.front()) {
            page.line();
            page.line();
        }
        print(page, document, most_rows);
    }
    return page.take();
}

} // namespace assay::write
