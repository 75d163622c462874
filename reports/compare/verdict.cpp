// SPDX-License-Identifier: Apache-2.0

#include "compare/words.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/compare.hpp"
#include "record/format.hpp"

#include <vector>

namespace assay::compare {

using namespace document;
namespace {

using document::Tone;

/// Pairs of values, and those that were disturbed or lie at two levels.
struct Useless {
    std::size_t all = 0;
    std::size_t disturbed = 0;
    std::size_t levels = 0;
    std::size_t moved = 0;
    std::size_t sum() const { return disturbed + levels + moved; }
    bool are_most() const { return 2 * sum() > all; }
};
Useless useless_of(const Comparison& comparison) {
    Useless out;
    for (const auto& table : comparison.tables)
        for (const auto& row : table.rows)
            for (const auto& cell : row.cells) {
                if (!cell.contrast || cell.contrast->outcome == ContrastOutcome::missing) continue;
                ++out.all;
                if (cell.contrast->no_verdict == NoVerdict::disturbed) ++out.disturbed;
                if (cell.contrast->no_verdict == NoVerdict::two_levels) ++out.levels;
                if (cell.contrast->no_verdict == NoVerdict::cpus_moved) ++out.moved;
            }
    return out;
}

std::string useless_in_words(const Useless& useless) {
    std::vector<std::string> parts;
    if (useless.disturbed > 0)
        parts.push_back(say<text::compare::useless_disturbed>(useless.disturbed));
    if (useless.levels > 0) parts.push_back(say<text::compare::useless_levels>(useless.levels));
    if (useless.moved > 0) parts.push_back(say<text::compare::useless_moved>(useless.moved));
    return say<text::compare::verdict_useless>(useless.sum(), useless.all, join(parts));
}

/// What would not be seen, and how much more would show how little.
std::vector<std::string> limits_of(const Comparison& comparison, const MeanRatio& mean) {
    if (!mean.detectable) return {say<text::compare::no_detectable>()};
    std::vector<std::string> lines{
        say<text::compare::below>(record::human_percent(*mean.detectable))};
    if (!mean.more) return lines;
    const auto count = mean.more->count;
    const auto shown = record::human_percent(mean.more->shows);
    if (comparison.unit == Unit::machine)
        lines.push_back(say_count<text::compare::more_machines>(count, shown));
    else if (comparison.unit == Unit::run)
        lines.push_back(say_count<text::compare::more_runs>(count, shown));
    else
        lines.push_back(mean.paired ? say_count<text::compare::more_pairs>(count, shown)
                                    : say_count<text::compare::new_pairs>(count, shown));
    return lines;
}

/// The rows that differ otherwise than the whole does.
std::vector<std::string> others_of(const Tally& tally, ContrastOutcome overall) {
    std::vector<std::string> lines;
    const auto all = tally.better + tally.worse + tally.same + tally.cannot_tell;
    if (tally.better > 0 && overall != ContrastOutcome::better)
        lines.push_back(say<text::compare::and_faster>(tally.better, all));
    if (tally.worse > 0 && overall != ContrastOutcome::worse)
        lines.push_back(say<text::compare::and_slower>(tally.worse, all));
    return lines;
}

/// `one` against `other`.
std::vector<std::string> pair_in_words(const Comparison& comparison, const std::string& one,
                                       const std::string& other, const MeanRatio& mean) {
    const auto ratio = ratio_in_words(mean);
    const auto cases = say_count<text::compare::test_cases>(mean.count);
    switch (mean.outcome) {
    case ContrastOutcome::better:
        return {say<text::compare::verdict_faster>(one, other, ratio, cases)};
    case ContrastOutcome::worse:
        return {say<text::compare::verdict_slower>(one, other, ratio, cases)};
    case ContrastOutcome::same:
        return {say<text::compare::verdict_same>(one, other, within_in_words(mean), ratio, cases)};
    case ContrastOutcome::cannot_tell:
    case ContrastOutcome::missing:
        break;
    }
    std::vector<std::string> lines{
        say<text::compare::verdict_unresolved>(one, other, ratio, cases)};
    for (auto& line : limits_of(comparison, mean)) lines.push_back(std::move(line));
    return lines;
}

VerdictWords verdict_of_two(const Comparison& comparison) {
    const auto& mean = comparison.overall[1];
    auto lines =
        pair_in_words(comparison, comparison.sides[1].label, comparison.sides[0].label, mean);
    for (auto& line : others_of(comparison.tallies[1], mean.outcome))
        lines.push_back(std::move(line));
    const bool unresolved = mean.outcome == ContrastOutcome::cannot_tell;
    return {sentences(lines), mean.outcome == ContrastOutcome::better  ? Tone::good
                              : mean.outcome == ContrastOutcome::worse ? Tone::bad
                              : unresolved                             ? Tone::weak
                                                                       : Tone::plain};
}

VerdictWords verdict_of_many(const Comparison& comparison) {
    const auto& best = comparison.ranking[0];
    const auto& next = comparison.ranking[1];
    const auto& label = comparison.sides[best.side].label;
    const auto& mean = *best.over_next;
    const auto& other = comparison.sides[next.side].label;
    std::vector<std::string> lines;
    if (mean.outcome == ContrastOutcome::better)
        lines = {say<text::compare::verdict_fastest>(
            label, other, ratio_in_words(mean), say_count<text::compare::test_cases>(mean.count))};
    else
        lines = pair_in_words(comparison, label, other, mean);
    if (best.side != 0 && next.side != 0)
        lines.push_back(say<text::compare::verdict_of_baseline>(
            contrast_in_words(comparison.overall[best.side]), comparison.sides[0].label));
    return {sentences(lines),
            mean.outcome == ContrastOutcome::cannot_tell ? Tone::weak : Tone::plain};
}

} // namespace

document::Tone tone_of(const Contrast& contrast) {
    switch (contrast.outcome) {
    case ContrastOutcome::better:
        return Tone::good;
    case ContrastOutcome::worse:
        return Tone::bad;
    case ContrastOutcome::missing:
        return Tone::weak;
    case ContrastOutcome::same:
    case ContrastOutcome::cannot_tell:
        break;
    }
    return Tone::quiet;
}

VerdictWords verdict_of(const Comparison& comparison) {
    if (!has_common(comparison)) return {say<text::compare::nothing_in_common>(), Tone::bad};
    if (const auto useless = useless_of(comparison); useless.are_most())
        return {useless_in_words(useless), Tone::bad};
    if (comparison.ranking.empty())
        return {say<text::compare::not_all>(comparison.sides.size()), Tone::weak};
    return comparison.sides.size() == 2 ? verdict_of_two(comparison) : verdict_of_many(comparison);
}

} // namespace assay::compare
