// SPDX-License-Identifier: Apache-2.0

#include "offers/offer.hpp"

#include "base/console.hpp"
#include "base/utc.hpp"

#include <fmt/format.h>

#include <tuple>

namespace assay::report {
namespace {

/// What is said of one that is out of its range; empty where it is in it, or absent.
std::string range_fault(const std::optional<double>& value, double most, bool zero_allowed) {
    if (!value || (zero_allowed && *value == 0)) return {};
    if (*value > 0 && *value <= most) return {};
    return fmt::format("{:g} is not {} {:g}", *value, zero_allowed ? "0 to" : "above 0 and at most",
                       most);
}

} // namespace

std::optional<double> commitment_months(Tariff tariff) {
    constexpr double year = 12;
    switch (tariff) {
    case Tariff::reserved_1y:
    case Tariff::savings_plan_1y:
        return year;
    case Tariff::reserved_3y:
    case Tariff::savings_plan_3y:
        return 3 * year;
    default:
        return {};
    }
}

std::pair<std::string_view, std::string> fault_of(const Offer& offer) {
    if (offer.provider.empty()) return {"provider", "is missing: who offers it"};
    if (offer.instance.empty()) return {"instance", "is missing: the type of the node"};
    if (offer.tariff == Tariff::unset)
        return {"tariff", fmt::format("is missing: {}", expected_text(offer.tariff))};
    if (!offer.currency.empty() && !is_currency(offer.currency))
        return {"currency", fmt::format("\"{}\" is no currency of ISO 4217: USD, EUR, CNY, ...",
                                        plain(offer.currency, 60))};
    if (!offer.date.empty() && !seconds_of(offer.date))
        return {"date", fmt::format("\"{}\" is no date: 2026-01-31", plain(offer.date, 60))};
    for (const auto& [key, amount, zero] :
         {std::tuple{"price", &offer.price, false},
          {"upfront", &offer.upfront, true},
          {"egress_per_gb", &offer.egress_per_gb, true},
          {"storage_per_gb_month", &offer.storage_per_gb_month, true},
          {"network_per_month", &offer.network_per_month, true},
          {"control_plane_per_month", &offer.control_plane_per_month, true},
          {"support_per_month", &offer.support_per_month, true},
          {"setup", &offer.setup, true}}) {
        if (!*amount) continue;
        const auto& [text, value] = **amount;
        if (offer.currency.empty()) return {"currency", "is missing: USD, EUR, CNY, ..."};
        if (value < 0) return {key, fmt::format("{} is negative", plain(text, 60))};
        if (value == 0 && !zero) return {key, "is 0; leave out a price that is not known"};
        constexpr double most = 1e12;
        if (value > most || (value > 0 && value < 1 / most))
            return {key, fmt::format("{} is out of range", plain(text, 60))};
    }
    constexpr double many = 1e9;
    for (const auto& [key, value, most, zero] :
         {std::tuple{"count", &offer.count, many, false},
          {"gpus", &offer.gpus, many, true},
          {"vcpus", &offer.vcpus, many, false},
          {"cores", &offer.cores, many, false},
          {"memory_gib", &offer.memory_gib, many, false},
          {"local_disk_gb", &offer.local_disk_gb, many, true},
          {"network_gbps", &offer.network_gbps, many, true},
          {"billing_step_s", &offer.billing_step_s, many, true},
          {"minimum_hours", &offer.minimum_hours, many, true},
          {"support_share", &offer.support_share, 1.0, true},
          {"interruptions_per_hour", &offer.interruptions_per_hour, 1e3, true},
          {"availability", &offer.availability, 1.0, false},
          {"durability", &offer.durability, 1.0, false},
          {"replacement_hours", &offer.replacement_hours, many, true},
          {"bandwidth_gbps", &offer.bandwidth_gbps, many, true},
          {"lead_time_days", &offer.lead_time_days, many, true}})
        if (auto fault = range_fault(*value, most, zero); !fault.empty())
            return {key, std::move(fault)};
    return {};
}

const std::vector<std::string>& offer_columns() {
    static const auto columns = json::keys_of(Offer{});
    return columns;
}

json::Value to_json(const Offer& offer) { return json::encode(offer); }

} // namespace assay::report
