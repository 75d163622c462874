// SPDX-License-Identifier: Apache-2.0
//
// What writers say themselves.

#pragma once

#include "document/document.hpp"

#include <string>

namespace assay::document {

std::string severity_in_words(Severity severity);
/// Do text formats show it as a table?
bool is_shown(const Table& table);

} // namespace assay::document
