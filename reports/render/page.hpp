// SPDX-License-Identifier: Apache-2.0
//
// The interactive page: one file that holds a script, the data it shows and their looks, and refers to nothing
// outside itself. The build makes the page without data (reports/page); here they are put in. A
// Content-Security-Policy allows that one script, by its hash, and no other.

#pragma once

#include "base/result.hpp"
#include "language/language.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace assay::report {

/// What a page shows: JSON documents as to_json() writes them; an empty one is left out.
struct PageContent {
    std::string title;      ///< empty: the page makes one of its data
    std::string created;    ///< UTC, ISO 8601
    std::string report;     ///< assay.report/1
    std::string comparison; ///< assay.comparison/1
    std::string history;    ///< assay.history/1
};

/// The page without its data: share/assay/page/page.html. Nothing where the build had no Node.js.
std::optional<std::string> find_page(const std::filesystem::path& share);

/// Fails where `page` is not one that this version can fill.
Result<std::string> fill_page(std::string_view page, const PageContent& content, Language language);

/// A JSON document in as few bytes as a page needs: no blanks, numbers with at most seven digits (whole ones
/// and large ones whole), and nothing in it that could end the element it stands in.
std::string pack_json(std::string_view document);

} // namespace assay::report
