// SPDX-License-Identifier: Apache-2.0
//
// An offer of a provider: a node and its contents, a tariff, a price in the currency of the quote, promises, and if the
// price is usable. Files of offers (configs/offers, schema assay.offers/1, or CSV with
// the same names as columns) are the user's own; nothing is ever fetched. Keys name their unit.

#pragma once

#include "base/fields.hpp"
#include "base/names.hpp"
#include "base/result.hpp"
#include "json/codec.hpp"
#include "reference/hardware.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::purchase {

// --- money ---------------------------------------------------------------------------------------
// Amounts of money as quotes have them, and currencies. An amount keeps the decimal text it was given and the double
// nearest to it (decision 0330); it is rounded where people read it and nowhere else.

/// "98.32"; with a point, without separators of thousands, currency or percent.
struct Amount {
    std::string text; ///< as given
    double value = 0;
    bool operator==(const Amount&) const = default;
};
/// Fails for invalid numbers, formulas and ambiguous texts: "1.234,5", "1,234". With
/// `decimal_comma`, "0,2956" and "23.920,50" are numbers, while "1,234" and "1.234" stay ambiguous.
Result<Amount> parse_amount(std::string_view text, bool decimal_comma = false);
/// The same for numbers that are not money: the message does not mention currencies.
Result<Amount> parse_number(std::string_view text, bool decimal_comma = false);
json::Value encode_value(const Amount& amount);
void decode_value(const json::Object& object, std::string_view key, Amount& out);

/// One of ISO 4217 that money is paid in: "USD", "CNY".
bool is_currency(std::string_view code);

/// "=HYPERLINK(...)": a spreadsheet would run it.
bool is_formula(std::string_view cell);

/// "USD 98.32", "USD 1,234,567": four significant digits or more, and whole amounts from 1,000 on.
std::string money_in_words(double value, std::string_view currency);

// -------------------------------------------------------------------------------------------------

ASSAY_ENUM(Tariff, unset, on_demand, reserved_1y, reserved_3y, savings_plan_1y, savings_plan_3y,
           monthly, spot,
           purchase) // bought: one price, once
inline std::string_view expected_text(Tariff /*any*/) {
    return "on_demand, reserved_1y, reserved_3y, savings_plan_1y, savings_plan_3y, "
           "monthly, spot or purchase";
}
constexpr bool from_text(std::string_view text, Tariff& out) {
    Tariff found{};
    if (!find_name(names_of(found), text, found) || found == Tariff::unset) return false;
    out = found;
    return true;
}
/// Length of the commitment; nothing without one, or if it is unknown.
std::optional<double> commitment_months(Tariff tariff);

struct Offer {
    std::string id; ///< made of the next fields where it is not given
    std::string provider;
    std::string region;
    std::string zone;
    std::string instance;
    std::optional<double> count; ///< nodes offered
    std::optional<double> gpus;  ///< of one node, as all that follows
    std::string gpu;
    std::optional<double> vcpus;
    std::optional<double> cores; ///< physical ones
    std::optional<double> memory_gib;
    std::optional<double> local_disk_gb;
    std::optional<double> network_gbps;
    std::optional<double> network_cards;
    Tariff tariff = Tariff::unset;
    std::optional<Amount> price;   ///< of a node: an hour; a month (monthly); once (purchase)
    std::optional<Amount> upfront; ///< of a node, beside the price an hour of a commitment
    std::string currency;
    std::optional<bool>
        fallback;     ///< the price stands for one that is not known: another region, a list
    std::string date; ///< on which the price was read
    std::string source;
    std::optional<double> billing_step_s;
    std::optional<double> minimum_hours;
    std::optional<Amount> egress_per_gb;
    std::optional<Amount> storage_per_gb_month;
    std::optional<Amount> network_per_month; ///< of the whole cluster, as the next three
    std::optional<Amount> control_plane_per_month;
    std::optional<Amount> support_per_month;
    std::optional<Amount> setup;                  ///< once
    std::optional<double> support_share;          ///< of all other costs
    std::optional<double> interruptions_per_hour; ///< of one spot node
    std::optional<double> availability;           ///< promised: 0.9995
    std::optional<double> durability;
    std::optional<double> replacement_hours;
    std::optional<double> bandwidth_gbps;
    std::string residency;  ///< where data stays: "EU", "CN"
    std::string compliance; ///< "ISO 27001, C5"
    std::optional<double> lead_time_days;
    std::optional<double> startup_minutes;    ///< until a node that was asked for can be used
    std::optional<double> scaling_minutes;    ///< until as many again can
    std::optional<double> idle_reclaim_hours; ///< after which an idle node is taken back
    std::optional<double> latency_ms;         ///< round trip to the buyer's place
    std::optional<double> trial_budget;       ///< in the currency of the quote
    std::optional<double> claim_days;         ///< in which a breach may be claimed
    std::optional<double> credit_share;       ///< of the bill, for a breach
    std::string images;                       ///< "Ubuntu 24.04, own"
    std::string direct_connection;            ///< "100 Gb/s, two sites"
    std::string note;

    std::string where{}; ///< "offers.csv, line 3"
};

/// One of `currency` is worth `rate` of `in`.
struct ExchangeRate {
    std::string currency;
    std::string in;
    Amount rate;
    std::string date;
    std::string source;
};

/// Electricity of a region: a table of the user.
struct Region {
    std::string region;
    std::optional<double> power_price; ///< of a kWh, in `currency`
    std::string currency;
    std::optional<double> carbon; ///< g/kWh
    std::string source;
};

struct Offers {
    std::string schema;
    std::string name;
    std::vector<std::string> needs; ///< of the buyer: needs.hpp
    std::vector<Region> regions;
    std::vector<ExchangeRate> rates;
    std::vector<Offer> offers;
};

/// Values that other formats lack: a SkyPilot catalogue names neither provider nor date.
struct OfferDefaults {
    std::string provider;
    std::string date;
};

struct OffersRead {
    Offers offers;
    std::vector<std::string> faults; ///< each with its place; lines that have one are left out
    std::size_t skipped = 0;         ///< lines of a catalogue that are for no machine
};
/// The fault of an offer, independent of its format: the key and a message; empty if valid.
std::pair<std::string_view, std::string> fault_of(const Offer& offer);

/// The names of columns that offers are read from.
const std::vector<std::string>& offer_columns();

ASSAY_FIELDS(Offer, id, provider, region, zone, instance, count, gpus, gpu, vcpus, cores,
             memory_gib, local_disk_gb, network_gbps, network_cards, tariff, price, upfront,
             currency, fallback, date, source, billing_step_s, minimum_hours, egress_per_gb,
             storage_per_gb_month, network_per_month, control_plane_per_month, support_per_month,
             setup, support_share, interruptions_per_hour, availability, durability,
             replacement_hours, bandwidth_gbps, residency, compliance, lead_time_days,
             startup_minutes, scaling_minutes, idle_reclaim_hours, latency_ms, trial_budget,
             claim_days, credit_share, images, direct_connection, note)
ASSAY_FIELDS(ExchangeRate, currency, in, rate, date, source)
ASSAY_FIELDS(Region, region, power_price, currency, carbon, source)
ASSAY_FIELDS(Offers, schema, name, needs, regions, rates, offers)

template <OneOf<Offer, ExchangeRate, Region, Offers> T>
void json_lenient(const T&);

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
    std::string currency; ///< shown currency
    Exchange exchanged;
    /// Price of one node in `currency`; nothing for purchases, whose cost depends on how long they are used.
    std::optional<double> hour;
};
/// Price of one node, as quoted: a commitment's one-time cost is spread over
/// it, a month over 730 hours; for purchases the price.
double quoted_hour(const Offer& offer);
Price price_of(const Offer& offer, const std::vector<ExchangeRate>& rates, const PriceTerms& terms);

/// Fails where prices are in several currencies: they are compared in none.
Result<void> one_currency(const std::vector<Price>& prices);

/// JSON where the text begins with a brace, CSV otherwise. `source` names it in messages.
OffersRead parse_offers(std::string_view text, const std::string& source,
                        const OfferDefaults& defaults = {});
Result<OffersRead> read_offers(const std::string& path, const OfferDefaults& defaults = {});
/// All files as one. Fails with the first fault.
Result<Offers> offers_of(const std::vector<std::string>& paths, const OfferDefaults& defaults = {});

/// A file to begin with: the line of titles and one offer.
std::string table_template();

} // namespace assay::purchase
