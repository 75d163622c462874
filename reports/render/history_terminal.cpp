// SPDX-License-Identifier: Apache-2.0

#include "history/words.hpp"
#include "language/language.hpp"
#include "model/text.hpp"
#include "model/words.hpp"
#include "render/history.hpp"
#include "render/lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace assay::report {
namespace {

constexpr std::size_t longest_library = 12;
constexpr std::size_t spark_columns = 12;
constexpr std::size_t narrowest_case = 22; // columns; a case takes two or three lines there
constexpr std::size_t steps_shown = 3;     // of a series; the events above have all causes
constexpr std::size_t reasons_shown = 12;  // why something is not used
constexpr std::size_t places_shown = 4;    // of a reason

/// A column of the table: what stands in it, and what it is called.
struct Column {
    std::string title;
    std::string (*text)(const HistorySeries&);
    std::size_t width = 0;
    bool shown = true;
};

std::string spark(const HistorySeries& series) { return history_sparkline(series, spark_columns); }

class Table {
public:
    Table(const HistoryGroup& group, std::string_view family, std::size_t width) {
        columns_ = {{say<text::history::now>(), &present_value},
                    {say<text::history::over_time>(), &spark},
                    {say<text::history::latest_change>(), &change_in_short},
                    {say<text::history::trend>(), &trend_in_short},
                    {say<text::history::machines_apart>(), &spread_in_short}};
        what_ = display_width(say<text::history::series>());
        library_ = display_width(say<text::history::library>());
        for (const auto& series : group.series) {
            if (series.family != family) continue;
            what_ = std::max(what_, display_width(series.what));
            library_ = std::max(library_, display_width(series.library));
            for (auto& column : columns_)
                column.width = std::max(column.width, display_width(column.text(series)));
        }
        library_ = std::min(library_, longest_library);
        for (auto& column : columns_) {
            column.shown = column.width > 0; // nothing to say, nothing shown
            column.width = std::max(column.width, display_width(column.title));
        }
        // The case is worth more than the last columns.
        for (const std::size_t victim : {std::size_t{3}, std::size_t{4}, std::size_t{2}})
            if (others() + std::min(what_, narrowest_case) > width) columns_[victim].shown = false;
        what_ =
            std::min(what_, width > others() + narrowest_case ? width - others() : narrowest_case);
    }

    void head(Lines& page) const {
        std::string line = fmt::format("  {}  {}", fit(say<text::history::series>(), what_),
                                       fit(say<text::history::library>(), library_));
        for (const auto& column : columns_)
            if (column.shown) line += fmt::format("  {}", fit_right(column.title, column.width));
        page.line(page.paint(Paint::dim, line));
    }
    void row(Lines& page, const HistorySeries& series) const {
        const auto what = wrap(series.what, what_);
        std::string line =
            fmt::format("  {}  {}", fit(what.front(), what_), fit(series.library, library_));
        for (const auto& column : columns_)
            if (column.shown)
                line += fmt::format("  {}", fit_right(column.text(series), column.width));
        page.line(line);
        for (std::size_t i = 1; i < what.size(); ++i) page.line(fmt::format("    {}", what[i]));
    }

private:
    std::size_t others() const {
        std::size_t sum = 2 + 2 + library_;
        for (const auto& column : columns_) sum += column.shown ? 2 + column.width : 0;
        return sum;
    }
    std::vector<Column> columns_;
    std::size_t what_ = 0;
    std::size_t library_ = 0;
};

void print_events(Lines& page, const HistoryGroup& group) {
    page.line();
    if (group.events.empty()) {
        page.paragraph("  ", 2, say<text::history::nothing_changed>(), true);
        return;
    }
    page.line(fmt::format("  {}", page.paint(Paint::bold, say<text::history::what_changed>())));
    for (const auto& event : group.events) {
        const auto cause = cause_in_words(event.cause);
        page.paragraph(event.worse > 0 ? "  !" : "  +", 5,
                       say<text::words::labelled>(cause, event.text));
    }
}

void print_series(Lines& page, const HistoryGroup& group) {
    std::string family;
    std::string benchmark;
    std::optional<Table> table;
    for (const auto& series : group.series) {
        if (!table || series.family != family) {
            family = series.family;
            benchmark.clear();
            page.line();
            page.line(fmt::format("  {}", page.paint(Paint::bold, family_words(family).title)));
            table.emplace(group, family, page.width());
            table->head(page);
        }
        if (series.benchmark != benchmark) {
            benchmark = series.benchmark;
            page.line(fmt::format("  {}", page.paint(Paint::bold, benchmark)));
        }
        table->row(page, series);
        const auto steps = steps_in_words(series.steps);
        for (std::size_t i = 0; i < std::min(steps.size(), steps_shown); ++i)
            page.paragraph("", 6, steps[i], true);
        if (steps.size() > steps_shown)
            page.paragraph("", 6, say<text::history::and_more>(steps.size() - steps_shown), true);
    }
}

void print_not_used(Lines& page, const History& history) {
    const auto reasons = not_used_by_reason(history);
    if (reasons.empty()) return;
    page.heading(say<text::history::not_used>());
    for (std::size_t i = 0; i < std::min(reasons.size(), reasons_shown); ++i) {
        page.paragraph("  ", 2, reasons[i].reason);
        page.paragraph("", 6, list_of(reasons[i].where, places_shown), true);
    }
    if (reasons.size() > reasons_shown)
        page.paragraph("  ", 2, say<text::history::and_more>(reasons.size() - reasons_shown));
}

} // namespace

std::string to_terminal(const History& history, const Terminal& style) {
    Lines page{style};
    page.line(page.paint(Paint::bold,
                         say<text::words::labelled>(say<text::history::title>(),
                                                    say_count<text::history::runs>(history.runs))));
    if (!is_comparable(history)) {
        page.line();
        page.paragraph("  ", 2, say<text::history::nothing_yet>());
        page.paragraph("  ", 2, say<text::history::nothing_to_do>(), true);
    }
    if (!history.cause.empty()) page.paragraph("", 0, history.cause);
    for (const auto& group : history.groups) {
        page.heading(group.name);
        page.paragraph("  ", 2, group_in_words(group), true);
        print_events(page, group);
        print_series(page, group);
    }
    if (!history.notes.empty()) {
        page.heading(say<text::history::notes>());
        for (const auto& note : history.notes) page.paragraph("  -", 4, note);
    }
    print_not_used(page, history);
    page.line();
    page.paragraph("  ", 2, history_method(), true);
    return page.take();
}

} // namespace assay::report
