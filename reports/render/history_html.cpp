// SPDX-License-Identifier: Apache-2.0

#include "history/words.hpp"
#include "language/language.hpp"
#include "model/text.hpp"
#include "model/words.hpp"
#include "render/charts.hpp"
#include "render/history.hpp"
#include "render/history_chart.hpp"
#include "render/html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace assay::report {
namespace {

constexpr std::size_t charts_shown =
    40; // of a group: those with steps first, the rest is in the tables
constexpr std::size_t spark_columns = 16;
constexpr std::size_t places_shown = 12; // of a reason why something is not used

void heading(std::string& out, std::string_view text) {
    out += fmt::format("<h2>{}</h2>\n", escape_html(text));
}

void events(std::string& out, const HistoryGroup& group) {
    out += fmt::format("<h3>{}</h3>\n", say<text::history::what_changed>());
    if (group.events.empty()) {
        out += fmt::format("<p class=\"question\">{}</p>\n", say<text::history::nothing_changed>());
        return;
    }
    out += "<ul class=\"findings\">\n";
    for (const auto& event : group.events)
        out += fmt::format("<li class=\"{}\"><p>{}</p><p class=\"do\">{}</p></li>\n",
                           event.worse > 0 ? "caution" : "note", escape_html(event.text),
                           cause_in_words(event.cause));
    out += "</ul>\n";
}

void cell(std::string& out, const std::string& title, const std::string& content,
          std::string_view kind) {
    out += content.empty() ? fmt::format("<td class=\"{}\"></td>", kind)
                           : fmt::format("<td data-l=\"{}\" class=\"{}\">{}</td>", title, kind,
                                         escape_html(content));
}

void family(std::string& out, const HistoryGroup& group, std::string_view name) {
    const auto title = [](std::string_view text, std::string_view kind) {
        return fmt::format("<th scope=\"col\" class=\"{}\">{}</th>", kind, text);
    };
    out += fmt::format(
        "<div class=\"wide\"><table>\n<caption>{}</caption>\n<thead><tr>{}{}{}{}{}{}"
        "{}</tr></thead>\n<tbody>\n",
        escape_html(family_words(name).title), title(say<text::history::series>(), "w"),
        title(say<text::history::library>(), "w"), title(say<text::history::now>(), "n"),
        title(say<text::history::over_time>(), "w"),
        title(say<text::history::latest_change>(), "n"), title(say<text::history::trend>(), "n"),
        title(say<text::history::machines_apart>(), "n"));
    for (const auto& series : group.series) {
        if (series.family != name) continue;
        std::string what = escape_html(series.what) +
                           fmt::format("<small>{}</small>", escape_html(series.benchmark));
        for (const auto& step : steps_in_words(series.steps))
            what += fmt::format("<small>{}</small>", escape_html(step));
        if (series.spread)
            what += fmt::format("<small>{}</small>", escape_html(series.spread->text));
        out += fmt::format("<tr><td>{}</td>", what);
        cell(out, say<text::history::library>(), series.library, "w");
        cell(out, say<text::history::now>(), present_value(series), "n v");
        cell(out, say<text::history::over_time>(), history_sparkline(series, spark_columns), "w");
        cell(out, say<text::history::latest_change>(), change_in_short(series), "n");
        cell(out, say<text::history::trend>(), trend_in_short(series), "n");
        cell(out, say<text::history::machines_apart>(), spread_in_short(series), "n");
        out += "</tr>\n";
    }
    out += "</tbody></table></div>\n";
}

void charts(std::string& out, const HistoryGroup& group, std::size_t number) {
    std::vector<const HistorySeries*> chosen;
    for (const bool with_steps : {true, false})
        for (const auto& series : group.series)
            if (series.steps.empty() != with_steps && chosen.size() < charts_shown)
                chosen.push_back(&series);
    for (std::size_t i = 0; i < chosen.size(); ++i)
        out += history_chart(*chosen[i], fmt::format("history-{}-{}", number, i));
}

void not_used(std::string& out, const History& history) {
    const auto reasons = not_used_by_reason(history);
    if (reasons.empty()) return;
    out += "<section>\n";
    heading(out, say<text::history::not_used>());
    out += "<dl class=\"facts\">\n";
    for (const auto& reason : reasons)
        out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_html(reason.reason),
                           escape_html(list_of(reason.where, places_shown)));
    out += "</dl>\n</section>\n";
}

} // namespace

std::string to_html(const History& history) {
    std::string out =
        fmt::format("<article>\n<header>\n<p class=\"kicker\">{}</p>\n<h1>{}</h1>\n"
                    "</header>\n",
                    say<text::history::title>(), say_count<text::history::runs>(history.runs));
    if (!is_comparable(history))
        out += fmt::format("<ul class=\"findings\"><li class=\"serious\"><p>{}</p><p class=\"do\">"
                           "{}</p></li></ul>\n",
                           say<text::history::nothing_yet>(), say<text::history::nothing_to_do>());
    out += cause_html(history.cause);
    for (std::size_t i = 0; i < history.groups.size(); ++i) {
        const auto& group = history.groups[i];
        out += "<section>\n";
        heading(out, group.name);
        out += fmt::format("<p class=\"question\">{}</p>\n", escape_html(group_in_words(group)));
        events(out, group);
        std::string name;
        for (const auto& series : group.series) {
            if (series.family == name) continue;
            name = series.family;
            family(out, group, name);
        }
        charts(out, group, i);
        out += "</section>\n";
    }
    not_used(out, history);
    out += "<footer>\n";
    for (const auto& note : history.notes) out += fmt::format("<p>{}</p>\n", escape_html(note));
    out += fmt::format("<p>{}</p>\n", escape_html(history_method()));
    return html_page(say<text::history::title>(), out + "</footer>\n</article>\n");
}

} // namespace assay::report
