// SPDX-License-Identifier: Apache-2.0
//
// What an hour of a machine that was measured costs, by the offers for its type.

#pragma once

#include "base/result.hpp"
#include "datasheet/hardware.hpp"
#include "offers/price.hpp"
#include "record/model.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay::report {

struct MachinePrice {
    std::optional<Offer> offer; ///< nothing: its type is not offered under the tariff
    Price price;                ///< with an hour where the state is `known`
};

struct MachinePrices {
    Tariff tariff = Tariff::on_demand;
    std::string currency;
    std::vector<MachinePrice> machines; ///< in the order of the machines
};

/// Of several offers for a type those in the machine's region, where there are any, and of these the cheapest that can
/// be counted with. Fails where prices are in several currencies and `terms` names none.
Result<MachinePrices> prices_of(const std::vector<record::Machine>& machines, const Offers& offers,
                                Tariff tariff, const PriceTerms& terms,
                                const datasheet::Hardware* hardware = nullptr);

/// Prices of several currencies are compared in none.
Result<void> one_currency(const std::vector<Price>& prices);

} // namespace assay::report
