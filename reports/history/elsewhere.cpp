// SPDX-License-Identifier: Apache-2.0

#include "history/elsewhere.hpp"

#include "history/words.hpp"
#include "stats/summary.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace assay::report {
namespace {

/// Samples on either side that say what a change did: more would reach into other changes.
constexpr std::size_t most_samples = 8;

using Key = std::tuple<std::string, std::string, std::string>;
Key key_of(const ChangedFact& fact) { return {fact.name, fact.before, fact.after}; }

/// When which fact changed on which machine.
using Changes = std::map<Key, std::map<std::string, double>>;

Changes changes_of(const Collection& collection, const FactBook& book, const GroupTracks& group) {
    Changes changes;
    std::map<std::string_view, std::uint32_t> last;
    for (const auto run : group.runs) {
        const auto& info = collection.runs[run];
        const auto& id = collection.machines[info.machine].id;
        const auto [at, is_first] = last.try_emplace(id, run);
        if (is_first) continue;
        for (const auto& fact : book.changes(at->second, run))
            changes[key_of(fact)].try_emplace(machine_name(id), info.started_seconds);
        at->second = run;
    }
    return changes;
}

/// By how much a track moved at a moment; nothing where it lies on one side of it.
std::optional<double> move_at(const Track& track, double seconds) {
    std::vector<double> before;
    std::vector<double> after;
    for (const auto& sample : track.samples) {
        if (sample.seconds < seconds)
            before.push_back(sample.good);
        else if (after.size() < most_samples)
            after.push_back(sample.good);
    }
    if (before.empty() || after.empty()) return std::nullopt;
    const auto near = std::min(before.size(), most_samples);
    return stats::median(after) - stats::median(stats::Values{before}.last(near));
}

/// Changes that came with a fact.
struct Effect {
    std::set<std::string> machines;
    std::map<std::size_t, std::vector<double>> sizes; ///< by series: logarithms of ratios
};

/// Did what made these changes leave this machine as it was?
bool is_without_effect(const GroupTracks& group, const Effect& effect, const std::string& machine,
                       double seconds) {
    std::vector<double> shares;
    for (const auto& [series, sizes] : effect.sizes) {
        const auto& tracks = group.series[series].tracks;
        const auto track = std::ranges::find(tracks, machine, &Track::machine);
        if (track == tracks.end()) continue;
        if (const auto move = move_at(*track, seconds))
            shares.push_back(*move / stats::median(sizes));
    }
    return !shares.empty() && stats::median(shares) < 0.5;
}

} // namespace

void count_elsewhere(const Collection& collection, const FactBook& book, const GroupTracks& group,
                     std::span<const SeriesLine> lines, std::span<ExplainedChange> changes) {
    if (changes.empty()) return;
    std::map<Key, Effect> effects;
    for (const auto& change : changes)
        for (const auto& fact : change.point.facts) {
            auto& effect = effects[key_of(fact)];
            effect.machines.insert(change.point.machine);
            effect.sizes[lines[change.line].series].push_back(std::log(change.point.ratio));
        }
    const auto recorded = changes_of(collection, book, group);
    std::map<Key, std::size_t> without;
    for (const auto& [key, effect] : effects) {
        const auto found = recorded.find(key);
        if (found == recorded.end()) continue;
        for (const auto& [machine, seconds] : found->second)
            if (!effect.machines.contains(machine) &&
                is_without_effect(group, effect, machine, seconds))
                ++without[key];
    }
    for (auto& change : changes)
        for (auto& fact : change.point.facts)
            // Where each sample is another machine there is no elsewhere.
            if (const auto found = without.find(key_of(fact));
                found != without.end() && !change.point.machine.empty())
                fact.without_effect = found->second;
}

} // namespace assay::report
