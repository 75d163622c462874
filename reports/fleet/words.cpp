// SPDX-License-Identifier: Apache-2.0

#include "document/texts/words.hpp"

#include "base/quantity.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/fleet.hpp"
#include "document/texts/list.hpp"
#include "document/words.hpp"
#include "fleet/document.hpp"
#include "record/format.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <utility>

namespace assay::fleet {

using namespace document;
namespace {

constexpr std::size_t named = 4;  // slow nodes in the answer
constexpr std::size_t listed = 3; // things about a node

std::string slow_node_in_words(const Fleet& fleet, const FleetNode& node) {
    if (node.suspects.empty()) return node.name;
    const auto& worst = node.suspects.front();
    const auto& item = fleet.items[worst.item];
    return say<text::fleet::node_with>(node.name,
                                       family_words(family_of(item.series.benchmark)).title,
                                       ratio_in_words(worst.shown()));
}

std::vector<const FleetNode*> in_state(const Fleet& fleet, NodeState state) {
    std::vector<const FleetNode*> nodes;
    for (const auto& node : fleet.nodes)
        if (node.state == state) nodes.push_back(&node);
    return nodes;
}
std::vector<std::string> names_of(const std::vector<const FleetNode*>& nodes) {
    std::vector<std::string> names;
    for (const auto* node : nodes) names.push_back(node->name);
    return names;
}

std::string answered_in_words(const Fleet& fleet) {
    const auto answered = static_cast<std::size_t>(
        std::ranges::count_if(fleet.nodes, [](const auto& node) { return node.answered(); }));
    if (answered == 0) return say<text::fleet::nobody>();
    std::size_t wanted = 0;
    std::size_t of_these = 0;
    std::vector<std::string> silent;
    for (const auto& node : fleet.nodes) {
        if (!node.expected) continue;
        ++wanted;
        of_these += node.answered() ? 1 : 0;
        if (!node.answered() && node.state != NodeState::running) silent.push_back(node.name);
    }
    if (!fleet.has_expected) return say_count<text::fleet::some>(answered);
    if (of_these == wanted) return say_count<text::fleet::all_answered>(wanted);
    const auto count = say<text::fleet::answered>(of_these, wanted);
    return silent.empty() ? count : say<text::fleet::did_not>(count, list_of_nodes(silent));
}

/// Was its run cut off, so that it can go on?
bool is_resumed(const Fleet& fleet, const FleetNode& node) {
    return node.state == NodeState::partial && fleet.collection.runs[node.runs.back()].partial;
}

bool is_wrong(const MissingCase& one) {
    return !one.absent && one.status == record::Status::incorrect;
}

void add_once(std::vector<std::string>& list, std::string text) {
    if (std::ranges::find(list, text) == list.end()) list.push_back(std::move(text));
}

/// Nodes that stand for two machines, or are there twice.
std::vector<std::string> doubled_of(const Fleet& fleet) {
    std::set<std::string> names;
    for (const auto& fault : fleet.faults)
        if (fault.code == FaultCode::one_name_two_machines ||
            fault.code == FaultCode::one_id_two_machines || fault.code == FaultCode::runs_overlap ||
            fault.code == FaultCode::reported_twice)
            names.insert(fault.nodes.begin(), fault.nodes.end());
    return {names.begin(), names.end()};
}

/// The items that fit, and how many more there are.
std::string some_of(std::vector<std::string> items) {
    const auto more = items.size() > listed ? items.size() - listed : 0;
    items.resize(items.size() - more);
    if (more > 0) items.push_back(say<text::fleet::more_items>(more));
    return fmt::format("{}", fmt::join(items, say<text::list::semicolon>()));
}

} // namespace

std::string item_in_words(const FleetItem& item, const std::string& place) {
    return place == "host" || place.empty() ? item.title
                                            : say<text::words::in_brackets>(item.title, place);
}

namespace {

/// Nodes that have a low value though nothing is wrong with them, on average.
std::size_t flagged_by_chance(const Fleet& fleet) {
    double sum = 0;
    for (const auto& node : fleet.nodes)
        if (node.answered())
            sum += 1 - std::pow(1 - fleet.rule.screen,
                                static_cast<double>(fleet.types[node.type].tests));
    return static_cast<std::size_t>(std::llround(sum));
}

std::string again_in_words(const Fleet& fleet, std::size_t count) {
    const auto answered = static_cast<std::size_t>(
        std::ranges::count_if(fleet.nodes, [](const auto& node) { return node.answered(); }));
    const auto chance = flagged_by_chance(fleet);
    return chance == 0 ? say_count<text::fleet::again>(count, answered)
                       : say_count<text::fleet::again_chance>(count, answered, chance);
}

} // namespace

std::string state_in_words(NodeState state) {
    return std::string{find_text("fleet_state", to_string(state)).value_or("")};
}

document::Tone tone_of(NodeState state) {
    switch (state) {
    case NodeState::good:
        return document::Tone::good;
    case NodeState::not_judged:
    case NodeState::running:
        return document::Tone::quiet;
    case NodeState::again:
    case NodeState::partial:
        return document::Tone::weak;
    case NodeState::unreadable:
    case NodeState::missing:
    case NodeState::slow:
    case NodeState::wrong:
        break;
    }
    return document::Tone::bad;
}

std::string ratio_in_words(double ratio) {
    constexpr double nothing = 5e-5; // rounds to 0.00%
    if (std::abs(ratio - 1) < nothing) return "0%";
    return (ratio < 1 ? "−" : "+") + record::human_percent(std::abs(ratio - 1));
}

std::vector<std::string> answer_of(const Fleet& fleet) {
    std::vector<std::string> found;
    const auto wrong = in_state(fleet, NodeState::wrong);
    if (!wrong.empty())
        found.push_back(
            say_count<text::fleet::wrong>(wrong.size(), list_of_nodes(names_of(wrong))));
    const auto slow = in_state(fleet, NodeState::slow);
    std::vector<std::string> slow_names;
    for (const auto* node : slow) slow_names.push_back(slow_node_in_words(fleet, *node));
    const bool judged = std::ranges::any_of(fleet.items, &FleetItem::judged);
    if (!slow.empty())
        found.push_back(say_count<text::fleet::slow>(slow.size(), list_of(slow_names, named)));
    else if (!judged && !fleet.items.empty())
        found.push_back(say<text::fleet::none_judged>());
    else if (wrong.empty() && !fleet.items.empty())
        found.push_back(is_open(fleet) ? say<text::fleet::no_slow_yet>()
                                       : say<text::fleet::no_slow>());
    if (const auto count = count_of(fleet, NodeState::again); count > 0)
        found.push_back(again_in_words(fleet, count));
    found.push_back(answered_in_words(fleet));
    for (auto& text : found) text = as_sentence(capitalised(text));

    std::vector<std::string> open;
    if (const auto count = count_of(fleet, NodeState::partial); count > 0)
        open.push_back(say_count<text::fleet::partial>(count));
    if (const auto count = count_of(fleet, NodeState::running); count > 0)
        open.push_back(say_count<text::fleet::running>(count));
    std::vector<std::string> foreign;
    for (const auto& node : fleet.nodes)
        if (!node.expected) foreign.push_back(node.name);
    if (!foreign.empty())
        open.push_back(say_count<text::fleet::foreign>(foreign.size(), list_of_nodes(foreign)));
    if (const auto doubled = doubled_of(fleet); !doubled.empty())
        open.push_back(say_count<text::fleet::doubled>(doubled.size(), list_of_nodes(doubled)));
    std::string rest;
    for (const auto& text : open) rest = rest.empty() ? text : say<text::fleet::parts>(rest, text);
    std::vector<std::string> answer{document::sentences(found)};
    if (!rest.empty()) answer.push_back(as_sentence(capitalised(rest)));
    return answer;
}

std::vector<std::string> findings_of(const Fleet& fleet, const FleetNode& node) {
    std::vector<std::string> found;
    std::vector<std::string> wrong; // by their short names, where they are cases of the type
    for (const auto& one : node.missing)
        if (is_wrong(one)) wrong.push_back(one.title);
    for (const auto& what : wrong.empty() ? node.wrong : wrong)
        found.push_back(say<text::fleet::wrong_result>(plain(what, 200)));
    std::vector<std::string> items;
    std::size_t cleared = 0;
    for (const auto& suspect : node.suspects) {
        if (suspect.decided && !suspect.slow) {
            ++cleared;
            continue;
        }
        const auto what = item_in_words(fleet.items[suspect.item], suspect.place);
        items.push_back(suspect.replicas == 0
                            ? say<text::fleet::suspect>(what, ratio_in_words(suspect.ratio))
                            : say<text::fleet::suspect_again>(what, ratio_in_words(suspect.ratio),
                                                              suspect.replicas, suspect.runs,
                                                              ratio_in_words(suspect.again)));
    }
    if (!items.empty()) found.push_back(some_of(std::move(items)));
    if (cleared > 0) found.push_back(say<text::fleet::cleared>(cleared));
    if (node.missing.size() > wrong.size()) {
        std::vector<std::string> missing;
        std::vector<std::string> causes;
        for (const auto& one : node.missing) {
            if (is_wrong(one)) continue;
            missing.push_back(one.title);
            add_once(causes, one.absent ? say<text::fleet::not_tried>()
                                        : std::string{status_in_words(one.status)});
        }
        const auto count = missing.size();
        found.push_back(say_count<text::fleet::missing_cases>(count, node.cases, join(causes),
                                                              some_of(std::move(missing))));
    }
    return found;
}

std::vector<std::string> open_values_of(const Fleet& fleet, const FleetNode& node) {
    std::vector<std::string> values;
    for (const auto& suspect : node.suspects)
        if (!suspect.decided)
            values.push_back(
                say<text::fleet::low_value>(item_in_words(fleet.items[suspect.item], suspect.place),
                                            ratio_in_words(suspect.ratio)));
    return values;
}

std::vector<NodeGroup> groups_of(const Fleet& fleet) {
    std::vector<NodeGroup> groups;
    std::map<std::pair<NodeState, bool>, std::size_t> known;
    for (const auto& node : fleet.nodes) {
        if (node.state == NodeState::good || node.state == NodeState::not_judged) continue;
        if (node.state == NodeState::slow || node.state == NodeState::wrong) {
            groups.push_back({&node});
            continue;
        }
        const auto [at, is_new] =
            known.try_emplace({node.state, is_resumed(fleet, node)}, groups.size());
        if (is_new) groups.emplace_back();
        groups[at->second].push_back(&node);
    }
    for (auto& group : groups)
        std::ranges::stable_sort(group, {}, [](const FleetNode* node) {
            const auto lowest = std::ranges::find(node->suspects, false, &Suspect::decided);
            return lowest == node->suspects.end() ? 1 : lowest->ratio;
        });
    return groups;
}

std::vector<std::string> findings_of(const Fleet& fleet, const NodeGroup& nodes) {
    const auto& first = *nodes.front();
    if (nodes.size() == 1) return findings_of(fleet, first);
    if (first.state == NodeState::partial) {
        const auto [least, most] = std::ranges::minmax(
            nodes | std::views::transform([](const auto* node) { return node->missing.size(); }));
        return {least == most ? say_count<text::fleet::lack>(least)
                              : say<text::fleet::lack_range>(least, most)};
    }
    if (first.state != NodeState::again) return {};
    std::vector<std::string> lowest;
    for (const auto* node : nodes)
        if (const auto values = open_values_of(fleet, *node); !values.empty())
            lowest.push_back(say<text::fleet::of_node>(node->name, values.front()));
    return {say<text::fleet::lowest>(some_of(std::move(lowest)))};
}

namespace {

/// A silent node measures what the others do, and is named as they are. Nothing where no node shows how.
const FleetNode* like_of(const Fleet& fleet, const FleetNode& node) {
    if (node.answered()) return &node;
    const auto other = std::ranges::find_if(fleet.nodes, &FleetNode::answered);
    return other == fleet.nodes.end() ? nullptr : &*other;
}

/// "quick --only gemm.square": for all of these nodes.
std::string suite_for(const Fleet& fleet, const FleetNode& like, const NodeGroup& nodes) {
    constexpr std::size_t most = 4; // more are a whole suite
    if (is_resumed(fleet, *nodes.front()))
        return fmt::format("{} --resume", plain(fleet.collection.runs[like.runs.back()].suite, 60));
    std::set<std::string> benchmarks;
    for (const auto* node : nodes) {
        if (node->state == NodeState::partial)
            for (const auto& one : node->missing) benchmarks.insert(one.benchmark);
        else
            for (const auto& suspect : node->suspects)
                if (!suspect.decided) benchmarks.insert(fleet.items[suspect.item].series.benchmark);
    }
    auto suite = plain(fleet.collection.runs[like.runs.front()].suite, 60);
    if (benchmarks.size() <= most)
        for (const auto& one : benchmarks) suite += fmt::format(" --only {}", plain(one, 60));
    return suite;
}

/// The folder that all results are in; in it a suite may have one of its own.
std::filesystem::path folder_of(const Fleet& fleet) {
    std::optional<std::filesystem::path> common;
    for (const auto& run : fleet.collection.runs) {
        const auto folder = run.file.parent_path();
        if (!common) common = folder;
        std::filesystem::path shared;
        for (auto a = common->begin(), b = folder.begin();
             a != common->end() && b != folder.end() && *a == *b && a->string() != run.suite;
             ++a, ++b)
            shared /= *a;
        common = shared;
    }
    return common.value_or("");
}

} // namespace

std::string command_for(const Fleet& fleet, const NodeGroup& nodes) {
    const auto* like = like_of(fleet, *nodes.front());
    const auto is_named = [](const FleetNode* node) { return is_node(node->name); };
    if (like == nullptr || !std::ranges::all_of(nodes, is_named)) return "";
    const auto suite = suite_for(fleet, *like, nodes);
    const bool one = nodes.size() == 1;
    // A sweep names nodes by the tag.
    if (!one && like->source == NameSource::tag && !is_resumed(fleet, *nodes.front())) {
        const bool again = nodes.front()->state == NodeState::again;
        const auto command = fmt::format(
            "scripts/sweep --hosts '{}' --out {} {}", fmt::join(fold_ranges(names_of(nodes)), ","),
            plain((folder_of(fleet) / (again ? "retest-$i" : "missing")).string(), 300), suite);
        if (!again) return command;
        std::string turns;
        for (std::size_t i = 1; i <= retest_runs; ++i) turns += fmt::format(" {}", i);
        return fmt::format("for i in{}; do {}; done", turns, command);
    }
    auto command = fmt::format("assay run {}", suite);
    const auto name = one ? nodes.front()->name : "$HOSTNAME";
    if (like->source == NameSource::tag) command += fmt::format(" --tag node={}", name);
    if (like->source == NameSource::node) command += fmt::format(" --node {}", name);
    if (like->source == NameSource::host) command += " --hostname";
    return command;
}
std::string command_for(const Fleet& fleet, const FleetNode& node) {
    return command_for(fleet, NodeGroup{&node});
}

namespace {

/// Its difference from a good node of its type, if there is one.
std::string slow_next_of(const Fleet& fleet, const FleetNode& node) {
    const auto good = std::ranges::find_if(fleet.nodes, [&](const FleetNode& other) {
        return other.state == NodeState::good && other.type == node.type && other.answered();
    });
    if (good == fleet.nodes.end() || !node.answered()) return say<text::fleet::do_slow_alone>();
    const auto file_of = [&](const FleetNode& one) {
        return plain(fleet.collection.runs[one.runs.back()].file.string(), 300);
    };
    return say<text::fleet::do_slow>(
        fmt::format("assay diff {} {}", file_of(*good), file_of(node)));
}

} // namespace

std::string next_of(const Fleet& fleet, const NodeGroup& nodes) {
    const auto command = command_for(fleet, nodes);
    // A command for one node is for that node; a sweep asks all of them.
    const auto on_each = [&](std::string text) {
        return nodes.size() > 1 && command.starts_with("assay ")
                   ? say<text::fleet::on_each>(std::move(text))
                   : std::move(text);
    };
    switch (nodes.front()->state) {
    case NodeState::wrong:
        return say<text::fleet::do_wrong>();
    case NodeState::slow:
        return slow_next_of(fleet, *nodes.front());
    case NodeState::missing:
        if (command.empty()) return say<text::fleet::do_missing>();
        return nodes.size() == 1 ? say<text::fleet::do_missing_run>(command)
                                 : on_each(say<text::fleet::do_missing_all>(command));
    case NodeState::unreadable:
        return say<text::fleet::do_unreadable>();
    case NodeState::partial:
        return on_each(say<text::fleet::do_partial>(command));
    case NodeState::again:
        return on_each(say<text::fleet::measure_again>(retest_runs, command));
    case NodeState::running:
    case NodeState::not_judged:
    case NodeState::good:
        break;
    }
    return "";
}
std::string next_of(const Fleet& fleet, const FleetNode& node) {
    return next_of(fleet, NodeGroup{&node});
}

std::string fault_in_words(const FleetFault& fault) {
    return say<text::fleet::fault>(find_text("fleet_fault", to_string(fault.code)).value_or(""),
                                   fault.nodes.empty() ? say<text::fleet::fault_nobody>()
                                                       : list_of_nodes(fault.nodes));
}
std::string fix_of(const FleetFault& fault) {
    return std::string{find_text("fleet_fix", to_string(fault.code)).value_or("")};
}

std::string progress_in_words(const Unfinished& run) {
    return run.cases ? say<text::fleet::of_cases>(run.done, *run.cases)
                     : say_count<text::fleet::cases_done>(run.done);
}

} // namespace assay::fleet
