// SPDX-License-Identifier: Apache-2.0

#include "compare/words.hpp"

#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/compare.hpp"
#include "document/texts/outcome.hpp"
#include "document/texts/status.hpp"
#include "document/texts/words.hpp"
#include "document/words.hpp"
#include "record/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace assay::compare {

using namespace document;
namespace {

/// Three decimals where two would hide a change of the minimum effect or a narrow interval, fewer for
/// large ratios.
std::string ratio_text(double ratio, bool narrow) {
    if (ratio >= 99.95 || ratio < 0.01) return fmt::format("{:.3g}", ratio);
    if (ratio >= 9.995) return fmt::format("{:.1f}", ratio);
    return fmt::format("{:.{}f}", ratio, narrow ? 3 : 2);
}

std::string with_interval(const std::optional<double>& ratio, const std::optional<double>& low,
                          const std::optional<double>& high) {
    if (!ratio) return "";
    const bool near = std::abs(*ratio - 1) < 0.095;
    if (!low || !high) return say<text::compare::ratio>(ratio_text(*ratio, near));
    const bool narrow = near || *high - *low < 0.03;
    return say<text::compare::ratio_interval>(ratio_text(*ratio, narrow), ratio_text(*low, narrow),
                                              ratio_text(*high, narrow));
}

/// The row whose ratio is furthest from 1 among those with this outcome.
struct Extreme {
    const ComparedRow* row = nullptr;
    std::size_t side = 0;
    double size = 0;
};
Extreme extreme_of(const Comparison& comparison, ContrastOutcome outcome) {
    Extreme extreme;
    for (const auto& table : comparison.tables)
        for (const auto& row : table.rows)
            for (std::size_t side = 1; side < row.cells.size(); ++side) {
                const auto& contrast = row.cells[side].contrast;
                if (!contrast || contrast->outcome != outcome || !contrast->ratio) continue;
                const double size = std::abs(std::log(*contrast->ratio));
                if (size > extreme.size) extreme = {.row = &row, .side = side, .size = size};
            }
    return extreme;
}

void add_extreme(std::vector<Fact>& facts, const Comparison& comparison, ContrastOutcome outcome,
                 std::string name) {
    const auto extreme = extreme_of(comparison, outcome);
    if (extreme.row == nullptr) return;
    std::string text = say<text::words::labelled>(
        extreme.row->identity, contrast_in_words(*extreme.row->cells[extreme.side].contrast));
    if (comparison.sides.size() > 2)
        text = say<text::words::labelled>(comparison.sides[extreme.side].label, text);
    facts.push_back({std::move(name), std::move(text)});
}

std::vector<std::string> disturbed_rows(const Comparison& comparison) {
    std::vector<std::string> names;
    for (const auto& table : comparison.tables)
        for (const auto& row : table.rows)
            for (const auto& cell : row.cells)
                if (cell.contrast && cell.contrast->no_verdict == NoVerdict::disturbed) {
                    names.push_back(
                        say<text::words::in_brackets>(row.identity, cell.contrast->about));
                    break;
                }
    return names;
}

/// Of sides with zeros.
std::string order_in_words(ContrastOutcome outcome) {
    if (outcome == ContrastOutcome::same) return say<text::compare::both_zero>();
    return outcome == ContrastOutcome::cannot_tell ? say<text::compare::zero_unresolved>()
                                                   : say<text::compare::zero_apart>();
}

} // namespace

std::string outcome_in_words(ContrastOutcome outcome) {
    switch (outcome) {
    case ContrastOutcome::better:
        return say<text::outcome::better>();
    case ContrastOutcome::worse:
        return say<text::outcome::worse>();
    case ContrastOutcome::same:
        return say<text::outcome::same>();
    case ContrastOutcome::cannot_tell:
        return say<text::outcome::cannot_tell>();
    case ContrastOutcome::missing:
        break;
    }
    return say<text::outcome::missing>();
}

std::string within_in_words(const Contrast& contrast) {
    if (!contrast.low || !contrast.high || !(*contrast.low > 0)) return "";
    return record::human_percent(std::max(*contrast.high, 1 / *contrast.low) - 1);
}

std::string ratio_in_words(const Contrast& contrast) {
    return with_interval(contrast.ratio, contrast.low, contrast.high);
}

std::string contrast_in_words(const Contrast& contrast) {
    auto ratio = ratio_in_words(contrast);
    if (contrast.no_verdict == NoVerdict::disturbed)
        return say<text::words::in_brackets>(say<text::status::disturbed>(), contrast.about);
    if (contrast.no_verdict == NoVerdict::two_levels)
        return say<text::words::in_brackets>(say<text::compare::two_levels>(), contrast.about);
    if (contrast.no_verdict == NoVerdict::cpus_moved)
        return say<text::words::in_brackets>(say<text::compare::cpus_moved>(), contrast.about);
    if (contrast.no_verdict == NoVerdict::zero) return order_in_words(contrast.outcome);
    switch (contrast.outcome) {
    case ContrastOutcome::better:
    case ContrastOutcome::worse:
        return ratio;
    case ContrastOutcome::same:
        return say<text::compare::same_within>(within_in_words(contrast), ratio);
    case ContrastOutcome::cannot_tell: {
        if (!contrast.detectable) return say<text::compare::one_value>(ratio);
        const auto below = record::human_percent(*contrast.detectable);
        return contrast.no_verdict == NoVerdict::between_times
                   ? say<text::compare::between_times>(below, ratio)
                   : say<text::compare::unresolved_below>(below, ratio);
    }
    case ContrastOutcome::missing:
        break;
    }
    return say<text::outcome::missing>();
}

std::string sign_of(ContrastOutcome outcome) {
    if (outcome == ContrastOutcome::cannot_tell) return "~ ";
    return outcome == ContrastOutcome::same ? "= " : "";
}

std::string contrast_in_short(const Contrast& contrast) {
    if (contrast.no_verdict == NoVerdict::disturbed) return say<text::status::disturbed>();
    if (contrast.no_verdict == NoVerdict::two_levels) return say<text::compare::two_levels>();
    if (contrast.no_verdict == NoVerdict::cpus_moved) return say<text::compare::cpus_moved>();
    if (contrast.no_verdict == NoVerdict::zero) return order_in_words(contrast.outcome);
    if (!contrast.ratio) return "";
    record::Metric ratio;
    ratio.value = contrast.ratio;
    ratio.low = contrast.low;
    ratio.high = contrast.high;
    const auto interval = document::interval_in_words(ratio);
    const bool narrow = std::abs(*contrast.ratio - 1) < 0.095 ||
                        (contrast.low && contrast.high && *contrast.high - *contrast.low < 0.03);
    auto text = say<text::compare::ratio>(ratio_text(*contrast.ratio, narrow));
    if (!interval.empty()) text = fmt::format("{} {}", text, interval);
    return sign_of(contrast.outcome) + text;
}

std::string value_in_words(const Cell& cell, const std::string& unit) {
    if (!cell.value) return say<text::outcome::missing>();
    const auto text = record::human(*cell.value, unit);
    return cell.library.empty() ? text : say<text::compare::through>(text, cell.library);
}

std::string interval_in_words(const Cell& cell) {
    record::Metric metric;
    metric.value = cell.value;
    metric.low = cell.low;
    metric.high = cell.high;
    return document::interval_in_words(metric);
}

std::string tally_in_words(const Tally& tally) {
    std::vector<std::string> parts;
    if (tally.better > 0) parts.push_back(say<text::compare::faster>(tally.better));
    if (tally.worse > 0) parts.push_back(say<text::compare::slower>(tally.worse));
    if (tally.same > 0) parts.push_back(say<text::compare::same>(tally.same));
    if (tally.cannot_tell > 0) parts.push_back(say<text::compare::unresolved>(tally.cannot_tell));
    if (tally.missing > 0) parts.push_back(say<text::compare::missing>(tally.missing));
    return join(parts);
}

std::string metric_in_words(const ComparedTable& table) {
    if (table.rows.empty()) return "";
    const auto& row = table.rows.front();
    return row.higher_is_better ? say<text::compare::more_is_better>(row.metric)
                                : say<text::compare::less_is_better>(row.metric);
}

std::string method_in_words(const Comparison& comparison) {
    const auto unit = [&] {
        switch (comparison.unit) {
        case Unit::machine:
            return say<text::compare::unit_machine>();
        case Unit::run:
            return say<text::compare::unit_run>();
        case Unit::replica:
            break;
        }
        return say<text::compare::unit_replica>();
    }();
    return say<text::compare::method>(
        unit, comparison.paired ? say<text::compare::paired>() : std::string{}, comparison.tests,
        comparison.correction == Correction::family_wise ? say<text::compare::family_wise>()
                                                         : say<text::compare::false_discovery>(),
        fmt::format("{:g}", comparison.alpha),
        fmt::format("{:.3g}%", 100 * comparison.minimum_effect));
}

std::string title_of(const Comparison& comparison) {
    const auto& sides = comparison.sides;
    if (sides.size() == 2) return say<text::compare::title>(sides[1].label, sides[0].label);
    return say<text::compare::title_many>(sides.size() - 1, sides.front().label);
}

std::vector<Fact> summary_of(const Comparison& comparison) {
    std::vector<Fact> facts;
    if (const auto names = disturbed_rows(comparison); !names.empty())
        facts.push_back(
            {say<text::compare::disturbed_first>(),
             say_count<text::compare::disturbed_rows>(
                 names.size(), list_of(names, 3))}); // three names; the rest is a number
    add_extreme(facts, comparison, ContrastOutcome::better, say<text::compare::largest_gain>());
    add_extreme(facts, comparison, ContrastOutcome::worse, say<text::compare::largest_loss>());
    std::vector<std::string> coverage;
    for (const auto& side : comparison.sides)
        if (side.measured < comparison.series)
            coverage.push_back(
                say<text::compare::covered>(side.label, side.measured, comparison.series));
    facts.push_back({say<text::compare::coverage>(),
                     coverage.empty() ? say_count<text::compare::covered_all>(comparison.series)
                                      : join(coverage)});
    const auto left_out = comparison.not_compared.size();
    facts.push_back({say<text::compare::not_compared_short>(),
                     left_out == 0 ? say<text::compare::all_compared>()
                                   : say_count<text::compare::not_compared_count>(left_out)});
    return facts;
}

document::Findings unlike_findings(const Comparison& comparison) {
    std::size_t count = 0;
    std::string example;
    for (const auto& entry : comparison.not_compared) {
        if (entry.code != NotComparedCode::unlike_parameters) continue;
        if (count++ == 0) example = say<text::words::labelled>(entry.what, entry.reason);
    }
    if (count == 0) return {};
    return {.findings = {{.severity = document::Severity::caution,
                          .what = say_count<text::compare::unlike_parameters>(count, example),
                          .action = say<text::compare::unlike_action>()}}};
}

bool has_common(const Comparison& comparison) {
    const auto compared = [](const Tally& tally) {
        return tally.better + tally.worse + tally.same + tally.cannot_tell > 0;
    };
    return std::ranges::any_of(comparison.tallies, compared) ||
           std::ranges::any_of(comparison.questions, [&](const ComparedTable& table) {
               return std::ranges::any_of(table.tallies, compared);
           });
}

std::vector<const ComparedRow*> compared_rows(const ComparedTable& table) {
    std::vector<const ComparedRow*> rows;
    for (const auto& row : table.rows)
        if (std::ranges::count_if(row.cells,
                                  [](const Cell& cell) { return cell.value.has_value(); }) > 1)
            rows.push_back(&row);
    return rows;
}

bool has_choice(const ComparedRow& row) { return row.libraries > 1; }

std::vector<NotComparedGroup> group_not_compared(const Comparison& comparison) {
    std::vector<NotComparedGroup> groups;
    std::map<std::pair<std::string, std::vector<std::string>>, std::size_t> known;
    for (const auto& entry : comparison.not_compared) {
        const auto [place, fresh] = known.try_emplace({entry.reason, entry.where}, groups.size());
        if (fresh) groups.push_back({.reason = entry.reason, .where = entry.where});
        groups[place->second].what.push_back(entry.what);
    }
    return groups;
}

} // namespace assay::compare
