// SPDX-License-Identifier: Apache-2.0

#include "history/words.hpp"
#include "language/language.hpp"
#include "model/text.hpp"
#include "model/words.hpp"
#include "record/format.hpp"
#include "render/history.hpp"
#include "render/markdown_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace assay::report {
namespace {

constexpr std::size_t spark_columns = 16;
constexpr std::size_t places_shown = 12; // of a reason why something is not used

using markdown::quote;
using markdown::row;

void events(std::string& out, const HistoryGroup& group) {
    out += fmt::format("\n### {}\n\n", say<text::history::what_changed>());
    if (group.events.empty()) {
        out += quote(say<text::history::nothing_changed>()) + "\n";
        return;
    }
    for (const auto& event : group.events)
        out += fmt::format("- **{}**: {}\n", cause_in_words(event.cause), quote(event.text));
}

void family(std::string& out, const HistoryGroup& group, std::string_view name) {
    out += fmt::format("\n### {}\n\n", quote(family_words(name).title));
    row(out,
        {say<text::history::series>(), say<text::history::library>(), say<text::history::now>(),
         say<text::history::over_time>(), say<text::history::latest_change>(),
         say<text::history::trend>(), say<text::history::machines_apart>()});
    out += "| --- | --- | ---: | --- | ---: | ---: | ---: |\n";
    for (const auto& series : group.series)
        if (series.family == name)
            row(out, {quote(fmt::format("{} {}", series.benchmark, series.what)),
                      quote(series.library), quote(present_value(series)),
                      history_sparkline(series, spark_columns), quote(change_in_short(series)),
                      quote(trend_in_short(series)), quote(spread_in_short(series))});
    bool any = false;
    for (const auto& series : group.series)
        if (series.family == name)
            for (const auto& step : steps_in_words(series.steps)) {
                out += fmt::format("{}- {}: {}\n", any ? "" : "\n", quote(series.identity),
                                   quote(step));
                any = true;
            }
}

/// A row for each series, a column for each quarter that any series has.
void quarters(std::string& out, const HistoryGroup& group) {
    std::vector<std::string> names;
    for (const auto& series : group.series)
        for (const auto& quarter : series.quarters) names.push_back(quarter.name);
    std::ranges::sort(names);
    const auto rest = std::ranges::unique(names);
    names.erase(rest.begin(), rest.end());
    if (names.size() < 2) return;
    out += fmt::format("\n### {}\n\n| {} |", say<text::history::quarters>(),
                       say<text::history::series>());
    for (const auto& name : names) out += fmt::format(" {} |", name);
    out += "\n| --- |";
    for (std::size_t i = 0; i < names.size(); ++i) out += " ---: |";
    out += '\n';
    for (const auto& series : group.series) {
        out += fmt::format("| {} |", quote(series.identity));
        for (const auto& name : names) {
            const auto found = std::ranges::find(series.quarters, name, &Quarter::name);
            out += fmt::format(" {} |", found == series.quarters.end()
                                            ? ""
                                            : quote(record::human(found->value, series.unit)));
        }
        out += '\n';
    }
}

void spread(std::string& out, const HistoryGroup& group) {
    bool any = false;
    for (const auto& series : group.series) {
        if (!series.spread) continue;
        if (!any) out += fmt::format("\n### {}\n\n", say<text::history::spread_title>());
        any = true;
        out += fmt::format("- {}: {}\n", quote(series.identity), quote(series.spread->text));
    }
}

} // namespace

std::string to_markdown(const History& history) {
    std::string out = fmt::format("# {}\n", say<text::history::title>());
    if (!is_comparable(history))
        out += fmt::format("\n{}\n\n{}\n", quote(say<text::history::nothing_yet>()),
                           quote(say<text::history::nothing_to_do>()));
    if (!history.cause.empty()) out += fmt::format("\n{}\n", quote(history.cause));
    for (const auto& group : history.groups) {
        out += fmt::format("\n## {}\n\n{}\n", quote(group.name), quote(group_in_words(group)));
        events(out, group);
        std::string name;
        for (const auto& series : group.series) {
            if (series.family == name) continue;
            name = series.family;
            family(out, group, name);
        }
        quarters(out, group);
        spread(out, group);
    }
    if (!history.notes.empty()) out += fmt::format("\n## {}\n\n", say<text::history::notes>());
    for (const auto& note : history.notes) out += fmt::format("- {}\n", quote(note));
    const auto reasons = not_used_by_reason(history);
    if (!reasons.empty()) out += fmt::format("\n## {}\n\n", say<text::history::not_used>());
    for (const auto& reason : reasons)
        out += fmt::format("- {}\n", quote(say<text::words::labelled>(
                                         reason.reason, list_of(reason.where, places_shown))));
    return out + fmt::format("\n{}\n", quote(history_method()));
}

} // namespace assay::report
