// SPDX-License-Identifier: Apache-2.0

#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/judge.hpp"
#include "document/texts/predict.hpp"
#include "document/words.hpp"
#include "judge/judge.hpp"
#include "judge/words.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

namespace assay::judge {
namespace {

using namespace document;

constexpr std::size_t most_listed = 8; // problems, replaced limits

void add_waivers(const Judgement& judgement, std::vector<document::Section>& sections) {
    const auto& waivers = judgement.limits.waivers;
    if (waivers.empty()) return;
    std::vector<std::size_t> used(waivers.size());
    std::vector<std::size_t> passes(waivers.size());
    for (const auto& node : judgement.nodes)
        for (const auto& check : node.checks)
            if (check.waiver)
                ++(check.cause == Cause::waiver_unused ? passes : used)[*check.waiver];
    Table table{.columns = {{.title = say<text::judge::of_what>()},
                            {.title = say<text::judge::machine>(), .rank = 2},
                            {.title = say<text::judge::owner>(), .rank = 1},
                            {.title = say<text::judge::reason>()},
                            {.title = say<text::judge::expires>()},
                            {.title = say<text::judge::used>(), .numeric = true, .rank = 3},
                            {.title = say<text::judge::passes_now>(), .numeric = true, .rank = 3}},
                .sheet = say<text::judge::waivers>()};
    for (std::size_t i = 0; i < waivers.size(); ++i) {
        const auto& waiver = waivers[i];
        table.rows.push_back(
            {.cells = {{.text = plain(waiver.limit.empty() ? waiver.cause : waiver.limit, 200)},
                       {.text = plain(waiver.machine, 100)},
                       {.text = plain(waiver.owner, 100)},
                       {.text = plain(waiver.reason, 300)},
                       {.text = plain(waiver.expires, 40)},
                       count_cell(used[i]),
                       count_cell(passes[i])}});
    }
    sections.push_back({.title = say<text::judge::waivers>(), .blocks = {std::move(table)}});
}

/// Adds the limits that decided something; a folded table, because it is long.
void add_limits(const Judgement& judgement, std::vector<document::Section>& sections) {
    std::set<std::uint32_t> used;
    for (const auto& node : judgement.nodes)
        for (const auto& check : node.checks)
            if (check.limit) used.insert(*check.limit);
    const auto& replaced = judgement.limits.replaced;
    if (used.empty() && replaced.empty()) return;
    document::Section section{.title = say<text::judge::limits>(),
                              .question = say<text::judge::limits_question>()};
    Table table{.columns = {{.title = say<text::judge::limit>()},
                            {.title = say<text::judge::kind>()},
                            {.title = say<text::judge::source>()},
                            {.title = say<text::judge::samples>(), .numeric = true, .rank = 1},
                            {.title = say<text::judge::file>(), .rank = 2},
                            {.title = say<text::judge::expires>(), .rank = 3}},
                .sheet = say<text::judge::limits>(),
                .folded = say<text::judge::limits>()};
    for (const auto index : used) {
        const auto& limit = judgement.limits.limits[index];
        table.rows.push_back({.cells = {{.text = plain(limit.id, 200)},
                                        {.text = kind_in_words(limit.kind)},
                                        {.text = plain(limit.source, 300)},
                                        limit.samples ? count_cell(*limit.samples) : Cell{},
                                        {.text = plain(limit.file, 200)},
                                        {.text = plain(limit.expires, 40)}}});
    }
    section.blocks.emplace_back(std::move(table));
    for (std::size_t i = 0; i < std::min(replaced.size(), most_listed); ++i)
        section.blocks.emplace_back(
            Paragraph{.text = say<text::judge::replaced>(plain(replaced[i].id, 100),
                                                         plain(replaced[i].file, 100),
                                                         plain(replaced[i].by, 100)),
                      .mark = "-"});
    sections.push_back(std::move(section));
}

void add_problems(const Judgement& judgement, std::vector<document::Section>& sections) {
    const auto& problems = judgement.collection.problems;
    if (problems.empty()) return;
    Facts facts;
    for (std::size_t i = 0; i < std::min(problems.size(), most_listed); ++i)
        facts.facts.push_back(
            {plain(problems[i].where), translated(plain(problems[i].reason)), ""});
    document::Section section{.title = say<text::judge::not_used>(), .blocks = {std::move(facts)}};
    if (problems.size() > most_listed)
        section.blocks.emplace_back(
            Paragraph{.text = say<text::predict::and_more>(problems.size() - most_listed)});
    sections.push_back(std::move(section));
}

} // namespace

std::vector<document::Section> origins_of(const Judgement& judgement) {
    std::vector<document::Section> sections;
    add_waivers(judgement, sections);
    add_limits(judgement, sections);
    add_problems(judgement, sections);
    return sections;
}

} // namespace assay::judge
