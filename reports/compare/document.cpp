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
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay::compare {
namespace {

using namespace document;
using Shown = document::Cell;
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
          cores_differ_{cores_differ(comparison)} {
        for (const auto& table : comparison.tables) families_.push_back(&table);
        std::ranges::stable_sort(families_, std::greater{}, importance);
    }

    Document build() const {
        auto verdict = verdict_of(comparison_);
        Document document{.kind = "comparison",
                          .kicker = say<text::compare::kicker>(),
                          .title = title_of(comparison_),
                          .sub = many() ? std::string{} : tally_in_words(comparison_.tallies[1]),
                          .verdict = std::move(verdict.text),
                          .lead = gaps_of(comparison_),
                          .tone = verdict.tone};
        for (const auto& side : sides_) document.sides.push_back(side.label);
        if (many() && comparison_.ranking.size() > 1) document.sections.push_back(ranking());
        const bool has_families = comparison_.tables.size() > 1 || cores_differ_;
        if (has_families && has_common(comparison_)) document.sections.push_back(families());
        document.sections.push_back(what_is_compared());
        add_questions(document);
        add_cases(document);
        add_others(document);
        add_not_compared(document);
        const bool brief = has_families && has_common(comparison_);
        const auto rest =
            std::ranges::find(document.sections, say<text::compare::sides>(), &Section::title);
        for (auto section = rest + 1; brief && section != document.sections.end(); ++section)
            section->detail = true;
        if (brief) document.rest = say<text::compare::rest>();
        const auto foot = [&](std::string text, const char* mark) {
            document.foot.push_back({.text = std::move(text), .tone = Tone::quiet, .mark = mark});
        };
        foot(method_in_words(comparison_), "");
        if (auto delivered = delivered_overall(comparison_); !delivered.empty())
            foot(std::move(delivered), "-");
        for (const auto& note : comparison_.notes) foot(note, "-");
        return document;
    }

private:
    bool many() const { return sides_.size() > 2; }
    const std::string& baseline() const { return sides_.front().label; }

    /// Families with a difference first, the largest before the others.
    static std::pair<bool, double> importance(const ComparedTable* family) {
        std::pair<bool, double> most{false, -1};
        for (std::size_t side = 1; side < family->means.size(); ++side) {
            const auto& mean = family->means[side];
            if (!mean.ratio) continue;
            most.first |=
                mean.outcome == ContrastOutcome::better || mean.outcome == ContrastOutcome::worse;
            most.second = std::max(most.second, std::abs(std::log(*mean.ratio)));
        }
        return most;
    }

    // -- Which side is faster? --

    Section ranking() const {
        Table table{
            .columns = {{.title = say<text::compare::side>()},
                        {.title = say<text::compare::rank>(), .numeric = true, .rank = 1},
                        {.title = say<text::compare::over_baseline>(), .numeric = true},
                        {.title = say<text::compare::over_next>(), .numeric = true, .rank = 2},
                        {.title = say<text::compare::tally_title>(), .rank = 3},
                        {.title = say<text::compare::cores>(), .numeric = true, .rank = 4},
                        {.title = say<text::compare::machines>(), .numeric = true, .rank = 5}},
            .sheet = say<text::compare::ranking>()};
        for (const auto& entry : comparison_.ranking) table.rows.push_back(ranked(entry));
        drop_empty_columns(table); // older files do not know their machine
        RatioChart ratios;
        for (const auto& entry : comparison_.ranking)
            if (entry.side > 0)
                add_ratio(ratios, sides_[entry.side].label, entry.side,
                          comparison_.overall[entry.side]);
        return {.title = say<text::compare::ranking>(),
                .question = say<text::compare::ranking_question>(),
                .blocks = {std::move(table),
                           chart_of(say<text::compare::overall>(), std::move(ratios))}};
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
        add(entry.over_next ? ratio_cell(*entry.over_next, contrast_in_short(*entry.over_next))
                            : Shown{});
        add({.text = entry.side == 0 ? std::string{}
                                     : tally_in_words(comparison_.tallies[entry.side])});
        add(number(side.cores, unit_count));
        add(count(side.machines));
        return row;
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
        return section;
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
        Section section{.title = say<text::compare::families>()};
        Table table{.columns = {{.title = say<text::compare::family>()},
                                {.title = baseline(),
                                 .numeric = true,
                                 .rank = static_cast<std::uint8_t>(many() ? 2 : 0),
                                 .side = 1,
                                 .key = "value"}},
                    .sheet = say<text::compare::families>()};
        for (std::size_t side = 1; side < sides_.size(); ++side) {
            const auto at = side_number(side);
            const auto& label = sides_[side].label;
            const auto data = [&](std::string title) {
                table.columns.push_back({.title = std::move(title), .data = true, .side = at});
            };
            if (!many())
                table.columns.push_back(
                    {.title = label, .numeric = true, .side = at, .key = "value"});
            table.columns.push_back({.title = many() ? label : say<text::compare::change>(),
                                     .numeric = true,
                                     .side = at,
                                     .key = "ratio"});
            data(say<text::compare::verdict>());
            data(say<text::compare::detectable>());
            data(say<text::compare::outcomes>());
        }
        table.columns.push_back(
            {.title = say<text::compare::tally_title>(), .numeric = true, .rank = 1});
        for (const auto* family : families_)
            if (!compared_rows(*family).empty()) table.rows.push_back(family_row(*family));
        if (comparison_.overall[0].count > 0 && !comparison_.ranking.empty()) {
            if (table.rows.size() > 1) table.rows.push_back(overall_row());
            if (cores_differ_) table.rows.push_back(row_per_core());
        }
        section.blocks.emplace_back(std::move(table));
        section.blocks.emplace_back(Paragraph{.text = legend_of(comparison_), .tone = Tone::quiet});
        RatioChart ratios; // with many sides the colours of the table say it in less space
        for (const auto* family : families_)
            if (!many()) add_ratio(ratios, family->title, 1, family->means[1]);
        if (!ratios.ratios.empty())
            section.blocks.emplace_back(
                chart_of(say<text::compare::families_chart>(), std::move(ratios)));
        return section;
    }

    /// `cell_of` a side has its change.
    template <class CellOf>
    Row change_row(std::string title, const std::vector<std::optional<double>>& values,
                   const std::string& unit, Shown cases, CellOf cell_of) const {
        Row row{.cells = {{.text = std::move(title)}}};
        const auto value = [&](std::size_t side) {
            row.cells.push_back(number(values.empty() ? std::nullopt : values[side], unit.c_str()));
        };
        value(0);
        for (std::size_t side = 1; side < sides_.size(); ++side) {
            if (!many()) value(side);
            for (auto& cell : cell_of(side)) row.cells.push_back(std::move(cell));
        }
        row.cells.push_back(std::move(cases));
        return row;
    }
    /// "5", or "1 of 2" where the ratio is that of some.
    static Shown cases_of(std::size_t counted, std::size_t compared) {
        return number(static_cast<double>(counted), unit_count,
                      counted == compared ? std::string{}
                                          : say<text::compare::counted_of>(counted, compared));
    }

    Row family_row(const ComparedTable& family) const {
        const auto count = family.means.front().count;
        auto row = change_row(family.title, means_of_values(family), family.rows.front().unit,
                              cases_of(count, compared_rows(family).size()), [&](std::size_t side) {
                                  const auto& mean = family.means[side];
                                  auto tally = family.tallies[side];
                                  auto change = ratio_cell(mean, contrast_in_short(mean));
                                  auto words = tally_in_words(tally);
                                  tally.missing = 0;
                                  if (count == 0)
                                      change = {.text = tally_in_words(tally), .tone = Tone::quiet};
                                  return std::vector<Shown>{std::move(change),
                                                            {.text = outcome_in_words(mean.outcome),
                                                             .tone = tone_of(mean)},
                                                            number(mean.detectable, unit_share),
                                                            {.text = std::move(words)}};
                              });
        row.tags.family = family.rows.front().family;
        return row;
    }

    Shown counted() const {
        std::size_t compared = 0;
        for (const auto* family : families_) compared += compared_rows(*family).size();
        return cases_of(comparison_.overall.front().count, compared);
    }
    Row overall_row() const {
        return change_row(say<text::compare::all_families>(), {}, "", counted(),
                          [&](std::size_t side) {
                              const auto& mean = comparison_.overall[side];
                              return std::vector<Shown>{
                                  ratio_cell(mean, contrast_in_short(mean)),
                                  {.text = outcome_in_words(mean.outcome), .tone = tone_of(mean)},
                                  number(mean.detectable, unit_share),
                                  {.text = tally_in_words(comparison_.tallies[side])}};
                          });
    }
    Row row_per_core() const {
        return change_row(say<text::compare::per_core>(), {}, "", counted(), [&](std::size_t side) {
            return std::vector<Shown>{per_core(side), {}, {}, {}};
        });
    }

    Chart chart_of(std::string title, RatioChart ratios) const {
        return {.title = std::move(title),
                .caption = say<text::compare::chart>(baseline()),
                .data = std::move(ratios)};
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

    void add_cases(Document& document) const {
        Section section{.title = say<text::compare::cases>()};
        auto table = cases_.table(false);
        for (const auto* family : families_)
            for (const auto* row : compared_rows(*family)) {
                table.rows.push_back(cases_.row(*row, false));
                if (!comparison_.by_family) table.rows.back().group = family->title;
            }
        if (table.rows.empty()) return;
        if (comparison_.tables.size() == 1 && !cores_differ_)
            section.blocks.emplace_back(
                Paragraph{.text = legend_of(comparison_), .tone = Tone::quiet});
        section.blocks.emplace_back(std::move(table));
        for (const auto* family : families_)
            for (auto& chart : curves_of(comparison_, *family))
                section.blocks.emplace_back(std::move(chart));
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
    std::vector<const ComparedTable*> families_; ///< as they are shown
};

} // namespace

Document make_document(const Comparison& comparison) { return Builder{comparison}.build(); }

} // namespace assay::compare
