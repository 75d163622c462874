// SPDX-License-Identifier: Apache-2.0

#include "compare/cells.hpp"
#include "compare/comparison.hpp"
#include "compare/words.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/compare.hpp"
#include "document/texts/list.hpp"
#include "document/texts/words.hpp"
#include "document/texts/workbook.hpp"
#include "record/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
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
                          .lead = gaps_of(comparison_),
                          .tone = verdict.tone};
        for (const auto& side : sides_) document.sides.push_back(side.label);
        const bool has_families = comparison_.tables.size() > 1 && comparison_.ranking.size() > 1;
        if (has_families && !many()) document.sections.push_back(families()); // the news of two
        if (comparison_.ranking.size() > 1) document.sections.push_back(ranking());
        if (auto facts = in_short(); !facts.facts.empty())
            document.sections.push_back(
                {.title = say<text::compare::in_short>(), .blocks = {std::move(facts)}});
        document.sections.push_back(what_is_compared());
        if (has_families && many()) document.sections.push_back(families());
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
                .blocks = {std::move(table)}};
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
                            : ratio_cell(mean, contrast_in_short(mean)));
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
    Section what_is_compared() const {
        Section section{.title = say<text::compare::sides>()};
        Facts facts;
        for (const auto& side : sides_) {
            auto text = side.what;
            if (side.measured < comparison_.series)
                text = join({text, say<text::compare::covered>(side.measured, comparison_.series)});
            facts.facts.push_back({side.label, std::move(text), side.label});
        }
        section.blocks.emplace_back(std::move(facts));
        if (const auto parts = signs(); !parts.empty())
            section.blocks.emplace_back(Paragraph{
                .text =
                    as_sentence(fmt::format("{}", fmt::join(parts, say<text::list::semicolon>()))),
                .tone = Tone::quiet});
        return section;
    }

    /// Meaning of signs and words in the tables, as far as they occur.
    std::set<std::string> signs() const {
        std::set<std::string> parts;
        const auto look = [&](const Contrast& contrast) {
            if (!contrast.ratio) return;
            if (contrast.kind == RatioKind::about)
                parts.insert(say<text::compare::sign_about>());
            else if (contrast.kind != RatioKind::exact)
                parts.insert(say<text::compare::sign_bound>());
            else if (contrast.outcome == ContrastOutcome::cannot_tell)
                parts.insert(say<text::compare::sign_open>());
            else if (contrast.outcome == ContrastOutcome::same)
                parts.insert(say<text::compare::sign_same>(
                    fmt::format("{:.3g}%", 100 * comparison_.minimum_effect)));
        };
        for (const auto& table : comparison_.tables) {
            std::ranges::for_each(table.means, look);
            for (const auto& row : table.rows)
                for (const auto& cell : row.cells)
                    if (cell.contrast) look(*cell.contrast);
        }
        return parts;
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
            if (family.means.front().count > 0) table.rows.push_back(family_row(family));
        section.blocks.emplace_back(families_chart());
        section.blocks.emplace_back(std::move(table));
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
                                .ratio = sure_ratio(contrast),
                                .low = contrast.low,
                                .high = contrast.high,
                                .outcome = std::string{to_string(contrast.outcome)},
                                .text = contrast_in_short(contrast)});
    }

    // -- In which cases? --

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
                if (has_choice(row) && is_compared(row))
                    table.rows.push_back(cases_.row(row, true));
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

    /// "b: not measured, 14 cases: gemm.square (12) and fft.one (2)"; few are named in full.
    static std::string line_of(const NotComparedGroup& group) {
        constexpr std::size_t in_full = 3;
        std::vector<std::string> names;
        std::map<std::string, std::size_t> benchmarks;
        bool alike = true; // then the reason is said once
        for (const auto& [what, reason, where, cause, code] : group.entries) {
            alike &= reason == group.entries.front().reason;
            ++benchmarks[what.substr(0, what.find_first_of("[ "))];
        }
        auto text = alike && !group.entries.front().reason.empty() ? group.entries.front().reason
                                                                   : group.cause;
        const bool few = group.entries.size() <= in_full || group.code == NotComparedCode::file;
        if (!few) text = join({text, say_count<text::compare::some_cases>(group.entries.size())});
        for (const auto& [name, count] : benchmarks)
            if (!few)
                names.push_back(count == 1 ? name : say<text::words::in_brackets>(name, count));
        for (const auto& entry : group.entries)
            if (few)
                names.push_back(alike ? entry.what
                                      : say<text::words::in_brackets>(entry.what, entry.reason));
        if (!group.where.empty())
            text = say<text::words::labelled>(list_of(group.where, listed), text);
        return say<text::words::labelled>(text, list_of(names, listed));
    }

    void add_not_compared(Document& document) const {
        const auto groups = group_not_compared(comparison_);
        if (groups.empty()) return;
        Section section{.title = say<text::compare::not_compared>()};
        for (const auto& group : groups)
            section.blocks.emplace_back(Paragraph{.text = line_of(group), .mark = "-"});
        Table table{.columns = {{.title = say<text::compare::what>()},
                                {.title = say<text::compare::cause>()},
                                {.title = say<text::compare::reason>()},
                                {.title = say<text::compare::where>()}},
                    .sheet = say<text::workbook::not_compared>(),
                    .only_workbook = true};
        for (const auto& group : groups)
            for (const auto& entry : group.entries)
                table.rows.push_back(
                    {.cells = {{.text = entry.what},
                               {.text = entry.cause},
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
