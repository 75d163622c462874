// SPDX-License-Identifier: Apache-2.0

#include "fleet/links.hpp"

#include "base/text.hpp"
#include "document/text.hpp"
#include "document/words.hpp"
#include "record/reader.hpp"
#include "record/same_machine.hpp"
#include "report/pairs.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace assay::report {
namespace {

bool is_of_pairs(std::string_view benchmark) {
    return benchmark == "collective.pairs" || benchmark == "collective.fabric";
}

/// What a run calls "node3" for secrecy is a node that has a name here, if its machine has handed in runs.
class Names {
public:
    explicit Names(const Fleet& fleet) {
        for (const auto& node : fleet.nodes)
            for (const auto run : node.runs)
                add(fleet.collection.machines[fleet.collection.runs[run].machine], node.name);
    }

    void apply(record::Run& run) const {
        std::map<std::string, std::string, std::less<>> names;
        for (const auto& host : run.hosts)
            if (const auto known = by_machine_.find(record::own_id(host.machine));
                known != by_machine_.end())
                names[host.name] = known->second;
        const auto rename = [&](std::string& name) {
            if (const auto known = names.find(name); known != names.end()) name = known->second;
        };
        for (auto& c : run.cases) {
            for (auto& setting : c.settings)
                if (auto* hosts = std::get_if<std::string>(&setting.value);
                    hosts != nullptr && setting.name == "job.hosts")
                    *hosts = renamed(*hosts, rename);
            rename_rows(c.tables, rename);
            for (auto& replica : c.replicas) rename_rows(replica.tables, rename);
        }
    }

private:
    void add(const record::Machine& machine, const std::string& name) {
        by_machine_[machine.id] = name;
        for (const auto& alias : machine.identity.aliases) by_machine_.emplace(alias, name);
    }
    /// "node0:1 node1:1"
    static std::string renamed(std::string_view hosts, const auto& rename) {
        std::string all;
        for (const auto word : split(hosts, ' ')) {
            const auto end = std::min(word.rfind(':'), word.size());
            std::string name{word.substr(0, end)};
            rename(name);
            all += (all.empty() ? "" : " ") + name + std::string{word.substr(end)};
        }
        return all;
    }
    static void rename_rows(std::vector<record::Table>& tables, const auto& rename) {
        for (auto& table : tables)
            for (auto* labels : {&table.rows, &table.columns})
                std::ranges::for_each(*labels, rename);
    }
    std::map<std::string, std::string> by_machine_;
};

/// None where nothing is slow.
SlowPairs slow_of(const record::Case& c, const record::Table& table) {
    SlowPairs pairs;
    if (is_list_of_pairs(table)) {
        auto slow = slow_in_fabric(c, table);
        pairs = {.what = {},
                 .nodes = std::move(slow.nodes),
                 .groups = std::move(slow.groups),
                 .says = std::move(slow.says)};
    } else {
        pairs.nodes = slow_nodes(c, table);
        pairs.says = slow_pairs(c, table);
    }
    pairs.what =
        join({case_name(c.benchmark, c.parameters, c.settings), metric_title(table.metric)});
    return pairs;
}

} // namespace

void find_links(Fleet& fleet, const std::vector<std::uint32_t>& node_of_run) {
    const auto& all = fleet.collection;
    // The newest of each kind: tables are in the files alone.
    std::map<std::uint32_t, std::uint32_t> newest; // run, by series
    for (const auto& seen : all.observations) {
        if (node_of_run[seen.run] >= fleet.nodes.size() || !seen.value ||
            !is_of_pairs(all.series[seen.series].benchmark))
            continue;
        const auto [known, is_new] = newest.try_emplace(seen.series, seen.run);
        if (!is_new && all.runs[known->second].started_seconds < all.runs[seen.run].started_seconds)
            known->second = seen.run;
    }
    if (newest.empty()) return;
    const Names names{fleet};
    std::set<std::uint32_t> runs;
    for (const auto& [series, run] : newest) runs.insert(run);
    for (const auto number : runs) {
        auto run = record::read_run(all.runs[number].file, {.values = false, .details = false});
        if (!run) continue; // it was readable a moment ago
        names.apply(*run);
        for (const auto& c : run->cases)
            if (is_of_pairs(c.benchmark))
                for (const auto& table : c.tables)
                    if (auto slow = slow_of(c, table); !slow.says.empty())
                        fleet.pairs.push_back(std::move(slow));
    }
}

} // namespace assay::report
