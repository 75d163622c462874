// SPDX-License-Identifier: Apache-2.0
#include "procure/procurement.hpp"

#include "offers/lint.hpp"
#include "offers/price.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

namespace assay::report {
Result<Procurement> make_procurement(ProcurementInputs inputs) {
    ASSAY_TRY(const auto profile, find_profile(inputs.profiles, inputs.profile));
    const auto& runs = *inputs.options.costs.runs;
    ASSAY_TRY(auto costs, costs_of(inputs.offers, inputs.options.costs));
    std::vector<Price> prices;
    for (const auto& cost : costs) prices.push_back(cost.price);
    ASSAY_TRY(one_currency(prices));
    Procurement out;
    ASSAY_TRY(auto published, beside(inputs.published, runs, inputs.options.costs.hardware));
    out.published = std::move(published);
    inputs.options.broken =
        broken_promises(inputs.offers.offers, runs, inputs.options.costs.hardware);
    ASSAY_TRY(auto ranking, rank(inputs.offers, costs, profile, inputs.profiles, inputs.options));
    out.ranking = std::move(ranking);
    for (const auto& other : inputs.profiles.profiles) {
        if (other.name == profile.name) continue;
        ASSAY_TRY(auto also, rank(inputs.offers, costs, other, inputs.profiles, inputs.options));
        out.others.push_back(std::move(also));
    }
    out.promises = promises_of(inputs.offers.offers, runs, inputs.options.costs.hardware);
    out.not_offered = not_offered(inputs.offers.offers, runs, inputs.options.costs.hardware);
    out.costs = std::move(costs);
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
