// SPDX-License-Identifier: Apache-2.0
//
// What a lint of files found, as a document and as data: one kind of table for limits and offers.

#pragma once

#include "document/document.hpp"
#include "json/json.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace assay::document {

struct LintRow {
    std::string_view code; ///< for programs: stays as it is
    Severity severity = Severity::serious;
    std::string file{};
    std::string about{};   ///< the limit, offer or entry; may be empty
    std::string where{};   ///< file and line; may be empty
    std::string what{};    ///< a sentence
    std::string instead{}; ///< what would be right; may be empty
};
std::size_t serious_of(const std::vector<LintRow>& rows);

/// `checked`: "12 offers"; `serious`: the verdict where some findings are.
Document lint_document(std::string kicker, std::string title, const std::string& checked,
                       std::string serious, const std::vector<std::string>& files,
                       const std::vector<LintRow>& rows);
/// `about`: the key of what each is about.
json::Value lint_rows(const std::vector<LintRow>& rows, const char* about, bool with_where = true);

} // namespace assay::document
