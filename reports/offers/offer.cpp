// SPDX-License-Identifier: Apache-2.0
#include "offers/offer.hpp"

#include "base/console.hpp"
#include "base/utc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>
#include <tuple>

namespace assay::offers {
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

// --- money ---------------------------------------------------------------------------------------

namespace {

/// ISO 4217, those that money is paid in.
constexpr std::string_view currencies =
    "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP "
    "BYN BZD CAD CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP "
    "GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR "
    "KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK "
    "MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR "
    "SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS "
    "UAH UGX USD UYU UZS VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWG ";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

} // namespace

bool is_formula(std::string_view cell) {
    const auto first = cell.find_first_not_of(" \t'");
    if (first == std::string_view::npos) return false;
    const char start = cell[first];
    if (start == '=' || start == '@') return true;
    // A sign in front of what is no number: "-2+3", "+cmd|...".
    return (start == '+' || start == '-') &&
           cell.find_first_not_of("0123456789.,eE+- ", first + 1) != std::string_view::npos;
}

namespace {

/// "23920.50" of "23.920,50" and "0.2956" of "0,2956"; nothing where a comma may part thousands, too.
std::optional<std::string> with_point(std::string_view number) {
    const auto comma = number.find(',');
    const auto point = number.find('.');
    constexpr std::size_t group = 3;
    if (comma == std::string_view::npos) return {};
    const auto decimals = number.substr(comma + 1);
    const auto whole = number.substr(0, comma);
    if (decimals.empty() || !std::ranges::all_of(decimals, is_digit)) return {};
    if (point == std::string_view::npos && decimals.size() == group) return {};
    std::string text;
    for (std::size_t i = 0; i < whole.size(); ++i)
        if (whole[i] != '.')
            text += whole[i];
        else if ((whole.size() - i) % (group + 1) != 0 || i == 0)
            return {};
    return text + '.' + std::string{decimals};
}

} // namespace

Result<Amount> parse_amount(std::string_view text, bool decimal_comma) {
    const auto show = [&] { return '"' + plain(text, 60) + '"'; };
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return fail("an amount is missing: write 98.32");
    auto number = text.substr(first, text.find_last_not_of(" \t") - first + 1);
    if (is_formula(number)) return fail(show() + " is a formula; write its value");
    const auto pointed = decimal_comma ? with_point(number) : std::nullopt;
    if (pointed) number = *pointed;
    const bool is_grouped =
        decimal_comma && !pointed && number.size() > 4 && number.find('.') == number.size() - 4;
    if ((is_grouped || number.find(',') != std::string_view::npos) && is_digit(number.front()))
        return fail(show() + " may be read in two ways; write a point before the decimals and "
                             "nothing between thousands: 1234.5");
    double value = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (error != std::errc{} || end != number.data() + number.size() || !std::isfinite(value))
        return fail(show() + " is no amount; write the number alone, 98.32, and the currency in "
                             "its own place");
    return Amount{.text = std::string{number}, .value = value};
}

json::Value encode_value(const Amount& amount) { return amount.text; }

void decode_value(const json::Object& object, std::string_view key, Amount& out) {
    const auto* value = object.find(key);
    // The shortest decimal that gives the same double is what was typed, up to 15 digits.
    const auto text = value == nullptr     ? std::string{}
                      : value->is_string() ? value->get<std::string>()
                                           : value->dump();
    auto amount = parse_amount(text);
    if (!amount) return object.problem(key, amount.error().message);
    out = std::move(*amount);
}

bool is_currency(std::string_view code) {
    const bool letters =
        code.size() == 3 && std::ranges::all_of(code, [](char c) { return c >= 'A' && c <= 'Z'; });
    return letters && currencies.find(std::string{code} + ' ') != std::string_view::npos;
}

std::string money_in_words(double value, std::string_view currency) {
    if (!std::isfinite(value)) return "";
    const double size = std::abs(value);
    constexpr double whole_from = 1000;
    std::string digits;
    if (size >= 1e15) {
        digits = fmt::format("{:.4g}", value);
    } else if (size >= whole_from) {
        digits = fmt::format("{:.0f}", value);
        for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > (value < 0 ? 1 : 0);
             at -= 3)
            digits.insert(static_cast<std::size_t>(at), 1, ',');
    } else if (size >= 1 || size == 0) {
        digits = fmt::format("{:.2f}", value);
    } else {
        digits = fmt::format("{:.4g}", value);
    }
    return fmt::format("{} {}", currency, digits);
}

} // namespace assay::offers
