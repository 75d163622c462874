// SPDX-License-Identifier: Apache-2.0

#include "compare/cells.hpp"
#include "compare/comparison.hpp"
#include "compare/words.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/compare.hpp"
#include "document/texts/words.hpp"
#include "document/texts/workbook.hpp"
#include "record/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace assay::compare {
namespace {

using namespace document;
using Shown = document::Cell;
using document::HeatMap;
using document::Row;
using document::Section;

constexpr std::size_t listed = 6; // of what was left out for one reason; the rest is a number

/// "~ 1.02x [0.98, 1.06]"
std::string in_full(const Contrast& contrast) {
    return sign_of(contrast.outcome) + ratio_in_words(contrast);
}

void drop_empty_columns(Table& table) {
    for (std::size_t i = table.columns.size(); i-- > 0;) {
        if (std::ranges::any_of(table.rows,
                                [&](const Row& row) { return !row.cells[i].text.empty(); }))
            continue;
        const auto at = static_cast<std::ptrdiff_t>(i);
        table.columns.erase(table.columns.begin() + at);
        for (auto& row : table.rows) row.cells.erase(row.cells.begin() + at);
    }
}

/// Do sides have other numbers of cores than the first, as far as they are known?
bool cores_differ(const Comparison& comparison) {
    if (std::ranges::any_of(comparison.sides, &ComparedSide::uses_devices)) return false;
    const auto& first = comparison.sides.front().cores;
    return std::ranges::any_of(comparison.sides, [&](const ComparedSide& side) {
        return side.cores && first && *side.cores != *first;
    });
}

class Builder {
public:
    explicit Builder(const Comparison& comparison)
        : comparison_{comparison}, sides_{comparison.sides}, cases_{comparison},
          cores_differ_{cores_differ(comparison)} {}

    Document build() const {
        auto verdict = verdict_of(comparison_);
        Document document{.kind = "comparison",
                          .kicker = say<text::compare::kicker>(),
                          .title = title_of(comparison_),
                          .verdict = std::move(verdict.text),
                          .tone = verdict.tone};
        for (const auto& side : sides_) document.sides.push_back(side.label);
        if (!comparison_.ranking.empty()) document.sections.push_back(ranking());
        document.sections.push_back({.title = say<text::compare::in_short>(),
                                     .blocks = {unlike_findings(comparison_), in_short()}});
        document.sections.push_back(
            {.title = say<text::compare::sides>(), .blocks = {what_is_compared()}});
        if (comparison_.tables.size() > 1) document.sections.push_back(families());
        for (const auto& table : comparison_.tables) add_family(document, table);
        add_questions(document);
        add_others(document);
        add_not_compared(document);
        const auto foot = [&](std::string text, const char* mark) {
            document.foot.push_back({.text = std::move(text), .tone = Tone::quiet, .mark = mark});
        };
        foot(method_in_words(comparison_), "");
        if (cores_differ_) foot(say<text::compare::note_per_core>(), "-");
        for (const auto& note : comparison_.notes) foot(note, "-");
        return document;
    }

private:
    bool many() const { return sides_.size() > 2; }
    const std::string& baseline() const { return sides_.front().label; }

    // -- Which side is faster? --

    Section ranking() const {
        Table table{
            .columns = {{.title = say<text::compare::side>()},
                        {.title = say<text::compare::rank>(), .numeric = true, .rank = 1},
                        {.title = say<text::compare::ratio_title>(baseline()), .numeric = true}},
            .sheet = say<text::compare::ranking>()};
        const auto add = [&](std::string title, std::uint8_t rank, bool data = false) {
            table.columns.push_back(
                {.title = std::move(title), .numeric = true, .data = data, .rank = rank});
        };
        if (many()) add(say<text::compare::over_next>(), 2);
        if (cores_differ_) add(say<text::compare::per_core>(), 3);
        add(say<text::compare::tally_title>(), 3, many());
        add(say<text::compare::vcpu>(), 4);
        add(say<text::compare::cores>(), 4);
        add(say<text::compare::memory>(), 4);
        add(say<text::compare::runs>(), 5);
        add(say<text::compare::machines>(), 5, true);
        for (const auto& entry : comparison_.ranking) table.rows.push_back(ranked(entry));
        drop_empty_columns(table); // older files do not know their machine
        return {.title = say<text::compare::ranking>(),
                .question = many() ? say<text::compare::ranking_question>() : std::string{},
                .blocks = {std::move(table),
                           Paragraph{.text = say<text::compare::signs>(
                                         fmt::format("{:.3g}%", 100 * comparison_.minimum_effect)),
                                     .tone = Tone::quiet}}};
    }

    Row ranked(const Ranked& entry) const {
        const auto& side = sides_[entry.side];
        const auto& mean = comparison_.overall[entry.side];
        const auto count = [](auto value) {
            return number(static_cast<double>(value), unit_count);
        };
        Row row{.cells = {{.text = side.label}, count(entry.rank)}};
        const auto add = [&](Shown cell) { row.cells.push_back(std::move(cell)); };
        add(entry.side == 0 ? number(1, unit_ratio, say<text::compare::baseline>())
                            : ratio_cell(mean, in_full(mean)));
        if (many())
            add(entry.over_next ? ratio_cell(*entry.over_next, contrast_in_short(*entry.over_next))
                                : Shown{});
        if (cores_differ_) add(per_core(entry.side));
        add({.text = entry.side == 0 ? std::string{}
                                     : tally_in_words(comparison_.tallies[entry.side])});
        add(number(side.threads, unit_count));
        add(number(side.cores, unit_count));
        add(number(side.memory, "B"));
        add(count(side.runs));
        add(count(side.machines));
        return row;
    }

    Facts in_short() const {
        Facts facts{.facts = summary_of(comparison_), .look = Facts::Look::summary};
        std::vector<Fact> tallies; // of two sides the ranking has them
        for (std::size_t side = 1; many() && side < sides_.size(); ++side)
            tallies.push_back({sides_[side].label, tally_in_words(comparison_.tallies[side]),
                               sides_[side].label});
        facts.facts.insert(facts.facts.begin(), tallies.begin(), tallies.end());
        return facts;
    }
    Facts what_is_compared() const {
        Facts facts;
        for (const auto& side : sides_) facts.facts.push_back({side.label, side.what, side.label});
        return facts;
    }

    /// The overall ratio divided by that of the cores.
    Shown per_core(std::size_t side) const {
        const auto& own = sides_[side].cores;
        const auto& first = sides_.front().cores;
        auto mean = comparison_.overall[side];
        if (side == 0 || !own || !first || !mean.ratio) return {};
        const double share = *first / *own;
        for (auto* value : {&mean.ratio, &mean.low, &mean.high})
            if (*value) **value *= share;
        mean.outcome = ContrastOutcome::better; // no test: neither sign nor tone
        auto cell = ratio_cell(mean, contrast_in_short(mean));
        cell.tone = Tone::plain;
        return cell;
    }

    // -- In which families? --

    Section families() const {
        Section section{.title = say<text::compare::families>(),
                        .question = say<text::compare::families_question>()};
        Table table{
            .columns = {{.title = say<text::compare::family>()},
                        {.title = say<text::compare::tally_title>(), .numeric = true, .rank = 1}},
            .sheet = say<text::compare::families>()};
        for (std::size_t side = 1; side < sides_.size(); ++side) {
            const auto number = side_number(side);
            table.columns.push_back(
                {.title = sides_[side].label, .numeric = true, .side = number, .key = "ratio"});
            table.columns.push_back(
                {.title = say<text::compare::verdict>(), .data = true, .side = number});
            table.columns.push_back(
                {.title = say<text::compare::detectable>(), .data = true, .side = number});
            table.columns.push_back({.title = say<text::compare::tally_title>(),
                                     .numeric = true,
                                     .data = many(),
                                     .rank = 2,
                                     .side = number});
        }
        for (const auto& family : comparison_.tables)
            if (!compared_rows(family).empty()) table.rows.push_back(family_row(family));
        section.blocks.emplace_back(families_chart());
        section.blocks.emplace_back(std::move(table));
        if (auto text = order(); !text.empty())
            section.blocks.emplace_back(Paragraph{.text = text});
        if (!comparison_.ranking.empty()) {
            std::vector<std::string> alike;
            for (std::size_t side = 1; side < sides_.size(); ++side)
                alike.push_back(say<text::words::labelled>(sides_[side].label,
                                                           in_full(comparison_.means[side])));
            section.blocks.emplace_back(Paragraph{
                .text = say<text::compare::weights>(fmt::format("{}", fmt::join(alike, "; "))),
                .tone = Tone::quiet});
        }
        return section;
    }

    Row family_row(const ComparedTable& family) const {
        Row row{.cells = {{.text = family.title},
                          number(static_cast<double>(family.means.front().count), unit_count)},
                .tags = {.family = family.rows.front().family}};
        for (std::size_t side = 1; side < sides_.size(); ++side) {
            const auto& mean = family.means[side];
            row.cells.push_back(ratio_cell(mean, contrast_in_short(mean)));
            row.cells.push_back({.text = outcome_in_words(mean.outcome), .tone = tone_of(mean)});
            row.cells.push_back(number(mean.detectable, unit_share));
            row.cells.push_back({.text = tally_in_words(family.tallies[side])});
            row.tags.outcomes.emplace_back(to_string(mean.outcome));
        }
        return row;
    }

    Chart families_chart() const {
        RatioChart ratios;
        HeatMap map{.row_title = say<text::compare::family>(),
                    .column_title = say<text::compare::side>(),
                    .ratio = true};
        for (std::size_t side = 1; side < sides_.size(); ++side)
            map.columns.push_back(sides_[side].label);
        for (const auto& family : comparison_.tables) {
            if (family.means.front().count == 0) continue;
            map.rows.push_back(family.title);
            for (std::size_t side = 1; side < sides_.size(); ++side) {
                map.values.push_back(family.means[side].ratio);
                add_ratio(ratios, family.title, side, family.means[side]);
            }
        }
        Chart chart{.title = say<text::compare::families>()};
        if (many()) {
            chart.caption = say<text::compare::map_caption>(baseline());
            chart.data = std::move(map);
        } else {
            chart.caption = say<text::compare::chart>(baseline());
            chart.data = std::move(ratios);
        }
        return chart;
    }

    static void add_ratio(RatioChart& chart, std::string label, std::size_t side,
                          const Contrast& contrast) {
        if (!contrast.ratio) return;
        chart.ratios.push_back({.label = std::move(label),
                                .side = side + 1,
                                .ratio = *contrast.ratio,
                                .low = contrast.low,
                                .high = contrast.high,
                                .outcome = std::string{to_string(contrast.outcome)},
                                .text = contrast_in_words(contrast)});
    }

    /// Is `ahead` slower than `behind` in this family? Of two that are not the baseline: by intervals that are apart.
    static bool is_turned(const ComparedTable& family, std::size_t ahead, std::size_t behind) {
        const auto& a = family.means[ahead];
        const auto& b = family.means[behind];
        if (behind == 0) return a.outcome == ContrastOutcome::worse;
        if (ahead == 0) return b.outcome == ContrastOutcome::better;
        return a.high && b.low && *a.high < *b.low;
    }

    /// Where the order of two sides is another one than overall.
    std::string order() const {
        constexpr std::size_t most = 4; // pairs that one reads
        std::vector<std::string> pairs;
        for (const auto& ahead : comparison_.ranking)
            for (const auto& behind : comparison_.ranking) {
                if (ahead.rank >= behind.rank) continue;
                std::vector<std::string> families;
                for (const auto& family : comparison_.tables)
                    if (is_turned(family, ahead.side, behind.side))
                        families.push_back(family.title);
                if (!families.empty())
                    pairs.push_back(say<text::compare::order_pair>(sides_[ahead.side].label,
                                                                   sides_[behind.side].label,
                                                                   list_of(families, most)));
            }
        if (pairs.empty()) return "";
        const auto left_out = pairs.size() - std::min(pairs.size(), most);
        pairs.resize(pairs.size() - left_out);
        if (left_out > 0) pairs.push_back(say<text::compare::more_order>(left_out));
        return say<text::compare::order>(fmt::format("{}", fmt::join(pairs, "; ")));
    }

    // -- In which test cases? --

    void add_family(Document& document, const ComparedTable& family) const {
        const auto rows = compared_rows(family);
        if (rows.empty()) return;
        Section section{.title = family.title, .question = family.question};
        auto table = cases_.table(false);
        table.caption = family.common.empty()
                            ? metric_in_words(family)
                            : say<text::compare::all_rows>(metric_in_words(family), family.common);
        RatioChart ratios;
        for (const auto* row : rows) {
            table.rows.push_back(cases_.row(*row, false));
            const auto label =
                row->library.empty() ? row->name : fmt::format("{} · {}", row->name, row->library);
            for (std::size_t side = 1; side < row->cells.size(); ++side)
                if (const auto& contrast = row->cells[side].contrast)
                    add_ratio(ratios, label, side, *contrast);
        }
        if (!ratios.ratios.empty())
            section.blocks.emplace_back(Chart{.title = family.title,
                                              .caption = say<text::compare::chart>(baseline()),
                                              .data = std::move(ratios)});
        for (auto& chart : curves_of(comparison_, family))
            section.blocks.emplace_back(std::move(chart));
        section.blocks.emplace_back(std::move(table));
        if (const auto hidden = family.rows.size() - rows.size(); hidden > 0)
            section.blocks.emplace_back(Paragraph{
                .text = say_count<text::compare::hidden_rows>(hidden), .tone = Tone::quiet});
        document.sections.push_back(std::move(section));
    }

    void add_questions(Document& document) const {
        auto table = cases_.table(true);
        for (const auto& question : comparison_.questions)
            for (const auto& row : question.rows)
                if (has_choice(row)) table.rows.push_back(cases_.row(row, true));
        if (table.rows.empty()) return;
        document.sections.push_back({.title = say<text::compare::best_library>(),
                                     .question = say<text::compare::best_library_question>(),
                                     .blocks = {std::move(table)}});
    }

    void add_others(Document& document) const {
        auto table = cases_.table(false);
        table.sheet = say<text::compare::others>();
        for (const auto& other : comparison_.others)
            for (const auto* row : compared_rows(other)) {
                table.rows.push_back(cases_.row(*row, false));
                auto& name = table.rows.back().cells.front().text;
                name = say<text::words::labelled>(name, row->metric);
            }
        if (table.rows.empty()) return;
        document.sections.push_back({.title = say<text::compare::others>(),
                                     .question = say<text::compare::others_question>(),
                                     .blocks = {std::move(table)}});
    }

    void add_not_compared(Document& document) const {
        if (comparison_.not_compared.empty()) return;
        Section section{.title = say<text::compare::not_compared>()};
        for (const auto& group : group_not_compared(comparison_)) {
            const auto where = list_of(group.where, listed);
            const auto reason =
                where.empty() ? group.reason : say<text::words::labelled>(where, group.reason);
            section.blocks.emplace_back(
                Paragraph{.text = say<text::words::labelled>(reason, list_of(group.what, listed)),
                          .mark = "-"});
        }
        Table table{.columns = {{.title = say<text::compare::what>()},
                                {.title = say<text::compare::reason>()},
                                {.title = say<text::compare::where>()}},
                    .sheet = say<text::workbook::not_compared>(),
                    .only_workbook = true};
        for (const auto& entry : comparison_.not_compared)
            table.rows.push_back(
                {.cells = {{.text = entry.what},
                           {.text = entry.reason},
                           {.text = fmt::format("{}", fmt::join(entry.where, "; "))}}});
        section.blocks.emplace_back(std::move(table));
        document.sections.push_back(std::move(section));
    }

    const Comparison& comparison_;
    const std::vector<ComparedSide>& sides_;
    CaseTables cases_;
    bool cores_differ_;
};

} // namespace

Document make_document(const Comparison& comparison) { return Builder{comparison}.build(); }

} // namespace assay::compare
