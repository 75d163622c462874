// SPDX-License-Identifier: Apache-2.0
#include "procure/scores.hpp"

#include "base/console.hpp"
#include "cost/rates.hpp"
#include "offers/lint.hpp"
#include "report/text.hpp"
#include "store/keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace assay::report {
namespace {

/// What is compared of a measure: "" for the best of all, else a question.
using Item = std::string;
/// By run: of one machine.
using ByRun = std::map<std::uint32_t, double>;

/// What one type has of one measure.
struct Found {
    std::map<std::string, std::map<Item, ByRun>> machines; ///< logarithms
    std::set<std::string> series;
    std::set<std::string> units;
    bool on_device = false;
    bool multiplied = false;

    std::set<Item> items() const {
        std::set<Item> all;
        for (const auto& [id, own] : machines)
            for (const auto& [item, runs] : own) all.insert(item);
        return all;
    }
};

/// Processes of a team measure their machines, of which there must be as many as are offered.
bool is_of_team(const Series& series) {
    return std::ranges::any_of(series.parameters,
                               [](const auto& one) { return one.name == "ranks"; });
}
std::string together_in(const Series& series) {
    return record::text(series.parameters, "together");
}

/// A rate may be of operations of any kind, where a measure takes either.
std::string unit_of(const Series& series) { return series.unit == "OP/s" ? "FLOP/s" : series.unit; }

double middle(std::vector<double> values) {
    const auto half = static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, values.begin() + half);
    if (values.size() % 2 == 1) return values[half];
    return (values[half] + *std::ranges::max_element(values.begin(), values.begin() + half)) / 2;
}

class Scoring {
public:
    Scoring(const std::vector<Offer>& offers, const Profile& profile, const Profiles& profiles,
            const Collection& runs, const datasheet::Hardware* hardware)
        : profile_{profile}, profiles_{profiles}, runs_{runs} {
        for (const auto& offer : offers) add_type(offer);
        find_machines(offers, hardware);
    }

    Result<Scores> take(double least_coverage) {
        for (const auto& weight : profile_.weights)
            if (auto fine = gather(measure_of(profiles_, weight)); !fine)
                return tl::unexpected{fine.error()};
        std::vector<bool> enough(scores_.types.size());
        for (std::size_t t = 0; t < scores_.types.size(); ++t) {
            auto& type = scores_.types[t];
            for (std::size_t m = 0; m < profile_.weights.size(); ++m)
                if (!found_[m][t].machines.empty()) type.coverage += profile_.weights[m].value;
            enough[t] = type.coverage >= least_coverage && type.coverage > 0;
        }
        // A type without one complete machine would take items away from all others.
        for (bool again = true; again;) {
            compare(enough);
            again = false;
            for (std::size_t t = 0; t < enough.size(); ++t)
                if (enough[t] && scores_.types[t].machines.empty()) {
                    enough[t] = false;
                    again = true;
                }
        }
        for (std::size_t t = 0; t < enough.size(); ++t) scores_.types[t].ranked = enough[t];
        return std::move(scores_);
    }

private:
    void add_type(const Offer& offer) {
        if (type_of(offer) < scores_.types.size()) return;
        ScoredType type;
        type.provider = offer.provider;
        type.instance = offer.instance;
        type.nodes = offer.count.value_or(1);
        scores_.types.push_back(std::move(type));
    }

    std::size_t type_of(const Offer& offer) const {
        const auto found = std::ranges::find_if(scores_.types, [&](const auto& type) {
            return type.provider == offer.provider && type.instance == offer.instance &&
                   type.nodes == offer.count.value_or(1);
        });
        return static_cast<std::size_t>(found - scores_.types.begin());
    }

    /// For each machine the types that it is one of.
    void find_machines(const std::vector<Offer>& offers, const datasheet::Hardware* hardware) {
        std::map<std::string, std::vector<const Offer*>> by_instance;
        for (const auto& offer : offers) by_instance[offer.instance].push_back(&offer);
        for (const auto& machine : runs_.machines) {
            auto& types = types_.emplace_back();
            const auto named = by_instance.find(machine.instance);
            if (named == by_instance.end()) continue;
            std::set<std::size_t> found;
            for (const auto* offer : named->second)
                if (is_of(*offer, machine, hardware)) found.insert(type_of(*offer));
            types.assign(found.begin(), found.end());
        }
    }
    const std::vector<std::size_t>& types_of(const Observation& seen) const {
        return types_[runs_.runs[seen.run].machine];
    }

    Result<void> gather(const Measure& measure) {
        found_.emplace_back(scores_.types.size());
        fits_any_.push_back(false);
        auto filters = make_filters(runs_, measure.where);
        if (!filters) return {}; // a key that no series has: not measured
        const auto fits = [&](const Observation& seen) {
            return std::ranges::all_of(*filters, [&](const auto& f) { return f.admits(seen); });
        };
        fits_any_.back() = std::ranges::any_of(runs_.observations, fits);
        std::vector<const Observation*> alone;
        std::vector<const Observation*> together;
        std::vector<bool> of_team(runs_.series.size());
        for (std::size_t s = 0; s < runs_.series.size(); ++s)
            of_team[s] = is_of_team(runs_.series[s]);
        for (const auto& seen : runs_.observations) {
            const auto& series = runs_.series[seen.series];
            if (types_of(seen).empty() || !is_good(seen) ||
                (measure.metric.empty() ? !seen.is_primary : series.metric != measure.metric) ||
                !fits(seen))
                continue;
            const auto how = together_in(series);
            if (how.empty())
                alone.push_back(&seen);
            else if (how.starts_with("devices")) // parts of a host are no host
                together.push_back(&seen);
        }
        add(measure, together, of_team);
        const bool all_together = std::ranges::all_of(
            found_.back(), [](const Found& found) { return !found.machines.empty(); });
        if (!all_together || !measure.per_device) {
            found_.back().assign(scores_.types.size(), {});
            add(measure, alone, of_team);
            mark_multiplied(measure);
        }
        if (measure.take == Take::best)
            for (const auto& found : found_.back())
                if (found.units.size() > 1)
                    return fail(fmt::format("measure \"{}\" takes the best of test items in {}; "
                                            "narrow it to one unit, or take each",
                                            measure.id,
                                            list_of({found.units.begin(), found.units.end()}, 4)));
        return {};
    }

    double devices_of(const Observation& seen) const {
        return static_cast<double>(runs_.machines[runs_.runs[seen.run].machine].devices.size());
    }

    void mark_multiplied(const Measure& measure) {
        if (!measure.per_device) return;
        for (std::size_t m = 0; m < types_.size(); ++m)
            if (runs_.machines[m].devices.size() > 1)
                for (const auto t : types_[m])
                    found_.back()[t].multiplied = found_.back()[t].on_device;
    }

    /// The rate of a node in one run: that of one device, the mean of those measured, times their number.
    void add(const Measure& measure, const std::vector<const Observation*>& all,
             const std::vector<bool>& of_team) {
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<const Observation*>> cases;
        for (const auto* seen : all) cases[{seen->run, seen->series}].push_back(seen);
        for (const auto& [key, devices] : cases) {
            const auto& first = *devices.front();
            const auto& series = runs_.series[first.series];
            double log = 0;
            for (const auto* seen : devices) log += *seen->value;
            log = std::log(log / static_cast<double>(devices.size()));
            if (!series.higher_is_better) log = -log;
            if (measure.per_device && series.place != "host" && series.higher_is_better)
                log += std::log(std::max(1.0, devices_of(first)));
            const Item item = measure.take == Take::best ? "" : series.question;
            const auto& machine = runs_.machines[runs_.runs[first.run].machine].id;
            for (const auto t : types_of(first)) {
                if (of_team[first.series] && nodes_of(first, runs_) != scores_.types[t].nodes)
                    continue;
                auto& found = found_.back()[t];
                const auto [at, is_new] = found.machines[machine][item].try_emplace(first.run, log);
                if (!is_new) at->second = std::max(at->second, log);
                found.series.insert(name_of(series));
                found.units.insert(unit_of(series));
                if (series.place != "host") found.on_device = true;
            }
        }
    }

    /// What types that are ranked have in common, and each machine's logarithms of it.
    void compare(const std::vector<bool>& ranked) {
        scores_.measures.clear();
        scores_.coverage = 0;
        for (auto& type : scores_.types) {
            type.machines.clear();
            type.partial = 0;
        }
        std::vector<std::set<Item>> common;
        for (std::size_t m = 0; m < profile_.weights.size(); ++m) {
            Compared compared{.measure = profile_.weights[m].measure,
                              .weight = profile_.weights[m].value,
                              .found = fits_any_[m]};
            std::optional<std::set<Item>> shared;
            std::set<std::string> units;
            for (std::size_t t = 0; t < ranked.size(); ++t) {
                const auto& found = found_[m][t];
                if (!ranked[t]) continue;
                const auto items = found.items();
                if (!shared)
                    shared = items;
                else
                    std::erase_if(*shared, [&](const Item& i) { return !items.contains(i); });
                units.insert(found.units.begin(), found.units.end());
                compared.multiplied |= found.multiplied;
                if (compared.series.empty())
                    compared.series.assign(found.series.begin(), found.series.end());
            }
            compared.counts = shared && !shared->empty();
            if (units.size() == 1) compared.unit = *units.begin();
            if (compared.counts) scores_.coverage += compared.weight;
            common.push_back(shared.value_or(std::set<Item>{}));
            scores_.measures.push_back(std::move(compared));
        }
        for (std::size_t t = 0; t < ranked.size(); ++t)
            if (ranked[t]) machines(t, common);
    }

    void machines(std::size_t t, const std::vector<std::set<Item>>& common) {
        std::map<std::string, std::set<std::uint32_t>> runs;
        for (const auto& measure : found_)
            for (const auto& [id, items] : measure[t].machines)
                for (const auto& [item, own] : items)
                    for (const auto& [run, log] : own) runs[id].insert(run);
        for (const auto& [id, own] : runs) {
            ScoredMachine machine{.id = id, .runs = own.size(), .logs = {}};
            bool complete = true;
            for (std::size_t m = 0; m < common.size() && complete; ++m) {
                if (!scores_.measures[m].counts) continue;
                double sum = 0;
                const auto& machines = found_[m][t].machines;
                const auto found = machines.find(id);
                for (const auto& item : common[m]) {
                    if (found == machines.end() || !found->second.contains(item)) {
                        complete = false;
                        break;
                    }
                    std::vector<double> logs;
                    for (const auto& [run, log] : found->second.at(item)) logs.push_back(log);
                    sum += middle(std::move(logs));
                }
                machine.logs.push_back(sum / static_cast<double>(common[m].size()));
            }
            if (complete)
                scores_.types[t].machines.push_back(std::move(machine));
            else
                ++scores_.types[t].partial;
        }
    }

    const Profile& profile_;
    const Profiles& profiles_;
    const Collection& runs_;
    std::vector<Offer> offers_;                   ///< one of each type
    std::vector<std::vector<std::size_t>> types_; ///< by run
    std::vector<std::vector<Found>> found_;       ///< by measure, by type
    std::vector<bool> fits_any_;                  ///< by measure
    Scores scores_;
};

} // namespace

Result<Scores> score(const std::vector<Offer>& offers, const Profile& profile,
                     const Profiles& profiles, const Collection& runs, double least_coverage,
                     const datasheet::Hardware* hardware) {
    return Scoring{offers, profile, profiles, runs, hardware}.take(least_coverage);
}

} // namespace assay::report
