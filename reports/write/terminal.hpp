// SPDX-License-Identifier: Apache-2.0
//
// Documents as plain text for a terminal or a log. Widths are honoured down to 60 columns.

#pragma once

#include "base/terminal.hpp"
#include "document/document.hpp"

#include <span>
#include <string>

namespace assay::write {

std::string to_terminal(std::span<const document::Document> documents, const Terminal& style = {});

} // namespace assay::write
