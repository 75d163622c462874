// SPDX-License-Identifier: Apache-2.0

#include "fleet/fleet.hpp"

#include "base/utc.hpp"
#include "document/text.hpp"
#include "fleet/faults.hpp"
#include "fleet/links.hpp"
#include "fleet/outliers.hpp"
#include "fleet/progress.hpp"
#include "judge/evidence.hpp"
#include "judge/node.hpp"
#include "store/keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace assay::report {
namespace {

/// A sweep of a thousand nodes and its retests take days, and quarters lie further apart.
constexpr double usual_sweep = 7 * 86400.0; // seconds
/// A case belongs to a type if so many of its nodes have it.
constexpr double usual_case = 0.5;

class Maker {
public:
    Maker(Collection collection, const FleetOptions& options)
        : options_{options}, names_{options.expected}, now_{options.now.value_or(seconds_now())} {
        fleet_.collection = std::move(collection);
        fleet_.rule = options.rule;
        fleet_.has_expected = !options.expected.empty();
    }

    Result<Fleet> make() {
        ASSAY_TRY(apply_filters(fleet_.collection, options_.filter));
        choose_sweep();
        ASSAY_TRY(add_nodes());
        const auto values = sort_values(fleet_, node_of_run_);
        judge_values(fleet_, values);
        find_missing(values);
        find_wrong();
        find_unfinished(fleet_, names_, now_);
        find_faults(fleet_, names_, node_of_run_, now_);
        find_links(fleet_, node_of_run_);
        add_silent();
        decide();
        return std::move(fleet_);
    }

private:
    const Collection& all() const { return fleet_.collection; }

    void choose_sweep() {
        for (const auto& run : all().runs)
            fleet_.until = std::max(fleet_.until, run.started_seconds);
        fleet_.since = options_.since.value_or(fleet_.until - usual_sweep);
    }

    Result<void> add_nodes() {
        ASSAY_TRY(auto key, make_key(all(), options_.by));
        if (key.of_series)
            return fail(fmt::format("--by {}: a type is a key of runs: instance, cpu, tag.KEY, ...",
                                    plain(options_.by)));
        node_of_run_.assign(all().runs.size(), no_node);
        std::unordered_map<std::string, std::uint32_t> numbers;
        std::map<std::string, std::uint32_t> types;
        std::vector<std::uint32_t> order(all().runs.size());
        for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
        std::ranges::stable_sort(order, {},
                                 [&](std::uint32_t i) { return all().runs[i].started_seconds; });
        for (const auto i : order) {
            const auto& run = all().runs[i];
            if (run.started_seconds < fleet_.since) {
                ++fleet_.left_out;
                continue;
            }
            const auto named = names_.of_run(all(), run);
            const auto [known, is_new] =
                numbers.try_emplace(named.name, static_cast<std::uint32_t>(fleet_.nodes.size()));
            if (is_new)
                fleet_.nodes.push_back(
                    {.name = named.name,
                     .source = named.source,
                     .expected = !fleet_.has_expected || names_.is_expected(named.name)});
            auto& node = fleet_.nodes[known->second];
            // What was before a repair says nothing about the node.
            if (!record::text(run.tags, repair_tag).empty()) {
                for (const auto before : node.runs) node_of_run_[before] = no_node;
                node.runs.clear();
            }
            if (node.runs.empty()) node.type = type_of(types, key.texts[key.values[i]], run);
            node.runs.push_back(i);
            node_of_run_[i] = known->second;
        }
        for (const auto& node : fleet_.nodes) ++fleet_.types[node.type].nodes;
        for (const auto& name : names_.expected())
            if (!numbers.contains(name)) fleet_.nodes.push_back({.name = name});
        return {};
    }
    std::uint32_t type_of(std::map<std::string, std::uint32_t>& types, const std::string& text,
                          const RunInfo& run) {
        // Machines of no cloud are of a type if they have the same processor.
        const bool is_known = !text.empty() && text != "unknown";
        const auto name = is_known ? text : plain(all().machines[run.machine].cpu_model, 100);
        const auto [known, is_new] =
            types.try_emplace(name, static_cast<std::uint32_t>(fleet_.types.size()));
        if (is_new) fleet_.types.push_back({.name = name});
        return known->second;
    }

    /// Cases that most nodes of the type have, and this one has not, or has no value of.
    void find_missing(const FleetValues& values) {
        for (std::uint32_t i = 0; i < fleet_.items.size(); ++i) {
            const auto& item = fleet_.items[i];
            std::map<std::uint32_t, std::map<std::uint32_t, const NodeItem*>> by_place;
            for (const auto& one : values.of_item[i]) by_place[one.place].emplace(one.node, &one);
            const auto nodes = static_cast<double>(fleet_.types[item.type].nodes);
            for (const auto& [place, own] : by_place) {
                const auto usual = static_cast<double>(own.size()) > usual_case * nodes;
                const bool any = std::ranges::any_of(
                    own, [](const auto& one) { return is_good(*one.second->first); });
                for (std::uint32_t n = 0; n < fleet_.nodes.size(); ++n) {
                    auto& node = fleet_.nodes[n];
                    if (!node.answered() || node.type != item.type) continue;
                    const auto found = own.find(n);
                    const bool absent = found == own.end();
                    if (absent && !usual) continue;
                    ++node.cases;
                    if (!absent && is_good(*found->second->first)) continue;
                    const auto status =
                        absent ? record::Status::interrupted : found->second->first->status;
                    if (status == record::Status::skipped && !any) continue; // on no node
                    auto what = item.what;
                    if (values.places[place] != "host")
                        what = fmt::format("{} ({})", what, values.places[place]);
                    node.missing.push_back(
                        {.what = std::move(what), .status = status, .absent = absent});
                }
            }
        }
    }

    void find_wrong() {
        for (const auto& seen : all().observations) {
            if (seen.status != record::Status::incorrect || !seen.is_primary) continue;
            const auto node = node_of_run_[seen.run];
            if (node == no_node) continue;
            auto& wrong = fleet_.nodes[node].wrong;
            auto what = name_of(all().series[seen.series]);
            if (std::ranges::find(wrong, what) == wrong.end()) wrong.push_back(std::move(what));
        }
    }

    /// Nodes that nobody expects and that have an unfinished run alone.
    void add_silent() {
        std::set<std::string> known;
        for (const auto& node : fleet_.nodes) known.insert(node.name);
        for (const auto& run : fleet_.unfinished)
            if (!run.node.empty() && known.insert(run.node).second)
                fleet_.nodes.push_back({.name = run.node, .expected = !fleet_.has_expected});
    }

    void decide() {
        std::set<std::string> unreadable;
        std::set<std::string> running;
        for (const auto& fault : fleet_.faults)
            if (is_serious(fault.code)) unreadable.insert(fault.nodes.begin(), fault.nodes.end());
        for (const auto& run : fleet_.unfinished) running.insert(run.node);
        for (auto& node : fleet_.nodes) node.state = state_of(node, unreadable, running);
        std::ranges::stable_sort(fleet_.nodes, [](const FleetNode& a, const FleetNode& b) {
            return std::tuple{b.state, a.worst, a.name} < std::tuple{a.state, b.worst, b.name};
        });
    }
    NodeState state_of(const FleetNode& node, const std::set<std::string>& unreadable,
                       const std::set<std::string>& running) const {
        if (!node.wrong.empty()) return NodeState::wrong;
        if (std::ranges::any_of(node.suspects, &Suspect::slow)) return NodeState::slow;
        if (!node.answered()) {
            if (running.contains(node.name)) return NodeState::running;
            return unreadable.contains(node.name) ? NodeState::unreadable : NodeState::missing;
        }
        if (!node.missing.empty())
            return running.contains(node.name) ? NodeState::running : NodeState::partial;
        if (!std::ranges::all_of(node.suspects, &Suspect::decided)) return NodeState::again;
        return fleet_.types[node.type].tests == 0 ? NodeState::not_judged : NodeState::good;
    }

    const FleetOptions& options_;
    NodeNames names_;
    double now_;
    Fleet fleet_;
    std::vector<std::uint32_t> node_of_run_;
};

} // namespace

Result<Fleet> make_fleet(Collection collection, const FleetOptions& options) {
    return Maker{std::move(collection), options}.make();
}

CollectOptions collecting_for_fleet(CollectOptions options) {
    options.unfinished = true;
    options.ended = false; // whether a node elsewhere still writes one is told from its pace
    return options;
}

} // namespace assay::report
