// SPDX-License-Identifier: Apache-2.0
//
// What is wrong with offers: prices that nothing can be counted with, a GPU's price where a node's should be, prices that
// no market has, threads for cores, currencies that nothing joins, figures that the catalogue has otherwise, offers that
// nobody measured.

#pragma once

#include "base/names.hpp"
#include "document/lint.hpp"
#include "offers/offer.hpp"
#include "offers/price.hpp"
#include "reference/hardware.hpp"
#include "store/collection.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::offers {

/// For programs: these stay as they are. What each means: offers.json of document/texts.
ASSAY_ENUM(OfferCode,
           unreadable,       // a line that is no offer
           unpriced,         // the price may not be counted with: PriceState says why
           mixed_currencies, // no rate leads from one to the other
           not_node_price,   // by the catalogue: of the host alone, or of a part of the node
           implausible,      // less or more than anybody asks for the memory of such a GPU
           placeholder,      // 9999, 0.01, or one price for types of many sizes
           gpu_price, // it looks like the price of one GPU of several, or does not grow with them
           price_differs, // a factor of 3 from offers alike
           spot_as_on_demand,
           duplicate,         // the same type, region and tariff once more
           unused_commitment, // of a bill
           vcpu_as_core,
           catalog_differs, // from what the catalogue says of that type
           ambiguous_gpu,   // its name may mean several
           skipped_lines,   // of a bill
           no_results,      // offers that nobody measured
           no_offer)        // what was measured is not offered

/// `runs`: what was measured; null: not asked for. `hardware`: the catalogue; null: not held against it.
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

} // namespace assay::offers
