// SPDX-License-Identifier: Apache-2.0
#include "history/attribution.hpp"

#include "document/words.hpp"
#include "history/words.hpp"
#include "stats/interval.hpp"
#include "stats/summary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace assay::history {
namespace {

// --- elsewhere -----------------------------------------------------------------------------------

// Where else did the same change, and what came of it there?

/// Samples on either side that say what a change did: more would reach into other changes.
constexpr std::size_t most_samples = 8;

using FactKey = std::tuple<std::string, std::string, std::string>;
FactKey key_of(const ChangedFact& fact) { return {fact.name, fact.before, fact.after}; }

/// When which fact changed on which machine.
using ChangeTimes = std::map<FactKey, std::map<std::string, double>>;

ChangeTimes changes_of(const store::Collection& collection, const FactBook& book,
                       const GroupTracks& group) {
    ChangeTimes changes;
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

/// Sets ChangedFact::without_effect in the changes of one group. A machine counts where the series that made the
/// change elsewhere moved by less than half of it, in the middle of all of them: a machine that is only too noisy
/// or too seldom measured for a change of its own does not count.
void count_elsewhere(const store::Collection& collection, const FactBook& book,
                     const GroupTracks& group, std::span<const SeriesLine> lines,
                     std::span<ExplainedChange> changes) {
    if (changes.empty()) return;
    std::map<FactKey, Effect> effects;
    for (const auto& change : changes)
        for (const auto& fact : change.point.facts) {
            auto& effect = effects[key_of(fact)];
            effect.machines.insert(change.point.machine);
            effect.sizes[lines[change.line].series].push_back(std::log(change.point.ratio));
        }
    const auto recorded = changes_of(collection, book, group);
    std::map<FactKey, std::size_t> without;
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

// -------------------------------------------------------------------------------------------------

/// Samples of a series along a line, with the facts behind them.
class Evidence {
public:
    Evidence(const FactBook& book, const decide::Series& series, const SeriesLine& line)
        : book_{book}, series_{series}, samples_{line.samples} {}

    /// Changes at sample `at` that stayed so over both levels: on most of their samples.
    std::vector<ChangedFact> changes(const FoundChange& change, std::size_t at) const {
        auto facts = book_.changes(samples_[at - 1], samples_[at], series_);
        std::erase_if(facts, [&](const ChangedFact& fact) {
            return !holds(change.from, at, at - 1, fact.name) ||
                   !holds(at, change.to, at, fact.name);
        });
        return facts;
    }

private:
    bool holds(std::size_t from, std::size_t to, std::size_t like, const std::string& name) const {
        std::size_t count = 0;
        for (std::size_t i = from; i < to; ++i)
            if (book_.agree(samples_[i], samples_[like], series_, name)) ++count;
        return 2 * count > to - from;
    }

    const FactBook& book_;
    const decide::Series& series_;
    std::span<const Sample> samples_;
};

ChangeCause cause_of(const std::vector<ChangedFact>& facts) {
    ChangeCause cause = ChangeCause::unexplained;
    for (const auto& fact : facts)
        if (fact.name != core_clock) cause = std::min(cause, fact.cause);
    // A clock alone that is another one is the machine's doing.
    if (cause == ChangeCause::unexplained && !facts.empty()) cause = ChangeCause::instance;
    return cause;
}

std::vector<FactKey> keys_of(const std::vector<ChangedFact>& facts) {
    std::vector<FactKey> keys;
    for (const auto& fact : facts) keys.push_back(key_of(fact));
    std::ranges::sort(keys);
    return keys;
}

/// Changes that belong together: on one machine, or with the same facts.
struct Cluster {
    std::vector<ExplainedChange*> changes;
    std::vector<ChangedFact> facts;
    double earliest = 0;
    double latest = 0;
};

/// Facts that all changes of the cluster have; without any, those of each.
std::vector<ChangedFact> common_facts(const std::vector<ExplainedChange*>& changes) {
    std::map<FactKey, std::pair<std::size_t, ChangedFact>> counted;
    for (const auto* change : changes)
        for (const auto& fact : change->point.facts) {
            auto& entry = counted[key_of(fact)];
            ++entry.first;
            entry.second = fact;
        }
    std::vector<ChangedFact> common;
    for (const std::size_t least : {changes.size(), std::size_t{1}}) {
        for (const auto& [key, entry] : counted)
            if (entry.first >= least) common.push_back(entry.second);
        if (!common.empty()) break;
    }
    std::ranges::stable_sort(common, {}, &ChangedFact::cause);
    return common;
}

bool share_a_fact(const Cluster& cluster, const ExplainedChange& change) {
    const auto keys = keys_of(change.point.facts);
    return std::ranges::any_of(cluster.changes, [&](const ExplainedChange* other) {
        return std::ranges::any_of(other->point.facts, [&](const ChangedFact& fact) {
            return std::ranges::binary_search(keys, key_of(fact));
        });
    });
}

bool overlap(const Cluster& cluster, double earliest, double latest) {
    return earliest <= cluster.latest && cluster.earliest <= latest;
}

class Events {
public:
    Events(const store::Collection& collection, const Tracks& tracks, std::size_t group,
           std::span<const SeriesLine> lines)
        : collection_{collection}, tracks_{tracks.groups[group]}, group_{group}, lines_{lines} {}

    std::vector<Cluster> clusters(std::span<ExplainedChange> changes) const {
        std::map<std::string, std::vector<Cluster>> by_machine;
        for (auto& change : changes) add(by_machine[change.point.machine], change);
        std::vector<Cluster> merged;
        for (auto& [machine, clusters] : by_machine)
            for (auto& cluster : clusters) merge(merged, std::move(cluster));
        return merged;
    }

    HistoryEvent event(const Cluster& cluster) const {
        HistoryEvent event{.seconds = cluster.changes.front()->point.seconds,
                           .until = cluster.changes.front()->point.seconds,
                           .earliest = cluster.earliest,
                           .latest = cluster.latest,
                           .cause = cause_of(cluster.facts),
                           .facts = cluster.facts};
        std::set<std::string> machines;
        for (const auto* change : cluster.changes) {
            event.seconds = std::min(event.seconds, change->point.seconds);
            event.until = std::max(event.until, change->point.seconds);
            machines.insert(change->point.machine);
            (change->better ? event.gain : event.loss) += std::abs(std::log(change->point.ratio));
        }
        event.machines.assign(machines.begin(), machines.end());
        event.cases = cases_of(cluster);
        event.better = static_cast<std::size_t>(std::ranges::count_if(
            event.cases, [](const ChangedCase& one) { return one.ratio > 1; }));
        event.worse = event.cases.size() - event.better;
        std::set<std::size_t> measured;
        for (const auto& line : lines_)
            if (line.group == group_ && machines.contains(line.machine) && spans(line, event))
                measured.insert(line.series);
        event.measured = measured.size();
        std::set<std::string> families;
        for (const auto& one : event.cases)
            families.insert(document::family_of(
                collection_.series[tracks_.series[one.series].series].benchmark));
        if (families.size() == 1) event.family = *families.begin();
        event.what = sizes_in_words(event);
        event.text = event_in_words(event);
        return event;
    }

private:
    std::vector<ChangedCase> cases_of(const Cluster& cluster) const {
        std::map<std::size_t, std::array<std::vector<double>, 3>> values; // by series
        for (const auto* change : cluster.changes) {
            auto& [before, after, ratio] = values[lines_[change->line].series];
            before.push_back(change->point.before);
            after.push_back(change->point.after);
            ratio.push_back(change->point.ratio);
        }
        std::vector<ChangedCase> cases;
        for (const auto& [series, list] : values)
            cases.push_back({.series = series,
                             .before = stats::geometric_mean(list[0]),
                             .after = stats::geometric_mean(list[1]),
                             .ratio = stats::geometric_mean(list[2])});
        std::ranges::stable_sort(cases, std::ranges::greater{}, [](const ChangedCase& one) {
            return std::abs(std::log(one.ratio));
        });
        return cases;
    }
    static bool spans(const SeriesLine& line, const HistoryEvent& event) {
        return line.samples.front().seconds < event.until &&
               line.samples.back().seconds >= event.seconds;
    }
    static void add(std::vector<Cluster>& clusters, ExplainedChange& change) {
        const auto fits = [&](const Cluster& cluster) {
            if (cluster.changes.front()->point.facts.empty() != change.point.facts.empty())
                return false;
            return change.point.facts.empty()
                       ? overlap(cluster, change.point.earliest, change.point.latest)
                       : share_a_fact(cluster, change);
        };
        auto at = std::ranges::find_if(clusters, fits);
        if (at == clusters.end()) {
            clusters.push_back({.changes = {},
                                .facts = {},
                                .earliest = change.point.earliest,
                                .latest = change.point.latest});
            at = clusters.end() - 1;
        }
        at->changes.push_back(&change);
        at->facts = common_facts(at->changes);
        // The interval that all of them allow.
        at->earliest = std::max(at->earliest, change.point.earliest);
        at->latest = std::min(at->latest, change.point.latest);
    }
    static void merge(std::vector<Cluster>& merged, Cluster&& cluster) {
        const auto keys = keys_of(cluster.facts);
        for (auto& other : merged) {
            const bool same = keys.empty() ? other.facts.empty() &&
                                                 overlap(other, cluster.earliest, cluster.latest)
                                           : keys == keys_of(other.facts);
            if (!same) continue;
            std::ranges::copy(cluster.changes, std::back_inserter(other.changes));
            other.earliest = std::max(other.earliest, cluster.earliest);
            other.latest = std::min(other.latest, cluster.latest);
            return;
        }
        merged.push_back(std::move(cluster));
    }

    const store::Collection& collection_;
    const GroupTracks& tracks_;
    std::size_t group_;
    std::span<const SeriesLine> lines_;
};

} // namespace

std::vector<ExplainedChange> explain(const store::Collection& collection, const FactBook& book,
                                     const Tracks& tracks, std::span<const SeriesLine> lines,
                                     std::span<const FoundChange> found) {
    std::vector<ExplainedChange> out;
    for (const auto& change : found) {
        const auto& line = lines[change.line];
        const auto& series =
            collection.series[tracks.groups[line.group].series[line.series].series];
        const Evidence evidence{book, series, line};
        ExplainedChange explained{
            .line = change.line, .at = change.at, .better = change.difference.log_ratio > 0};
        auto& into = explained.point;
        // Prefers, among the places that fit about as well, one with a recorded change.
        for (const std::size_t place : change.places) {
            auto facts = evidence.changes(change, place);
            if (facts.empty()) continue;
            explained.at = place;
            into.facts = std::move(facts);
            break;
        }
        const auto [first, last] = std::ranges::minmax(change.places);
        const bool is_known = !into.facts.empty();
        into.seconds = line.samples[explained.at].seconds;
        into.earliest = line.samples[(is_known ? explained.at : first) - 1].seconds;
        into.latest = line.samples[is_known ? explained.at : last].seconds;
        into.machine = line.machine;
        into.cause = cause_of(into.facts);
        into.ratio = std::exp(change.difference.log_ratio);
        if (std::isfinite(change.difference.low)) into.low = std::exp(change.difference.low);
        if (std::isfinite(change.difference.high)) into.high = std::exp(change.difference.high);
        into.p = change.p;
        const double up = series.higher_is_better ? 1 : -1;
        into.before = std::exp(up * change.before);
        into.after = std::exp(up * change.after);
        out.push_back(std::move(explained));
    }
    return out;
}

std::vector<HistoryEvent> make_events(const store::Collection& collection, const FactBook& book,
                                      const Tracks& tracks, std::size_t group,
                                      std::span<const SeriesLine> lines,
                                      std::span<ExplainedChange> changes) {
    count_elsewhere(collection, book, tracks.groups[group], lines, changes);
    for (auto& change : changes) change.point.text = change_point_in_words(change.point);
    const Events maker{collection, tracks, group, lines};
    std::vector<HistoryEvent> events;
    for (const auto& cluster : maker.clusters(changes)) events.push_back(maker.event(cluster));
    std::ranges::stable_sort(events, {}, &HistoryEvent::seconds);
    return events;
}

} // namespace assay::history
