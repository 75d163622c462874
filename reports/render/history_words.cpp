// SPDX-License-Identifier: Apache-2.0

#include "history/dates.hpp"
#include "history/words.hpp"
#include "language/language.hpp"
#include "record/format.hpp"
#include "render/history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <vector>

namespace assay::report {
namespace {

/// "2024 Q4" of "2025 Q4".
std::string a_year_before(const std::string& quarter) {
    int year = 0;
    const auto [end, error] = std::from_chars(quarter.data(), quarter.data() + 4, year);
    return error == std::errc{} ? fmt::format("{:04}{}", year - 1, end) : quarter;
}

std::string marked(double share, bool is_sure) {
    constexpr double nothing = 5e-5; // rounds to 0.00%
    if (std::abs(share) < nothing) return "~ 0%";
    return fmt::format("{}{}", is_sure ? "" : "~ ", signed_percent(share));
}

} // namespace

std::string history_method() { return say<text::history::method>("1%"); }

std::string group_in_words(const HistoryGroup& group) {
    const auto first = date_of(group.from);
    const auto last = date_of(group.to);
    const auto period = first == last ? first : say<text::history::period>(first, last);
    return say<text::history::of_group>(group.what, say_count<text::history::runs>(group.runs),
                                        say_count<text::history::machines>(group.machines), period);
}

std::vector<NotUsed> not_used_by_reason(const History& history) {
    std::vector<NotUsed> groups;
    for (const auto& problem : history.not_used) {
        auto group = std::ranges::find(groups, problem.reason, &NotUsed::reason);
        if (group == groups.end()) {
            groups.push_back({.reason = problem.reason, .where = {}});
            group = groups.end() - 1;
        }
        group->where.push_back(problem.where);
    }
    return groups;
}

std::string change_in_short(const HistorySeries& series) {
    if (!series.change) return "";
    const auto& change = *series.change;
    const bool is_sure = change.low && change.high && (*change.low > 1 || *change.high < 1);
    const auto text = marked(change.ratio - 1, is_sure);
    // The column says "a year ago": what is older or newer says so.
    return change.from == a_year_before(change.to) ? text
                                                   : fmt::format("{} ({})", text, change.from);
}

std::string trend_in_short(const HistorySeries& series) {
    if (!series.trend) return "";
    return marked(series.trend->per_year, series.trend->low > 0 || series.trend->high < 0);
}

std::string present_value(const HistorySeries& series) {
    return series.quarters.empty() ? "" : record::human(series.quarters.back().value, series.unit);
}

std::string spread_in_short(const HistorySeries& series) {
    return series.spread ? record::human(series.spread->p05, series.unit) : "";
}

std::string history_sparkline(const HistorySeries& series, std::size_t columns) {
    if (series.points.size() < 2 || columns == 0) return "";
    static constexpr std::array<std::string_view, 8> heights{"▁", "▂", "▃", "▄",
                                                             "▅", "▆", "▇", "█"};
    const double from = series.points.front().seconds;
    const double span = std::max(series.points.back().seconds - from, 1.0);
    columns = std::min(columns, series.points.size());
    std::vector<double> sums(columns, 0);
    std::vector<std::size_t> counts(columns, 0);
    for (const auto& point : series.points) {
        const double place = (point.seconds - from) / span * static_cast<double>(columns);
        const auto column = std::min(static_cast<std::size_t>(place), columns - 1);
        sums[column] += series.higher_is_better ? std::log(point.value) : -std::log(point.value);
        ++counts[column];
    }
    double least = INFINITY;
    double most = -INFINITY;
    for (std::size_t i = 0; i < columns; ++i) {
        if (counts[i] == 0) continue;
        sums[i] /= static_cast<double>(counts[i]);
        least = std::min(least, sums[i]);
        most = std::max(most, sums[i]);
    }
    constexpr double flattest = 0.05; // of a logarithm: 5%
    const double middle = (least + most) / 2;
    const double height = std::max(most - least, flattest);
    std::string out;
    for (std::size_t i = 0; i < columns; ++i) {
        const double share = std::clamp((sums[i] - middle) / height + 0.5, 0.0, 1.0);
        out += counts[i] == 0 ? " " : heights.at(static_cast<std::size_t>(std::lround(share * 7)));
    }
    return out;
}

} // namespace assay::report
