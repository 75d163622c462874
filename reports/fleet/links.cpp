// SPDX-License-Identifier: Apache-2.0

#include "fleet/links.hpp"

#include "record/reader.hpp"
#include "report/pairs.hpp"
#include "report/text.hpp"
#include "report/words.hpp"

#include <map>
#include <set>
#include <string>
#include <utility>

namespace assay::report {
namespace {

bool is_of_pairs(const Series& series) { return series.benchmark == "collective.pairs"; }

} // namespace

void find_links(Fleet& fleet, const std::vector<std::uint32_t>& node_of_run) {
    const auto& all = fleet.collection;
    // The newest of each kind: matrices are in the files alone.
    std::map<std::uint32_t, std::uint32_t> newest; // run, by series
    for (const auto& seen : all.observations) {
        if (node_of_run[seen.run] >= fleet.nodes.size() || !seen.value ||
            !is_of_pairs(all.series[seen.series]))
            continue;
        const auto [known, is_new] = newest.try_emplace(seen.series, seen.run);
        if (!is_new && all.runs[known->second].started_seconds < all.runs[seen.run].started_seconds)
            known->second = seen.run;
    }
    std::set<std::uint32_t> runs;
    for (const auto& [series, run] : newest) runs.insert(run);
    for (const auto number : runs) {
        auto run = record::read_run(all.runs[number].file, {.values = false, .details = false});
        if (!run) continue; // it was readable a moment ago
        const auto shown = plain(std::move(*run));
        for (const auto& c : shown.cases) {
            if (c.benchmark != "collective.pairs") continue;
            for (const auto& table : c.tables) {
                auto says = slow_pairs(c, table);
                if (says.empty()) continue;
                fleet.pairs.push_back(
                    {.what = join({case_name(c.benchmark, c.parameters, c.settings),
                                   metric_title(table.metric)}),
                     .nodes = slow_nodes(c, table),
                     .says = std::move(says)});
            }
        }
    }
}

} // namespace assay::report
