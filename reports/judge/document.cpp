// SPDX-License-Identifier: Apache-2.0

#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/judge.hpp"
#include "document/texts/words.hpp"
#include "document/words.hpp"
#include "judge/cells.hpp"
#include "judge/judge.hpp"
#include "judge/words.hpp"
#include "record/format.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::judge {
namespace {

using namespace document;
using record::human_percent;
using Shown = document::Cell;

constexpr std::size_t detailed = 10; // nodes whose checks are shown
constexpr std::size_t listed = 5;    // names of limits

Shown share(const std::optional<double>& value) {
    return value ? number_cell(value, unit_share, human_percent(*value)) : Shown{};
}
Shown probability(const std::optional<double>& value) {
    return value ? number_cell(value, unit_p, fmt::format("{:.2g}", *value)) : Shown{};
}

std::string title_of(const Judgement& judgement) {
    return judgement.nodes.size() == 1
               ? say<text::judge::title>(name_of(judgement, judgement.nodes.front()))
               : say<text::judge::title_of_nodes>(judgement.nodes.size());
}

class Builder {
public:
    explicit Builder(const Judgement& judgement)
        : judgement_{judgement}, nodes_{judgement.nodes}, one_{nodes_.size() == 1} {}

    Document build() const {
        auto answer = answer_of(judgement_);
        Document document{.kind = "acceptance",
                          .kicker = say<text::judge::kicker>(),
                          .title = title_of(judgement_),
                          .verdict = std::move(answer.verdict),
                          .lead = {},
                          .tone = tone_of(judgement_.outcome)};
        const auto first = one_ ? first_of(judgement_, nodes_.front()) : First{};
        if (is_news(first)) document.lead.push_back(std::move(answer.worst));
        // What failed is repaired first; its command is with it.
        const bool has_failed = one_ && judgement_.outcome == Outcome::fail;
        if (!answer.next.empty() && !has_failed)
            document.lead.push_back(answer.takes.empty()
                                        ? std::move(answer.next)
                                        : say<text::words::in_brackets>(answer.next, answer.takes));
        for (auto& line : scope_of(judgement_)) document.lead.push_back(std::move(line));
        if (!answer.missing.empty()) document.lead.push_back(std::move(answer.missing));
        std::vector<std::string> names;
        for (const auto& name : judgement_.limits.names) names.push_back(plain(name, 100));
        if (!names.empty()) document.sub = say<text::judge::sub>(list_of(names, listed));
        if (one_)
            add_node(document, nodes_.front());
        else
            add_nodes(document);
        for (auto& section : origins_of(judgement_))
            document.sections.push_back(std::move(section));
        add_first(document, first);
        if (one_)
            if (const auto cold = static_cast<std::size_t>(
                    std::ranges::count(nodes_.front().checks, false, &Check::is_warm));
                cold > 0)
                document.lead.push_back(say_count<text::judge::not_warm>(cold));
        for (auto& text : {say<text::judge::levels>(human_percent(judgement_.levels.pass),
                                                    human_percent(judgement_.levels.fail)),
                           say<text::judge::looks>()})
            document.foot.push_back({.text = text, .tone = Tone::quiet});
        return document;
    }

    /// Those that nobody measured come last, together, after what several checks have in common.
    Table table_of_node(const Node& node, std::vector<const Check*> checks, bool values) const {
        const std::array unmeasured{take_unmeasured(checks, false), take_unmeasured(checks, true)};
        auto table = table_of(checks, values);
        const auto add = [&](std::string title, const std::vector<const Check*>& some,
                             std::string note) {
            if (has_command(*some.front()))
                note = sentences({note, command_for(judgement_, node, some)});
            const auto outcome = some.front()->outcome;
            Row row{.cells = {{.text = std::move(title), .notes = {std::move(note)}},
                              outcome_cell(outcome)},
                    .tags = {.outcomes = {std::string{to_string(outcome)}}}};
            row.cells.resize(table.columns.size());
            table.rows.push_back(std::move(row));
        };
        std::map<std::string, std::vector<std::size_t>> alike;
        for (std::size_t i = 0; i < checks.size(); ++i)
            if (checks[i]->outcome == Outcome::inconclusive &&
                (checks[i]->detail.empty() || is_of_soak(*checks[i])))
                alike[why_of(judgement_, *checks[i])].push_back(i);
        for (const auto& [why, rows] : alike) {
            if (rows.size() < 2) continue;
            std::vector<const Check*> some;
            for (const auto i : rows) {
                some.push_back(checks[i]);
                table.rows[i].cells.front().notes.clear();
            }
            add(say_count<text::judge::of_these>(rows.size()), some, why);
        }
        for (const auto& some : unmeasured) {
            if (some.empty()) continue;
            std::vector<std::string> names;
            for (const auto* check : some) names.push_back(name_of(judgement_, *check));
            add(say_count<text::judge::limits_not_measured>(some.size()), some,
                say<text::words::sentence>(list_of(names, listed)));
        }
        return table;
    }

private:
    // -- first screen --

    /// Does the worst finding say more than the verdict and the first rows?
    bool is_news(const First& first) const {
        const bool is_listed = !first.section.blocks.empty() &&
                               std::holds_alternative<Findings>(first.section.blocks.front());
        const bool is_lost =
            std::ranges::count(judgement_.collection.problems, false, &store::Problem::is_copy) > 0;
        return is_lost || !one_ || (!is_listed && judgement_.outcome != Outcome::pass);
    }

    /// The rest of the document is behind it.
    void add_first(Document& document, const First& first) const {
        if (first.section.blocks.empty()) return;
        for (auto& section : document.sections) section.detail = true;
        document.sections.insert(document.sections.begin(), first.section);
        const auto required = nodes_.front().required;
        document.rest = required > first.shown
                            ? say_count<text::judge::more_checks>(required - first.shown)
                            : say<text::judge::more>();
    }

    // -- nodes --

    void add_nodes(Document& document) const {
        std::vector<const Node*> wrong;
        for (const auto& node : nodes_)
            if (node.outcome != Outcome::pass) wrong.push_back(&node);
        if (!wrong.empty()) {
            document.sections.push_back({.title = say<text::judge::not_pass>(),
                                         .question = say<text::judge::not_pass_question>(),
                                         .blocks = {findings_of(wrong)}});
            const auto shown = std::min(wrong.size(), detailed);
            for (std::size_t i = 0; i < shown; ++i) add_wrong(document, *wrong[i]);
            if (wrong.size() > shown)
                document.sections.back().blocks.emplace_back(
                    Paragraph{.text = say_count<text::judge::more_nodes>(wrong.size() - shown),
                              .tone = Tone::quiet});
        }
        document.sections.push_back({.title = say<text::judge::nodes>(), .blocks = {all_nodes()}});
    }

    Table findings_of(const std::vector<const Node*>& wrong) const {
        Table table{.columns = {{.title = say<text::judge::node>()},
                                {.title = say<text::judge::outcome>()},
                                {.title = say<text::judge::finding>()},
                                {.title = say<text::judge::cause>(), .data = true},
                                {.title = say<text::judge::action>(), .data = true}},
                    .sheet = say<text::judge::not_pass>()};
        for (const auto* node : wrong) {
            Row row{.cells = {{.text = name_of(judgement_, *node)}, outcome_cell(node->outcome)},
                    .tags = {.outcomes = {std::string{to_string(node->outcome)}}}};
            const auto* worst = worst_of(*node);
            const auto next = worst == nullptr ? "" : next_of(judgement_, *worst);
            row.cells.push_back(worst == nullptr
                                    ? Shown{}
                                    : Shown{.text = finding_of(judgement_, *worst),
                                            .notes = next.empty() ? std::vector<std::string>{}
                                                                  : std::vector{next}});
            row.cells.push_back(
                {.text = worst == nullptr ? "" : std::string{to_string(worst->cause)}});
            row.cells.push_back(
                {.text = worst == nullptr ? "" : std::string{to_string(worst->action)}});
            table.rows.push_back(std::move(row));
        }
        return table;
    }

    Table all_nodes() const {
        Table table{
            .columns = {{.title = say<text::judge::node>()},
                        {.title = say<text::judge::outcome>()},
                        {.title = say<text::judge::coverage_title>(), .numeric = true},
                        {.title = say<text::judge::runs>(), .numeric = true, .rank = 2},
                        {.title = say<text::judge::not_judged>(), .numeric = true, .rank = 3},
                        {.title = say<text::judge::newest>(), .rank = 1}},
            .sheet = say<text::judge::nodes>()};
        for (const auto& node : nodes_)
            table.rows.push_back(
                {.cells = {{.text = name_of(judgement_, node)},
                           outcome_cell(node.outcome),
                           number_cell(node.required == 0 ? 0
                                                          : static_cast<double>(node.ran) /
                                                                static_cast<double>(node.required),
                                       unit_share, say<text::judge::of>(node.ran, node.required)),
                           count_cell(node.runs.size()),
                           count_cell(node.not_judged),
                           {.text = newest_of(node)}},
                 .tags = {.outcomes = {std::string{to_string(node.outcome)}}}});
        return table;
    }

    std::string newest_of(const Node& node) const {
        if (node.runs.empty()) return "";
        return plain(judgement_.collection.runs[node.runs.back()].started, 10);
    }

    /// The problem with one of many.
    void add_wrong(Document& document, const Node& node) const {
        Section section{.title = say<text::judge::verdict>(outcome_in_words(node.outcome),
                                                           name_of(judgement_, node))};
        std::vector<const Check*> wrong;
        for (const auto& check : node.checks)
            if (check.outcome != Outcome::pass && check.outcome != Outcome::skip)
                wrong.push_back(&check);
        section.blocks.emplace_back(table_of(wrong, true));
        if (const auto rest = node.checks.size() - wrong.size(); rest > 0)
            section.blocks.emplace_back(
                Paragraph{.text = say_count<text::judge::others_pass>(rest), .tone = Tone::quiet});
        document.sections.push_back(std::move(section));
    }

    // -- one node --

    void add_node(Document& document, const Node& node) const {
        static const std::pair<std::string (*)(), std::string (*)()> titles[stages] = {
            {&say<text::judge::setup>, &say<text::judge::setup_question>},
            {&say<text::judge::correctness>, &say<text::judge::correctness_question>},
            {&say<text::judge::telemetry>, &say<text::judge::telemetry_question>},
            {&say<text::judge::speed>, &say<text::judge::speed_question>},
            {&say<text::judge::heat>, &say<text::judge::heat_question>}};
        if (node.before_repair > 0)
            document.sections.push_back(
                {.title = say<text::judge::runs>(),
                 .blocks = {Paragraph{.text = say_count<text::judge::repaired>(
                                          node.before_repair, plain(node.repair, 100))}},
                 .heading = false});
        for (const auto stage :
             {Stage::speed, Stage::heat, Stage::correctness, Stage::telemetry, Stage::setup}) {
            std::vector<const Check*> checks;
            for (const auto& check : node.checks)
                if (stage_of(check) == stage) checks.push_back(&check);
            if (checks.empty()) continue;
            const auto& [title, question] = titles[static_cast<std::size_t>(stage)];
            Section section{.title = title(), .question = question()};
            const bool speed = stage == Stage::speed;
            if (speed)
                for (const bool of_peak : {true, false})
                    if (auto chart = chart_of(checks, of_peak);
                        !std::get<RatioChart>(chart.data).ratios.empty())
                        section.blocks.emplace_back(std::move(chart));
            section.blocks.emplace_back(
                table_of_node(node, std::move(checks), speed || stage == Stage::heat));
            document.sections.push_back(std::move(section));
        }
        add_siblings(document, node);
        add_stages(document, node);
    }

    /// Limits that nobody measured are one row, and so are optional ones.
    static std::vector<const Check*> take_unmeasured(std::vector<const Check*>& checks,
                                                     bool optional) {
        const auto is_unmeasured = [&](const Check* check) {
            return check->cause == Cause::not_measured &&
                   (check->outcome == Outcome::skip) == optional;
        };
        std::vector<const Check*> taken;
        std::ranges::copy_if(checks, std::back_inserter(taken), is_unmeasured);
        if (taken.size() < 2) return {};
        std::erase_if(checks, is_unmeasured);
        return taken;
    }

    /// The stages of the newest run: how far it came.
    void add_stages(Document& document, const Node& node) const {
        if (node.runs.empty()) return;
        const auto& gates = judgement_.collection.runs[node.runs.back()].gates;
        if (!gates || gates->stages.empty()) return;
        Facts facts;
        for (const auto& stage : gates->stages) {
            const bool is_good = stage.end == record::StageEnd::done;
            facts.facts.push_back(
                {.name = std::string{find_text("stage", to_string(stage.name)).value_or("")},
                 .text = std::string{find_text("stage_end", to_string(stage.end)).value_or("")},
                 .key = std::string{to_string(stage.name)},
                 .detail = stage.end == record::StageEnd::not_begun
                               ? ""
                               : duration_in_words(stage.seconds),
                 .tone = is_good ? Tone::plain : Tone::weak});
        }
        document.sections.push_back({.title = say<text::judge::stages>(),
                                     .question = say<text::judge::stages_question>(),
                                     .blocks = {std::move(facts)}});
    }

    Table table_of(const std::vector<const Check*>& checks, bool values) const {
        Table table{.columns = {{.title = say<text::judge::check>()},
                                {.title = say<text::judge::outcome>()}}};
        const auto add = [&](std::string title, std::uint8_t rank, std::string key = "") {
            table.columns.push_back(
                {.title = std::move(title), .numeric = true, .rank = rank, .key = std::move(key)});
        };
        if (values) {
            add(say<text::judge::value>(), 0, "value");
            add(say<text::judge::bar>(), 0);
            add(say<text::judge::margin>(), 0, "ratio");
            add(say<text::judge::of_peak>(), 1);
            add(say<text::judge::of_fleet>(), 2);
            add(say<text::judge::of_contract>(), 3);
            table.columns.push_back({.title = say<text::judge::known>(), .rank = 4});
            add(say<text::judge::replicas>(), 5);
            table.columns.push_back({.title = say<text::judge::p_pass>(), .data = true});
            table.columns.push_back({.title = say<text::judge::p_fail>(), .data = true});
        } else {
            table.columns.push_back({.title = say<text::judge::found>(), .rank = 1});
        }
        table.columns.push_back({.title = say<text::judge::limit>(), .data = true});
        table.columns.push_back({.title = say<text::judge::cause>(), .data = true});
        table.columns.push_back({.title = say<text::judge::blame>(), .data = true});
        table.columns.push_back({.title = say<text::judge::severity>(), .data = true});
        table.columns.push_back({.title = say<text::judge::action>(), .data = true});
        table.sheet = values ? say<text::judge::speed>() : say<text::judge::setup>();
        for (const auto* check : checks) table.rows.push_back(row_of(*check, values));
        return table;
    }

    const Limit* limit_of(const Check& check) const {
        return check.limit ? &judgement_.limits.limits[*check.limit] : nullptr;
    }

    Row row_of(const Check& check, bool values) const {
        Row row{.cells = {{.text = name_of(judgement_, check)}, outcome_cell(check.outcome)},
                .tags = {.outcomes = {std::string{to_string(check.outcome)}}}};
        auto& cells = row.cells;
        if (check.series) {
            const auto& series = judgement_.collection.series[*check.series];
            row.tags.family = family_of(series.benchmark);
            row.tags.libraries = {plain(series.library, 60)};
            // One limit may be for many cases.
            if (const auto* limit = limit_of(check); limit != nullptr && !limit->title.empty())
                cells.front().detail = plain(case_name(series.benchmark, series.parameters), 200);
        }
        if (is_of_soak(check)) cells.front().detail = detail_of_soak(check);
        if (values) {
            cells.push_back(value_cell(check));
            cells.push_back(number_cell(check.bound, unit_of(check), bar_in_words(check)));
            cells.push_back(margin_cell(check));
            cells.push_back(share(check.beside.of_datasheet));
            auto fleet = share(check.beside.of_fleet);
            if (check.beside.slower && check.beside.nodes && *check.beside.nodes > 1)
                fleet.detail = say<text::judge::of>(*check.beside.slower, *check.beside.nodes);
            cells.push_back(std::move(fleet));
            cells.push_back(share(check.beside.of_contract));
            cells.push_back(
                {.text = std::string{knowledge_in_words(check.knowledge, check.at_least)}});
            cells.push_back(check.replicas == 0 ? Shown{} : count_cell(check.replicas));
            cells.push_back(probability(check.p_pass));
            cells.push_back(probability(check.p_fail));
        } else {
            cells.push_back({.text = plain(check.detail, 300)});
        }
        for (const auto text :
             {std::string_view{check.id}, to_string(check.cause),
              to_string(meaning_of(check.cause).blame),
              to_string(severity_of(check.outcome, check.action)), to_string(check.action)})
            cells.push_back({.text = text == "none" ? "" : plain(text, 200)});
        if (check.cause != Cause::none) cells.front().notes = notes_of(check, values);
        return row;
    }

    std::vector<std::string> notes_of(const Check& check, bool values) const {
        std::vector<std::string> notes;
        auto sentence = explained(judgement_, check);
        if (values && !check.detail.empty() && !is_of_soak(check))
            sentence = sentences({as_sentence(plain(check.detail, 300)), sentence});
        if (!sentence.empty()) notes.push_back(std::move(sentence));
        return notes;
    }

    /// Values beside their bounds: as shares of the data sheet's bound, or of the limit.
    Chart chart_of(const std::vector<const Check*>& checks, bool of_peak) const {
        RatioChart data{.unit = "share"};
        for (const auto* check : checks) {
            const auto of_bar = share_of_bar(*check);
            const auto& peak = check->beside.of_datasheet;
            if (!of_bar || of_peak != (peak && *peak > 0)) continue;
            const double value = of_peak ? *peak : *of_bar;
            Ratio ratio{.label = name_of(judgement_, *check),
                        .ratio = value,
                        .outcome = std::string{to_string(check->outcome)},
                        .text = join({outcome_in_words(check->outcome),
                                      quantity(*check->value, check->unit)})}; // limit is the mark
            ratio.mark = value / *of_bar;
            if (check->low && check->high && *check->low > 0 && *check->high > 0) {
                ratio.low = value * (check->at_least ? *check->low / *check->value
                                                     : *check->value / *check->high);
                ratio.high = value * (check->at_least ? *check->high / *check->value
                                                      : *check->value / *check->low);
            }
            data.ratios.push_back(std::move(ratio));
        }
        return {.title = of_peak ? say<text::judge::chart_peak>() : say<text::judge::chart_bar>(),
                .caption = of_peak ? say<text::judge::chart_peak_caption>()
                                   : say<text::judge::chart_bar_caption>(),
                .data = std::move(data)};
    }

    /// Devices that measured the same, a column each.
    void add_siblings(Document& document, const Node& node) const {
        std::map<std::pair<std::string, std::string>, std::map<std::string, const Check*>> rows;
        std::set<std::string> places;
        for (const auto& check : node.checks) {
            if (!check.series || !check.value || !(*check.value > 0)) continue;
            const auto& series = judgement_.collection.series[*check.series];
            rows[{case_of(judgement_, check), plain(series.library, 60)}].emplace(series.place,
                                                                                  &check);
        }
        std::erase_if(rows, [](const auto& row) { return row.second.size() < 2; });
        for (const auto& [what, by_place] : rows)
            for (const auto& [place, check] : by_place) places.insert(place);
        if (rows.empty()) return;
        Table table{.caption = say<text::judge::siblings_caption>(),
                    .columns = {{.title = say<text::judge::check>()},
                                {.title = say<text::judge::median>(), .numeric = true}},
                    .sheet = say<text::judge::siblings>()};
        for (const auto& place : places)
            table.columns.push_back({.title = plain(place, 30), .numeric = true});
        for (const auto& [what, by_place] : rows) {
            std::vector<double> values;
            for (const auto& [place, check] : by_place) values.push_back(*check->value);
            std::ranges::sort(values);
            const auto half = values.size() / 2;
            const double median =
                values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
            const auto& any = *by_place.begin()->second;
            Row row{.cells = {{.text = what.second.empty() ? what.first
                                                           : join({what.first, what.second})},
                              number_cell(median, unit_of(any), quantity(median, any.unit))}};
            for (const auto& place : places) {
                const auto found = by_place.find(place);
                if (found == by_place.end()) {
                    row.cells.emplace_back();
                    continue;
                }
                const auto& check = *found->second;
                row.cells.push_back(
                    {.text = fmt::format("{:+.1f}%", 100 * (*check.value / median - 1)),
                     .tone = check.outcome == Outcome::pass ? Tone::plain : tone_of(check.outcome),
                     .number = check.value,
                     .low = check.low,
                     .high = check.high,
                     .unit = unit_of(check)});
            }
            table.rows.push_back(std::move(row));
        }
        document.sections.push_back({.title = say<text::judge::siblings>(),
                                     .question = say<text::judge::siblings_question>(),
                                     .blocks = {std::move(table)}});
    }

    const Judgement& judgement_;
    const std::vector<Node>& nodes_;
    bool one_;
};

} // namespace

Document make_document(const Judgement& judgement) { return Builder{judgement}.build(); }

Table table_of(const Judgement& judgement, const Node& node, std::vector<const Check*> checks) {
    return Builder{judgement}.table_of_node(node, std::move(checks), true);
}

} // namespace assay::judge
