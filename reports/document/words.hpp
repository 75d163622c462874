// SPDX-License-Identifier: Apache-2.0
//
// What writers say themselves.

#pragma once

#include "document/document.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace assay::document {

std::string severity_in_words(Severity severity);
/// Do text formats show it as a table?
bool is_shown(const Table& table);
/// The columns that people see: those that say something in any row.
std::vector<std::size_t> shown_columns(const Table& table);

} // namespace assay::document
