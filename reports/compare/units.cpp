// SPDX-License-Identifier: Apache-2.0

#include "compare/units.hpp"

#include "record/metrics.hpp"
#include "stats/difference.hpp"
#include "stats/summary.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

namespace assay::compare {
namespace {

/// Numbers texts from 1 on.
class Numbers {
public:
    std::uint32_t of(const std::string& text) {
        return known_.try_emplace(text, static_cast<std::uint32_t>(known_.size() + 1))
            .first->second;
    }

private:
    std::unordered_map<std::string, std::uint32_t> known_;
};

/// Zero is one where nothing may be lost.
bool is_figure(double value, std::string_view metric) {
    const auto* const definition = record::find_metric(metric);
    return std::isfinite(value) &&
           (value > 0 || (value == 0 && definition != nullptr && definition->may_be_zero));
}

Unit unit_for(const std::vector<Participants>& sides) {
    const auto any = [&](const auto& list) {
        return std::ranges::any_of(sides, [&](const auto& side) { return list(side).size() > 1; });
    };
    // One side with several is enough to know how much they differ.
    if (any([](const Participants& side) -> auto& { return side.machines; })) return Unit::machine;
    if (any([](const Participants& side) -> auto& { return side.runs; })) return Unit::run;
    return Unit::replica;
}

bool overlap(const std::set<std::uint32_t>& a, const std::set<std::uint32_t>& b) {
    return std::ranges::any_of(a, [&](std::uint32_t entry) { return b.contains(entry); });
}

/// Several machines, or runs, that are on both sides, all of them: each is compared with itself.
bool all_shared(const std::set<std::uint32_t>& a, const std::set<std::uint32_t>& b) {
    return a.size() > 1 && a == b;
}

} // namespace

Quality quality_of(const store::Collection& collection,
                   const std::vector<std::uint32_t>& observations) {
    using record::Knowledge;
    Quality quality{.knowledge = Knowledge::rough};
    std::set<std::uint32_t> runs;
    bool any_known = false;
    bool any_load = false;
    for (const auto index : observations) {
        const auto& seen = collection.observations[index];
        const auto knowledge = decide::knowledge_of(seen);
        any_known |= knowledge == Knowledge::known;
        // Steal in a guest at three times belongs to what the guest can do.
        any_load |= knowledge == Knowledge::at_least &&
                    !(seen.cause && seen.cause->code == record::DisturbanceCode::steal);
        runs.insert(seen.run);
        for (const auto& replica : seen.replicas) {
            const double off = std::abs(std::log(replica.value / *seen.value));
            quality.spread = std::max(quality.spread, off);
            if (!replica.kept && !replica.disturbed && seen.two_levels)
                quality.levels = std::max(quality.levels, off);
        }
    }
    // Runs show by themselves how they differ.
    if (any_known || (!any_load && runs.size() >= enough_runs))
        quality.knowledge = Knowledge::known;
    else if (any_load)
        quality.knowledge = Knowledge::at_least;
    return quality;
}

std::vector<std::uint32_t> used_of(const store::Collection& collection,
                                   const std::vector<std::uint32_t>& observations) {
    std::vector<std::uint32_t> with_value;
    std::vector<std::uint32_t> undisturbed;
    for (const auto index : observations) {
        const auto& seen = collection.observations[index];
        if (!seen.value) continue;
        with_value.push_back(index);
        if (decide::knowledge_of(seen) != record::Knowledge::at_least) undisturbed.push_back(index);
    }
    return undisturbed.empty() ? with_value : undisturbed;
}

std::optional<decide::Delivered> delivered_of(const store::Collection& collection,
                                              const std::vector<std::uint32_t>& observations) {
    double logs = 0;
    double shares = 0;
    double count = 0;
    for (const auto index : observations) {
        const auto& seen = collection.observations[index];
        const auto& machine = collection.machines[collection.runs[seen.run].machine];
        const auto delivered = decide::delivered_of(seen);
        if (!delivered || !decide::is_guest(machine) ||
            collection.series[seen.series].place != "host")
            continue;
        logs += std::log(delivered->value);
        shares += delivered->share;
        ++count;
    }
    if (count == 0) return {};
    return decide::Delivered{.value = std::exp(logs / count), .share = shares / count};
}

double core_latency(const store::Collection& collection,
                    const std::vector<std::uint32_t>& observations) {
    double logs = 0;
    double count = 0;
    for (const auto index : observations)
        if (const auto seconds = collection.observations[index].core_latency;
            seconds && *seconds > 0) {
            logs += std::log(*seconds);
            ++count;
        }
    return std::exp(logs / count);
}

Units::Units(const store::Collection& collection, const Arrangement& arrangement)
    : collection_{collection}, sides_(arrangement.sides.size()) {
    Numbers machines;
    Numbers sessions;
    for (const auto& run : collection.runs) {
        machines_.push_back(machines.of(collection.machines[run.machine].id));
        sessions_.push_back(run.pairing ? sessions.of(run.pairing->id) : 0);
    }
    std::vector<std::vector<bool>> known(sides_.size(), std::vector<bool>(machines_.size()));
    for (const auto& row : arrangement.rows)
        for (std::size_t side = 0; side < row.sides.size(); ++side)
            for (const auto index : row.sides[side]) {
                const auto run = collection.observations[index].run;
                auto& participants = sides_[side];
                if (known[side][run]) continue;
                known[side][run] = true;
                participants.runs.insert(run);
                participants.machines.insert(machines_[run]);
                if (sessions_[run] != 0) participants.sessions.insert(sessions_[run]);
            }
    unit_ = unit_for(sides_);
    const auto& first = sides_.front();
    for (const auto& side : sides_)
        paired_.push_back(overlap(first.sessions, side.sessions) ||
                          (unit_ == Unit::machine && all_shared(first.machines, side.machines)) ||
                          (unit_ == Unit::run && all_shared(first.runs, side.runs)));
}

bool Units::one_machine() const {
    return std::ranges::all_of(sides_, [&](const Participants& side) {
        return side.machines.size() == 1 && side.machines == sides_.front().machines;
    });
}

bool Units::interleaved(std::size_t side) const {
    return overlap(sides_.front().sessions, sides_[side].sessions);
}

double Units::of_all_pairs(const std::vector<std::uint32_t>& first,
                           const std::vector<std::uint32_t>& second) const {
    std::map<std::pair<std::uint32_t, int>, double> of_first;
    for (const auto index : first) {
        const auto& seen = collection_.observations[index];
        for (const auto& replica : seen.replicas)
            of_first.emplace(std::pair{sessions_[seen.run], replica.index}, replica.value);
    }
    std::vector<double> logs;
    for (const auto index : second) {
        const auto& seen = collection_.observations[index];
        for (const auto& replica : seen.replicas)
            if (const auto found = of_first.find({sessions_[seen.run], replica.index});
                sessions_[seen.run] != 0 && found != of_first.end())
                logs.push_back(std::log(replica.value / found->second));
    }
    return logs.empty() ? std::numeric_limits<double>::quiet_NaN() : stats::median(logs);
}

Times Units::times(const std::vector<std::uint32_t>& observations, const ArrangedRow& row) const {
    Times times;
    std::set<std::uint32_t> machines;
    for (const auto index : observations) {
        const auto& observation = collection_.observations[index];
        times.runs.push_back(observation.run);
        machines.insert(machines_[observation.run]);
        times.deviation = std::max(times.deviation, observation.between_runs.value_or(0));
        times.replicas = std::max(times.replicas, observation.between_replicas.value_or(0));
    }
    std::ranges::sort(times.runs);
    const auto repeated = std::ranges::unique(times.runs);
    times.runs.erase(repeated.begin(), repeated.end());
    if (times.deviation == 0 || machines.size() != 1) return times;
    std::vector<double> logs; // of the machine's own runs, on whichever side
    for (const auto& side : row.sides)
        for (const auto index : side) {
            const auto& observation = collection_.observations[index];
            if (observation.value && std::isfinite(*observation.value) && *observation.value > 0 &&
                decide::knowledge_of(observation) != record::Knowledge::at_least &&
                machines.contains(machines_[observation.run]))
                logs.push_back(std::log(*observation.value));
        }
    constexpr std::size_t enough = 4; // three degrees of freedom
    if (logs.size() < enough) return times;
    const auto history = stats::own_variance(logs);
    times.deviation = std::sqrt(history.variance);
    times.degrees = history.degrees;
    times.history = logs.size();
    return times;
}

Sample Units::sample(const std::vector<std::uint32_t>& observations, std::size_t& invalid) const {
    struct Sum {
        std::uint64_t pair = 0;
        std::vector<double> values;
        double when = 0;
    };
    std::map<std::uint64_t, Sum> sums;
    std::string_view metric;
    const auto add = [&](std::uint64_t id, std::uint64_t pair, double value, double when) {
        if (!is_figure(value, metric)) {
            ++invalid;
            return;
        }
        auto& sum = sums[id];
        if (sum.values.empty()) sum.when = when;
        sum.pair = pair;
        sum.values.push_back(value);
        sum.when = std::min(sum.when, when);
    };
    for (const auto index : observations) {
        const auto& observation = collection_.observations[index];
        metric = collection_.series[observation.series].metric;
        const auto run = observation.run;
        const double when = collection_.runs[run].started_seconds;
        if (unit_ == Unit::machine) {
            // Its runs count alike, so that the machine that ran most does not decide.
            add(machines_[run], machines_[run], *observation.value, when);
        } else if (unit_ == Unit::run || observation.replicas.empty()) {
            const std::uint64_t id = std::uint64_t{run} + 1;
            add(id, sessions_[run] == 0 ? id : std::uint64_t{sessions_[run]} << 32U,
                *observation.value, when);
        } else {
            for (const auto& replica : counted(observation)) {
                const auto place = static_cast<std::uint32_t>(replica.index) + 1U;
                add((std::uint64_t{run} << 32U) + place,
                    sessions_[run] == 0 ? 0 : (std::uint64_t{sessions_[run]} << 32U) + place,
                    replica.value, when);
            }
        }
    }
    std::vector<std::pair<double, UnitValue>> ordered;
    for (const auto& [id, sum] : sums)
        ordered.push_back({sum.when, {id, sum.pair, stats::average(sum.values)}});
    std::ranges::stable_sort(ordered, {}, [](const auto& entry) { return entry.first; });
    Sample sample;
    for (const auto& entry : ordered) sample.push_back(entry.second);
    return sample;
}

} // namespace assay::compare
