// SPDX-License-Identifier: Apache-2.0
#include "base/console.hpp"
#include "document/text.hpp"
#include "purchase/cost.hpp"
#include "purchase/offer_document.hpp"
#include "purchase/ranking.hpp"
#include "stats/summary.hpp"
#include "store/keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <variant>

namespace assay::purchase {
namespace {

/// Compared work: its kind (a benchmark and its non-numeric parameters, such as the precision) and its size.
struct Item {
    std::string kind;
    std::string what; ///< kind and size; where each library and way counts by itself, these too
    auto operator<=>(const Item&) const = default;
};
/// By run: of one machine.
using ByRun = std::map<std::uint32_t, double>;

/// Results of one type for one measure.
struct Found {
    std::map<std::string, std::map<Item, ByRun>> machines; ///< logarithms
    std::map<Item, std::set<std::string>> series;          ///< names
    std::map<Item, std::string> units;
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
bool is_of_team(const decide::Series& series) {
    return std::ranges::any_of(series.parameters,
                               [](const auto& one) { return one.name == "ranks"; });
}
std::string together_in(const decide::Series& series) {
    return record::text(series.parameters, "together");
}

/// Measured once more for acceptance: one device while the others idle, or all of them for 40 s.
bool is_of_acceptance(const decide::Series& series) {
    return std::ranges::any_of(series.parameters, [](const auto& one) {
        return one.name == "alone" || one.name == "stress";
    });
}

/// Says how work is done, not what it is: the fastest way of each machine counts.
bool is_way(const std::string& name, const record::Value& value) {
    static const std::set<std::string, std::less<>> ways{
        "stores", "isa",       "weights",   "planning", "kernels",
        "engine", "algorithm", "transport", "in_place", "together"};
    // Parameters that some places leave out because they have only one value.
    static const std::set<std::pair<std::string, std::string>> usual{
        {"threads", "all"}, {"ranks", "all"}, {"accumulation", "exact"}, {"cache", "hot"}};
    return ways.contains(name) || usual.contains({name, record::to_string(value)});
}

Item item_of(const decide::Series& series, Take take) {
    Item item{.kind = fmt::format("{}/{} {}", series.benchmark, series.version, series.metric),
              .what = {}};
    std::string size;
    // By name: a host and a device need not list them in the same order.
    std::map<std::string, std::string> words;
    for (const auto& [name, value] : series.parameters) {
        if (is_way(name, value)) continue;
        const bool number =
            std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value);
        // A number of threads or ranks is another machine, not another size of the work.
        if (number && name != "threads" && name != "ranks")
            words.emplace("size " + name, record::to_string(value));
        else
            words.emplace(name, record::to_string(value));
    }
    for (const auto& [name, value] : words)
        (name.starts_with("size ") ? size : item.kind) += fmt::format(" {}={}", name, value);
    item.what = item.kind + size;
    if (take == Take::each) item.what += ' ' + series.question;
    return item;
}

/// A rate may be of operations of any kind, where a measure takes either.
std::string unit_of(const decide::Series& series) {
    return series.unit == "OP/s" ? "FLOP/s" : series.unit;
}

class Scoring {
public:
    Scoring(const std::vector<Offer>& offers, const Profile& profile, const Profiles& profiles,
            const store::Collection& runs, const reference::Hardware* hardware)
        : profile_{profile}, profiles_{profiles}, runs_{runs} {
        for (const auto& offer : offers) add_type(offer);
        find_machines(offers, hardware);
    }

    Result<Scores> take(double least_coverage) {
        for (const auto& weight : profile_.weights)
            ASSAY_TRY(gather(measure_of(profiles_, weight)));
        std::vector<bool> enough(scores_.types.size());
        for (std::size_t t = 0; t < scores_.types.size(); ++t) {
            auto& type = scores_.types[t];
            for (std::size_t m = 0; m < profile_.weights.size(); ++m)
                if (!found_[m][t].machines.empty()) type.coverage += profile_.weights[m].value;
            enough[t] = type.coverage >= least_coverage && type.coverage > 0;
        }
        // A type without one complete machine would take items away from all others, and so would one that was measured
        // by other work.
        for (bool again = true; again;) {
            compare(enough);
            again = false;
            for (std::size_t t = 0; t < enough.size(); ++t)
                if (enough[t] && scores_.types[t].machines.empty()) {
                    enough[t] = false;
                    again = true;
                }
            if (!again) again = drop_strangers(enough, least_coverage);
        }
        for (std::size_t t = 0; t < enough.size(); ++t) scores_.types[t].ranked = enough[t];
        for (const auto& [t, shares] : shares_)
            scores_.types[t].fast_share = std::accumulate(shares.begin(), shares.end(), 0.0) /
                                          static_cast<double>(shares.size());
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
    void find_machines(const std::vector<Offer>& offers, const reference::Hardware* hardware) {
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
    const std::vector<std::size_t>& types_of(const decide::Observation& seen) const {
        return types_[runs_.runs[seen.run].machine];
    }

    /// If ranked types have less than `least` of the weight in common, takes out those that share least with the rest,
    /// all of them where several do, since none is then more at home than another.
    bool drop_strangers(std::vector<bool>& ranked, double least) {
        constexpr double rounding = 1e-9;
        if (std::ranges::count(ranked, true) < 2 || scores_.coverage >= least - rounding)
            return false;
        std::vector<double> shares(ranked.size());
        for (std::size_t m = 0; m < found_.size(); ++m) {
            std::map<Item, std::size_t> types; // that have it
            for (std::size_t t = 0; t < ranked.size(); ++t)
                if (ranked[t])
                    for (const auto& item : found_[m][t].items()) ++types[item];
            for (std::size_t t = 0; t < ranked.size(); ++t) {
                std::size_t most = 1; // itself
                if (ranked[t])
                    for (const auto& item : found_[m][t].items())
                        most = std::max(most, types[item]);
                shares[t] += profile_.weights[m].value * static_cast<double>(most - 1);
            }
        }
        double lowest = std::numeric_limits<double>::infinity();
        for (std::size_t t = 0; t < ranked.size(); ++t)
            if (ranked[t]) lowest = std::min(lowest, shares[t]);
        for (std::size_t t = 0; t < ranked.size(); ++t)
            if (ranked[t] && shares[t] <= lowest + rounding) {
                ranked[t] = false;
                scores_.types[t].in_common = scores_.coverage;
            }
        return true;
    }

    Result<void> gather(const Measure& measure) {
        found_.emplace_back(scores_.types.size());
        fits_any_.push_back(false);
        auto filters = make_filters(runs_, measure.where);
        if (!filters) return {}; // a key that no series has: not measured
        const auto fits = [&](const decide::Observation& seen) {
            return std::ranges::all_of(*filters, [&](const auto& f) { return f.admits(seen); });
        };
        fits_any_.back() = std::ranges::any_of(runs_.observations, fits);
        std::vector<const decide::Observation*> alone;
        std::vector<const decide::Observation*> together;
        std::vector<bool> of_team(runs_.series.size());
        for (std::size_t s = 0; s < runs_.series.size(); ++s)
            of_team[s] = is_of_team(runs_.series[s]);
        for (const auto& seen : runs_.observations) {
            const auto& series = runs_.series[seen.series];
            if (types_of(seen).empty() || !is_good(seen) || is_of_acceptance(series) ||
                (measure.metric.empty() ? !seen.is_primary : series.metric != measure.metric) ||
                !fits(seen))
                continue;
            const auto how = together_in(series);
            if (how.empty())
                alone.push_back(&seen);
            else if (how.starts_with("devices")) // parts of a host do not count as a host
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
            for (const auto& found : found_.back()) {
                std::set<std::string> units;
                for (const auto& [item, unit] : found.units) units.insert(unit);
                if (units.size() > 1)
                    return fail(fmt::format("measure \"{}\" takes the best of cases in {}: "
                                            "narrow it to one unit, or take each",
                                            measure.id,
                                            document::list_of({units.begin(), units.end()}, 4)));
            }
        return {};
    }

    double devices_of(const decide::Observation& seen) const {
        return static_cast<double>(runs_.machines[runs_.runs[seen.run].machine].devices.size());
    }

    void mark_multiplied(const Measure& measure) {
        if (!measure.per_device) return;
        for (std::size_t m = 0; m < types_.size(); ++m)
            if (runs_.machines[m].devices.size() > 1)
                for (const auto t : types_[m])
                    found_.back()[t].multiplied = found_.back()[t].on_device;
    }

    double rate_of(const decide::Observation& seen) {
        const auto delivered = delivered_in(seen, runs_);
        if (!delivered) return *seen.value;
        for (const auto t : types_of(seen)) shares_[t].push_back(delivered->share);
        return delivered->value;
    }

    /// The rate of a node in one run: that of one device, the mean of those measured, times their number.
    void add(const Measure& measure, const std::vector<const decide::Observation*>& all,
             const std::vector<bool>& of_team) {
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<const decide::Observation*>>
            cases;
        for (const auto* seen : all) cases[{seen->run, seen->series}].push_back(seen);
        std::map<std::uint32_t, Item> known; // by series
        for (const auto& [key, devices] : cases) {
            const auto& first = *devices.front();
            const auto& series = runs_.series[first.series];
            double log = 0;
            for (const auto* seen : devices) log += rate_of(*seen);
            log = std::log(log / static_cast<double>(devices.size()));
            if (!series.higher_is_better) log = -log;
            if (measure.per_device && series.place != "host" && series.higher_is_better)
                log += std::log(std::max(1.0, devices_of(first)));
            auto& item = known[first.series];
            if (item.kind.empty()) item = item_of(series, measure.take);
            const auto& machine = runs_.machines[runs_.runs[first.run].machine].id;
            for (const auto t : types_of(first)) {
                if (of_team[first.series] && nodes_of(first, runs_) != scores_.types[t].nodes)
                    continue;
                auto& found = found_.back()[t];
                const auto [at, is_new] = found.machines[machine][item].try_emplace(first.run, log);
                if (!is_new) at->second = std::max(at->second, log);
                found.series[item].insert(name_of(series));
                found.units.emplace(item, unit_of(series));
                if (series.place != "host") found.on_device = true;
            }
        }
    }

    /// Cases that all ranked types have in common, and each machine's logarithms of them.
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
            for (std::size_t t = 0; t < ranked.size(); ++t) {
                if (!ranked[t]) continue;
                const auto& found = found_[m][t];
                if (!shared) shared = found.items();
                std::erase_if(*shared, [&](const Item& i) { return !found.series.contains(i); });
                compared.multiplied |= found.multiplied;
            }
            common.push_back(of_one_kind(shared.value_or(std::set<Item>{}), m, ranked));
            describe(compared, common.back(), m, ranked);
            if (compared.counts) scores_.coverage += compared.weight;
            scores_.measures.push_back(std::move(compared));
        }
        for (std::size_t t = 0; t < ranked.size(); ++t)
            if (ranked[t]) machines(t, common);
    }

    /// Keeps, of the items that all types have, those of the kind at which they are fastest.
    std::set<Item> of_one_kind(std::set<Item> shared, std::size_t m,
                               const std::vector<bool>& ranked) const {
        std::map<std::string, std::pair<double, double>> kinds; // sum of logarithms, their number
        for (std::size_t t = 0; t < ranked.size(); ++t)
            if (ranked[t])
                for (const auto& [id, items] : found_[m][t].machines)
                    for (const auto& [item, runs] : items)
                        if (shared.contains(item))
                            for (const auto& [run, log] : runs) {
                                kinds[item.kind].first += log;
                                kinds[item.kind].second += 1;
                            }
        const auto fastest = std::ranges::max_element(
            kinds, {}, [](const auto& kind) { return kind.second.first / kind.second.second; });
        std::erase_if(shared, [&](const Item& item) { return item.kind != fastest->first; });
        return shared;
    }

    void describe(Compared& compared, const std::set<Item>& common, std::size_t m,
                  const std::vector<bool>& ranked) const {
        compared.counts = !common.empty();
        std::set<std::string> own;
        std::set<std::string> left_out;
        std::set<std::string> units;
        for (std::size_t t = 0; t < ranked.size(); ++t) {
            if (!ranked[t]) continue;
            const bool first = own.empty();
            for (const auto& [item, names] : found_[m][t].series)
                if (!common.contains(item)) {
                    left_out.insert(names.begin(), names.end());
                } else {
                    units.insert(found_[m][t].units.at(item));
                    if (first) own.insert(names.begin(), names.end());
                }
        }
        compared.series.assign(own.begin(), own.end());
        compared.left_out.assign(left_out.begin(), left_out.end());
        if (units.size() == 1) compared.unit = *units.begin();
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
            std::map<std::uint32_t, std::vector<double>> by_run;
            for (std::size_t m = 0; m < common.size() && complete; ++m) {
                if (!scores_.measures[m].counts) continue;
                double sum = 0;
                std::map<std::uint32_t, std::pair<double, std::size_t>> sums;
                const auto& machines = found_[m][t].machines;
                const auto found = machines.find(id);
                for (const auto& item : common[m]) {
                    if (found == machines.end() || !found->second.contains(item)) {
                        complete = false;
                        break;
                    }
                    std::vector<double> logs;
                    for (const auto& [run, log] : found->second.at(item)) {
                        logs.push_back(log);
                        sums[run].first += log;
                        ++sums[run].second;
                    }
                    sum += stats::median(logs);
                }
                const auto items = static_cast<double>(common[m].size());
                machine.logs.push_back(sum / items);
                for (const auto& [run, one] : sums)
                    if (one.second == common[m].size()) by_run[run].push_back(one.first / items);
            }
            for (auto& [run, logs] : by_run)
                if (logs.size() == machine.logs.size()) machine.by_run.push_back(std::move(logs));
            if (complete)
                scores_.types[t].machines.push_back(std::move(machine));
            else
                ++scores_.types[t].partial;
        }
    }

    const Profile& profile_;
    const Profiles& profiles_;
    const store::Collection& runs_;
    std::vector<Offer> offers_;                         ///< one of each type
    std::vector<std::vector<std::size_t>> types_;       ///< by run
    std::vector<std::vector<Found>> found_;             ///< by measure, by type
    std::vector<bool> fits_any_;                        ///< by measure
    std::map<std::size_t, std::vector<double>> shares_; ///< of guests, by type
    Scores scores_;
};

} // namespace

Result<Scores> score(const std::vector<Offer>& offers, const Profile& profile,
                     const Profiles& profiles, const store::Collection& runs, double least_coverage,
                     const reference::Hardware* hardware) {
    return Scoring{offers, profile, profiles, runs, hardware}.take(least_coverage);
}

} // namespace assay::purchase
