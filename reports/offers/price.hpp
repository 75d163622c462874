// SPDX-License-Identifier: Apache-2.0
//
// May this price be counted with? A price that is missing, older than allowed, from the future or stands for another one
// makes every cost of it unavailable; it is never replaced by something near.

#pragma once

#include "base/names.hpp"
#include "base/result.hpp"
#include "offers/offer.hpp"
#include "reference/hardware.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::offers {

/// For programs: these stay as they are. What each means: price_state.json of document/texts.
ASSAY_ENUM(PriceState, known, missing, undated, future, stale, fallback,
           host_only,    // the catalogue has GPUs for this type, the offer has none
           part_of_node, // the offer has fewer GPUs than the catalogue has for this type
           no_rate,      // no exchange rate leads to the currency that is asked for
           rate_stale)   // it is too old, or of no day
std::string in_words(PriceState state);

constexpr double hours_a_year = 8760; ///< 365 days
constexpr double hours_a_month = hours_a_year / 12;

struct PriceTerms {
    double now = 0; ///< seconds since 1970
    double max_age_days = 90;
    std::string currency;                          ///< all costs in this one; as quoted where empty
    const reference::Hardware* hardware = nullptr; ///< the catalogue that tells what a node is
};

struct Exchange {
    PriceState state = PriceState::known;
    double factor = 1;
    std::string source; ///< "2026-11-01, ECB"; empty where nothing is exchanged
};
/// From one currency to another: by the newest rate, its inverse, or two of them.
Exchange exchange(const std::vector<ExchangeRate>& rates, std::string_view from,
                  std::string_view to, const PriceTerms& terms);

struct Price {
    PriceState state = PriceState::known;
    std::string currency; ///< that it is shown in
    Exchange exchanged;
    /// Of one node and hour, in `currency`: what a commitment costs at once spread over it, a month over 730 hours.
    /// Nothing for what is bought, whose cost depends on how long it is used.
    std::optional<double> hour;
};
Price price_of(const Offer& offer, const std::vector<ExchangeRate>& rates, const PriceTerms& terms);

/// Fails where prices are in several currencies: they are compared in none.
Result<void> one_currency(const std::vector<Price>& prices);

} // namespace assay::offers
