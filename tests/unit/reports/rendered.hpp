// SPDX-License-Identifier: Apache-2.0
//
// The report of a run in each format, and cases made in few words.

#pragma once

#include "record/metrics.hpp"
#include "report/report.hpp"
#include "write/formats.hpp"

#include <string>
#include <utility>
#include <vector>

namespace assay::test {

/// Known to 1%.
inline record::Metric metric_of(const std::string& name, double value) {
    const auto& known = *record::find_metric(name);
    return {.name = name,
            .unit = std::string{known.unit},
            .higher_is_better = known.higher_is_better,
            .value = value,
            .low = 0.99 * value,
            .high = 1.01 * value};
}
/// On the host, with a figure of its headline.
inline record::Case case_of(std::string benchmark, std::string library,
                            record::NamedList parameters, const std::string& headline,
                            double value) {
    return {.benchmark = std::move(benchmark),
            .place = {.kind = "host"},
            .library = std::move(library),
            .parameters = std::move(parameters),
            .headline = headline,
            .status = record::Status::ok,
            .metrics = {metric_of(headline, value)}};
}

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
