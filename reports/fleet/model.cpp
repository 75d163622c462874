// SPDX-License-Identifier: Apache-2.0
#include "fleet/model.hpp"

#include "base/file.hpp"
#include "base/quantity.hpp"
#include "base/text.hpp"
#include "document/text.hpp"
#include "judge/evidence.hpp"
#include "record/same_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <set>
#include <utility>

namespace assay::fleet {

bool is_serious(FaultCode code) {
    return code != FaultCode::reported_twice && code != FaultCode::mixed_versions &&
           code != FaultCode::mixed_plans && code != FaultCode::mixed_software &&
           code != FaultCode::one_machine_two_names;
}

std::size_t count_of(const Fleet& fleet, NodeState state) {
    return static_cast<std::size_t>(std::ranges::count(fleet.nodes, state, &FleetNode::state));
}

bool has_slow(const Fleet& fleet) {
    return std::ranges::any_of(fleet.nodes, [](const FleetNode& node) {
        return node.state == NodeState::slow || node.state == NodeState::wrong;
    });
}

bool is_open(const Fleet& fleet) {
    const bool open = std::ranges::any_of(fleet.nodes, [](const FleetNode& node) {
        return node.state != NodeState::good && node.state != NodeState::slow &&
               node.state != NodeState::wrong;
    });
    const bool lost = std::ranges::any_of(
        fleet.faults, [](const FleetFault& fault) { return is_serious(fault.code); });
    return open || lost || fleet.nodes.empty();
}

// --- names ---------------------------------------------------------------------------------------

namespace {

constexpr std::size_t most_nodes = 1'000'000;
constexpr std::size_t longest_name = 253; // of a host, RFC 1035
constexpr std::size_t longest_file = std::size_t{1} << 26U;

} // namespace

bool is_node(const std::string& name) {
    return !name.empty() && name.size() <= longest_name &&
           std::ranges::all_of(name, [](char c) { return is_word(c, "-_.:"); });
}

namespace {

/// Each name once. Blanks, commas and lines separate; # begins a comment.
Result<std::vector<std::string>> expand_all(std::string_view text) {
    std::vector<std::string> names;
    std::set<std::string> known;
    for (auto line : split(text, '\n')) {
        line = line.substr(0, line.find('#'));
        while (!line.empty()) {
            const auto end = find_outside_brackets(line, ", \t\r");
            const auto word = line.substr(0, end);
            line.remove_prefix(std::min(line.size(), word.size() + 1));
            if (word.empty()) continue;
            auto made = expand_ranges(word, most_nodes);
            if (!made) return made;
            for (auto& name : *made) {
                if (!is_node(name))
                    return fail(
                        fmt::format("invalid node name \"{}\" (expected letters, digits, '-', "
                                    "'_', '.' and ranges like node[01-40])",
                                    plain(word, 100)));
                if (names.size() >= most_nodes)
                    return fail(fmt::format("more than {} nodes", most_nodes));
                if (known.insert(name).second) names.push_back(std::move(name));
            }
        }
    }
    return names;
}

std::string_view short_name(std::string_view host) { return host.substr(0, host.find('.')); }

} // namespace

Result<std::vector<std::string>> expand_nodes(std::string_view text) {
    auto names = expand_all(text);
    if (names && names->empty()) return fail("no nodes given (expected e.g. node[01-40])");
    return names;
}

Result<std::vector<std::string>> parse_nodes(std::string_view text, std::string_view source) {
    auto names = expand_all(text);
    if (!names) return fail(fmt::format("{}: {}", source, names.error().message));
    if (names->empty())
        return fail(
            fmt::format("{}: no nodes listed (expected lines like node07 or node[01-40])", source));
    return names;
}

Result<std::vector<std::string>> read_nodes(const std::filesystem::path& path) {
    ASSAY_TRY(const auto text, read_text(path, longest_file));
    return parse_nodes(text, path.string());
}

NodeNames::NodeNames(std::vector<std::string> expected)
    : expected_{std::move(expected)}, sorted_{expected_} {
    std::ranges::sort(sorted_);
}

bool NodeNames::is_expected(const std::string& name) const {
    return std::ranges::binary_search(sorted_, name);
}

std::string NodeNames::of_host(std::string_view host) const {
    std::string name = plain(host, longest_name);
    if (is_expected(name)) return name;
    std::string brief{short_name(name)};
    if (is_expected(brief)) return brief;
    // The list has domains and the node says none: only where a single one begins so.
    const auto first = std::ranges::lower_bound(sorted_, brief + ".");
    if (first != sorted_.end() && short_name(*first) == brief && name == brief) {
        const auto next = first + 1;
        if (next == sorted_.end() || short_name(*next) != brief) return *first;
    }
    return name;
}

NodeName NodeNames::of_run(const store::Collection& collection, const store::RunInfo& run) const {
    const auto& machine = collection.machines[run.machine];
    if (const auto name = record::node_name(machine, run.tags); !name.empty()) {
        const bool by_tag = name == record::text(run.tags, record::node_tag);
        return {of_host(name), by_tag ? NameSource::tag : NameSource::node};
    }
    if (!machine.hostname.empty()) return {of_host(machine.hostname), NameSource::host};
    if (auto folder = of_path(run.file); !folder.empty())
        return {std::move(folder), NameSource::folder};
    return {plain(machine.id, 60), NameSource::machine};
}

std::string NodeNames::of_path(const std::filesystem::path& path,
                               const std::vector<std::string>& also) const {
    std::string found;
    for (const auto& part : path.parent_path()) { // the deepest one
        const auto name = of_host(part.string());
        if (is_expected(name) || std::ranges::binary_search(also, name)) found = name;
    }
    return found;
}

// --- level ---------------------------------------------------------------------------------------

namespace {

/// Conditions that a limit names beside the parameters.
constexpr std::array team{"machines", "ranks"};

} // namespace

ItemName item_name(const decide::Series& series) {
    ItemName item{.series = series};
    auto& own = item.series;
    own.place = series.place.substr(0, series.place.find(':'));
    own.conditions.clear();
    for (const auto* name : team)
        if (const auto* value = record::find(series.conditions, name);
            value != nullptr && record::find(series.parameters, name) == nullptr)
            own.conditions.push_back({name, *value});
    item.name = name_of(own);
    for (const auto& [name, value] : own.conditions)
        item.name += fmt::format(" {}={}", name, record::to_string(value));
    return item;
}

bool is_of_a_level(const decide::Observation& seen, const decide::Series& series) {
    return seen.is_primary && seen.value && *seen.value > 0 && !seen.two_levels && seen.verified &&
           seen.status == record::Status::ok && !judge::is_executed_on_cpu(series);
}

double known(const stats::VarianceEstimate& part) {
    return part.degrees > 0 && part.variance > 0 ? part.variance : 0;
}

ItemLevel level_of(std::span<const NodeValue> values, bool higher_is_better) {
    ItemLevel level;
    const double sign = higher_is_better ? 1 : -1;
    std::vector<decide::Nested> nested;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<double>> of_device;
    std::set<std::uint32_t> nodes;
    std::set<std::uint32_t> places;
    std::set<std::uint32_t> runs;
    double replicas = 0;
    for (const auto& value : values) {
        const std::vector<std::uint32_t> groups{value.node, value.place, value.day, value.run};
        const auto add = [&](double one) {
            if (one > 0) nested.push_back({groups, sign * std::log(one)});
        };
        const auto own = counted(*value.seen);
        for (const auto& replica : own) add(replica.value);
        if (own.empty()) add(*value.seen->value);
        replicas += static_cast<double>(std::max<std::size_t>(1, own.size()));
        of_device[{value.node, value.place}].push_back(sign * std::log(*value.seen->value));
        nodes.insert(value.node);
        places.insert(value.place);
        runs.insert(value.run);
    }
    level.nodes = nodes.size();
    level.places = places.size();
    level.runs = runs.size();
    level.parts = decide::nested_variances(nested);
    auto& of_run = level.parts[1];
    if (auto& of_day = level.parts[2]; of_run.degrees == 0) // a run a day: one is the other
        std::swap(of_run, of_day);
    const auto count = static_cast<double>(values.size());
    level.noise = (known(level.parts[0]) / (replicas / count)) + known(level.parts[1]) +
                  known(level.parts[2]);
    const double each = count / static_cast<double>(of_device.size()); // values of a device
    level.error = level.noise / each * (each > 2 ? std::numbers::pi / 2 : 1);
    for (auto& [of, list] : of_device) level.kept.push_back(stats::median(list));
    level.fleet = decide::fleet_level(level.kept);
    level.fleet.variance.degrees =
        std::min(level.fleet.variance.degrees, static_cast<double>(level.nodes) - 1);
    std::ranges::sort(level.kept);
    level.kept.erase(level.kept.begin(),
                     level.kept.begin() + static_cast<std::ptrdiff_t>(level.fleet.left_out));
    return level;
}

std::vector<stats::VarianceEstimate> variances_of(std::span<const ItemLevel* const> levels) {
    std::vector<stats::VarianceEstimate> own;
    for (const auto* level : levels) own.push_back(level->fleet.variance);
    const auto prior = stats::fit_prior(own);
    std::vector<stats::VarianceEstimate> found;
    for (const auto* level : levels) {
        auto variance = stats::moderate(level->fleet.variance, prior);
        variance.variance = std::max(0.0, variance.variance - level->error) + level->noise;
        found.push_back(variance);
    }
    return found;
}

} // namespace assay::fleet
