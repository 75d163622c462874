// SPDX-License-Identifier: Apache-2.0
//
// The hardware catalogue as documents and as data.

#pragma once

#include "document/document.hpp"
#include "reference/catalog.hpp"

#include <string>
#include <vector>

namespace assay::purchase {

/// Side by side: every figure with its source.
document::Document make_document(const std::vector<reference::CatalogEntry>& entries);
/// A row each, by kind.
document::Document list_document(const std::vector<reference::CatalogEntry>& entries);
std::string to_json(const std::vector<reference::CatalogEntry>& entries);

} // namespace assay::purchase
