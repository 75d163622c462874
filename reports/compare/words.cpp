// SPDX-License-Identifier: Apache-2.0

#include "compare/words.hpp"

#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/compare.hpp"
#include "document/texts/outcome.hpp"
#include "document/texts/words.hpp"
#include "document/words.hpp"
#include "record/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

namespace assay::compare {

using namespace document;
namespace {

double in_unit(double ratio, bool percent) { return percent ? 100 * (ratio - 1) : ratio; }

/// Decimals that the width of the interval makes meaningful.
int decimals_of(double value, double width) {
    if (width < 0.095) return 2;
    return width < 1 || (width < 10 && std::abs(value) < 10) ? 1 : 0;
}

/// "3.12x", "51.0x"
std::string times_text(double ratio) {
    return say<text::compare::ratio>(ratio >= 99.95 || ratio < 0.01
                                         ? fmt::format("{:.3g}", ratio)
                                         : fmt::format("{:.{}f}", ratio, ratio >= 9.995 ? 1 : 2));
}

/// "+24.0%", "3.12x"
std::string change_text(double ratio) {
    return is_near(ratio) ? fmt::format("{:+.1f}%", in_unit(ratio, true)) : times_text(ratio);
}

/// "at least 3.10x": what is known of the ratio to a side that was measured under load or is rough.
std::string bound_text(const Contrast& contrast) {
    const auto shown = times_text(sure_ratio(contrast));
    if (contrast.kind == RatioKind::at_least && contrast.low)
        return say<text::compare::at_least>(shown);
    return contrast.kind == RatioKind::at_most && contrast.high ? say<text::compare::at_most>(shown)
                                                                : say<text::compare::about>(shown);
}

/// "±0.4%"; empty without an interval.
std::string spread_in_words(const std::optional<double>& value, const std::optional<double>& low,
                            const std::optional<double>& high) {
    record::Metric metric;
    metric.value = value;
    metric.low = low;
    metric.high = high;
    return document::interval_in_words(metric);
}

constexpr double worth_saying = 0.01;
/// What a guest delivers with its slow replicas, as a share of the value; 1 where none is slow.
double delivered_share(const Cell& cell) {
    constexpr double all = 0.995;
    return cell.value && cell.delivered && cell.fast_share.value_or(1) < all
               ? *cell.delivered / *cell.value
               : 1;
}

/// The order of sides with zeros.
std::string order_in_words(ContrastOutcome outcome) {
    if (outcome == ContrastOutcome::same) return say<text::compare::both_zero>();
    return outcome == ContrastOutcome::cannot_tell ? say<text::compare::zero_unresolved>()
                                                   : say<text::compare::zero_apart>();
}

} // namespace

bool has_common(const Comparison& comparison) {
    const auto compared = [](const Tally& tally) {
        return tally.better + tally.worse + tally.same + tally.cannot_tell > 0;
    };
    return std::ranges::any_of(comparison.tallies, compared) ||
           std::ranges::any_of(comparison.question_tallies, compared);
}

std::string outcome_in_words(ContrastOutcome outcome) {
    return std::string{find_text("outcome", to_string(outcome)).value_or("")};
}

double sure_ratio(const Contrast& contrast) {
    const auto& bound = contrast.kind == RatioKind::at_least  ? contrast.low
                        : contrast.kind == RatioKind::at_most ? contrast.high
                                                              : contrast.ratio;
    return bound.value_or(contrast.ratio.value_or(1));
}

bool is_near(double ratio) { return ratio >= 0.5 && ratio < 1.995; }

std::string percent_in_words(double share) {
    const double percent = 100 * std::max(share, 0.001); // no value is known better
    return percent >= 9.95 ? fmt::format("{:.0f}%", percent) : fmt::format("{:.2g}%", percent);
}

double within(const Contrast& contrast) {
    if (!contrast.low || !contrast.high || !(*contrast.low > 0)) return 0;
    return std::max(*contrast.high, 1 / *contrast.low) - 1;
}

std::string amount_in_words(double ratio, bool percent) {
    if (!percent) return fmt::format("{:.3g}", ratio);
    const double share = std::max(std::abs(ratio - 1), 0.001); // no value is known better
    return fmt::format("{:g}%", std::round(1000 * share) / 10);
}

std::string ends_in_words(const Contrast& contrast, bool is_signed) {
    if (!contrast.ratio || !contrast.low || !contrast.high) return "";
    const bool percent = is_near(*contrast.ratio);
    double low = in_unit(*contrast.low, percent);
    double high = in_unit(*contrast.high, percent);
    const bool small = !percent && *contrast.ratio < 1; // 0.31 to 0.35
    const int decimals = small ? 2 : decimals_of(in_unit(*contrast.ratio, percent), high - low);
    if (!is_signed && high < 0) std::tie(low, high) = std::pair{-high, -low};
    const auto shown = [&](double end) {
        return is_signed && percent ? fmt::format("{:+.{}f}", end, decimals)
                                    : fmt::format("{:.{}f}", end, decimals);
    };
    return say<text::compare::from_to>(shown(low), shown(high)) + (percent ? "%" : "");
}

std::string ratio_in_words(const Contrast& contrast) {
    if (!contrast.ratio) return "";
    if (contrast.kind != RatioKind::exact) return bound_text(contrast);
    const auto ends = ends_in_words(contrast, true);
    const auto text = change_text(*contrast.ratio);
    return ends.empty() ? text
                        : say<text::words::in_brackets>(text, say<text::compare::interval>(ends));
}

std::string contrast_in_words(const Contrast& contrast) {
    if (contrast.no_verdict == NoVerdict::zero) return order_in_words(contrast.outcome);
    auto ratio = ratio_in_words(contrast);
    const auto with_cause = [&](std::string text) {
        return contrast.about.empty() ? text : say<text::words::in_brackets>(text, contrast.about);
    };
    if (contrast.no_verdict == NoVerdict::two_levels)
        return say<text::words::labelled>(with_cause(say<text::compare::two_levels>()), ratio);
    if (contrast.no_verdict == NoVerdict::cpus_moved)
        return say<text::words::labelled>(with_cause(say<text::compare::cpus_moved>()), ratio);
    if (contrast.outcome == ContrastOutcome::missing) return say<text::outcome::missing>();
    if (contrast.kind != RatioKind::exact) return with_cause(std::move(ratio));
    if (contrast.outcome == ContrastOutcome::same)
        return say<text::compare::same_within>(percent_in_words(within(contrast)), ratio);
    if (contrast.outcome != ContrastOutcome::cannot_tell) return ratio;
    if (!contrast.detectable) return say<text::compare::one_value>(ratio);
    const auto above = percent_in_words(*contrast.detectable);
    return contrast.no_verdict == NoVerdict::between_times
               ? say<text::compare::between_times>(above, ratio)
               : say<text::compare::unresolved_above>(above, ratio);
}

std::string contrast_in_short(const Contrast& contrast) {
    if (contrast.no_verdict == NoVerdict::zero) return order_in_words(contrast.outcome);
    if (!contrast.ratio) return "";
    if (contrast.kind != RatioKind::exact) return bound_text(contrast);
    const double ratio = *contrast.ratio;
    auto text = change_text(ratio);
    if (contrast.low && contrast.high) {
        // In points of percent, as the change is.
        auto spread = is_near(ratio) ? spread_in_words(1, 1 - ratio + *contrast.low,
                                                       1 - ratio + *contrast.high)
                                     : spread_in_words(ratio, contrast.low, contrast.high);
        if (is_near(ratio) && !spread.starts_with("±")) // +2% -40% +48% would be a riddle
            spread = fmt::format("({})", ends_in_words(contrast, true));
        text = fmt::format("{} {}", text, spread);
    }
    if (contrast.outcome == ContrastOutcome::cannot_tell) return "~ " + text;
    return contrast.outcome == ContrastOutcome::same ? "= " + text : text;
}

std::string value_in_words(const Cell& cell, const std::string& unit) {
    if (!cell.value) return say<text::outcome::missing>();
    const auto text = record::human(*cell.value, unit);
    return cell.library.empty() ? text : say<text::compare::through>(text, cell.library);
}

std::string interval_in_words(const Cell& cell) {
    return spread_in_words(cell.value, cell.low, cell.high);
}

std::string delivered_in_words(const Cell& cell, const std::string& unit) {
    if (std::abs(delivered_share(cell) - 1) <= worth_saying) return "";
    return say<text::compare::delivered_value>(record::human(*cell.delivered, unit),
                                               record::human_percent(*cell.fast_share));
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

std::string method_in_words(const Comparison& comparison) {
    const auto unit = comparison.unit == Unit::machine ? say<text::compare::unit_machine>()
                      : comparison.unit == Unit::run   ? say<text::compare::unit_run>()
                                                       : say<text::compare::unit_replica>();
    return say<text::compare::method>(
        unit, comparison.paired ? say<text::compare::paired>() : std::string{},
        comparison.correction == Correction::family_wise ? say<text::compare::family_wise>()
                                                         : say<text::compare::false_discovery>());
}

std::string title_of(const Comparison& comparison) {
    const auto& sides = comparison.sides;
    if (sides.size() == 2) return say<text::compare::title>(sides[1].label, sides[0].label);
    return say<text::compare::title_many>(sides.size() - 1, sides.front().label);
}

std::string level_in_words(const Comparison& comparison) {
    return say<text::compare::legend>(fmt::format("{:.3g}%", 100 * comparison.minimum_effect),
                                      fmt::format("{:g}", comparison.alpha), comparison.tests);
}

std::string legend_of(const Comparison& comparison) {
    bool same = false;
    bool open = false;
    bool bound = false;
    bool about = false;
    const auto look = [&](const Contrast& contrast) {
        if (!contrast.ratio) return;
        about |= contrast.kind == RatioKind::about;
        bound |= contrast.kind == RatioKind::at_least || contrast.kind == RatioKind::at_most;
        if (contrast.kind != RatioKind::exact) return;
        open |= contrast.outcome == ContrastOutcome::cannot_tell;
        same |= contrast.outcome == ContrastOutcome::same;
    };
    for (const auto& table : comparison.tables) {
        std::ranges::for_each(table.means, look);
        for (const auto& row : table.rows)
            for (const auto& cell : row.cells)
                if (cell.contrast) look(*cell.contrast);
    }
    std::vector<std::string> lines{level_in_words(comparison)};
    if (open) lines.push_back(say<text::compare::sign_open>());
    if (same)
        lines.push_back(
            say<text::compare::sign_same>(fmt::format("{:.3g}%", 100 * comparison.minimum_effect)));
    if (bound) lines.push_back(say<text::compare::sign_bound>());
    if (about) lines.push_back(say<text::compare::sign_about>());
    return sentences(lines);
}

std::vector<std::optional<double>> means_of_values(const ComparedTable& family) {
    std::vector<std::optional<double>> means;
    if (family.means.front().count == 0) return means;
    for (std::size_t side = 0; side < family.means.size(); ++side) {
        double logs = 0;
        double count = 0;
        bool all = true;
        for (const auto& row : family.rows) {
            if (!row.common) continue;
            const auto& value = row.cells[side].value;
            all &= value && *value > 0;
            logs += value ? std::log(*value) : 0;
            count += 1;
        }
        means.push_back(all && count > 0 ? std::optional{std::exp(logs / count)} : std::nullopt);
    }
    return means;
}

std::string delivered_overall(const Comparison& comparison) {
    std::vector<std::string> texts;
    bool any = false;
    for (const auto& entry : comparison.ranking) {
        if (entry.side == 0) continue;
        double logs = 0; // the mean over families, as the overall ratio
        double families = 0;
        for (const auto& table : comparison.tables) {
            double own = 0;
            double count = 0;
            for (const auto& row : table.rows) {
                if (!row.common) continue;
                const double more = std::log(delivered_share(row.cells[entry.side]) /
                                             delivered_share(row.cells.front()));
                own += row.higher_is_better ? more : -more;
                count += 1;
            }
            if (count == 0) continue;
            logs += own / count;
            families += 1;
        }
        const double factor = families > 0 ? std::exp(logs / families) : 1;
        any |= std::abs(factor - 1) > worth_saying;
        texts.push_back(say<text::words::labelled>(
            comparison.sides[entry.side].label,
            change_text(comparison.overall[entry.side].ratio.value_or(1) * factor)));
    }
    return any ? say<text::compare::delivered_ratio>(join(texts)) : std::string{};
}

bool is_compared(const ComparedRow& row) {
    return std::ranges::count_if(row.cells,
                                 [](const Cell& cell) { return cell.value.has_value(); }) > 1;
}

std::vector<const ComparedRow*> compared_rows(const ComparedTable& table) {
    std::vector<const ComparedRow*> rows;
    for (const auto& row : table.rows)
        if (is_compared(row)) rows.push_back(&row);
    return rows;
}

const Contrast* open_contrast(const ComparedRow& row) {
    for (const auto& cell : row.cells)
        if (cell.contrast && cell.contrast->outcome == ContrastOutcome::cannot_tell)
            for (const auto reason :
                 {NoVerdict::disturbed, NoVerdict::two_levels, NoVerdict::cpus_moved})
                if (cell.contrast->no_verdict == reason) return &*cell.contrast;
    return nullptr;
}

bool has_choice(const ComparedRow& row) { return row.libraries > 1; }

std::vector<NotComparedGroup> group_not_compared(const Comparison& comparison) {
    std::vector<NotComparedGroup> groups;
    std::map<std::pair<std::string, std::vector<std::string>>, std::size_t> known;
    const auto add = [&](NotCompared entry) {
        if (entry.cause.empty()) entry.cause = std::exchange(entry.reason, {});
        // With many sides each row lacks others: the cause is what one wants to know.
        const bool one_side = comparison.sides.size() == 2 && entry.code == NotComparedCode::other;
        const auto where = one_side ? entry.where : std::vector<std::string>{};
        const auto [place, fresh] = known.try_emplace({entry.cause, where}, groups.size());
        if (fresh) groups.push_back({.cause = entry.cause, .where = where, .code = entry.code});
        groups[place->second].entries.push_back(std::move(entry));
    };
    std::ranges::for_each(comparison.not_compared, add);
    for (const auto& table : comparison.tables)
        for (const auto& row : table.rows)
            if (const auto* open = open_contrast(row))
                add({.what = row.identity,
                     .reason = open->about,
                     .cause = open->no_verdict == NoVerdict::two_levels
                                  ? say<text::compare::two_levels>()
                              : open->no_verdict == NoVerdict::cpus_moved
                                  ? say<text::compare::cpus_moved>()
                                  : say<text::compare::under_load>(),
                     .code = NotComparedCode::no_verdict});
    std::ranges::stable_sort(groups, std::greater{},
                             [](const NotComparedGroup& one) { return one.entries.size(); });
    return groups;
}

} // namespace assay::compare
