// SPDX-License-Identifier: Apache-2.0

#include "history/attribution.hpp"

#include "history/elsewhere.hpp"
#include "history/words.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace assay::report {
namespace {

/// Samples of a series along a line, with the facts behind them.
class Evidence {
public:
    Evidence(const FactBook& book, const Series& series, const Line& line)
        : book_{book}, series_{series}, samples_{line.samples} {}

    /// What changed with sample `at` and stayed so over both levels: on most of their samples.
    std::vector<ChangedFact> changes(const FoundStep& step, std::size_t at) const {
        auto facts = book_.changes(samples_[at - 1], samples_[at], series_);
        std::erase_if(facts, [&](const ChangedFact& fact) {
            return !holds(step.from, at, at - 1, fact.name) || !holds(at, step.to, at, fact.name);
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
    const Series& series_;
    std::span<const Sample> samples_;
};

Cause cause_of(const std::vector<ChangedFact>& facts) {
    Cause cause = Cause::unexplained;
    for (const auto& fact : facts)
        if (fact.name != core_clock) cause = std::min(cause, fact.cause);
    // A clock alone that is another one is the machine's doing.
    if (cause == Cause::unexplained && !facts.empty()) cause = Cause::instance;
    return cause;
}

using FactKey = std::tuple<std::string, std::string, std::string>;
FactKey key_of(const ChangedFact& fact) { return {fact.name, fact.before, fact.after}; }

std::vector<FactKey> keys_of(const std::vector<ChangedFact>& facts) {
    std::vector<FactKey> keys;
    for (const auto& fact : facts) keys.push_back(key_of(fact));
    std::ranges::sort(keys);
    return keys;
}

/// Steps that belong together: on one machine, or with the same facts.
struct Cluster {
    std::vector<ExplainedStep*> steps;
    std::vector<ChangedFact> facts;
    double earliest = 0;
    double latest = 0;
};

/// Facts that all steps of the cluster have; where there is none, those of any.
std::vector<ChangedFact> common_facts(const std::vector<ExplainedStep*>& steps) {
    std::map<FactKey, std::pair<std::size_t, ChangedFact>> counted;
    for (const auto* step : steps)
        for (const auto& fact : step->step.facts) {
            auto& entry = counted[key_of(fact)];
            ++entry.first;
            entry.second = fact;
        }
    std::vector<ChangedFact> common;
    for (const std::size_t least : {steps.size(), std::size_t{1}}) {
        for (const auto& [key, entry] : counted)
            if (entry.first >= least) common.push_back(entry.second);
        if (!common.empty()) break;
    }
    std::ranges::stable_sort(common, {}, &ChangedFact::cause);
    return common;
}

bool share_a_fact(const Cluster& cluster, const ExplainedStep& step) {
    const auto keys = keys_of(step.step.facts);
    return std::ranges::any_of(cluster.steps, [&](const ExplainedStep* other) {
        return std::ranges::any_of(other->step.facts, [&](const ChangedFact& fact) {
            return std::ranges::binary_search(keys, key_of(fact));
        });
    });
}

bool overlap(const Cluster& cluster, double earliest, double latest) {
    return earliest <= cluster.latest && cluster.earliest <= latest;
}

class Events {
public:
    Events(std::size_t group, std::span<const Line> lines) : group_{group}, lines_{lines} {}

    std::vector<Cluster> clusters(std::span<ExplainedStep> steps) const {
        std::map<std::string, std::vector<Cluster>> by_machine;
        for (auto& step : steps) add(by_machine[step.step.machine], step);
        std::vector<Cluster> merged;
        for (auto& [machine, clusters] : by_machine)
            for (auto& cluster : clusters) merge(merged, std::move(cluster));
        return merged;
    }

    HistoryEvent event(const Cluster& cluster) const {
        HistoryEvent event{.seconds = cluster.steps.front()->step.seconds,
                           .until = cluster.steps.front()->step.seconds,
                           .earliest = cluster.earliest,
                           .latest = cluster.latest,
                           .cause = cause_of(cluster.facts),
                           .facts = cluster.facts};
        std::set<std::string> machines;
        std::set<std::size_t> better;
        std::set<std::size_t> worse;
        for (const auto* step : cluster.steps) {
            event.seconds = std::min(event.seconds, step->step.seconds);
            event.until = std::max(event.until, step->step.seconds);
            machines.insert(step->step.machine);
            (step->better ? better : worse).insert(lines_[step->line].series);
        }
        event.machines.assign(machines.begin(), machines.end());
        event.better = better.size();
        event.worse = worse.size();
        std::set<std::size_t> measured;
        for (const auto& line : lines_)
            if (line.group == group_ && machines.contains(line.machine) && spans(line, event))
                measured.insert(line.series);
        event.measured = measured.size();
        std::vector<HistoryStep> steps;
        for (const auto* step : cluster.steps) steps.push_back(step->step);
        event.text = event_in_words(event, steps);
        return event;
    }

private:
    static bool spans(const Line& line, const HistoryEvent& event) {
        return line.samples.front().seconds < event.until &&
               line.samples.back().seconds >= event.seconds;
    }
    static void add(std::vector<Cluster>& clusters, ExplainedStep& step) {
        const auto fits = [&](const Cluster& cluster) {
            if (cluster.steps.front()->step.facts.empty() != step.step.facts.empty()) return false;
            return step.step.facts.empty() ? overlap(cluster, step.step.earliest, step.step.latest)
                                           : share_a_fact(cluster, step);
        };
        auto at = std::ranges::find_if(clusters, fits);
        if (at == clusters.end()) {
            clusters.push_back({.steps = {},
                                .facts = {},
                                .earliest = step.step.earliest,
                                .latest = step.step.latest});
            at = clusters.end() - 1;
        }
        at->steps.push_back(&step);
        at->facts = common_facts(at->steps);
        // What all of them allow.
        at->earliest = std::max(at->earliest, step.step.earliest);
        at->latest = std::min(at->latest, step.step.latest);
    }
    static void merge(std::vector<Cluster>& merged, Cluster&& cluster) {
        const auto keys = keys_of(cluster.facts);
        for (auto& other : merged) {
            const bool same = keys.empty() ? other.facts.empty() &&
                                                 overlap(other, cluster.earliest, cluster.latest)
                                           : keys == keys_of(other.facts);
            if (!same) continue;
            std::ranges::copy(cluster.steps, std::back_inserter(other.steps));
            other.earliest = std::max(other.earliest, cluster.earliest);
            other.latest = std::min(other.latest, cluster.latest);
            return;
        }
        merged.push_back(std::move(cluster));
    }

    std::size_t group_;
    std::span<const Line> lines_;
};

} // namespace

std::vector<ExplainedStep> explain(const Collection& collection, const FactBook& book,
                                   const Tracks& tracks, std::span<const Line> lines,
                                   std::span<const FoundStep> found) {
    std::vector<ExplainedStep> out;
    for (const auto& step : found) {
        const auto& line = lines[step.line];
        const auto& series =
            collection.series[tracks.groups[line.group].series[line.series].series];
        const Evidence evidence{book, series, line};
        ExplainedStep explained{
            .line = step.line, .at = step.at, .better = step.difference.log_ratio > 0};
        auto& into = explained.step;
        // Of the places that fit about as well, one where something was recorded to change.
        for (const std::size_t place : step.places) {
            auto facts = evidence.changes(step, place);
            if (facts.empty()) continue;
            explained.at = place;
            into.facts = std::move(facts);
            break;
        }
        const auto [first, last] = std::ranges::minmax(step.places);
        const bool is_known = !into.facts.empty();
        into.seconds = line.samples[explained.at].seconds;
        into.earliest = line.samples[(is_known ? explained.at : first) - 1].seconds;
        into.latest = line.samples[is_known ? explained.at : last].seconds;
        into.machine = line.machine;
        into.cause = cause_of(into.facts);
        into.ratio = std::exp(step.difference.log_ratio);
        if (std::isfinite(step.difference.low)) into.low = std::exp(step.difference.low);
        if (std::isfinite(step.difference.high)) into.high = std::exp(step.difference.high);
        into.p = step.p;
        const double up = series.higher_is_better ? 1 : -1;
        into.before = std::exp(up * step.before);
        into.after = std::exp(up * step.after);
        out.push_back(std::move(explained));
    }
    return out;
}

std::vector<HistoryEvent> make_events(const Collection& collection, const FactBook& book,
                                      const Tracks& tracks, std::size_t group,
                                      std::span<const Line> lines, std::span<ExplainedStep> steps) {
    count_elsewhere(collection, book, tracks.groups[group], lines, steps);
    for (auto& step : steps) step.step.text = step_in_words(step.step);
    const Events maker{group, lines};
    std::vector<HistoryEvent> events;
    for (const auto& cluster : maker.clusters(steps)) events.push_back(maker.event(cluster));
    std::ranges::stable_sort(events, {}, &HistoryEvent::seconds);
    return events;
}

} // namespace assay::report
