// SPDX-License-Identifier: Apache-2.0
//
// What stands in a page, as HTML: header, sections, tables; a figure for each chart, which the script draws.

#pragma once

#include "document/document.hpp"

#include <span>
#include <string>
#include <vector>

namespace assay::write {

struct HtmlBody {
    std::string html;
    std::vector<const document::Chart*> charts; ///< of the figures, by the number they bear
};
/// `scripted`: a script draws the charts; otherwise the page says that they are missing.
HtmlBody body_of(std::span<const document::Document> documents, const std::string& created,
                 bool scripted);

} // namespace assay::write
