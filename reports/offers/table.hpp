// SPDX-License-Identifier: Apache-2.0
//
// Offers from tables: columns of our own names, SkyPilot's catalogue, bills by FOCUS. A fault names line and column.

#pragma once

#include "offers/offer.hpp"

#include <string>
#include <string_view>

namespace assay::offers {

OffersRead parse_table(std::string_view text, const std::string& source,
                       const OfferDefaults& defaults);

/// A file to begin with: the line of titles and one offer.
std::string table_template();

} // namespace assay::offers
