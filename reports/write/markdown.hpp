// SPDX-License-Identifier: Apache-2.0
//
// Documents as GitHub's Markdown. Nothing in a text starts a link, HTML, emphasis, code or a cell.

#pragma once

#include "document/document.hpp"

#include <span>
#include <string>

namespace assay::write {

std::string to_markdown(std::span<const document::Document> documents);

} // namespace assay::write
