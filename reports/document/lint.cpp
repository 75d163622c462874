// SPDX-License-Identifier: Apache-2.0
#include "document/lint.hpp"

#include "document/language.hpp"
#include "document/texts/limits.hpp"

#include <algorithm>
#include <utility>

namespace assay::document {

using namespace document;

std::size_t serious_of(const std::vector<LintRow>& rows) {
    return static_cast<std::size_t>(
        std::ranges::count(rows, Severity::serious, &LintRow::severity));
}

Document lint_document(std::string kicker, std::string title, const std::string& checked,
                       std::string serious, const std::vector<std::string>& files,
                       const std::vector<LintRow>& rows) {
    const bool is_serious = serious_of(rows) > 0;
    Document document{.kind = "lint",
                      .kicker = std::move(kicker),
                      .title = std::move(title),
                      .verdict = rows.empty() ? say<text::limits::lint_clean>(checked)
                                 : is_serious ? std::move(serious)
                                              : say<text::limits::lint_minor>(
                                                    say_count<text::limits::findings>(rows.size())),
                      .tone = rows.empty() ? Tone::good
                              : is_serious ? Tone::bad
                                           : Tone::weak};
    for (const auto& file : files) {
        Findings own;
        for (const auto& one : rows) {
            if (one.file != file) continue;
            const auto what = say<text::limits::finding_code>(one.what, one.code);
            own.findings.push_back(
                {.severity = one.severity,
                 .what = one.about.empty() ? what : say<text::limits::finding_of>(one.about, what),
                 .action = one.instead});
        }
        if (!own.findings.empty())
            document.sections.push_back({.title = file, .blocks = {std::move(own)}});
    }
    return document;
}

json::Value lint_rows(const std::vector<LintRow>& rows, const char* about, bool with_where) {
    json::Value list = json::Value::array();
    for (const auto& one : rows) {
        json::Value row{{"code", one.code},
                        {"severity", to_string(one.severity)},
                        {"file", one.file},
                        {about, one.about}};
        if (with_where) row["where"] = one.where;
        row["what"] = one.what;
        row["instead"] = one.instead;
        list.push_back(std::move(row));
    }
    return list;
}

} // namespace assay::document
