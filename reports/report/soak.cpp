// SPDX-License-Identifier: Apache-2.0

#include "document/texts/soak.hpp"

#include "base/utc.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/words.hpp"
#include "document/words.hpp"
#include "record/format.hpp"
#include "record/soak.hpp"
#include "report/curves.hpp"
#include "report/soak.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace assay::report {

using namespace document;
namespace {

using document::Paragraph;
using document::Table;
using document::Tone;
using record::Soak;
using record::SoakPhase;
using record::SoakPoint;

constexpr std::size_t most_charts = 8;
constexpr std::size_t most_lines = 20;

std::string count_in_words(std::uint64_t count) {
    constexpr std::uint64_t kilo = 1000;
    return count < kilo ? std::to_string(count) : record::human(static_cast<double>(count), "");
}

/// The name of the case for people; its identity if the file has no such case.
std::string name_of(const record::Run& run, const std::string& of) {
    const auto found = std::ranges::find(run.cases, of, record::identity);
    if (found == run.cases.end()) return of;
    auto parameters = found->parameters;
    std::erase_if(parameters, [](const record::Named& one) { return one.name == "soak"; });
    auto name = say<text::words::in_brackets>(
        case_name(found->benchmark, parameters, found->settings), found->library);
    return found->place.kind == "host"
               ? name
               : say<text::words::labelled>(record::words_of(found->place), name);
}

std::string held_in_words(record::HeldAgainst held) {
    switch (held) {
    case record::HeldAgainst::calls:
        return say<text::soak::by_calls>();
    case record::HeldAgainst::others:
        return say<text::soak::by_others>();
    case record::HeldAgainst::check:
        break;
    }
    return say<text::soak::by_check>();
}

std::string replay_in_words(record::Replay replay) {
    switch (replay) {
    case record::Replay::same_state:
        return say<text::soak::again_at_once>();
    case record::Replay::fresh_state:
        return say<text::soak::again_fresh>();
    case record::Replay::none:
        break;
    }
    return say<text::soak::again_never>();
}

Table wrong_results(const record::Run& run, const Soak& soak) {
    Table table{.caption = say<text::soak::wrong_results>(),
                .columns = {{.title = say<text::soak::one_case>()},
                            {.title = say<text::soak::when>(), .rank = 2},
                            {.title = say<text::soak::visit>(), .numeric = true, .rank = 3},
                            {.title = say<text::soak::where>()},
                            {.title = say<text::soak::differing>(), .rank = 1},
                            {.title = say<text::soak::held_against>(), .rank = 4},
                            {.title = say<text::soak::right_again>(), .rank = 5}},
                .sheet = say<text::soak::title>()};
    for (const auto& wrong : soak.corruptions) {
        if (table.rows.size() == most_lines) break;
        std::string bits;
        if (!wrong.bits.empty())
            bits = say<text::soak::bits>(wrong.bits, wrong.expected, wrong.got);
        table.rows.push_back(
            {.cells = {{.text = name_of(run, wrong.of), .tone = Tone::bad},
                       {.text = wrong.at},
                       {.text = fmt::format("{}, {}", wrong.visit + 1, wrong.call)},
                       {.text = place_in_words(wrong)},
                       {.text = bits.empty() ? wrong.detail : bits},
                       {.text = held_in_words(wrong.held_against)},
                       {.text = replay_in_words(wrong.right_again)}}});
    }
    return table;
}

template <class Member, class Choose>
std::optional<double> extreme(const SoakPhase& phase, Member member, Choose choose) {
    std::optional<double> found;
    for (const auto& point : phase.points)
        if (const auto& value = point.*member) found = found ? choose(*found, *value) : *value;
    return found;
}

std::string shown(std::optional<double> value, std::string_view unit) {
    return value ? record::human(*value, unit) : std::string{};
}

Table cases_of(const record::Run& run, const Soak& soak) {
    const auto larger = [](double a, double b) { return std::max(a, b); };
    const auto smaller = [](double a, double b) { return std::min(a, b); };
    Table table{.caption = say<text::soak::cases>(),
                .columns = {{.title = say<text::soak::one_case>()},
                            {.title = say<text::soak::visits>(), .numeric = true, .rank = 4},
                            {.title = say<text::soak::calls>(), .numeric = true, .rank = 1},
                            {.title = say<text::soak::compared>(), .numeric = true, .rank = 2},
                            {.title = say<text::soak::checked>(), .numeric = true, .rank = 2},
                            {.title = say<text::soak::slowest>(), .numeric = true},
                            {.title = say<text::soak::drift>(), .numeric = true, .rank = 3},
                            {.title = say<text::soak::hottest>(), .numeric = true, .rank = 5},
                            {.title = say<text::soak::lowest_clock>(), .numeric = true, .rank = 6}},
                .sheet = say<text::soak::title>()};
    for (const auto& phase : soak.phases) {
        const auto course = record::course_of(phase);
        const bool slow = record::slowing_of(course) > record::slow_warning;
        const bool known = course.points >= record::fewest_points;
        const auto lost = [&](double share) {
            if (!known) return std::string{};
            return share == 0 ? say<text::soak::none_found>()
                              : fmt::format("{:+.1f}%", -100 * share);
        };
        table.rows.push_back(
            {.cells = {{.text = name_of(run, phase.of)},
                       {.text = std::to_string(phase.visits)},
                       {.text = count_in_words(phase.calls)},
                       {.text = count_in_words(phase.compared)},
                       {.text = count_in_words(phase.checked)},
                       {.text = lost(course.slowest ? course.slowest->slower : 0),
                        .tone = slow ? Tone::bad : Tone::plain},
                       {.text = lost(course.drift)},
                       {.text = shown(extreme(phase, &SoakPoint::celsius, larger), "°C")},
                       {.text = shown(extreme(phase, &SoakPoint::clock_hz, smaller), "Hz")}}});
    }
    return table;
}

/// One case over time; nothing for fewer than two values.
template <class Value>
void add_chart(std::vector<document::Block>& to, std::string title, std::string unit, double start,
               const SoakPhase& phase, Value value) {
    document::TimeChart data{.unit = std::move(unit)};
    document::Curve curve;
    for (const auto& point : phase.points)
        if (const std::optional<double> y = value(point)) {
            data.points.push_back({.seconds = start + point.begun_seconds,
                                   .value = *y,
                                   .label = duration_in_words(point.begun_seconds)});
            curve.points.push_back({.x = point.begun_seconds, .y = *y});
        }
    if (curve.points.size() < 2) return;
    const auto [least, most] = std::ranges::minmax(curve.points, {}, &document::Point::y);
    document::Chart chart{.title = std::move(title), .caption = say<text::soak::rate_caption>()};
    chart.lines = {say<text::soak::line>(sparkline(curve), record::human(least.y, data.unit),
                                         record::human(most.y, data.unit))};
    chart.data = std::move(data);
    to.emplace_back(std::move(chart));
}

Paragraph verdict_of(const Soak& soak) {
    std::uint64_t calls = 0;
    std::uint64_t compared = 0;
    std::uint64_t checked = 0;
    for (const auto& phase : soak.phases) {
        calls += phase.calls;
        compared += phase.compared;
        checked += phase.checked;
    }
    const auto time = duration_in_words(soak.seconds);
    if (soak.wrong > 0)
        return {.text = say_count<text::soak::wrong>(soak.wrong, time), .tone = Tone::bad};
    if (compared + checked == 0)
        return {.text = say<text::soak::nothing_looked_at>(), .tone = Tone::weak};
    return {.text = say<text::soak::all_right>(time, count_in_words(calls),
                                               count_in_words(compared), count_in_words(checked)),
            .tone = Tone::good};
}

void add_speed(const record::Run& run, const Soak& soak, std::vector<document::Block>& to) {
    std::size_t few = 0;
    bool any_slow = false;
    for (const auto& phase : soak.phases) {
        const auto course = record::course_of(phase);
        if (course.points < record::fewest_points) ++few;
        const auto add = [&](std::string text) {
            any_slow = true;
            to.emplace_back(Paragraph{.text = std::move(text), .tone = Tone::bad, .mark = "!!"});
        };
        const auto name = name_of(run, phase.of);
        if (const auto& slow = course.slowest; slow && slow->slower > record::slow_warning) {
            const auto share = record::human_percent(slow->slower);
            const auto from = duration_in_words(slow->from_seconds);
            add(slow->lasts ? say<text::soak::slow>(name, share, from)
                            : say<text::soak::slow_for>(name, share, from,
                                                        duration_in_words(slow->to_seconds)));
        } else if (course.drift > record::slow_warning) {
            add(say<text::soak::drifts>(name, record::human_percent(course.drift)));
        }
    }
    if (few > 0)
        to.emplace_back(
            Paragraph{.text = say_count<text::soak::few_visits>(few), .tone = Tone::weak});
    if (!any_slow && few < soak.phases.size())
        to.emplace_back(
            Paragraph{.text = say<text::soak::keeps>(record::human_percent(record::slow_warning))});
}

} // namespace

Tone move_answer(document::Section& soak, std::vector<std::string>& said) {
    constexpr std::ptrdiff_t most = 2;
    const auto is_sentence = [](const document::Block& block) {
        return std::holds_alternative<Paragraph>(block);
    };
    const auto end = std::ranges::find_if_not(soak.blocks, is_sentence);
    Tone tone = Tone::good;
    for (auto block = soak.blocks.begin(); block != end; ++block)
        if (const auto own = std::get<Paragraph>(*block).tone;
            own == Tone::bad || (own == Tone::weak && tone == Tone::good))
            tone = own;
    const auto moved = soak.blocks.begin() + std::min(most, end - soak.blocks.begin());
    for (auto block = soak.blocks.begin(); block != moved; ++block)
        said.push_back(std::get<Paragraph>(*block).text);
    soak.blocks.erase(soak.blocks.begin(), moved);
    return tone;
}

std::string place_in_words(const record::Corruption& wrong) {
    if (wrong.element) return say<text::soak::element>(wrong.output.value_or(0), *wrong.element);
    if (wrong.block) return say<text::soak::block>(*wrong.block);
    return say<text::soak::unknown_place>();
}

std::optional<document::Section> soak_section(const record::Run& run) {
    if (!run.soak) return {};
    const auto& soak = *run.soak;
    document::Section section{.title = say<text::soak::title>(),
                              .question = say<text::soak::question>()};
    section.blocks.emplace_back(verdict_of(soak));
    if (soak.seconds < soak.asked_seconds)
        section.blocks.emplace_back(
            Paragraph{.text = say<text::soak::short_>(duration_in_words(soak.seconds),
                                                      duration_in_words(soak.asked_seconds)),
                      .tone = Tone::weak});
    add_speed(run, soak, section.blocks);
    if (!soak.corruptions.empty()) section.blocks.emplace_back(wrong_results(run, soak));
    section.blocks.emplace_back(cases_of(run, soak));
    const double start = seconds_of(run.started).value_or(0);
    std::size_t charts = 0;
    for (const auto& phase : soak.phases) {
        if (charts++ == most_charts) break;
        const auto name = name_of(run, phase.of);
        add_chart(section.blocks, say<text::soak::rate_chart>(name), "1/s", start, phase,
                  [](const SoakPoint& point) -> std::optional<double> {
                      if (!point.seconds || !(*point.seconds > 0)) return {};
                      return 1 / *point.seconds;
                  });
        add_chart(section.blocks, say<text::soak::heat_chart>(name), "°C", start, phase,
                  [](const SoakPoint& point) { return point.celsius; });
    }
    return section;
}

} // namespace assay::report
