// SPDX-License-Identifier: Apache-2.0
#include "compare/diff.hpp"

#include "base/text.hpp"
#include "compare/words.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/diff.hpp"
#include "document/texts/fact.hpp"
#include "document/texts/workbook.hpp"
#include "json/json.hpp"
#include "record/convert.hpp"
#include "record/format.hpp"
#include "record/same_machine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

/// What a fact means, by the beginning of its key; the longest counts.
struct Rule {
    std::string_view key;
    DiffGroup group;
    bool matters = false;
    Kind kind = Kind::fact;
};
using enum DiffGroup;
constexpr std::array rules{
    Rule{"", environment},
    Rule{"id", environment, false, Kind::nature},
    Rule{"identity", environment, false, Kind::nature},
    Rule{"hostname", environment, false, Kind::nature},
    Rule{"cpu_", hardware, true},
    Rule{"architecture", hardware, true},
    Rule{"sockets", hardware, true},
    Rule{"cores", hardware, true},
    Rule{"threads", hardware, true},
    Rule{"usable_", setting, true},
    Rule{"numa_nodes", hardware, true},
    Rule{"isa", hardware, true},
    Rule{"caches", hardware, true},
    Rule{"core_clock_hz", environment, true, Kind::amount},
    Rule{"memory_bytes", hardware, true, Kind::amount},
    Rule{"memory_limit_bytes", setting, true, Kind::amount},
    Rule{"huge_pages", setting, true},
    Rule{"os", software},
    Rule{"kernel", software},
    Rule{"software", software},
    Rule{"system", hardware},
    Rule{"virtualization", environment, true},
    Rule{"pci", hardware, true},
    Rule{"pci.address", hardware, false, Kind::nature},
    Rule{"pci.driver", software},
    Rule{"pci.vendor_id", hardware, false, Kind::nature}, // the name says it
    Rule{"pci.link.peers_redirected", setting, true},
    Rule{"devices", hardware, true},
    Rule{"devices.uuid", hardware, false, Kind::nature},
    Rule{"devices.whole_uuid", hardware, false, Kind::nature},
    Rule{"devices.pci_address", hardware, false, Kind::nature},
    Rule{"devices.index", hardware, false, Kind::nature},
    Rule{"devices.firmware", firmware},
    Rule{"devices.power_limit_watts", setting, true},
    Rule{"devices.mode", setting, true},
    Rule{"devices.ecc", setting, true},
    Rule{"devices.confidential", setting, true},
    Rule{"platform.bios", firmware},
    Rule{"platform.microcode", firmware},
    Rule{"platform.governor", setting, true},
    Rule{"platform.frequency_driver", setting, true},
    Rule{"platform.boost", setting, true},
    Rule{"platform.smt", setting, true},
    Rule{"platform.power_limits", setting, true},
    Rule{"platform.energy_unread", environment, false, Kind::nature},
    Rule{"platform.clock_limit_hz", setting, true},
    Rule{"platform.clock_most_hz", hardware, true},
    Rule{"platform.numa_balancing", setting, true},
    Rule{"platform.iommu", setting, true},
    Rule{"platform.mitigations", setting, true},
    Rule{"platform.kernel_options", setting, true},
    Rule{"platform.memory_", hardware, true},
    Rule{"platform.memory_unread", environment, false, Kind::nature},
    Rule{"platform.swap_bytes", setting},
    Rule{"platform.swap_used_bytes", environment, false, Kind::nature},
    Rule{"platform.results_free_bytes", environment, false, Kind::nature},
    Rule{"platform.storage", hardware},
    Rule{"platform.storage.name", hardware, false, Kind::nature},
    Rule{"platform.storage.firmware", firmware},
    Rule{"platform.network", hardware, true},
    Rule{"platform.network.name", hardware, false, Kind::nature},
    Rule{"platform.network.address", hardware, false, Kind::nature},
    Rule{"platform.network.driver", software},
    Rule{"platform.network.firmware", firmware},
    Rule{"platform.network.mtu", setting, true},
    Rule{"platform.network.state", setting, true},
    Rule{"platform.network.virtual_functions", setting, true},
    Rule{"platform.network.physical_function", hardware, false, Kind::nature},
    Rule{"platform.bonds", setting, true},
    Rule{"platform.bonds.name", setting, false, Kind::nature},
};

const Rule& rule_of(std::string_view key) {
    const Rule* best = rules.data();
    for (const auto& rule : rules)
        if (key.starts_with(rule.key) && rule.key.size() > best->key.size()) best = &rule;
    return *best;
}

/// As people read it, by the unit that the key ends in.
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

/// Of lists what the other one lacks.
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

} // namespace

Diff diff_machines(DiffSide a, DiffSide b) {
    Diff diff{.a = std::move(a), .b = std::move(b)};
    diff.same_machine = record::is_same_machine(diff.a.run, diff.b.run);
    const auto facts_a = facts_of(diff.a.run);
    const auto facts_b = facts_of(diff.b.run);
    std::map<std::tuple<std::string, std::string, std::string>, Difference> found;
    for (const auto& [at, before] : facts_a) {
        const auto& key = at.first;
        const auto& rule = rule_of(key);
        const auto after = facts_b.find(at);
        if (after == facts_b.end()) {
            // Of a device that only one of them has, their numbers say it.
            if (at.second == 0 && rule.kind == Kind::fact) add_once(diff.only_a, key);
            continue;
        }
        if (is_same(rule, before, after->second)) continue;
        if (rule.kind == Kind::nature) {
            add_once(diff.by_nature, key);
            continue;
        }
        Difference difference{.group = rule.group,
                              .key = key,
                              .before = words_of(before, after->second),
                              .after = words_of(after->second, before),
                              .matters = rule.matters,
                              .count = 0};
        if (difference.before.empty() && difference.after.empty()) continue; // another order
        auto& entry =
            found.try_emplace({key, difference.before, difference.after}, difference).first->second;
        ++entry.count;
    }
    for (const auto& [at, after] : facts_b)
        if (at.second == 0 && !facts_a.contains(at) && rule_of(at.first).kind == Kind::fact)
            add_once(diff.only_b, at.first);
    for (auto& [key, difference] : found) diff.differences.push_back(std::move(difference));
    std::ranges::stable_sort(diff.differences, {}, [](const Difference& d) {
        return std::tuple{!d.matters, d.group, &rule_of(d.key)}; // in the order of the rules
    });
    return diff;
}

void add_values(const Comparison& comparison, Diff& diff) {
    for (const auto& table : comparison.tables)
        for (const auto* row : compared_rows(table)) {
            if (row->cells.size() < 2 || !row->cells[1].contrast) continue;
            ++diff.compared;
            const auto& contrast = *row->cells[1].contrast;
            if (contrast.outcome == ContrastOutcome::better ||
                contrast.outcome == ContrastOutcome::worse)
                diff.values.push_back({.name = document::join({table.title, row->name}),
                                       .before = value_in_words(row->cells[0], row->unit),
                                       .after = value_in_words(row->cells[1], row->unit),
                                       .contrast = contrast});
        }
    std::ranges::stable_sort(diff.values, {}, [](const DifferentValue& value) {
        return -std::abs(std::log(value.contrast.ratio.value_or(1)));
    });
}

// --- diff document -------------------------------------------------------------------------------

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
    return document::list_of(names, 12);
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

} // namespace assay::compare
