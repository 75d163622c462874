// SPDX-License-Identifier: Apache-2.0

#include "compare/diff.hpp"

#include "base/text.hpp"
#include "compare/words.hpp"
#include "document/text.hpp"
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

namespace assay::report {
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
    return list_of(own, shown);
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
                diff.values.push_back({.name = join({table.title, row->name}),
                                       .before = value_in_words(row->cells[0], row->unit),
                                       .after = value_in_words(row->cells[1], row->unit),
                                       .contrast = contrast});
        }
    std::ranges::stable_sort(diff.values, {}, [](const DifferentValue& value) {
        return -std::abs(std::log(value.contrast.ratio.value_or(1)));
    });
}

} // namespace assay::report
