// SPDX-License-Identifier: Apache-2.0
//
// Documents as plain text for a terminal or a log. Widths are honoured down to 60 columns. Of a very long table a terminal
// gets the rows that matter most, in their order, and the number of the others (decision 0309).

#pragma once

#include "base/terminal.hpp"
#include "document/document.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace assay::write {

/// `most_rows` of each table; 0: all.
std::string to_terminal(std::span<const document::Document> documents, const Terminal& style = {},
                        std::size_t most_rows = 0);

} // namespace assay::write
