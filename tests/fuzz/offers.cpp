// SPDX-License-Identifier: Apache-2.0
//
// Whatever a file of offers holds, JSON or a table: each offer that is read from it can be counted with, or says why it
// cannot, and each fault names the file.
#include "fuzz.hpp"
#include "purchase/offer.hpp"
#include "purchase/offer_document.hpp"

#include <cmath>

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay;
    const auto read = purchase::parse_offers(fuzz::text(data, size), "input");
    for (const auto& fault : read.faults) fuzz::expect(fault.starts_with("input"));
    const purchase::PriceTerms terms{.now = 1.8e9, .max_age_days = 90, .currency = "USD"};
    for (const auto& offer : read.offers.offers) {
        fuzz::expect(!offer.provider.empty() && !offer.id.empty());
        const auto price = purchase::price_of(offer, read.offers.rates, terms);
        if (!price.hour) continue;
        fuzz::expect(price.state == purchase::PriceState::known && std::isfinite(*price.hour) &&
                     *price.hour > 0);
    }
    purchase::lint(read, terms);
    purchase::make_document(read.offers, terms);
    return 0;
}
