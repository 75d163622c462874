// SPDX-License-Identifier: Apache-2.0
//
// Documents as one self-contained page that refers to nothing outside itself: texts, facts and tables are in it as
// HTML, made to be read on a screen, on a telephone and on paper. The script of page/, where the build made it, draws the
// charts and adds filters; a Content-Security-Policy allows that one script, by its hash, and no other. Without it the
// page has the charts' texts and says what it lacks.

#pragma once

#include "base/result.hpp"
#include "document/document.hpp"
#include "document/language.hpp"

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace assay::write {

/// The frame with the script: share/assay/page/page.html. Nothing where the build had no Node.js.
std::optional<std::string> find_page(const std::filesystem::path& share);

struct HtmlOptions {
    std::optional<std::string> page; ///< find_page()
    std::string created;             ///< UTC, ISO 8601
};
/// Fails where `page` is not one that this version can fill.
Result<std::string> to_html(std::span<const document::Document> documents,
                            const HtmlOptions& options);

/// Text between tags or inside a quoted attribute.
std::string escape_html(std::string_view text);
/// A JSON document in as few bytes as a page needs: no blanks, numbers with at most seven digits (whole ones
/// and large ones whole), and nothing in it that could end the element it stands in.
std::string pack_json(std::string_view document);

} // namespace assay::write
