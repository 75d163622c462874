// SPDX-License-Identifier: Apache-2.0

#include "offers/read.hpp"

#include "base/console.hpp"
#include "base/file.hpp"
#include "base/utc.hpp"
#include "offers/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <unordered_map>
#include <utility>

namespace assay::offers {
namespace {

/// Bills of a month have a million lines.
constexpr std::size_t most_bytes = std::size_t{512} << 20U;

OffersRead parse_json(std::string_view text, const std::string& source) {
    OffersRead read;
    const auto refuse = [&](const Error& error) {
        read.offers = {};
        read.faults = {error.message};
        return read;
    };
    static const auto schema = json::read_file(layout().share / "schema" / "offer.json");
    if (!schema) return refuse(schema.error());
    const auto value = json::parse(text, source);
    if (!value) return refuse(value.error());
    if (auto checked = json::check_schema(*value, *schema, source); !checked)
        return refuse(checked.error());
    json::Document document{*value, source};
    json::decode(document.root(), read.offers);
    if (auto fine = document.result(); !fine) return refuse(fine.error());
    std::size_t number = 0;
    for (auto& offer : read.offers.offers)
        offer.where = fmt::format("{}: offers[{}]", source, number++);
    return read;
}

std::string fault_of(const ExchangeRate& rate) {
    for (const auto* currency : {&rate.currency, &rate.in})
        if (!is_currency(*currency))
            return fmt::format("\"{}\" is no currency of ISO 4217", plain(*currency, 60));
    constexpr double most = 1e9; // no two currencies are further apart
    if (!(rate.rate.value >= 1 / most) || rate.rate.value > most)
        return fmt::format("rate {} is out of range", plain(rate.rate.text, 60));
    return seconds_of(rate.date) ? "" : "the date is missing, or none: 2026-01-31";
}

/// What neither schema nor columns can say; ids where there are none.
void finish(OffersRead& read, const std::string& source) {
    std::size_t number = 0;
    for (const auto& rate : read.offers.rates) {
        if (const auto fault = fault_of(rate); !fault.empty())
            read.faults.push_back(fmt::format("{}: rates[{}]: {}", source, number, fault));
        ++number;
    }
    std::set<std::string> ids;
    std::unordered_map<std::string, std::size_t> copies; // bills have thousands alike
    std::erase_if(read.offers.offers, [&](Offer& offer) {
        auto [key, fault] = fault_of(offer);
        if (fault.empty()) {
            const bool named = !offer.id.empty();
            if (!named) {
                offer.id = fmt::format("{} {}", offer.provider, offer.instance);
                for (const auto& part : {offer.region, offer.zone}) {
                    if (!part.empty()) offer.id += ' ' + part;
                }
                offer.id += fmt::format(" {}", to_string(offer.tariff));
            }
            const auto id = offer.id;
            while (fault.empty() && !ids.insert(offer.id).second) {
                if (named) {
                    key = "id";
                    fault = fmt::format("\"{}\" occurs twice", plain(id, 60));
                } else {
                    offer.id =
                        fmt::format("{} ({})", id, copies.try_emplace(id, 1).first->second += 1);
                }
            }
        }
        if (fault.empty()) return false;
        read.faults.push_back(fmt::format("{}: {}: {}", offer.where, key, fault));
        return true;
    });
}

} // namespace

OffersRead parse_offers(std::string_view text, const std::string& source,
                        const OfferDefaults& defaults) {
    const auto first = text.find_first_not_of(" \t\r\n");
    const bool is_json = first != std::string_view::npos && text[first] == '{';
    auto read = is_json ? parse_json(text, source) : parse_table(text, source, defaults);
    finish(read, source);
    return read;
}

Result<OffersRead> read_offers(const std::string& path, const OfferDefaults& defaults) {
    ASSAY_TRY(const auto text, read_whole(path, most_bytes));
    return parse_offers(text, plain(path), defaults);
}

Result<Offers> offers_of(const std::vector<std::string>& paths, const OfferDefaults& defaults) {
    Offers all;
    std::set<std::string> ids;
    for (const auto& path : paths) {
        ASSAY_TRY(auto read, read_offers(path, defaults));
        if (!read.faults.empty())
            return fail(read.faults.size() == 1
                            ? read.faults.front()
                            : fmt::format("{} ({} more: assay offers lint)", read.faults.front(),
                                          read.faults.size() - 1));
        if (all.name.empty()) all.name = read.offers.name;
        std::ranges::move(read.offers.rates, std::back_inserter(all.rates));
        for (const auto& [currency, cost] : read.offers.unused) all.unused[currency] += cost;
        for (auto& offer : read.offers.offers) {
            if (!ids.insert(offer.id).second)
                return fail(fmt::format("{}: an offer \"{}\" is in an earlier file too",
                                        offer.where, plain(offer.id, 200)));
            all.offers.push_back(std::move(offer));
        }
    }
    return all;
}

} // namespace assay::offers
