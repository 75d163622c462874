// SPDX-License-Identifier: Apache-2.0
//
// Offers, and what is wrong with them, as documents and as data.

#pragma once

#include "document/document.hpp"
#include "offers/lint.hpp"

#include <string>
#include <vector>

namespace assay::offers {

document::Document make_document(const Offers& offers, const PriceTerms& terms,
                                 std::size_t doubts = 0);
std::string to_json(const Offers& offers, const PriceTerms& terms);

struct LintedOffers {
    std::string file;
    std::size_t offers = 0;
    std::vector<document::LintRow> findings;
};
document::Document make_document(const std::vector<LintedOffers>& files);
std::string to_json(const std::vector<LintedOffers>& files);
bool any_serious(const std::vector<LintedOffers>& files);

std::string in_words(Tariff tariff);
/// "aws c7a.large (on demand)"
std::string offer_name(const Offer& offer);

} // namespace assay::offers
