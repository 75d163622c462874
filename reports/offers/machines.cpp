// SPDX-License-Identifier: Apache-2.0
#include "offers/machines.hpp"

#include "offers/lint.hpp"
#include "report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace assay::report {
namespace {

MachinePrice price_of(const record::Machine& machine, const std::vector<const Offer*>& offered,
                      const std::vector<ExchangeRate>& rates, const PriceTerms& terms) {
    const bool here = std::ranges::any_of(offered, [&](const Offer* offer) {
        return !machine.platform.region.empty() && offer->region == machine.platform.region;
    });
    MachinePrice best;
    for (const auto* offer : offered) {
        if (here && offer->region != machine.platform.region) continue;
        auto price = price_of(*offer, rates, terms);
        const bool cheaper = price.hour && (!best.price.hour || *price.hour < *best.price.hour);
        if (!best.offer || cheaper) best = {.offer = *offer, .price = std::move(price)};
    }
    return best;
}

} // namespace

Result<void> one_currency(const std::vector<Price>& prices) {
    std::set<std::string> currencies;
    for (const auto& price : prices)
        if (price.state == PriceState::known) currencies.insert(price.currency);
    if (currencies.size() < 2) return {};
    return fail(fmt::format("the offers are in {}: --currency says in which of them to compare, by "
                            "exchange rates in the files",
                            list_of({currencies.begin(), currencies.end()}, 6)));
}

Result<MachinePrices> prices_of(const std::vector<record::Machine>& machines, const Offers& offers,
                                Tariff tariff, const PriceTerms& terms,
                                const datasheet::Hardware* hardware) {
    MachinePrices found{.tariff = tariff, .currency = {}, .machines = {}};
    std::vector<Price> prices;
    for (const auto& machine : machines) {
        std::vector<const Offer*> offered;
        for (const auto& offer : offers.offers)
            if (offer.tariff == tariff && is_of(offer, machine, hardware))
                offered.push_back(&offer);
        found.machines.push_back(price_of(machine, offered, offers.rates, terms));
        const auto& price = found.machines.back().price;
        if (!price.hour) continue;
        found.currency = price.currency;
        prices.push_back(price);
    }
    if (auto fine = one_currency(prices); !fine) return tl::unexpected{fine.error()};
    return found;
}

} // namespace assay::report
