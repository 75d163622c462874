// SPDX-License-Identifier: Apache-2.0
//
// Files of offers, as JSON or as tables, read whole or refused by line and column.

#pragma once

#include "base/result.hpp"
#include "offers/offer.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace assay::offers {

/// JSON where the text begins with a brace, CSV otherwise. `source` names it in messages.
OffersRead parse_offers(std::string_view text, const std::string& source,
                        const OfferDefaults& defaults = {});
Result<OffersRead> read_offers(const std::string& path, const OfferDefaults& defaults = {});
/// All files as one. Fails with the first fault.
Result<Offers> offers_of(const std::vector<std::string>& paths, const OfferDefaults& defaults = {});

} // namespace assay::offers
