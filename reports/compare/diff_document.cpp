// SPDX-License-Identifier: Apache-2.0

#include "compare/diff_document.hpp"

#include "compare/verdict.hpp"
#include "compare/words.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/diff.hpp"
#include "document/texts/fact.hpp"
#include "document/texts/workbook.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace assay::report {
namespace {

using namespace document;

constexpr std::size_t longest_value = 28; // columns: three fit into 80

/// "memory_channels" of "platform.memory_channels", in words where the catalogue has it.
std::string name_of(const std::string& key) {
    std::string name = key.starts_with("platform.") ? key.substr(9) : key;
    constexpr std::string_view software = "software.";
    if (name.starts_with(software)) return plain(name.substr(software.size()), 60);
    std::ranges::replace(name, '.', '_');
    return plain(std::string{find_text("fact", name).value_or(name)}, 60);
}

std::string names_of(const std::vector<std::string>& keys) {
    std::vector<std::string> names;
    for (const auto& key : keys)
        if (auto name = name_of(key.starts_with("identity") ? "id" : key);
            std::ranges::find(names, name) == names.end())
            names.push_back(std::move(name));
    return list_of(names, 12);
}

std::string in_words(const Difference& difference) {
    const auto side = [](const std::string& value) {
        return value.empty() ? say<text::diff::nothing>() : plain(value, longest_value);
    };
    const auto text = say<text::fact::changed>(name_of(difference.key), side(difference.before),
                                               side(difference.after));
    return difference.count > 1 ? say<text::diff::times>(text, difference.count) : text;
}

struct GroupWords {
    DiffGroup group;
    std::string (*title)();
    std::string (*counted)(std::size_t count);
};
constexpr std::array groups{GroupWords{DiffGroup::hardware, say<text::diff::hardware>,
                                       say_count<text::diff::count_hardware>},
                            GroupWords{DiffGroup::firmware, say<text::diff::firmware>,
                                       say_count<text::diff::count_firmware>},
                            GroupWords{DiffGroup::software, say<text::diff::software>,
                                       say_count<text::diff::count_software>},
                            GroupWords{DiffGroup::setting, say<text::diff::settings>,
                                       say_count<text::diff::count_settings>},
                            GroupWords{DiffGroup::environment, say<text::diff::environment>,
                                       say_count<text::diff::count_environment>}};

Table table_of(const Diff& diff, DiffGroup group) {
    Table table{.caption = "",
                .columns = {{.title = say<text::diff::what>()},
                            {.title = diff.a.label},
                            {.title = diff.b.label},
                            {.title = say<text::diff::matters>()}},
                .sheet = say<text::diff::kicker>()};
    for (const auto& difference : diff.differences) {
        if (difference.group != group) continue;
        const auto name = name_of(difference.key);
        table.rows.push_back({.cells = {{.text = difference.count > 1 ? say<text::diff::times>(
                                                                            name, difference.count)
                                                                      : name},
                                        {.text = plain(difference.before, longest_value)},
                                        {.text = plain(difference.after, longest_value)},
                                        {.text = difference.matters ? say<text::diff::yes>() : "",
                                         .tone = difference.matters ? Tone::weak : Tone::plain}}});
    }
    return table;
}

document::Section values_of(const Diff& diff) {
    document::Section section{
        .title = say<text::diff::values>(),
        .question = say_count<text::diff::values_question>(diff.values.size(), diff.compared)};
    Table table{.caption = "",
                .columns = {{.title = say<text::diff::what>()},
                            {.title = diff.a.label, .numeric = true},
                            {.title = diff.b.label, .numeric = true},
                            {.title = say<text::diff::ratio>(), .numeric = true}},
                .sheet = say<text::workbook::figures>()};
    for (const auto& value : diff.values)
        table.rows.push_back({.cells = {{.text = value.name},
                                        {.text = value.before},
                                        {.text = value.after},
                                        {.text = contrast_in_short(value.contrast),
                                         .tone = tone_of(value.contrast),
                                         .number = value.contrast.ratio,
                                         .low = value.contrast.low,
                                         .high = value.contrast.high,
                                         .unit = unit_ratio}}});
    if (!table.rows.empty()) section.blocks.emplace_back(std::move(table));
    return section;
}

document::Section rest_of(const Diff& diff) {
    document::Section section{.title = say<text::diff::rest>()};
    const auto add = [&](std::string text) {
        section.blocks.emplace_back(Paragraph{.text = std::move(text), .tone = Tone::quiet});
    };
    const bool measured = !diff.a.run.cases.empty() && !diff.b.run.cases.empty();
    if (measured && diff.compared == 0) add(say<text::diff::no_values>());
    if (!diff.by_nature.empty()) add(say<text::diff::by_nature>(names_of(diff.by_nature)));
    if (!diff.only_a.empty()) add(say<text::diff::only>(diff.a.label, names_of(diff.only_a)));
    if (!diff.only_b.empty()) add(say<text::diff::only>(diff.b.label, names_of(diff.only_b)));
    return section;
}

} // namespace

std::string verdict_of(const Diff& diff) {
    std::vector<std::string> counts;
    for (const auto& [group, title, counted] : groups)
        if (const auto count = std::ranges::count(diff.differences, group, &Difference::group))
            counts.push_back(counted(static_cast<std::size_t>(count)));
    const auto worse = static_cast<std::size_t>(
        std::ranges::count_if(diff.values, [](const DifferentValue& value) {
            return value.contrast.outcome == ContrastOutcome::worse;
        }));
    std::vector<std::string> out;
    if (counts.empty()) {
        out.push_back(say<text::diff::alike>(diff.b.label, diff.a.label));
    } else {
        std::vector<std::string> telling;
        for (const auto& difference : diff.differences)
            if (difference.matters) telling.push_back(in_words(difference));
        const auto where = list_of(counts, counts.size());
        out.push_back(telling.empty()
                          ? say<text::diff::verdict_harmless>(diff.b.label, diff.a.label, where)
                          : say<text::diff::verdict>(diff.b.label, diff.a.label, where,
                                                     telling.size(), list_of(telling, 3)));
    }
    if (diff.compared > 0)
        out.push_back(worse == 0
                          ? say_count<text::diff::none_slower>(diff.compared, diff.b.label)
                          : say_count<text::diff::slower>(worse, diff.compared, diff.b.label));
    return sentences(out);
}

Document make_document(const Diff& diff) {
    const bool matters = std::ranges::any_of(diff.differences, &Difference::matters);
    Document document{
        .kind = "difference",
        .kicker = say<text::diff::kicker>(),
        .title = say<text::diff::title>(diff.b.label, diff.a.label),
        .sub = say<text::diff::sub>(diff.a.label, diff.a.file, diff.b.label, diff.b.file),
        .verdict = verdict_of(diff),
        .tone = matters ? Tone::weak : Tone::good};
    if (diff.same_machine)
        document.lead.push_back(say<text::diff::same_machine>(diff.a.label, diff.b.label));
    for (const auto& [group, title, counted] : groups)
        if (auto table = table_of(diff, group); !table.rows.empty())
            document.sections.push_back({.title = title(), .blocks = {std::move(table)}});
    if (diff.compared > 0) document.sections.push_back(values_of(diff));
    if (auto rest = rest_of(diff); !rest.blocks.empty())
        document.sections.push_back(std::move(rest));
    return document;
}

} // namespace assay::report
