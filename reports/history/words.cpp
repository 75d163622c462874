// SPDX-License-Identifier: Apache-2.0

#include "history/words.hpp"

#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/fact.hpp"
#include "document/texts/history.hpp"
#include "document/texts/list.hpp"
#include "document/texts/words.hpp"
#include "document/words.hpp"
#include "record/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ranges>
#include <utility>

namespace assay::history {

using namespace document;
namespace {

constexpr std::size_t longest_value = 60; // characters: instruction sets fill pages

std::string fact_title(std::string_view name) {
    for (const std::string_view prefix : {"software.", "setting.", "driver."}) {
        if (!name.starts_with(prefix)) continue;
        const auto rest = name.substr(prefix.size());
        if (prefix == "setting.") return say<text::fact::setting>(rest);
        if (prefix == "driver.") return say<text::fact::driver_of>(rest);
        return std::string{rest};
    }
    return std::string{find_text("fact", name).value_or(name)};
}

/// "4.0% to 9.0% slower" of the changes on one side; `better` chooses it.
template <class Changes>
std::string range_in_words(const Changes& changes, bool better) {
    std::vector<double> sizes;
    for (const auto& change : changes)
        if ((change.ratio > 1) == better) sizes.push_back(std::abs(change.ratio - 1));
    const auto [least, most] = std::ranges::minmax(sizes);
    const auto low = record::human_percent(least);
    const auto high = record::human_percent(most);
    if (low == high)
        return better ? say<text::history::better>(low) : say<text::history::worse>(low);
    return better ? say<text::history::better_range>(low, high)
                  : say<text::history::worse_range>(low, high);
}

/// "7.1% slower", of times as good.
std::string ratio_in_words(double ratio) {
    const auto size = record::human_percent(std::abs(ratio - 1));
    return ratio > 1 ? say<text::history::better>(size) : say<text::history::worse>(size);
}

/// An interval as a factor of speed.
std::string with_interval(const std::string& size, const std::optional<double>& low,
                          const std::optional<double>& high) {
    if (!low || !high) return size;
    return say<text::history::interval>(size, signed_percent(*low - 1), signed_percent(*high - 1));
}

/// The period of a change that no record dates.
std::string between(double earliest, double latest) {
    const auto first = date_of(earliest);
    const auto last = date_of(latest);
    return first == last ? first : say<text::history::between>(first, last);
}

} // namespace

std::string machine_name(std::string_view id) {
    return id.empty() ? say<text::history::no_machine>() : plain(id, 100);
}

std::string cause_in_words(ChangeCause cause) {
    return std::string{find_text("history", to_string(cause)).value_or("")};
}

std::string fact_in_words(const ChangedFact& fact) {
    auto text = say<text::fact::changed>(fact_title(fact.name), plain(fact.before, longest_value),
                                         plain(fact.after, longest_value));
    if (fact.without_effect == 0) return text;
    return say_count<text::fact::changed_elsewhere>(fact.without_effect, text);
}

std::string facts_in_words(const std::vector<ChangedFact>& facts) {
    if (facts.empty()) return say<text::history::nothing_recorded>();
    std::string out;
    for (const auto& fact : facts) {
        if (!out.empty()) out += say<text::list::separator>();
        out += fact_in_words(fact);
    }
    return out;
}

std::string from_to_in_words(double before, double after, std::string_view unit) {
    auto from = record::human(before, unit);
    const auto to = record::human(after, unit);
    const auto at = to.find(' ');
    if (at != to.npos && from.ends_with(to.substr(at))) from.resize(from.size() - (to.size() - at));
    return fmt::format("{} → {}", from, to);
}

std::string signed_percent(double share) {
    const auto size = record::human_percent(std::abs(share));
    return (share < 0 ? "−" : "+") + size;
}

std::string period_in_words(double first, double last) {
    const auto from = date_of(first);
    const auto to = date_of(last);
    return from == to ? from : say<text::history::period>(from, to);
}

std::string change_point_in_words(const ChangePoint& change) {
    const auto when =
        change.facts.empty() ? between(change.earliest, change.latest) : date_of(change.seconds);
    const auto where =
        change.machine.empty() ? say<text::history::between_machines>() : change.machine;
    return say<text::history::change>(
        when, where, with_interval(ratio_in_words(change.ratio), change.low, change.high),
        facts_in_words(change.facts));
}

std::vector<SameChange> same_changes(std::span<const ChangePoint> points) {
    std::vector<std::pair<std::string, SameChange>> causes;
    for (const auto& point : points) {
        const auto why = facts_in_words(point.facts) + (point.ratio > 1 ? "+" : "-");
        auto cause = std::ranges::find(causes, why, &std::pair<std::string, SameChange>::first);
        if (cause == causes.end()) cause = causes.insert(cause, {why, {}});
        cause->second.points.push_back(point);
    }
    std::vector<SameChange> out;
    for (auto& [why, same] : causes) {
        const auto& of = same.points;
        same.text =
            of.size() == 1
                ? of.front().text
                : say<text::history::change>(period_in_words(of.front().seconds, of.back().seconds),
                                             say_count<text::history::places>(of.size()),
                                             range_in_words(of, of.front().ratio > 1),
                                             facts_in_words(of.front().facts));
        out.push_back(std::move(same));
    }
    return out;
}

std::string size_in_short(const SameChange& change) {
    const auto most = std::ranges::max_element(change.points, {}, [](const ChangePoint& point) {
        return std::abs(std::log(point.ratio));
    });
    return signed_percent(most->ratio - 1);
}

std::string named_in_words(const HistoryGroup& group, const HistoryEvent& event) {
    constexpr std::size_t most_named = 3;
    if (event.cases.size() > most_named || (event.better > 0 && event.worse > 0)) return event.what;
    std::vector<std::string> titles;
    for (const auto& one : event.cases) titles.push_back(group.series[one.series].title);
    return say<text::history::became>(list_of(titles, most_named),
                                      range_in_words(event.cases, event.better > 0));
}

std::string range_in_short(const HistoryEvent& event) {
    const auto [least, most] = std::ranges::minmax(
        event.cases | std::views::transform([](const ChangedCase& one) { return one.ratio - 1; }));
    const auto low = signed_percent(least);
    const auto high = signed_percent(most);
    return low == high ? low : say<text::history::period>(low, high);
}

std::string sizes_in_words(const HistoryEvent& event) {
    std::string what;
    for (const bool better : {false, true}) {
        const std::size_t count = better ? event.better : event.worse;
        if (count == 0) continue;
        if (!what.empty()) what += say<text::list::comma>();
        what += say<text::history::series_of>(count, event.measured,
                                              range_in_words(event.cases, better));
    }
    if (!event.family.empty())
        what = say<text::words::labelled>(family_words(event.family).title, what);
    return what;
}

std::string when_in_words(const HistoryEvent& event) {
    return event.facts.empty() ? between(event.earliest, event.latest)
                               : period_in_words(event.seconds, event.until);
}

std::string event_in_words(const HistoryEvent& event) {
    const auto when = when_in_words(event);
    const auto why = facts_in_words(event.facts);
    const auto& machines = event.machines;
    if (machines.front().empty()) // from one to the next, whatever else changed on single ones
        return say<text::history::event_between>(when, why, event.what);
    const auto where = machines.size() > 1 ? say_count<text::history::machines>(machines.size())
                                           : machines.front();
    return say<text::history::event>(when, why, event.what, where);
}

std::string change_in_words(const QuarterChange& change) {
    const auto size = with_interval(signed_percent(change.ratio - 1), change.low, change.high);
    return change.found ? say<text::history::against>(size, change.from)
                        : say<text::history::against_unfound>(size, change.from);
}

std::string trend_in_words(const Trend& trend) {
    return with_interval(say<text::history::per_year>(signed_percent(trend.per_year)),
                         1 + trend.low, 1 + trend.high);
}

std::string spread_in_words(const Spread& spread, std::string_view unit) {
    const auto human = [&](double value) { return record::human(value, unit); };
    auto text = say<text::history::spread>(say_count<text::history::machines>(spread.machines),
                                           human(spread.p50), human(spread.p05));
    const auto add = [&](const std::string& more) {
        text = say<text::history::joined>(text, more);
    };
    if (spread.tolerance) add(say<text::history::spread_bound>(human(*spread.tolerance)));
    bool beyond = false;
    for (const auto& slowest : spread.slowest) {
        add(say<text::history::spread_slowest>(slowest.machines, human(slowest.value)));
        beyond = beyond || slowest.machines > spread.machines;
    }
    if (beyond) add(say<text::history::spread_caution>());
    return text;
}

} // namespace assay::history
