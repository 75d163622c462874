// SPDX-License-Identifier: Apache-2.0
//
// The catalogue, and what is wrong with it, as documents and as data.

#pragma once

#include "document/document.hpp"
#include "procure/catalog_lint.hpp"
#include "reference/catalog.hpp"

#include <string>
#include <vector>

namespace assay::procure {

/// Side by side: every figure with its source.
document::Document make_document(const std::vector<reference::CatalogEntry>& entries);
/// A row each, by kind.
document::Document list_document(const std::vector<reference::CatalogEntry>& entries);
std::string to_json(const std::vector<reference::CatalogEntry>& entries);

struct LintedCatalog {
    std::size_t entries = 0;
    std::vector<std::string> files;
    std::vector<document::LintRow> findings;
};
document::Document make_document(const LintedCatalog& linted);
std::string to_json(const LintedCatalog& linted);
bool any_serious(const LintedCatalog& linted);

} // namespace assay::procure
