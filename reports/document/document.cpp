// SPDX-License-Identifier: Apache-2.0

#include "document/document.hpp"

#include "document/words.hpp"
#include "language/language.hpp"

namespace assay::document {

const char* to_string(Tone tone) {
    switch (tone) {
    case Tone::good:
        return "good";
    case Tone::weak:
        return "weak";
    case Tone::bad:
        return "bad";
    case Tone::quiet:
        return "quiet";
    case Tone::plain:
        break;
    }
    return "plain";
}

const char* to_string(Severity severity) {
    switch (severity) {
    case Severity::note:
        return "note";
    case Severity::caution:
        return "caution";
    case Severity::serious:
        break;
    }
    return "serious";
}

std::string severity_in_words(Severity severity) {
    switch (severity) {
    case Severity::note:
        return report::say<report::text::finding::note>();
    case Severity::caution:
        return report::say<report::text::finding::caution>();
    case Severity::serious:
        break;
    }
    return report::say<report::text::finding::serious>();
}

bool is_shown(const Table& table) {
    return !table.rows.empty() && !table.only_workbook && table.folded.empty();
}

} // namespace assay::document
