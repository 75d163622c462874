// SPDX-License-Identifier: Apache-2.0

#include "document/texts/words.hpp"

#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/fleet.hpp"
#include "document/words.hpp"
#include "fleet/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace assay::fleet {

using namespace document;
namespace {

constexpr std::size_t named = 4;  // nodes in the answer
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
    return silent.empty() ? count : say<text::fleet::did_not>(count, list_of(silent, named));
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
    return join(items);
}

std::string item_in_words(const FleetItem& item, const std::string& place) {
    return place == "host" || place.empty() ? item.what
                                            : say<text::words::in_brackets>(item.what, place);
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

std::string ratio_in_words(double ratio) { return fmt::format("{:.2f}", ratio); }

std::vector<std::string> answer_of(const Fleet& fleet) {
    std::vector<std::string> found;
    const auto wrong = in_state(fleet, NodeState::wrong);
    if (!wrong.empty())
        found.push_back(
            say_count<text::fleet::wrong>(wrong.size(), list_of(names_of(wrong), named)));
    const auto slow = in_state(fleet, NodeState::slow);
    std::vector<std::string> slow_names;
    for (const auto* node : slow) slow_names.push_back(slow_node_in_words(fleet, *node));
    const bool judged = std::ranges::any_of(fleet.items, &FleetItem::judged);
    if (!slow.empty())
        found.push_back(say_count<text::fleet::slow>(slow.size(), list_of(slow_names, named)));
    else if (!judged && !fleet.items.empty())
        found.push_back(say<text::fleet::none_judged>());
    else if (wrong.empty() && !fleet.items.empty())
        found.push_back(say<text::fleet::no_slow>());
    found.push_back(answered_in_words(fleet));
    for (auto& text : found) text = as_sentence(capitalised(text));

    std::vector<std::string> open;
    if (const auto count = count_of(fleet, NodeState::again); count > 0)
        open.push_back(say_count<text::fleet::again>(count));
    if (const auto count = count_of(fleet, NodeState::partial); count > 0)
        open.push_back(say_count<text::fleet::partial>(count));
    if (const auto count = count_of(fleet, NodeState::running); count > 0)
        open.push_back(say_count<text::fleet::running>(count));
    std::vector<std::string> foreign;
    for (const auto& node : fleet.nodes)
        if (!node.expected) foreign.push_back(node.name);
    if (!foreign.empty())
        open.push_back(say_count<text::fleet::foreign>(foreign.size(), list_of(foreign, named)));
    if (const auto doubled = doubled_of(fleet); !doubled.empty())
        open.push_back(say_count<text::fleet::doubled>(doubled.size(), list_of(doubled, named)));
    std::string rest;
    for (const auto& text : open) rest = rest.empty() ? text : say<text::fleet::parts>(rest, text);
    std::vector<std::string> answer{document::sentences(found)};
    if (!rest.empty()) answer.push_back(as_sentence(capitalised(rest)));
    return answer;
}

std::vector<std::string> findings_of(const Fleet& fleet, const FleetNode& node) {
    std::vector<std::string> found;
    for (const auto& what : node.wrong)
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
    if (!node.missing.empty()) {
        std::vector<std::string> missing;
        for (const auto& one : node.missing)
            missing.push_back(say<text::words::in_brackets>(
                one.what, one.absent ? say<text::fleet::not_tried>()
                                     : std::string{status_in_words(one.status)}));
        found.push_back(say<text::fleet::missing_cases>(node.missing.size(), node.cases,
                                                        some_of(std::move(missing))));
    }
    return found;
}

std::string command_for(const Fleet& fleet, const FleetNode& node) {
    constexpr std::size_t most = 4; // more are a whole suite
    // A silent node measures what the others do, and is named as they are.
    const auto* like = &node;
    if (!node.answered()) {
        const auto other = std::ranges::find_if(fleet.nodes, &FleetNode::answered);
        if (other == fleet.nodes.end()) return "";
        like = &*other;
    }
    const auto& newest = fleet.collection.runs[like->runs.back()];
    auto command =
        fmt::format("assay run {}", plain(fleet.collection.runs[like->runs.front()].suite, 60));
    std::set<std::string> benchmarks;
    if (node.state == NodeState::partial && newest.partial)
        command = fmt::format("assay run {} --resume", plain(newest.suite, 60));
    else if (node.state == NodeState::partial)
        for (const auto& one : node.missing) benchmarks.insert(one.benchmark);
    else
        for (const auto& suspect : node.suspects)
            if (!suspect.decided) benchmarks.insert(fleet.items[suspect.item].series.benchmark);
    if (benchmarks.size() <= most)
        for (const auto& one : benchmarks) command += fmt::format(" --only {}", plain(one, 60));
    if (like->source == NameSource::tag) command += fmt::format(" --tag node={}", node.name);
    if (like->source == NameSource::node) command += fmt::format(" --node {}", node.name);
    if (like->source == NameSource::host) command += " --hostname";
    return command;
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

std::string next_of(const Fleet& fleet, const FleetNode& node) {
    switch (node.state) {
    case NodeState::wrong:
        return say<text::fleet::do_wrong>();
    case NodeState::slow:
        return slow_next_of(fleet, node);
    case NodeState::missing: {
        const auto command = command_for(fleet, node);
        return command.empty() ? say<text::fleet::do_missing>()
                               : say<text::fleet::do_missing_run>(command);
    }
    case NodeState::unreadable:
        return say<text::fleet::do_unreadable>();
    case NodeState::partial:
        return say<text::fleet::do_partial>(command_for(fleet, node));
    case NodeState::again:
        return say<text::fleet::measure_again>(retest_runs, command_for(fleet, node));
    case NodeState::running:
    case NodeState::not_judged:
    case NodeState::good:
        break;
    }
    return "";
}

std::string fault_in_words(const FleetFault& fault) {
    constexpr std::size_t names = 10;
    return say<text::fleet::fault>(find_text("fleet_fault", to_string(fault.code)).value_or(""),
                                   fault.nodes.empty() ? say<text::fleet::fault_nobody>()
                                                       : list_of(fault.nodes, names));
}
std::string fix_of(const FleetFault& fault) {
    return std::string{find_text("fleet_fix", to_string(fault.code)).value_or("")};
}

std::string progress_in_words(const Unfinished& run) {
    return run.cases ? say<text::fleet::of_cases>(run.done, *run.cases)
                     : say_count<text::fleet::cases_done>(run.done);
}

} // namespace assay::fleet
