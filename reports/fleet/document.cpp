// SPDX-License-Identifier: Apache-2.0

#include "fleet/document.hpp"

#include "base/utc.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/fleet.hpp"
#include "document/texts/list.hpp"
#include "document/texts/words.hpp"
#include "document/words.hpp"
#include "record/format.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <ranges>
#include <utility>

namespace assay::fleet {
namespace {

using namespace document;
using record::human;
using record::human_percent;
using Shown = document::Cell;

/// Rows of a table: a page of more is slow, and nobody reads them. The map has every node.
constexpr std::size_t most_rows = 200;
constexpr std::size_t most_evidence = 6;

Shown ratio(double value) {
    if (!std::isfinite(value)) return {};
    return {.text = ratio_in_words(value), .number = value, .unit = unit_ratio};
}
Shown share(double value) {
    if (!std::isfinite(value)) return {};
    return {.text = human_percent(value), .number = value, .unit = unit_share};
}

/// Far enough from 1 that a reader should see it.
Tone tone_of_ratio(double value, bool screened) {
    return screened ? Tone::bad : value > 0.98 ? Tone::plain : Tone::quiet;
}

/// Faults of one kind as one, with all of their nodes. Nodes unlike most differ in something of their own.
std::vector<FleetFault> together(const std::vector<FleetFault>& faults) {
    std::vector<FleetFault> all;
    for (const auto& fault : faults) {
        const bool apart = fault.code == FaultCode::mixed_versions ||
                           fault.code == FaultCode::mixed_plans ||
                           fault.code == FaultCode::mixed_software;
        const auto same = std::ranges::find(all, fault.code, &FleetFault::code);
        if (apart || same == all.end()) {
            all.push_back(fault);
            continue;
        }
        for (const auto& node : fault.nodes)
            if (std::ranges::find(same->nodes, node) == same->nodes.end())
                same->nodes.push_back(node);
        std::ranges::copy(fault.evidence, std::back_inserter(same->evidence));
    }
    return all;
}

class Builder {
public:
    explicit Builder(const Fleet& fleet) : fleet_{fleet} {}

    Document build() const {
        auto answer = answer_of(fleet_);
        Document document{
            .kind = "fleet",
            .kicker = say<text::fleet::kicker>(),
            .title = say_count<text::fleet::title>(fleet_.nodes.size()),
            .sub = fleet_.collection.runs.empty()
                       ? ""
                       : say<text::fleet::sub>(say_count<text::fleet::runs>(
                                                   fleet_.collection.runs.size() - fleet_.left_out),
                                               utc_of(fleet_.since).substr(0, 10),
                                               utc_of(fleet_.until).substr(0, 10)),
            .verdict = sentences(answer),
            .tone = has_slow(fleet_)  ? Tone::bad
                    : is_open(fleet_) ? Tone::weak
                                      : Tone::good};
        add_look(document);
        add_map(document);
        add_live(document);
        add_faults(document);
        add_pairs(document);
        add_spread(document);
        for (auto& text : {say<text::fleet::rule_screen>(human_percent(fleet_.rule.screen)),
                           say<text::fleet::rule_accuse>(fleet_.rule.retests, retest_runs,
                                                         human_percent(fleet_.rule.accuse)),
                           say<text::fleet::rule_names>(node_tag_in_words())})
            document.foot.push_back({.text = text, .tone = Tone::quiet});
        return document;
    }

private:
    static std::string_view node_tag_in_words() { return "node"; }

    void add_look(Document& document) const {
        Table table{.columns = {{.title = say<text::fleet::node>()},
                                {.title = say<text::fleet::state>()},
                                {.title = say<text::fleet::found>()}},
                    .sheet = say<text::fleet::look_title>()};
        std::size_t more = 0;
        const auto groups = groups_of(fleet_);
        for (const auto& group : groups) {
            if (table.rows.size() == most_rows) {
                more += group.size();
                continue;
            }
            std::vector<std::string> names;
            for (const auto* node : group) names.push_back(node->name);
            const auto state = group.front()->state;
            const auto next = next_of(fleet_, group);
            table.rows.push_back(
                {.cells = {{.text = list_of_nodes(names)},
                           {.text = state_in_words(state),
                            .detail =
                                names.size() > 1 ? say_count<text::fleet::count>(names.size()) : "",
                            .tone = tone_of(state)},
                           {.text = sentences_or_parts(findings_of(fleet_, group)),
                            .notes =
                                next.empty() ? std::vector<std::string>{} : std::vector{next}}},
                 .tags = {.outcomes = {std::string{to_string(state)}}}});
        }
        if (table.rows.empty()) return;
        document::Section section{.title = say<text::fleet::look_title>(),
                                  .blocks = {std::move(table)}};
        add_more(section, more);
        for (const auto& group : groups)
            if (group.size() > 1 && group.front()->state == NodeState::again)
                add_low_values(section, group);
        document.sections.push_back(std::move(section));
    }
    /// A row for each node of a group to be retested.
    void add_low_values(document::Section& section, const NodeGroup& group) const {
        Table table{.caption = say<text::fleet::low_values>(),
                    .columns = {{.title = say<text::fleet::node>()},
                                {.title = say<text::fleet::of_median>(), .numeric = true},
                                {.title = say<text::fleet::test_item>()},
                                {.title = say<text::fleet::also_low>(), .rank = 1}},
                    .sheet = say<text::fleet::low_values>()};
        for (const auto* node : group | std::views::take(most_rows)) {
            const auto values = open_values_of(fleet_, *node);
            const auto lowest = std::ranges::find(node->suspects, false, &Suspect::decided);
            table.rows.push_back(
                {.cells = {{.text = node->name},
                           ratio(lowest->ratio),
                           {.text = item_in_words(fleet_.items[lowest->item], lowest->place)},
                           {.text = fmt::format("{}", fmt::join(values | std::views::drop(1),
                                                                say<text::list::semicolon>()))}},
                 .tags = {.outcomes = {std::string{to_string(node->state)}}}});
        }
        section.blocks.emplace_back(std::move(table));
        add_more(section, group.size() - std::min(group.size(), most_rows));
    }
    static std::string sentences_or_parts(const std::vector<std::string>& found) {
        std::string all;
        for (const auto& one : found) all = all.empty() ? one : say<text::fleet::parts>(all, one);
        return all;
    }
    static void add_more(document::Section& section, std::size_t more) {
        if (more > 0)
            section.blocks.emplace_back(
                Paragraph{.text = say_count<text::fleet::more_nodes>(more), .tone = Tone::quiet});
    }

    bool is_screened(const FleetNode& node, std::uint32_t column) const {
        return std::ranges::any_of(node.suspects, [&](const Suspect& one) {
            return fleet_.items[one.item].column == column && (!one.decided || one.slow);
        });
    }
    static std::string column_title(const std::string& name) {
        return name.find('.') == name.npos ? family_words(name).title : case_name(name, {});
    }

    void add_map(Document& document) const {
        if (std::ranges::none_of(fleet_.items, &FleetItem::judged)) return;
        HeatMap map{.unit = unit_ratio,
                    .row_title = say<text::fleet::map_row>(),
                    .column_title = say<text::fleet::map_column>(),
                    .ratio = true};
        Table table{.columns = {{.title = say<text::fleet::node>()}},
                    .sheet = say<text::fleet::map_title>(),
                    .folded = say<text::fleet::map_folded>()};
        for (std::size_t i = 0; i < fleet_.columns.size(); ++i) {
            map.columns.push_back(column_title(fleet_.columns[i]));
            table.columns.push_back(
                {.title = map.columns.back(),
                 .numeric = true,
                 .rank = static_cast<std::uint8_t>(std::min<std::size_t>(i, 255))});
        }
        std::size_t more = 0;
        for (const auto& node : fleet_.nodes) {
            if (node.columns.empty() || !node.answered()) continue;
            map.rows.push_back(node.name);
            for (const float value : node.columns)
                map.values.push_back(
                    std::isfinite(value)
                        ? std::optional{std::round(static_cast<double>(value) * 1e4) / 1e4}
                        : std::nullopt);
            if (table.rows.size() == most_rows) {
                ++more;
                continue;
            }
            document::Row row{.cells = {{.text = node.name}},
                              .tags = {.outcomes = {std::string{to_string(node.state)}}}};
            for (std::uint32_t i = 0; i < node.columns.size(); ++i) {
                auto cell = ratio(node.columns[i]);
                if (!cell.text.empty())
                    cell.tone = tone_of_ratio(node.columns[i], is_screened(node, i));
                row.cells.push_back(std::move(cell));
            }
            table.rows.push_back(std::move(row));
        }
        if (map.rows.empty()) return;
        document::Section section{.title = say<text::fleet::map_title>(),
                                  .question = say<text::fleet::map_question>()};
        section.blocks.emplace_back(Chart{.title = say<text::fleet::map_chart>(),
                                          .caption = say<text::fleet::map_caption>(),
                                          .data = std::move(map)});
        section.blocks.emplace_back(std::move(table));
        add_more(section, more);
        document.sections.push_back(std::move(section));
    }

    void add_live(Document& document) const {
        if (fleet_.unfinished.empty()) return;
        Table table{.columns = {{.title = say<text::fleet::node>()},
                                {.title = say<text::fleet::suite>(), .rank = 2},
                                {.title = say<text::fleet::progress>()},
                                {.title = say<text::fleet::left>()},
                                {.title = say<text::fleet::last_line>(), .rank = 1}},
                    .sheet = say<text::fleet::live_title>()};
        for (const auto& run : fleet_.unfinished) {
            Shown left;
            if (run.left && !run.stalled)
                left = {.text = say<text::fleet::about>(duration_in_words(*run.left)),
                        .number = run.left,
                        .unit = "s"};
            const auto silent = duration_in_words(run.silent);
            Shown last{.text = run.stalled ? say<text::fleet::stalled>(silent)
                                           : say<text::fleet::ago>(silent),
                       .tone = run.stalled ? Tone::bad : Tone::plain,
                       .number = run.silent,
                       .unit = "s"};
            table.rows.push_back({.cells = {{.text = run.node},
                                            {.text = run.suite},
                                            {.text = progress_in_words(run)},
                                            std::move(left),
                                            std::move(last)}});
        }
        document.sections.push_back({.title = say<text::fleet::live_title>(),
                                     .question = say<text::fleet::live_question>(),
                                     .blocks = {std::move(table)}});
    }

    void add_faults(Document& document) const {
        if (fleet_.faults.empty()) return;
        Findings findings;
        for (const auto& fault : together(fleet_.faults))
            findings.findings.push_back(
                {.severity = is_serious(fault.code) ? Severity::serious : Severity::caution,
                 .what = say<text::fleet::parts>(fault_in_words(fault),
                                                 list_of(fault.evidence, most_evidence)),
                 .action = fix_of(fault)});
        document.sections.push_back(
            {.title = say<text::fleet::faults_title>(), .blocks = {std::move(findings)}});
    }

    void add_pairs(Document& document) const {
        if (fleet_.pairs.empty()) return;
        Findings findings;
        for (const auto& pairs : fleet_.pairs)
            for (const auto& text : pairs.says)
                findings.findings.push_back({.severity = Severity::caution,
                                             .what = say<text::fleet::fault>(pairs.what, text)});
        document.sections.push_back({.title = say<text::fleet::pairs_title>(),
                                     .question = say<text::fleet::pairs_question>(),
                                     .blocks = {std::move(findings)}});
    }

    Shown type_cell(const FleetItem& item) const { return {.text = fleet_.types[item.type].name}; }

    void add_spread(Document& document) const {
        document::Section section{.title = say<text::fleet::spread_title>(),
                                  .question = say<text::fleet::spread_question>()};
        Table table{
            .columns = {{.title = say<text::fleet::test_item>()},
                        {.title = say<text::fleet::nodes>(), .numeric = true, .rank = 2},
                        {.title = say<text::fleet::median>(), .numeric = true},
                        {.title = say<text::fleet::deviation>(), .numeric = true},
                        {.title = say<text::fleet::p05>(), .numeric = true},
                        {.title = say<text::fleet::found_from>(), .numeric = true, .rank = 1}},
            .sheet = say<text::fleet::spread_title>(),
            .folded = say<text::fleet::spread_folded>()};
        for (const auto& item : fleet_.items) {
            if (!item.judged) continue;
            const double median =
                std::exp(item.series.higher_is_better ? item.center : -item.center);
            auto spread = share(item.deviation);
            spread.detail = fmt::format("[{}, {}]", human_percent(item.deviation_low),
                                        human_percent(item.deviation_high));
            spread.low = item.deviation_low;
            spread.high = item.deviation_high;
            table.rows.push_back(
                {.cells = {{.text = item.series.library.empty() || item.series.library == "host"
                                        ? item.what
                                        : join({item.what, item.series.library})},
                           count_cell(item.nodes),
                           {.text = human(median, item.series.unit),
                            .number = median,
                            .unit = item.series.unit},
                           std::move(spread),
                           ratio(item.p05),
                           share(decide::fleet_slowdown(item.bounds, item.nodes, fleet_.rule))},
                 .group = fleet_.types[item.type].name,
                 .tags = {.family = family_of(item.series.benchmark)}});
        }
        std::ranges::stable_sort(table.rows, {}, &document::Row::group);
        if (!table.rows.empty()) section.blocks.emplace_back(std::move(table));
        constexpr std::size_t types_named = 6;
        std::vector<std::string> few;
        for (const auto& type : fleet_.types)
            if (type.tests == 0)
                few.push_back(say<text::words::in_brackets>(type.name, std::to_string(type.nodes)));
        if (!few.empty())
            section.blocks.emplace_back(Paragraph{
                .text = say<text::fleet::too_few>(list_of(few, types_named)), .tone = Tone::quiet});
        if (!section.blocks.empty()) document.sections.push_back(std::move(section));
    }

    const Fleet& fleet_;
};

} // namespace

Document make_document(const Fleet& fleet) { return Builder{fleet}.build(); }

} // namespace assay::fleet
