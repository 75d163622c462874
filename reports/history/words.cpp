// SPDX-License-Identifier: Apache-2.0

#include "history/words.hpp"

#include "history/dates.hpp"
#include "language/language.hpp"
#include "model/text.hpp"
#include "record/format.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace assay::report {
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

std::string facts_in_words(const std::vector<ChangedFact>& facts) {
    if (facts.empty()) return say<text::history::nothing_recorded>();
    std::string out;
    for (const auto& fact : facts) {
        if (!out.empty()) out += say<text::list::separator>();
        out += fact_in_words(fact);
    }
    return out;
}

/// "4.0% to 9.0% worse" of the steps on one side; `better` chooses it.
std::string range_in_words(std::span<const HistoryStep> steps, bool better) {
    std::vector<double> sizes;
    for (const auto& step : steps)
        if ((step.ratio > 1) == better) sizes.push_back(std::abs(step.ratio - 1));
    const auto [least, most] = std::ranges::minmax(sizes);
    const auto low = record::human_percent(least);
    const auto high = record::human_percent(most);
    if (low == high)
        return better ? say<text::history::better>(low) : say<text::history::worse>(low);
    return better ? say<text::history::better_range>(low, high)
                  : say<text::history::worse_range>(low, high);
}

/// Of a change that nothing recorded dates.
std::string between(double earliest, double latest) {
    const auto first = date_of(earliest);
    const auto last = date_of(latest);
    return first == last ? first : say<text::history::between>(first, last);
}

} // namespace

std::string machine_name(std::string_view id) {
    return id.empty() ? say<text::history::no_machine>() : plain(id, 100);
}

std::string cause_in_words(Cause cause) {
    return std::string{find_text("history", to_string(cause)).value_or("")};
}

std::string fact_in_words(const ChangedFact& fact) {
    const auto text = say<text::fact::changed>(
        fact_title(fact.name), plain(fact.before, longest_value), plain(fact.after, longest_value));
    if (fact.without_effect == 0) return text;
    return say_count<text::fact::changed_elsewhere>(fact.without_effect, text);
}

std::string ratio_in_words(double ratio) {
    const auto size = record::human_percent(std::abs(ratio - 1));
    if (ratio == 1) return say<text::history::no_change>();
    return ratio > 1 ? say<text::history::better>(size) : say<text::history::worse>(size);
}

std::string signed_percent(double share) {
    const auto size = record::human_percent(std::abs(share));
    return (share < 0 ? "−" : "+") + size;
}

std::string step_in_words(const HistoryStep& step) {
    const auto when =
        step.facts.empty() ? between(step.earliest, step.latest) : date_of(step.seconds);
    auto size = ratio_in_words(step.ratio);
    if (step.low && step.high)
        size = say<text::history::interval>(size, signed_percent(*step.low - 1),
                                            signed_percent(*step.high - 1));
    const auto where = step.machine.empty() ? say<text::history::between_machines>() : step.machine;
    return say<text::history::step>(when, where, size, facts_in_words(step.facts));
}

std::vector<std::string> steps_in_words(std::span<const HistoryStep> steps) {
    std::vector<std::pair<std::string, std::vector<HistoryStep>>> causes; // in the order of time
    for (const auto& step : steps) {
        const bool better = step.ratio > 1;
        const auto why = facts_in_words(step.facts) + (better ? "+" : "-");
        auto cause = std::ranges::find(causes, why,
                                       &std::pair<std::string, std::vector<HistoryStep>>::first);
        if (cause == causes.end()) {
            causes.push_back({why, {}});
            cause = causes.end() - 1;
        }
        cause->second.push_back(step);
    }
    std::vector<std::string> lines;
    for (const auto& [why, same] : causes) {
        if (same.size() == 1) {
            lines.push_back(same.front().text);
            continue;
        }
        const auto first = date_of(same.front().seconds);
        const auto last = date_of(same.back().seconds);
        lines.push_back(say<text::history::step>(
            first == last ? first : say<text::history::period>(first, last),
            say_count<text::history::places>(same.size()),
            range_in_words(same, same.front().ratio > 1), facts_in_words(same.front().facts)));
    }
    return lines;
}

std::string event_in_words(const HistoryEvent& event, std::span<const HistoryStep> steps) {
    const auto first = date_of(event.seconds);
    const auto last = date_of(event.until);
    const auto span = first == last ? first : say<text::history::period>(first, last);
    const auto when = event.facts.empty() ? between(event.earliest, event.latest) : span;
    std::string what;
    for (const bool better : {false, true}) {
        const std::size_t count = better ? event.better : event.worse;
        if (count == 0) continue;
        if (!what.empty()) what += say<text::list::comma>();
        what += say<text::history::series_of>(count, event.measured, range_in_words(steps, better));
    }
    const auto why = facts_in_words(event.facts);
    const auto& machines = event.machines;
    if (machines.front().empty()) // from one to the next, whatever else changed on single ones
        return say<text::history::event_between>(when, why, what);
    const auto where = machines.size() > 1 ? say_count<text::history::machines>(machines.size())
                                           : machines.front();
    return say<text::history::event>(when, why, what, where);
}

std::string change_in_words(const QuarterChange& change) {
    if (change.ratio == 1) return say<text::history::as_in>(change.from);
    const auto text = say<text::history::against>(ratio_in_words(change.ratio), change.from);
    if (!change.low || !change.high) return text;
    return say<text::history::interval>(text, signed_percent(*change.low - 1),
                                        signed_percent(*change.high - 1));
}

std::string trend_in_words(const Trend& trend) {
    return say<text::history::interval>(
        say<text::history::per_year>(signed_percent(trend.per_year)), signed_percent(trend.low),
        signed_percent(trend.high));
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

} // namespace assay::report
