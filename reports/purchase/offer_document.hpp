// SPDX-License-Identifier: Apache-2.0
//
// Offers, and what is wrong with them, as documents and as data: prices that nothing can be counted with, a GPU's price
// where a node's should be, prices that no market has, threads for cores, currencies that nothing joins, figures that the
// catalogue has otherwise, offers that nobody measured.

#pragma once

#include "base/names.hpp"
#include "document/document.hpp"
#include "document/lint.hpp"
#include "purchase/offer.hpp"
#include "reference/hardware.hpp"
#include "store/collection.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::purchase {

/// For programs: these stay as they are. What each means: offers.json of document/texts.
ASSAY_ENUM(OfferCode,
           unreadable,       // an invalid line
           unpriced,         // the price may not be counted with: PriceState says why
           mixed_currencies, // no rate leads from one to the other
           not_node_price,   // by the catalogue: of the host alone, or of a part of the node
           implausible,      // less or more than anybody asks for the memory of such a GPU
           placeholder,      // 9999, 0.01, or one price for types of many sizes
           gpu_price, // it looks like the price of one GPU of several, or does not grow with them
           price_differs, // a factor of 3 from offers alike
           spot_as_on_demand,
           duplicate, // the same type, region and tariff once more
           vcpu_as_core,
           catalog_differs, // from what the catalogue says of that type
           ambiguous_gpu,   // its name may mean several
           skipped_lines,   // of a catalogue
           no_results,      // offers that nobody measured
           no_offer)        // what was measured is not offered

/// `runs`: what was measured; null: not asked for. `hardware`: the catalogue to compare with; null: none.
std::vector<document::LintRow> lint(const OffersRead& read, const PriceTerms& terms,
                                    const store::Collection* runs = nullptr,
                                    const reference::Hardware* hardware = nullptr);

/// Types of machines that were measured and that no offer is of: "aws c7a.large".
std::vector<std::string> not_offered(const std::vector<Offer>& offers,
                                     const store::Collection& runs,
                                     const reference::Hardware* hardware = nullptr);

/// Is the machine one of that offer: the same provider, by any of its names, and type?
bool is_of(const Offer& offer, const record::Machine& machine,
           const reference::Hardware* hardware = nullptr);

document::Document make_document(const Offers& offers, const PriceTerms& terms,
                                 std::size_t doubts = 0);
std::string to_json(const Offers& offers, const PriceTerms& terms);

struct LintedOffers {
    std::vector<std::string> files;
    std::size_t offers = 0;
    std::vector<document::LintRow> findings; ///< each with its file
};
document::Document make_document(const LintedOffers& linted);
std::string to_json(const LintedOffers& linted);

std::string in_words(Tariff tariff);
/// "aws c7a.large (on demand)"
std::string offer_name(const Offer& offer);

} // namespace assay::purchase
