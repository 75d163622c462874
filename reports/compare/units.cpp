// SPDX-License-Identifier: Apache-2.0

#include "compare/units.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <unordered_map>

namespace assay::report {
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

bool is_figure(double value) { return std::isfinite(value) && value > 0; }

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

bool is_disturbed(const Collection& collection, const std::vector<std::uint32_t>& observations) {
    bool any = false;
    for (const auto index : observations) {
        const auto& observation = collection.observations[index];
        if (!observation.value) continue;
        any = true;
        if (observation.status != record::Status::disturbed) return false;
    }
    return any;
}

Units::Units(const Collection& collection, const Arrangement& arrangement)
    : collection_{collection}, sides_(arrangement.sides.size()) {
    Numbers machines;
    Numbers sessions;
    for (const auto& run : collection.runs) {
        machines_.push_back(machines.of(collection.machines[run.machine].id));
        sessions_.push_back(run.pairing ? sessions.of(run.pairing->id) : 0);
    }
    for (const auto& row : arrangement.rows)
        for (std::size_t side = 0; side < row.sides.size(); ++side)
            for (const auto index : row.sides[side]) {
                const auto run = collection.observations[index].run;
                auto& participants = sides_[side];
                if (!participants.runs.insert(run).second) continue;
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

Sample Units::sample(const std::vector<std::uint32_t>& observations, std::size_t& useless) const {
    struct Sum {
        std::uint64_t pair = 0;
        double logs = 0;
        double count = 0;
        double when = 0;
    };
    std::map<std::uint64_t, Sum> sums;
    const auto add = [&](std::uint64_t id, std::uint64_t pair, double value, double when) {
        if (!is_figure(value)) {
            ++useless;
            return;
        }
        auto& sum = sums[id];
        if (sum.count == 0) sum.when = when;
        sum.pair = pair;
        sum.logs += std::log(value);
        sum.count += 1;
        sum.when = std::min(sum.when, when);
    };
    const bool all_disturbed = is_disturbed(collection_, observations);
    for (const auto index : observations) {
        const auto& observation = collection_.observations[index];
        if (!observation.value) continue;
        if (observation.status == record::Status::disturbed && !all_disturbed) continue;
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
            for (const auto& [index_in_run, value] : observation.replicas) {
                const auto place = static_cast<std::uint32_t>(index_in_run) + 1U;
                add((std::uint64_t{run} << 32U) + place,
                    sessions_[run] == 0 ? 0 : (std::uint64_t{sessions_[run]} << 32U) + place, value,
                    when);
            }
        }
    }
    std::vector<std::pair<double, UnitValue>> ordered;
    for (const auto& [id, sum] : sums)
        ordered.push_back({sum.when, {id, sum.pair, std::exp(sum.logs / sum.count)}});
    std::ranges::stable_sort(ordered, {}, [](const auto& entry) { return entry.first; });
    Sample sample;
    for (const auto& entry : ordered) sample.push_back(entry.second);
    return sample;
}

} // namespace assay::report
