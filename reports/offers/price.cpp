// SPDX-License-Identifier: Apache-2.0
#include "offers/price.hpp"

#include "base/utc.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "reference/catalog.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace assay::offers {
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

/// The newest of the direct rates and the inverse ones; null: there is none.
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
    double hour = offer.price->value;
    if (offer.tariff == Tariff::monthly) hour /= hours_a_month;
    if (offer.upfront)
        if (const auto months = commitment_months(offer.tariff))
            hour += offer.upfront->value / (*months * hours_a_month);
    price.hour = hour * price.exchanged.factor;
    return price;
}

Result<void> one_currency(const std::vector<Price>& prices) {
    std::set<std::string> currencies;
    for (const auto& price : prices)
        if (price.state == PriceState::known) currencies.insert(price.currency);
    if (currencies.size() < 2) return {};
    return fail(fmt::format("the offers are in {}: --currency says in which of them to compare, by "
                            "exchange rates in the files",
                            document::list_of({currencies.begin(), currencies.end()}, 6)));
}

} // namespace assay::offers
