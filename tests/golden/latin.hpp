// SPDX-License-Identifier: Apache-2.0
//
// Is a document in Chinese free of English sentences? Three words of small letters in a row are one; names of benchmarks,
// parameters, processors and units have fewer, and what is to be typed is taken out.

#pragma once

#include "write/html.hpp"

#include <algorithm>
#include <regex>
#include <span>
#include <string>
#include <vector>

namespace assay::test {

/// As the page without a script shows them: every text, also those that a terminal folds away.
inline std::vector<std::string> latin_sentences(std::span<const document::Document> documents) {
    static const std::regex typed{"assay [a-z][ -~]*"};
    static const std::regex sentence{"[a-z]{2,} [a-z]+ [a-z]{2,}[ -~]*"};
    const auto page = write::to_html(documents, {}).value_or("");
    std::string text;
    bool in_tag = true;
    for (const char c : page.substr(std::min(page.find("<main"), page.size()))) {
        in_tag = c == '<' || (in_tag && c != '>');
        text += in_tag || c == '>' ? '\n' : c;
    }
    text = std::regex_replace(text, typed, "");
    std::vector<std::string> found;
    for (std::sregex_iterator at{text.begin(), text.end(), sentence}, end; at != end; ++at)
        found.push_back(at->str());
    return found;
}

} // namespace assay::test
