// SPDX-License-Identifier: Apache-2.0

#include "judge/cells.hpp"

#include "document/language.hpp"
#include "document/texts/judge.hpp"
#include "document/words.hpp"
#include "judge/judge.hpp"
#include "judge/words.hpp"
#include "record/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace assay::judge {

using namespace document;

Cell number_cell(const std::optional<double>& value, const std::string& unit, std::string text) {
    if (!value || !std::isfinite(*value)) return {};
    return {.text = std::move(text), .number = value, .unit = unit};
}

std::string unit_of(const Check& check) { return check.unit.empty() ? unit_ratio : check.unit; }

Cell outcome_cell(Outcome outcome) {
    return {.text = outcome_in_words(outcome), .tone = tone_of(outcome)};
}

Cell value_cell(const Check& check) {
    if (!check.value || !std::isfinite(*check.value)) return {};
    auto cell = number_cell(check.value, unit_of(check), quantity(*check.value, check.unit));
    cell.low = check.low;
    cell.high = check.high;
    if (check.low && check.high && *check.value != 0)
        cell.detail = fmt::format(
            "±{}", record::human_percent((*check.high - *check.low) / 2 / std::fabs(*check.value)));
    return cell;
}

Cell margin_cell(const Check& check) {
    const auto share = share_of_bar(check);
    if (!share || !std::isfinite(*share)) return {};
    return number_cell(share, unit_share, margin_in_words(*share));
}

namespace {

constexpr std::size_t most_rows = 3;
constexpr std::size_t most_findings = 3;

/// Those that are not decided first, then the smallest margin of each family, then of all.
std::vector<const Check*> most_telling(const Judgement& judgement, const Node& node) {
    std::vector<const Check*> all;
    for (const auto& check : node.checks)
        if (check.required && share_of_bar(check) && tone_of(check.outcome) != Tone::bad &&
            check.outcome != Outcome::skip)
            all.push_back(&check);
    std::ranges::stable_sort(all, {}, [](const Check* check) {
        return std::pair{check->outcome == Outcome::pass, *share_of_bar(*check)};
    });
    std::vector<const Check*> chosen;
    std::set<std::string> families;
    for (const bool any : {false, true})
        for (const auto* check : all) {
            if (chosen.size() == most_rows) break;
            if (std::ranges::find(chosen, check) != chosen.end()) continue;
            const auto family =
                check->series ? family_of(judgement.collection.series[*check->series].benchmark)
                              : check->id;
            if (families.insert(family).second || any) chosen.push_back(check);
        }
    std::ranges::sort(chosen, {},
                      [&](const Check* check) { return std::ranges::find(all, check); });
    return chosen;
}

Table table_of_first(const Judgement& judgement, const std::vector<const Check*>& checks) {
    const bool all_pass = std::ranges::all_of(
        checks, [](const Check* check) { return check->outcome == Outcome::pass; });
    Table table{.columns = {{.title = say<text::judge::check>()},
                            {.title = say<text::judge::value>(), .numeric = true},
                            {.title = say<text::judge::bar>(), .numeric = true},
                            {.title = say<text::judge::margin>(), .numeric = true}}};
    if (!all_pass) {
        table.columns.push_back({.title = say<text::judge::outcome>()});
        table.columns.push_back({.title = say<text::judge::known>()});
    }
    for (const auto* check : checks) {
        const auto limit =
            check->at_least ? quantity(*check->bound, check->unit) : bar_in_words(*check);
        Row row{.cells = {{.text = name_of(judgement, *check)},
                          value_cell(*check),
                          number_cell(check->bound, unit_of(*check), limit),
                          margin_cell(*check)}};
        if (!all_pass) {
            row.cells.push_back(outcome_cell(check->outcome));
            row.cells.push_back(
                {.text = std::string{knowledge_in_words(check->knowledge, check->at_least)}});
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

} // namespace

First first_of(const Judgement& judgement, const Node& node) {
    First first{.section = {.title = say<text::judge::first>(), .heading = false}};
    Findings findings;
    for (const auto& check : node.checks) {
        if (tone_of(check.outcome) != Tone::bad || findings.findings.size() == most_findings)
            continue;
        findings.findings.push_back({.severity = Severity::serious,
                                     .what = finding_of(judgement, check),
                                     .action = next_of(judgement, check)});
        first.shown += check.required ? 1 : 0;
    }
    if (!findings.findings.empty()) {
        first.section.blocks.emplace_back(std::move(findings));
        return first;
    }
    const auto rows = most_telling(judgement, node);
    if (rows.empty()) return first;
    first.shown = rows.size();
    first.section.blocks.emplace_back(table_of_first(judgement, rows));
    return first;
}

} // namespace assay::judge
