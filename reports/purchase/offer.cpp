// SPDX-License-Identifier: Apache-2.0
#include "purchase/offer.hpp"

#include "base/console.hpp"
#include "base/utc.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "reference/catalog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <system_error>
#include <type_traits>
#include <utility>

namespace assay::purchase {
namespace {

constexpr double many = 1e9;

/// A message for numbers out of range; empty if valid.
std::string range_fault(std::string_view key, double value) {
    constexpr std::array above_zero{"count",        "vcpus",      "cores",
                                    "memory_gib",   "latency_ms", "idle_reclaim_hours",
                                    "availability", "durability"};
    constexpr std::array shares{"support_share", "credit_share", "availability", "durability"};
    const bool zero_allowed = std::ranges::count(above_zero, key) == 0;
    const double most = std::ranges::count(shares, key) > 0 ? 1 : many;
    if ((value > 0 && value <= most) || (zero_allowed && value == 0)) return {};
    return fmt::format("{:g} is out of range ({} {:g})", value,
                       zero_allowed ? "0 to" : "above 0, at most", most);
}
std::string range_fault(std::string_view key, const Amount& amount) {
    constexpr double most = 1e12;
    const auto& [text, value] = amount;
    if (value < 0) return fmt::format("{} is negative", plain(text, 60));
    if (value == 0) return key == "price" ? "is 0; leave out an unknown price" : "";
    return value > most || value < 1 / most ? fmt::format("{} is out of range", plain(text, 60))
                                            : std::string{};
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
    if (offer.provider.empty()) return {"provider", "is missing: the name of the provider"};
    if (offer.instance.empty()) return {"instance", "is missing: the type of the node"};
    if (offer.tariff == Tariff::unset)
        return {"tariff", fmt::format("is missing: {}", expected_text(offer.tariff))};
    if (!offer.currency.empty() && !is_currency(offer.currency))
        return {
            "currency",
            fmt::format("unknown currency \"{}\" (expected an ISO 4217 code: USD, EUR, CNY, ...)",
                        plain(offer.currency, 60))};
    if (!offer.date.empty() && !seconds_of(offer.date))
        return {"date",
                fmt::format("invalid date \"{}\" (expected YYYY-MM-DD)", plain(offer.date, 60))};
    std::pair<std::string_view, std::string> fault;
    each_field(
        [&](const char* key, const auto& member) {
            if constexpr (requires { range_fault(key, *member); }) {
                if (!fault.second.empty() || !member) return;
                using Member = std::decay_t<decltype(*member)>;
                if (std::is_same_v<Member, Amount> && offer.currency.empty())
                    fault = {"currency", "is missing: USD, EUR, CNY, ..."};
                else
                    fault = {key, range_fault(key, *member)};
            }
        },
        offer);
    return fault;
}

const std::vector<std::string>& offer_columns() {
    static const auto columns = json::keys_of(Offer{});
    return columns;
}

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
    // A sign before text: "-2+3", "+cmd|...".
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

namespace {

/// `expected`: an example for the message.
Result<Amount> parse(std::string_view text, bool decimal_comma, std::string_view expected) {
    const auto show = [&] { return '"' + plain(text, 60) + '"'; };
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos)
        return fail(fmt::format("number is missing (expected {})", expected));
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
        return fail(fmt::format("invalid number {} (expected {})", show(), expected));
    return Amount{.text = std::string{number}, .value = value};
}

} // namespace

Result<Amount> parse_amount(std::string_view text, bool decimal_comma) {
    return parse(text, decimal_comma, "98.32, with the currency in its own field");
}

Result<Amount> parse_number(std::string_view text, bool decimal_comma) {
    return parse(text, decimal_comma, text.ends_with('%') ? "0.7 for 70%" : "a number such as 1.5");
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
        digits = fmt::format("{}{}", value < 0 ? "-" : "", fmt::group_digits(std::llrint(size)));
    } else if (size >= 1 || size == 0) {
        digits = fmt::format("{:.2f}", value);
    } else {
        digits = fmt::format("{:.4g}", value);
    }
    return fmt::format("{} {}", currency, digits);
}

namespace {

constexpr double seconds_a_day = 86400;

PriceState state_of(const std::string& date, const PriceTerms& terms) {
    const auto at = seconds_of(date);
    if (!at) return PriceState::undated;
    // Days begin up to 14 hours earlier than in UTC.
    if (*at > terms.now + seconds_a_day) return PriceState::future;
    // A date is good to its end.
    if (terms.now - *at >= (terms.max_age_days + 1) * seconds_a_day) return PriceState::stale;
    return PriceState::known;
}

/// Is the price that of the node, by what the catalogue says of its type?
PriceState as_node(const Offer& offer, const reference::Hardware* hardware) {
    const auto* const type =
        hardware == nullptr ? nullptr : find_instance(*hardware, offer.provider, offer.instance);
    const double there = type == nullptr ? 0 : type->gpus.value_or(0);
    constexpr double rounding = 0.98;
    if (!offer.gpus || *offer.gpus >= rounding * there) return PriceState::known;
    return *offer.gpus == 0 ? PriceState::host_only : PriceState::part_of_node;
}

/// The newest of the direct rates and the inverse ones, or null.
const ExchangeRate* newest(const std::vector<ExchangeRate>& rates, std::string_view from,
                           std::string_view to) {
    const ExchangeRate* best = nullptr;
    for (const auto& rate : rates)
        if (((rate.currency == from && rate.in == to) ||
             (rate.currency == to && rate.in == from)) &&
            (best == nullptr || rate.date > best->date))
            best = &rate;
    return best;
}

/// `so_far` through one more rate.
Exchange through(Exchange so_far, const ExchangeRate& rate, std::string_view from,
                 const PriceTerms& terms) {
    if (state_of(rate.date, terms) != PriceState::known) so_far.state = PriceState::rate_stale;
    so_far.factor =
        rate.currency == from ? so_far.factor * rate.rate.value : so_far.factor / rate.rate.value;
    so_far.source += fmt::format("{}{} {} = 1 {}, {}, {}", so_far.source.empty() ? "" : "; ",
                                 rate.rate.text, rate.in, rate.currency, rate.date, rate.source);
    return so_far;
}

} // namespace

std::string in_words(PriceState state) {
    return std::string{
        document::find_text("price_state", to_string(state)).value_or(to_string(state))};
}

Exchange exchange(const std::vector<ExchangeRate>& rates, std::string_view from,
                  std::string_view to, const PriceTerms& terms) {
    if (from == to) return {};
    if (const auto* rate = newest(rates, from, to)) return through({}, *rate, from, terms);
    std::set<std::string_view> between;
    for (const auto& rate : rates) between.insert({rate.currency, rate.in});
    for (const auto middle : between) {
        const auto* first = newest(rates, from, middle);
        const auto* second = newest(rates, middle, to);
        if (first != nullptr && second != nullptr)
            return through(through({}, *first, from, terms), *second, middle, terms);
    }
    return {.state = PriceState::no_rate, .factor = 0, .source = {}};
}

double quoted_hour(const Offer& offer) {
    double hour = offer.price->value;
    if (offer.tariff == Tariff::monthly) hour /= hours_a_month;
    if (const auto months = commitment_months(offer.tariff); months && offer.upfront)
        hour += offer.upfront->value / (*months * hours_a_month);
    return hour;
}

Price price_of(const Offer& offer, const std::vector<ExchangeRate>& rates,
               const PriceTerms& terms) {
    Price price{.state = state_of(offer.date, terms),
                .currency = terms.currency.empty() ? offer.currency : terms.currency,
                .exchanged = {},
                .hour = {}};
    if (!offer.price)
        price.state = PriceState::missing;
    else if (const auto node = as_node(offer, terms.hardware); node != PriceState::known)
        price.state = node;
    else if (offer.fallback.value_or(false))
        price.state = PriceState::fallback;
    if (price.state != PriceState::known) return price;
    price.exchanged = exchange(rates, offer.currency, price.currency, terms);
    price.state = price.exchanged.state;
    if (price.state != PriceState::known || offer.tariff == Tariff::purchase) return price;
    price.hour = quoted_hour(offer) * price.exchanged.factor;
    return price;
}

Result<void> one_currency(const std::vector<Price>& prices) {
    std::set<std::string> currencies;
    for (const auto& price : prices)
        if (price.state == PriceState::known) currencies.insert(price.currency);
    if (currencies.size() < 2) return {};
    return fail(
        fmt::format("the offers are in {}: choose one of them with --currency; exchange rates "
                    "are those of the files",
                    document::list_of({currencies.begin(), currencies.end()}, 6)));
}

} // namespace assay::purchase
