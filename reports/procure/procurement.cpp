// SPDX-License-Identifier: Apache-2.0
#include "procure/procurement.hpp"

#include "offers/lint.hpp"
#include "offers/machines.hpp"
#include "report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace assay::report {
namespace {

std::optional<double> number(const std::optional<int>& value) {
    return value ? std::optional<double>{*value} : std::nullopt;
}
std::optional<double> gpus_of(const record::Machine& machine) {
    return static_cast<double>(machine.devices.size());
}
std::optional<double> threads_of(const record::Machine& machine) { return number(machine.threads); }
std::optional<double> cores_of(const record::Machine& machine) { return number(machine.cores); }
std::optional<double> memory_of(const record::Machine& machine) {
    constexpr double gib = 1 << 30U;
    return machine.memory_bytes
               ? std::optional<double>{static_cast<double>(*machine.memory_bytes) / gib}
               : std::nullopt;
}

struct Promised {
    std::string_view code;
    std::string_view unit;
    std::optional<double> Offer::* promised;
    std::optional<double> (*measured)(const record::Machine&);
};
constexpr std::array promised{Promised{"gpus", "count", &Offer::gpus, gpus_of},
                              Promised{"vcpus", "count", &Offer::vcpus, threads_of},
                              Promised{"cores", "count", &Offer::cores, cores_of},
                              Promised{"memory", "GiB", &Offer::memory_gib, memory_of}};

/// Of what a network carries between two nodes: the highest rate of a message, in Gb/s.
std::optional<double> network_of(const Offer& offer, const Collection& runs,
                                 const datasheet::Hardware* hardware) {
    constexpr double bits = 8e-9;
    std::optional<double> best;
    for (const auto& seen : runs.observations) {
        const auto& series = runs.series[seen.series];
        if (series.benchmark != "network.put" || series.unit != "B/s" || !is_good(seen) ||
            nodes_of(seen, runs) < 2 ||
            !is_of(offer, runs.machines[runs.runs[seen.run].machine], hardware))
            continue;
        best = std::max(best.value_or(0), *seen.value * bits);
    }
    return best;
}

} // namespace

bool Promise::kept() const {
    // A few percent of memory belong to the firmware.
    constexpr double enough = 0.93;
    return measured && *measured >= promised * enough;
}

std::vector<Promise> promises_of(const std::vector<Offer>& offers, const Collection& runs,
                                 const datasheet::Hardware* hardware) {
    std::vector<Promise> found;
    // One row for what all tariffs of a type promise alike.
    std::set<std::tuple<std::string, std::string, std::string_view, double>> seen;
    for (const auto& offer : offers) {
        const auto add = [&](std::string_view code, std::string_view unit,
                             const std::optional<double>& value, const auto& find) {
            if (value && seen.emplace(offer.provider, offer.instance, code, *value).second)
                found.push_back({.offer = offer.id,
                                 .code = code,
                                 .unit = unit,
                                 .promised = *value,
                                 .measured = find()});
        };
        for (const auto& one : promised)
            add(one.code, one.unit, offer.*one.promised, [&] {
                std::optional<double> least;
                for (const auto& machine : runs.machines)
                    if (const auto has = one.measured(machine);
                        has && is_of(offer, machine, hardware))
                        least = std::min(least.value_or(*has), *has);
                return least;
            });
        add("bandwidth", "Gb/s", offer.bandwidth_gbps ? offer.bandwidth_gbps : offer.network_gbps,
            [&] { return network_of(offer, runs, hardware); });
        // No run can find these: a meeting sees that nothing was held against them.
        const auto none = [] { return std::optional<double>{}; };
        add("availability", "share", offer.availability, none);
        add("durability", "share", offer.durability, none);
        add("replacement", "h", offer.replacement_hours, none);
    }
    return found;
}

Result<Procurement> make_procurement(ProcurementInputs inputs) {
    const auto profile = find_profile(inputs.profiles, inputs.profile);
    if (!profile) return tl::unexpected{profile.error()};
    const auto& runs = *inputs.options.costs.runs;
    auto costs = costs_of(inputs.offers, inputs.options.costs);
    if (!costs) return tl::unexpected{costs.error()};
    std::vector<Price> prices;
    for (const auto& cost : *costs) prices.push_back(cost.price);
    if (auto fine = one_currency(prices); !fine) return tl::unexpected{fine.error()};
    Procurement out;
    auto published = beside(inputs.published, runs, inputs.options.costs.hardware);
    if (!published) return tl::unexpected{published.error()};
    out.published = std::move(*published);
    auto ranking = rank(inputs.offers, *costs, *profile, inputs.profiles, inputs.options);
    if (!ranking) return tl::unexpected{ranking.error()};
    out.ranking = std::move(*ranking);
    for (const auto& other : inputs.profiles.profiles) {
        if (other.name == profile->name) continue;
        auto also = rank(inputs.offers, *costs, other, inputs.profiles, inputs.options);
        if (!also) return tl::unexpected{also.error()};
        out.others.push_back(std::move(*also));
    }
    out.promises = promises_of(inputs.offers.offers, runs, inputs.options.costs.hardware);
    out.not_offered = not_offered(inputs.offers.offers, runs, inputs.options.costs.hardware);
    out.costs = std::move(*costs);
    out.snapshot = std::move(inputs.snapshot);
    std::set<std::string> machines; // each may be there in several states
    for (const auto& machine : runs.machines) machines.insert(machine.id);
    out.machines = machines.size();
    std::ranges::copy_if(runs.problems, std::back_inserter(out.problems),
                         [](const Problem& problem) { return !problem.is_copy; });
    out.runs = runs.runs.size();
    out.offers = std::move(inputs.offers);
    out.profiles = std::move(inputs.profiles);
    out.options = std::move(inputs.options);
    return out;
}

} // namespace assay::report
