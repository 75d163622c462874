// SPDX-License-Identifier: Apache-2.0

#include "judge/judge.hpp"

#include "base/utc.hpp"
#include "decide/expectations.hpp"
#include "document/text.hpp"
#include "judge/evidence.hpp"
#include "judge/node.hpp"
#include "store/keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <map>
#include <set>
#include <thread>
#include <tuple>
#include <utility>

namespace assay::report {
namespace {

/// The runs of each machine in each campaign, the oldest first, from the last recorded repair on.
Result<std::vector<Node>> nodes_of(const Collection& collection, const std::string& campaign) {
    std::map<std::pair<std::string, std::string>, std::vector<std::uint32_t>> runs;
    std::set<std::string> campaigns;
    for (std::uint32_t i = 0; i < collection.runs.size(); ++i) {
        const auto& run = collection.runs[i];
        campaigns.insert(run.campaign);
        if (campaign.empty() || run.campaign == campaign)
            runs[{collection.machines[run.machine].id, run.campaign}].push_back(i);
    }
    if (runs.empty() && !campaign.empty())
        return fail(fmt::format("no run is of the campaign \"{}\"; there are {}", plain(campaign),
                                fmt::join(campaigns, ", ")));
    std::vector<Node> nodes;
    for (auto& [key, own] : runs) {
        std::ranges::stable_sort(
            own, {}, [&](std::uint32_t i) { return collection.runs[i].started_seconds; });
        Node node{.machine = collection.runs[own.back()].machine, .campaign = key.second};
        for (const auto i : own) {
            if (auto repair = record::text(collection.runs[i].tags, repair_tag); !repair.empty()) {
                node.before_repair += std::exchange(node.runs, {}).size();
                node.repair = std::move(repair);
            }
            node.runs.push_back(i);
        }
        nodes.push_back(std::move(node));
    }
    return nodes;
}

/// For each run the index of its first observation; one more at the end.
std::vector<std::size_t> firsts_of(const Collection& collection) {
    std::vector<std::size_t> first(collection.runs.size() + 1);
    for (const auto& seen : collection.observations) ++first[seen.run + 1];
    for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
    return first;
}

/// Machines of one type make a fleet.
std::string type_of(const record::Machine& machine) {
    std::string type = machine.provider + '\n' + machine.instance + '\n' + machine.cpu_model;
    for (const auto& device : machine.devices) type += '\n' + device.name;
    return type;
}

/// Who else of its type measured it, and where each node stands among them. Only of series that two nodes have.
void add_references(const Collection& collection, std::vector<Node>& nodes) {
    struct Fleet {
        std::vector<double> values; ///< of each node one
        double median = 0;
        const Node* last = nullptr; ///< that it has a value of
    };
    std::map<std::string, std::vector<Fleet>> fleets; // by type, then by series
    const auto fleets_of = [&](const Node& node) -> std::vector<Fleet>& {
        auto& own = fleets[type_of(collection.machines[node.machine])];
        own.resize(collection.series.size());
        return own;
    };
    for (const auto& node : nodes) {
        auto& own = fleets_of(node);
        for (const auto& check : node.checks) {
            if (!check.series || !check.value) continue;
            auto& fleet = own[*check.series];
            if (std::exchange(fleet.last, &node) != &node) fleet.values.push_back(*check.value);
        }
    }
    for (auto& [type, own] : fleets)
        for (auto& fleet : own) {
            std::ranges::sort(fleet.values);
            if (fleet.values.size() > 1) fleet.median = stats::median(fleet.values);
        }
    for (auto& node : nodes) {
        const auto& own = fleets_of(node);
        for (auto& check : node.checks) {
            if (!check.series || !check.value) continue;
            const auto& [values, median, last] = own[*check.series];
            if (values.size() < 2) continue;
            const bool higher = collection.series[*check.series].higher_is_better;
            const auto below = std::ranges::lower_bound(values, *check.value) - values.begin();
            const auto above = values.end() - std::ranges::upper_bound(values, *check.value);
            check.beside.of_fleet = *check.value / median;
            check.beside.nodes = values.size();
            check.beside.slower = static_cast<std::size_t>(higher ? below : above);
        }
    }
}

/// A file that could not be read may be of a node that nobody judged.
Outcome worst_of(const Judgement& all) {
    const bool lost = std::ranges::any_of(all.collection.problems,
                                          [](const Problem& problem) { return !problem.is_copy; });
    auto worst = lost || all.nodes.empty() ? Outcome::inconclusive : Outcome::pass;
    for (const auto& node : all.nodes) worst = std::max(worst, node.outcome);
    return worst;
}

} // namespace

CollectOptions collecting_for(const Limits& limits, CollectOptions options) {
    options.metrics.emplace_back("primary");
    for (const auto& limit : limits.limits)
        if (!limit.metric.empty()) options.metrics.push_back(limit.metric);
    options.metrics_may_be_missing = true;
    return options;
}

Result<Judgement> judge(Collection collection, Limits limits, const JudgeOptions& options) {
    ASSAY_TRY(apply_filters(collection, options.filter));
    for (const auto& expectation : limits.expect)
        for (const auto& text : expectation.expect) ASSAY_TRY(record::unmet({}, text));
    ASSAY_TRY(auto nodes, nodes_of(collection, options.campaign));
    Judgement all{.collection = std::move(collection),
                  .limits = std::move(limits),
                  .levels = options.levels,
                  .part = options.part,
                  .nodes = std::move(nodes),
                  .filter = options.filter,
                  .campaign = options.campaign};
    const auto first = firsts_of(all.collection);
    const NodeJudge judge_node{all.collection, all.limits, all.levels, all.part,
                               options.now.value_or(seconds_now())};
    const auto part = [&](std::size_t from, std::size_t step) {
        for (auto i = from; i < all.nodes.size(); i += step) judge_node(all.nodes[i], first);
    };
    const std::size_t threads = std::clamp<std::size_t>(
        std::min<std::size_t>(std::thread::hardware_concurrency(), all.nodes.size() / 100), 1, 8);
    std::vector<std::future<void>> running;
    for (std::size_t i = 1; i < threads; ++i)
        running.push_back(std::async(std::launch::async, part, i, threads));
    part(0, threads);
    for (auto& one : running) one.get();
    add_references(all.collection, all.nodes);
    std::ranges::stable_sort(all.nodes, [](const Node& a, const Node& b) {
        return std::tuple{b.outcome, a.ran} < std::tuple{a.outcome, b.ran};
    });
    all.outcome = worst_of(all);
    return all;
}

} // namespace assay::report
