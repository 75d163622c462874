// SPDX-License-Identifier: Apache-2.0
//
// For tests that look into documents: the language of their texts, and their blocks by kind.
//
// Is a document in Chinese free of English sentences? Three words of small letters in a row are one; names of
// benchmarks, parameters, processors and units have fewer, and what is to be typed is taken out.

#pragma once

#include "document/language.hpp"
#include "write/formats.hpp"

#include <algorithm>
#include <regex>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace assay::test {

/// Another language for as long as this lives; English again afterwards.
class Speaking {
public:
    explicit Speaking(document::Language language) { document::use_language(language); }
    Speaking(const Speaking&) = delete;
    Speaking& operator=(const Speaking&) = delete;
    ~Speaking() { document::use_language(document::Language::en); }
};

/// Section by section.
template <class Block>
std::vector<Block> blocks_of(const document::Document& document) {
    std::vector<Block> found;
    for (const auto& section : document.sections)
        for (const auto& block : section.blocks)
            if (const auto* one = std::get_if<Block>(&block)) found.push_back(*one);
    return found;
}

/// The sentences in Latin letters of the page without a script: every text, also those that a terminal folds away.
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
