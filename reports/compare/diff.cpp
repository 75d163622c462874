// SPDX-License-Identifier: Apache-2.0
#include "compare/diff.hpp"

#include "base/text.hpp"
#include "compare/cells.hpp"
#include "compare/words.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/diff.hpp"
#include "document/texts/fact.hpp"
#include "document/texts/words.hpp"
#include "document/texts/workbook.hpp"
#include "document/words.hpp"
#include "json/json.hpp"
#include "record/convert.hpp"
#include "record/format.hpp"
#include "record/same_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace assay::compare {
namespace {

using json::Value;

enum class Kind : std::uint8_t { fact, nature, amount };

/// Meaning of facts, by the beginning of their keys; the longest counts. Important facts are told in this order.
struct Rule {
    DiffGroup group;
    bool matters;
    Kind kind;
    std::string_view keys;
};
using enum DiffGroup;
constexpr std::array rules{
    Rule{hardware, true, Kind::fact,
         "cpu_ architecture sockets cores threads numa_nodes isa caches devices.name devices pci "
         "platform.clock_most_hz platform.memory_ platform.network"},
    Rule{hardware, true, Kind::amount, "memory_bytes"},
    Rule{hardware, false, Kind::fact, "system platform.storage"},
    Rule{setting, true, Kind::fact,
         "usable_ huge_pages pci.link.peers_redirected devices.power_limit_watts devices.mode "
         "devices.ecc devices.confidential platform.governor platform.frequency_driver "
         "platform.boost platform.smt platform.power_limits platform.clock_limit_hz "
         "platform.numa_balancing platform.iommu platform.mitigations platform.kernel_options "
         "platform.network.mtu platform.network.state platform.network.virtual_functions "
         "platform.bonds"},
    Rule{setting, true, Kind::amount, "memory_limit_bytes"},
    Rule{setting, false, Kind::fact, "platform.swap_bytes"},
    Rule{firmware, false, Kind::fact,
         "devices.firmware platform.bios platform.microcode platform.storage.firmware "
         "platform.network.firmware"},
    Rule{software, false, Kind::fact, "os kernel software pci.driver platform.network.driver"},
    Rule{environment, true, Kind::fact, "virtualization"},
    Rule{environment, true, Kind::amount, "core_clock_hz"},
    // The name of a PCI device says what its numbers say.
    Rule{environment, false, Kind::nature,
         "id identity hostname pci.address pci.vendor_id pci.device_id devices.uuid "
         "devices.whole_uuid devices.pci_address devices.index platform.energy_unread "
         "platform.memory_unread platform.swap_used_bytes platform.results_free_bytes "
         "platform.storage.name platform.network.name platform.network.address "
         "platform.network.physical_function platform.bonds.name"}};
constexpr Rule other{environment, false, Kind::fact, ""};

/// And the beginning that fits, a part of its keys.
std::pair<const Rule*, std::string_view> rule_of(std::string_view key) {
    std::pair<const Rule*, std::string_view> best{&other, ""};
    for (const auto& rule : rules)
        for (const auto begins : split(rule.keys, ' '))
            if (key.starts_with(begins) && begins.size() > best.second.size())
                best = {&rule, begins};
    return best;
}

/// Text for people, by the unit that the key ends in.
std::string words_of(std::string_view key, const Value& value) {
    constexpr std::size_t longest = 200;
    if (value.is_string()) return plain(value.get<std::string>(), longest);
    if (value.is_boolean()) return value.get<bool>() ? "on" : "off";
    if (!value.is_number()) return {};
    const auto number = value.get<double>();
    if (key.ends_with("per_second") && !key.ends_with("transfers_per_second"))
        return record::human(number, "B/s");
    if (key.ends_with("_bytes") || key.ends_with(".bytes")) return record::human_bytes(number);
    if (key.ends_with("_hz")) return record::human(number, "Hz");
    if (key.ends_with("_watts") || key.ends_with(".watts")) return fmt::format("{:g} W", number);
    if (contains(key, "transfers_per_second")) return fmt::format("{:.0f} MT/s", number * 1e-6);
    return fmt::format("{:g}", number);
}

/// A fact of one machine: its value, or its list of texts.
struct Found {
    std::string text;
    std::optional<double> number;
    std::vector<std::string> list;
};
/// By key, and number of the device for those that have one.
using Facts = std::map<std::pair<std::string, std::size_t>, Found>;

void flatten(const Value& value, const std::string& key, std::size_t item, Facts& facts) {
    if (value.is_object()) {
        for (const auto& [name, member] : value.items())
            flatten(member, key.empty() ? name : key + "." + name, item, facts);
    } else if (value.is_array()) {
        // Objects are told apart by their order, which is that of addresses.
        if (!value.empty() && value.front().is_object())
            facts[{key, 0}] = {std::to_string(value.size()), {}, {}};
        std::size_t next = 0;
        for (const auto& member : value) {
            if (member.is_object())
                flatten(member, key, ++next, facts);
            else
                facts[{key, item}].list.push_back(words_of(key, member));
        }
    } else if (!value.is_null() && !(value.is_string() && value.get<std::string>().empty())) {
        facts[{key, item}] = {words_of(key, value),
                              value.is_number() ? std::optional{value.get<double>()} : std::nullopt,
                              {}};
    }
}

Facts facts_of(const record::Run& run) {
    Facts facts;
    auto machine = record::to_json(run.machine);
    auto& caches = machine["caches"] = Value::array();
    for (const auto& cache : run.machine.caches)
        caches.push_back(fmt::format("{} x L{} {} {}", cache.count, cache.level, cache.type,
                                     record::human_bytes(static_cast<double>(cache.bytes))));
    flatten(machine, "", 0, facts);
    if (!run.version.empty()) facts[{"software.assay", 0}] = {plain(run.version, 80), {}, {}};
    return facts;
}

/// Kernels keep some megabytes more or less; a measured clock breathes with temperature.
bool is_same(const Rule& rule, const Found& a, const Found& b) {
    constexpr double tolerance = 0.02;
    if (rule.kind == Kind::amount && a.number && b.number)
        return std::abs(*a.number - *b.number) <=
               tolerance * std::max(std::abs(*a.number), std::abs(*b.number));
    return a.text == b.text && a.list == b.list;
}

/// Items of a list that the other one lacks.
std::string words_of(const Found& found, const Found& other) {
    constexpr std::size_t shown = 6;
    if (found.list.empty()) return found.text;
    std::vector<std::string> own;
    for (const auto& item : found.list)
        if (std::ranges::find(other.list, item) == other.list.end()) own.push_back(item);
    return document::list_of(own, shown);
}

void add_once(std::vector<std::string>& keys, const std::string& key) {
    if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
}

std::optional<DiffGap> gap_of(const Cell& before, const Cell& after) {
    if (!before.value || !after.value || !after.contrast) return DiffGap::one_side;
    static const std::map<NoVerdict, DiffGap> gaps{{NoVerdict::disturbed, DiffGap::under_load},
                                                   {NoVerdict::two_levels, DiffGap::two_levels},
                                                   {NoVerdict::cpus_moved, DiffGap::cpus_moved}};
    const auto gap = gaps.find(after.contrast->no_verdict);
    if (gap == gaps.end() || after.contrast->outcome != ContrastOutcome::cannot_tell) return {};
    return gap->second;
}

} // namespace

Diff diff_machines(DiffSide a, DiffSide b) {
    Diff diff{.a = std::move(a), .b = std::move(b)};
    diff.same_machine = record::is_same_machine(diff.a.run, diff.b.run);
    const auto facts_a = facts_of(diff.a.run);
    const auto facts_b = facts_of(diff.b.run);
    // For a device that only one of them has, their numbers say it.
    for (auto [side, own, others] :
         {std::tuple{&diff.a, &facts_a, &facts_b}, {&diff.b, &facts_b, &facts_a}})
        for (const auto& [at, fact] : *own)
            if (at.second == 0 && !others->contains(at) &&
                rule_of(at.first).first->kind != Kind::nature)
                side->only.push_back(at.first);
    std::map<std::tuple<std::string, std::string, std::string>, Difference> found;
    for (const auto& [at, before] : facts_a) {
        const auto after = facts_b.find(at);
        if (after == facts_b.end()) continue;
        const auto& rule = *rule_of(at.first).first;
        if (rule.kind != Kind::nature) ++diff.facts;
        if (is_same(rule, before, after->second)) continue;
        if (rule.kind == Kind::nature) {
            add_once(diff.by_nature, at.first);
            continue;
        }
        Difference difference{.group = rule.group,
                              .key = at.first,
                              .before = words_of(before, after->second),
                              .after = words_of(after->second, before),
                              .matters = rule.matters,
                              .count = 0};
        if (difference.before.empty() && difference.after.empty()) continue; // another order
        ++found.try_emplace({at.first, difference.before, difference.after}, difference)
              .first->second.count;
    }
    for (auto& [key, difference] : found) diff.differences.push_back(std::move(difference));
    std::ranges::stable_sort(diff.differences, {}, [](const Difference& d) {
        return std::tuple{!d.matters, d.group, rule_of(d.key).second.data()};
    });
    return diff;
}

void add_values(const Comparison& comparison, Diff& diff) {
    for (const auto& table : comparison.tables)
        for (const auto& row : table.rows) {
            const auto& before = row.cells.front();
            const auto& after = row.cells.back();
            if (!before.value && !after.value) continue;
            auto name = document::join({table.title, row.name});
            if (const auto gap = gap_of(before, after)) {
                diff.not_compared[*gap].push_back(std::move(name));
                continue;
            }
            ++diff.compared;
            const auto& contrast = *after.contrast;
            if (contrast.outcome == ContrastOutcome::better ||
                contrast.outcome == ContrastOutcome::worse)
                diff.values.push_back({.name = std::move(name),
                                       .before = value_in_words(before, row.unit),
                                       .after = value_in_words(after, row.unit),
                                       .contrast = contrast});
        }
    diff.level = level_in_words(comparison);
    std::ranges::stable_sort(diff.values, {}, [](const DifferentValue& value) {
        return -std::abs(std::log(value.contrast.ratio.value_or(1)));
    });
}

namespace {

using namespace document;

constexpr std::size_t longest_value = 28; // columns: three fit into 80

/// "memory_channels" of "platform.memory_channels", in words where the catalogue has it.
std::string name_of(const std::string& key) {
    std::string name = key.starts_with("platform.") ? key.substr(9) : key;
    if (name.starts_with("software.")) return plain(name.substr(9), 60);
    std::ranges::replace(name, '.', '_');
    const auto words = find_text("fact", name);
    return words ? std::string{*words} : plain(with_blanks(name), 60);
}

std::string names_of(const std::vector<std::string>& keys) {
    std::vector<std::string> names;
    for (const auto& key : keys) add_once(names, name_of(key.starts_with("identity") ? "id" : key));
    return list_of(names, 12);
}

/// With the number of devices, where several differ alike.
std::string counted(const Difference& difference, std::string text) {
    return difference.count > 1 ? say<text::diff::times>(text, difference.count) : text;
}

std::string in_words(const Difference& difference) {
    const auto side = [](const std::string& value) {
        return value.empty() ? say<text::diff::nothing>() : plain(value, longest_value);
    };
    return counted(difference,
                   say<text::fact::changed>(name_of(difference.key), side(difference.before),
                                            side(difference.after)));
}

/// In the order of DiffGroup and DiffGap.
constexpr std::array group_titles{say<text::diff::hardware>, say<text::diff::firmware>,
                                  say<text::diff::software>, say<text::diff::setting>,
                                  say<text::diff::environment>};
constexpr std::array gap_counts{
    say<text::diff::under_load, std::size_t>, say<text::diff::two_levels, std::size_t>,
    say<text::diff::cpus_moved, std::size_t>, say<text::diff::one_side, std::size_t>,
    say<text::diff::left_out, std::size_t>};
/// "5 under load", "2 on one side only".
std::string in_words(DiffGap gap, std::size_t count) {
    return gap_counts.at(static_cast<std::size_t>(gap))(count);
}

Table table_of(const Diff& diff, Column last) {
    return {.columns = {{.title = say<text::diff::what>()},
                        {.title = diff.a.label, .numeric = last.numeric},
                        {.title = diff.b.label, .numeric = last.numeric},
                        std::move(last)}};
}

Section facts_of(const Diff& diff) {
    auto table = table_of(diff, {.title = say<text::diff::kind>()});
    table.sheet = say<text::diff::kicker>();
    for (const auto& difference : diff.differences)
        table.rows.push_back(
            {.cells = {{.text = counted(difference, name_of(difference.key))},
                       {.text = plain(difference.before, longest_value)},
                       {.text = plain(difference.after, longest_value)},
                       {.text = group_titles.at(static_cast<std::size_t>(difference.group))()}},
             .group =
                 difference.matters ? say<text::diff::matters>() : say<text::diff::harmless>()});
    return {.title = say<text::diff::facts>(), .blocks = {std::move(table)}};
}

Section values_of(const Diff& diff) {
    auto table = table_of(diff, {.title = say<text::diff::ratio>(), .numeric = true});
    table.sheet = say<text::workbook::figures>();
    for (const auto& value : diff.values)
        table.rows.push_back(
            {.cells = {{.text = value.name},
                       {.text = value.before},
                       {.text = value.after},
                       ratio_cell(value.contrast, contrast_in_short(value.contrast))}});
    return {.title = say<text::diff::values>(),
            .blocks = {std::move(table), Paragraph{.text = diff.level, .tone = Tone::quiet}}};
}

Section rest_of(const Diff& diff) {
    Section section{.title = say<text::diff::rest>()};
    const auto add = [&](std::string text) {
        section.blocks.emplace_back(Paragraph{.text = std::move(text), .tone = Tone::quiet});
    };
    for (const auto& [gap, names] : diff.not_compared)
        add(say<text::words::labelled>(in_words(gap, names.size()), list_of(names, 3)));
    for (const auto& problem : diff.left_out) add(problem);
    if (!diff.by_nature.empty()) add(say<text::diff::by_nature>(names_of(diff.by_nature)));
    for (const auto* side : {&diff.a, &diff.b})
        if (!side->only.empty()) add(say<text::diff::only>(side->label, names_of(side->only)));
    return section;
}

std::string facts_in_words(const Diff& diff) {
    const auto count = diff.differences.size();
    const auto& a = diff.a.label;
    const auto& b = diff.b.label;
    if (count == 0) return say_count<text::diff::alike>(diff.facts, a, b);
    std::vector<std::string> telling;
    for (const auto& difference : diff.differences)
        if (difference.matters) telling.push_back(in_words(difference));
    return telling.empty()
               ? say_count<text::diff::verdict_harmless>(count, a, b)
               : say_count<text::diff::verdict>(count, a, b, telling.size(), list_of(telling, 3));
}

/// Empty where neither side has a case.
std::string values_in_words(const Diff& diff) {
    const auto worse = static_cast<std::size_t>(
        std::ranges::count(diff.values, ContrastOutcome::worse,
                           [](const auto& value) { return value.contrast.outcome; }));
    const auto better = diff.values.size() - worse;
    std::vector<std::string> gaps;
    std::size_t missing = 0;
    for (const auto& [gap, names] : diff.not_compared) {
        gaps.push_back(in_words(gap, names.size()));
        missing += names.size();
    }
    if (diff.compared == 0) return missing == 0 ? "" : say<text::diff::no_values>(join(gaps));
    auto text = worse == 0
                    ? say_count<text::diff::none_slower>(diff.compared, diff.b.label)
                    : say_count<text::diff::slower>(worse, diff.compared + missing, diff.b.label);
    if (better > 0) text = say<text::diff::and_more>(text, say_count<text::diff::faster>(better));
    if (missing > 0)
        text = say<text::diff::and_more>(text, say<text::diff::not_compared>(missing, join(gaps)));
    return as_sentence(text);
}

} // namespace

std::string verdict_of(const Diff& diff) {
    std::vector<std::string> out{facts_in_words(diff)};
    if (auto values = values_in_words(diff); !values.empty()) out.push_back(std::move(values));
    for (const auto* side : {&diff.a, &diff.b})
        if (side->run.status == "interrupted") out.push_back(say<text::diff::partial>(side->label));
    return sentences(out);
}

Document make_document(const Diff& diff) {
    const bool matters = std::ranges::any_of(diff.differences, &Difference::matters);
    const bool is_empty = diff.compared == 0 && !diff.not_compared.empty();
    Document document{
        .kind = "difference",
        .kicker = say<text::diff::kicker>(),
        .title = say<text::diff::title>(diff.b.label, diff.a.label),
        .sub = say<text::diff::sub>(diff.a.label, diff.a.file, diff.b.label, diff.b.file),
        .verdict = verdict_of(diff),
        .tone = matters || is_empty ? Tone::weak : Tone::good};
    if (diff.same_machine)
        document.lead.push_back(say<text::diff::same_machine>(diff.a.label, diff.b.label));
    if (!diff.differences.empty()) document.sections.push_back(facts_of(diff));
    if (!diff.values.empty()) document.sections.push_back(values_of(diff));
    if (auto rest = rest_of(diff); !rest.blocks.empty())
        document.sections.push_back(std::move(rest));
    return document;
}

} // namespace assay::compare
