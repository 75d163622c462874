// SPDX-License-Identifier: Apache-2.0

#include "limits/effective.hpp"

#include "base/utc.hpp"
#include "judge/bound.hpp"
#include "judge/match.hpp"
#include "report/text.hpp"
#include "stats/summary.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace assay::report {
namespace {

std::string words_of(const record::Machine& machine) {
    const auto& name = machine.instance.empty() || machine.instance == "unknown" ? machine.cpu_model
                                                                                 : machine.instance;
    return name.empty() ? plain(machine.id) : plain(name);
}

/// What shares resolve to on one machine.
class Resolver {
public:
    Resolver(const Limits& limits, const Collection& run) : run_{run} {
        for (const auto& limit : limits.limits) by_id_.try_emplace(limit.id, &limit);
    }

    void resolve(EffectiveLimit& into) const {
        const auto& limit = into.limit;
        double share = limit.at_least ? *limit.at_least : *limit.at_most;
        const Limit* base = &limit;
        while (!base_of(*base).empty()) {
            base = by_id_.find(base_of(*base))->second;
            share *= base->at_least ? *base->at_least : *base->at_most;
        }
        std::vector<double> values;
        for (const auto& seen : run_.observations) {
            const auto& series = run_.series[seen.series];
            if (!seen.is_primary || !is_for(*base, series)) continue;
            into.unit = series.unit;
            if (base->share_of.empty()) values.push_back(1);
            if (base->share_of == "datasheet" && seen.datasheet) values.push_back(*seen.datasheet);
            if (base->share_of == "siblings" && seen.value) values.push_back(*seen.value);
            if (const auto sheet = sheet_for(*base, series)) values.push_back(*sheet);
        }
        if (base->share_of.empty()) into.unit = base->unit;
        if (values.empty()) return;
        if (base->share_of == "siblings") values = {stats::median(values)};
        into.low = share * *std::ranges::min_element(values);
        into.high = share * *std::ranges::max_element(values);
    }

private:
    /// As bound_of_limit() of the judge.
    std::optional<double> sheet_for(const Limit& limit, const Series& series) const {
        if (sheet_of(limit).empty()) return {};
        std::optional<double> most;
        for (const auto& seen : run_.observations)
            if (seen.datasheet && bounds(run_.series[seen.series], sheet_of(limit), series))
                most = std::max(most.value_or(0), *seen.datasheet * limit.per_unit.value_or(1));
        return most;
    }

    const Collection& run_;
    std::map<std::string, const Limit*, std::less<>> by_id_;
};

} // namespace

Result<Effective> effective(const Limits& limits, const Collection* run, double now) {
    Effective out{.names = limits.names,
                  .machine = "",
                  .all = limits.limits.size(),
                  .limits = {},
                  .waivers = {},
                  .now = now};
    const record::Machine* machine = nullptr;
    if (run != nullptr) {
        std::set<std::string> ids;
        for (const auto& one : run->runs) ids.insert(run->machines[one.machine].id);
        if (ids.size() != 1)
            return fail(ids.empty()
                            ? "there is no run among these"
                            : "these runs are of several machines; limits are shown for one");
        machine = &run->machines[run->runs.back().machine];
        out.machine = words_of(*machine);
    }
    std::map<std::string, std::string> replaced;
    for (const auto& one : limits.replaced) replaced[one.id] = one.file;
    for (const auto& limit : limits.limits) {
        if (machine != nullptr && !is_for(limit.machine, *machine)) continue;
        EffectiveLimit own{
            .limit = limit, .replaced = replaced[limit.id], .expired = is_over(limit.expires, now)};
        if (machine != nullptr && !limit.share_of.empty()) Resolver{limits, *run}.resolve(own);
        out.limits.push_back(std::move(own));
    }
    for (const auto& waiver : limits.waivers)
        if (machine == nullptr || waiver.machine.empty() || waiver.machine == machine->id ||
            std::ranges::any_of(machine->identity.serials, [&](const record::Serial& serial) {
                return serial.text == waiver.machine || serial.keyed == waiver.machine;
            }))
            out.waivers.push_back(waiver);
    return out;
}

} // namespace assay::report
