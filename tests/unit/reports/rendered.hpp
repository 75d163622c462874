// SPDX-License-Identifier: Apache-2.0
//
// The report of a run in each format.

#pragma once

#include "report/document.hpp"
#include "report/report.hpp"
#include "write/html.hpp"
#include "write/markdown.hpp"
#include "write/terminal.hpp"

#include <string>
#include <vector>

namespace assay::test {

inline std::vector<document::Document> document_of(const record::Run& run,
                                                   const report::ReportOptions& options = {}) {
    return {report::make_document(report::make_report(run, options))};
}
inline std::string html_of(const record::Run& run, const report::ReportOptions& options = {}) {
    return write::to_html(document_of(run, options), {.page = {}, .created = {}}).value();
}
inline std::string markdown_of(const record::Run& run) {
    return write::to_markdown(document_of(run));
}
inline std::string terminal_of(const record::Run& run, const Terminal& style = {}) {
    return write::to_terminal(document_of(run), style);
}

} // namespace assay::test
