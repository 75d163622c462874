// SPDX-License-Identifier: Apache-2.0

#include "compare/words.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/compare.hpp"
#include "document/texts/list.hpp"
#include "document/texts/words.hpp"
#include "stats/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace assay::compare {

using namespace document;
namespace {

using document::Tone;

constexpr std::size_t named = 3; // families of a headline

const Contrast* contrast_of(const ComparedTable& family, std::size_t side) {
    return side == 0 ? nullptr : &family.means[side];
}
const Contrast* contrast_of(const ComparedRow& row, std::size_t side) {
    return side == 0 ? nullptr : &*row.cells[side].contrast;
}

/// "6.6% faster than A", "3.1 times as fast as A"; of a range its ends.
std::string amount_than(double low, double high, const std::string& other) {
    const bool percent = is_near(low) && is_near(high);
    auto first = amount_in_words(low, percent);
    auto last = amount_in_words(high, percent);
    if (percent && high < 1) std::swap(first, last); // from the smaller change to the larger one
    const auto amount = first == last ? last : say<text::compare::from_to>(first, last);
    if (!percent) return say<text::compare::times_than>(amount, other);
    return low > 1 ? say<text::compare::faster_than>(amount, other)
                   : say<text::compare::slower_than>(amount, other);
}

/// The first letter of a family inside of a sentence, unless it is somebody's.
std::string in_sentence(const ComparedTable& family) {
    auto title = family.title;
    const auto& name = family.rows.front().family;
    if (name != "fft" && name != "montecarlo" && title.size() > 1 && title[0] >= 'A' &&
        title[0] <= 'Z' && title[1] >= 'a' && title[1] <= 'z')
        title[0] = static_cast<char>(title[0] - 'A' + 'a');
    return title;
}

/// Counts of the cases of a pair of sides.
struct Cases {
    std::size_t all = 0; ///< that have a ratio
    std::size_t better = 0;
    std::size_t worse = 0;
    double least = std::numeric_limits<double>::infinity(); ///< of those that are better or worse
    double most = 0;
    std::vector<double> ratios; ///< of all

    void add(const Contrast& contrast) {
        if (!contrast.ratio) return;
        ++all;
        ratios.push_back(*contrast.ratio);
        const bool is_better = contrast.outcome == ContrastOutcome::better;
        if (!is_better && contrast.outcome != ContrastOutcome::worse) return;
        ++(is_better ? better : worse);
        least = std::min(least, sure_ratio(contrast));
        most = std::max(most, sure_ratio(contrast));
    }
};

/// Verdict on two sides, of which `mean` is the overall ratio.
class Headline {
public:
    Headline(const Comparison& comparison, std::size_t one, std::size_t other,
             const MeanRatio& mean)
        : comparison_{comparison}, one_{one}, other_{other}, mean_{mean} {
        for (const auto& table : comparison.tables)
            for (const auto& row : table.rows)
                cases_.add(against(contrast_of(row, one), contrast_of(row, other)));
    }

    std::string text() const {
        if (cases_.all == 0) return say<text::compare::only_questions>();
        if (!mean_.ratio) return of_cases();
        const bool better = mean_.outcome == ContrastOutcome::better;
        const auto others = others_of();
        if (better || mean_.outcome == ContrastOutcome::worse) {
            auto ends = ends_in_words(mean_, false);
            if (!ends.empty())
                ends = say<text::compare::interval>(ends) + say<text::list::semicolon>();
            const auto amount = amount_than(*mean_.ratio, *mean_.ratio, label(other_));
            auto text = is_fastest()
                            ? say<text::compare::verdict_fastest>(
                                  label(one_), comparison_.ranking.size(), amount, ends + cases())
                            : say<text::compare::verdict_is>(label(one_), amount, ends + cases());
            if (!others.empty()) text += say<text::compare::but>(list_of(others, named));
            return say<text::words::sentence>(text);
        }
        const bool same = mean_.outcome == ContrastOutcome::same;
        if (!others.empty()) {
            const auto apart = within(mean_);
            return say<text::words::sentence>(say<text::compare::verdict_but>(
                label(one_), label(other_),
                apart > 0 ? say<text::compare::within>(percent_in_words(apart), cases()) : cases(),
                list_of(others, named)));
        }
        if (same)
            return say<text::compare::verdict_same>(label(one_), label(other_),
                                                    percent_in_words(within(mean_)), cases());
        if (!mean_.detectable) return say<text::compare::no_detectable>(cases());
        auto text = say<text::compare::verdict_unresolved>(
            label(one_), label(other_), percent_in_words(*mean_.detectable), cases());
        if (const auto usual = usual_detectable(); usual < *mean_.detectable / 2)
            text = sentences({text, say<text::compare::half_detectable>(percent_in_words(usual))});
        return mean_.more ? sentences({text, more()}) : text;
    }

private:
    const std::string& label(std::size_t side) const { return comparison_.sides[side].label; }
    bool is_fastest() const {
        const auto& all = comparison_.ranking;
        return comparison_.sides.size() > 2 && mean_.outcome == ContrastOutcome::better &&
               all.size() > 1 && all[0].side == one_ && all[1].side == other_;
    }
    /// "22 cases, 3 machines each"
    std::string cases() const {
        auto text = say_count<text::compare::some_cases>(mean_.count);
        const auto machines = comparison_.sides[one_].machines;
        const auto others = comparison_.sides[other_].machines;
        if (std::max(machines, others) < 2) return text;
        return join({text, machines == others ? say<text::compare::machines_each>(machines)
                                              : say<text::compare::machines_of>(others, machines)});
    }
    std::string more() const {
        const auto& [count, shows, are_pairs] = *mean_.more;
        const auto shown = percent_in_words(shows);
        if (are_pairs)
            return mean_.paired ? say_count<text::compare::more_pairs>(count, shown)
                                : say_count<text::compare::new_pairs>(count, shown);
        return comparison_.unit == Unit::machine
                   ? say_count<text::compare::more_machines>(count, shown)
                   : say_count<text::compare::more_runs>(count, shown);
    }

    /// The difference that half of the cases would show.
    double usual_detectable() const {
        std::vector<double> sizes;
        for (const auto& table : comparison_.tables)
            for (const auto& row : table.rows)
                if (const auto* contrast = contrast_of(row, one_);
                    other_ == 0 && contrast != nullptr && contrast->detectable)
                    sizes.push_back(*contrast->detectable);
        return sizes.empty() ? std::numeric_limits<double>::infinity() : stats::median(sizes);
    }

    /// "slower in 4 of 22 cases (by up to 12%)"
    std::vector<std::string> cases_unlike(ContrastOutcome overall) const {
        std::vector<std::string> texts;
        const auto most = [](double ratio) {
            const bool percent = is_near(ratio) || ratio < 1;
            const auto amount = amount_in_words(ratio, percent);
            return percent ? amount : say<text::compare::ratio>(amount);
        };
        if (cases_.worse > 0 && overall != ContrastOutcome::worse)
            texts.push_back(say_count<text::compare::slower_in_cases>(cases_.worse, cases_.all,
                                                                      most(cases_.least)));
        if (cases_.better > 0 && overall != ContrastOutcome::better)
            texts.push_back(say_count<text::compare::faster_in_cases>(cases_.better, cases_.all,
                                                                      most(cases_.most)));
        return texts;
    }
    /// Cases that went the other way than the whole: families by name, else cases.
    std::vector<std::string> others_of() const {
        std::vector<std::pair<double, std::string>> families;
        for (const auto& family : comparison_.tables) {
            const auto contrast = against(contrast_of(family, one_), contrast_of(family, other_));
            const bool better = contrast.outcome == ContrastOutcome::better;
            if (!contrast.ratio || contrast.outcome == mean_.outcome ||
                (!better && contrast.outcome != ContrastOutcome::worse))
                continue;
            const auto amount = amount_in_words(*contrast.ratio, is_near(*contrast.ratio));
            const auto name = in_sentence(family);
            families.emplace_back(std::abs(std::log(*contrast.ratio)),
                                  !is_near(*contrast.ratio)
                                      ? say<text::compare::times_in>(amount, name)
                                  : better ? say<text::compare::faster_in>(amount, name)
                                           : say<text::compare::slower_in>(amount, name));
        }
        if (families.empty()) return cases_unlike(mean_.outcome);
        std::ranges::stable_sort(families, std::ranges::greater{},
                                 [](const auto& f) { return f.first; });
        std::vector<std::string> texts;
        for (auto& [size, text] : families) texts.push_back(std::move(text));
        if (mean_.outcome != ContrastOutcome::better && mean_.outcome != ContrastOutcome::worse)
            texts.back() = say<text::compare::of_cases>(texts.back(), cases_.better + cases_.worse,
                                                        cases_.all);
        return texts;
    }
    /// Where there is no overall ratio.
    std::string of_cases() const {
        const auto series = comparison_.series;
        const bool few = 2 * cases_.all < series;
        const bool one_way = std::max(cases_.better, cases_.worse) == cases_.all;
        const auto text =
            few && one_way ? say<text::compare::verdict_range>(
                                 label(one_), amount_than(cases_.least, cases_.most, label(other_)))
                           : by_cases();
        return few ? sentences({text, say_count<text::compare::few_common>(cases_.all, series)})
                   : text;
    }
    std::string by_cases() const {
        const auto texts = cases_unlike(ContrastOutcome::missing);
        const auto ratio = [&](double share) {
            return contrast_in_short({.outcome = ContrastOutcome::better,
                                      .ratio = stats::quantile(cases_.ratios, share)});
        };
        return texts.empty()
                   ? say_count<text::compare::verdict_none>(cases_.all, label(one_), label(other_),
                                                            ratio(0.5), ratio(0.25), ratio(0.75))
                   : say<text::compare::verdict_cases>(label(other_), label(one_),
                                                       list_of(texts, named));
    }

    const Comparison& comparison_;
    std::size_t one_;
    std::size_t other_;
    const MeanRatio& mean_;
    Cases cases_;
};

/// The side with most cases that are faster or slower than on the first.
std::optional<std::size_t> most_unlike(const Comparison& comparison) {
    const auto called = [](const Tally& tally) { return tally.better + tally.worse; };
    const auto most = std::ranges::max_element(comparison.tallies, {}, called);
    if (most == comparison.tallies.end() || called(*most) == 0) return {};
    return static_cast<std::size_t>(most - comparison.tallies.begin());
}

} // namespace

Contrast against(const Contrast* one, const Contrast* other) {
    if (other == nullptr) return *one;
    using enum ContrastOutcome;
    const auto inverse = [](const std::optional<double>& value) {
        return value ? std::optional{1 / *value} : std::nullopt;
    };
    Contrast turned{.outcome = other->outcome == better  ? worse
                               : other->outcome == worse ? better
                                                         : other->outcome,
                    .kind = other->kind == RatioKind::at_least  ? RatioKind::at_most
                            : other->kind == RatioKind::at_most ? RatioKind::at_least
                                                                : other->kind,
                    .ratio = inverse(other->ratio),
                    .low = inverse(other->high),
                    .high = inverse(other->low)};
    if (one == nullptr) return turned;
    const auto product = [](const std::optional<double>& a, const std::optional<double>& b) {
        return a && b ? std::optional{*a * *b} : std::nullopt;
    };
    if (one->kind != RatioKind::exact) turned.kind = RatioKind::about;
    turned.ratio = product(one->ratio, turned.ratio);
    turned.low = product(one->low, turned.low);
    turned.high = product(one->high, turned.high);
    turned.outcome = !turned.ratio                     ? missing
                     : turned.low && *turned.low > 1   ? better
                     : turned.high && *turned.high < 1 ? worse
                                                       : cannot_tell;
    return turned;
}

document::Tone tone_of(const Contrast& contrast) {
    return contrast.outcome == ContrastOutcome::better    ? Tone::good
           : contrast.outcome == ContrastOutcome::worse   ? Tone::bad
           : contrast.outcome == ContrastOutcome::missing ? Tone::weak
                                                          : Tone::quiet;
}

VerdictWords verdict_of(const Comparison& comparison) {
    if (!has_common(comparison)) return {say<text::compare::nothing_in_common>(), Tone::bad};
    const bool many = comparison.sides.size() > 2;
    if (many && comparison.ranking.size() < 2)
        return {say_count<text::compare::not_all>(comparison.overall.front().count,
                                                  comparison.series, comparison.sides.size()),
                Tone::weak};
    auto one = many ? comparison.ranking[0].side : 1;
    auto other = many ? comparison.ranking[1].side : 0;
    auto mean = many ? *comparison.ranking[0].over_next : comparison.overall[1];
    // Where the first two do not differ, the news is the side that differs from the first in most cases.
    if (many && mean.outcome != ContrastOutcome::better)
        if (const auto most = most_unlike(comparison)) {
            one = *most;
            other = 0;
            mean = comparison.overall[one];
        }
    const bool open =
        mean.outcome == ContrastOutcome::cannot_tell || mean.outcome == ContrastOutcome::missing;
    return {Headline{comparison, one, other, mean}.text(),
            open                                            ? Tone::weak
            : many || mean.outcome == ContrastOutcome::same ? Tone::plain
                                                            : tone_of(mean)};
}

std::vector<std::string> gaps_of(const Comparison& comparison) {
    std::size_t alone = 0;
    std::size_t open = 0;
    std::size_t unresolved = 0;
    for (const auto& table : comparison.tables) {
        alone += table.rows.size() - compared_rows(table).size();
        for (const auto& row : table.rows) {
            open += open_contrast(row) != nullptr ? 1 : 0;
            unresolved += std::ranges::any_of(row.cells, [](const Cell& cell) {
                return cell.contrast && cell.contrast->outcome == ContrastOutcome::cannot_tell;
            });
        }
    }
    std::vector<std::string> causes;
    std::vector<std::string> of_open;
    std::size_t files = 0;
    for (const auto& group : group_not_compared(comparison)) {
        if (group.code == NotComparedCode::file)
            files += group.entries.size();
        else if (auto& list = group.code == NotComparedCode::no_verdict ? of_open : causes;
                 std::ranges::find(list, group.cause) == list.end())
            list.push_back(group.cause);
    }
    std::vector<std::string> lines;
    std::vector<std::string> apart; // sides that the ranking does not hold
    for (std::size_t side = 0; !comparison.ranking.empty() && side < comparison.sides.size();
         ++side)
        if (std::ranges::find(comparison.ranking, side, &Ranked::side) == comparison.ranking.end())
            apart.push_back(comparison.sides[side].label);
    if (!apart.empty() && comparison.sides.size() > 2)
        lines.push_back(say<text::compare::sides_apart>(list_of(apart, 2 * named),
                                                        comparison.sides.front().label));
    if (alone > 0)
        lines.push_back(
            say_count<text::compare::no_partner>(alone, comparison.series, list_of(causes, named)));
    if (open > 0)
        lines.push_back(
            say_count<text::compare::no_verdict>(open, unresolved, list_of(of_open, named)));
    if (files > 0) lines.push_back(say_count<text::compare::no_file>(files));
    return lines;
}

} // namespace assay::compare
