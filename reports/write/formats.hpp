// SPDX-License-Identifier: Apache-2.0
//
// Documents as one self-contained page that refers to nothing outside itself: texts, facts and tables are in it as
// HTML, made to be read on a screen, on a telephone and on paper. The script of page/, where the build made it, draws the
// charts and adds filters; a Content-Security-Policy allows that one script, by its hash, and no other. Without it the
// page has the charts' texts and says what it lacks.

#pragma once

#include "base/result.hpp"
#include "base/terminal.hpp"
#include "document/document.hpp"
#include "document/language.hpp"

#include <cstddef>
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

// --- markdown ------------------------------------------------------------------------------------
// Documents as GitHub's Markdown. Nothing in a text starts a link, HTML, emphasis, code or a cell.

std::string to_markdown(std::span<const document::Document> documents);

// --- pdf -----------------------------------------------------------------------------------------
// A page on paper: Chromium prints it as a reader would, on A4 with numbers.

/// `html`: a page of to_html(). Fails (environment) without Chromium or Chrome, or if it prints nothing within two
/// minutes.
Result<std::string> to_pdf(std::string_view html);

// --- terminal ------------------------------------------------------------------------------------
// Documents as plain text for a terminal or a log. Widths are honoured down to 60 columns. Of a very long table a terminal
// gets the rows that matter most, in their order, and the number of the others (decision 0309).

/// `most_rows` of each table; 0: all.
std::string to_terminal(std::span<const document::Document> documents, const Terminal& style = {},
                        std::size_t most_rows = 0);

// --- workbook ------------------------------------------------------------------------------------
// Documents as a workbook (xlsx), for people who go on calculating. Every number is one, in SI base units, or in ms, µs or ns for
// times below one second; formats show prefixes. Equal data make equal files.

/// The bytes of the file. Fails where a temporary file cannot be written.
Result<std::string> to_workbook(std::span<const document::Document> documents);

} // namespace assay::write
