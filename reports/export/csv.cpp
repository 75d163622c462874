// SPDX-License-Identifier: Apache-2.0

#include "export/csv.hpp"

#include "report/text.hpp"
#include "report/words.hpp"
#include "write/csv_line.hpp"

#include <fmt/core.h>

#include <array>
#include <optional>
#include <string_view>

namespace assay::report {
namespace {

using write::CsvLine;

constexpr std::array columns{
    "run",      "suite",     "started", "machine",        "cpu_model",    "provider",
    "instance", "benchmark", "version", "place",          "library",      "parameters",
    "settings", "status",    "reason",  "metric",         "unit",         "higher_is_better",
    "value",    "low",       "high",    "interval_scope", "median",       "min",
    "p95",      "p99",       "count",   "ceiling",        "ceiling_kind", "ceiling_source",
    "verified", "error",     "bound"};

std::string joined(const record::NamedList& list) {
    std::string out;
    for (const auto& entry : list)
        out += fmt::format("{}{}={}", out.empty() ? "" : " ", entry.name,
                           record::to_string(entry.value));
    return out;
}

void add_metric(CsvLine& line, const record::Metric& metric) {
    line.text(metric.name).text(metric.unit).raw(metric.higher_is_better ? "true" : "false");
    line.number(metric.value).number(metric.low).number(metric.high);
    line.raw(record::to_string(metric.interval_scope));
    line.number(metric.median).number(metric.min).number(metric.p95);
    line.number(metric.p99);
    line.raw(fmt::format("{}", metric.count));
}

void add_row(std::string& out, const record::Run& run, const record::Case& c,
             const record::Metric* metric, bool is_headline) {
    constexpr int metric_cells = 12; // metric ... count
    CsvLine line{out};
    line.text(run.id).text(run.suite).text(run.started).text(run.machine.id);
    line.text(run.machine.cpu_model).text(run.machine.provider).text(run.machine.instance);
    line.text(c.benchmark).raw(fmt::format("{}", c.version)).text(c.place.kind).text(c.library);
    line.text(joined(c.parameters)).text(joined(c.settings));
    line.raw(record::to_string(c.status)).text(c.reason);
    if (metric != nullptr)
        add_metric(line, *metric);
    else
        for (int i = 0; i < metric_cells; ++i) line.raw("");
    if (is_headline)
        line.number(c.ceiling.value).raw(record::to_string(c.ceiling.kind)).text(c.ceiling.source);
    else
        line.raw("").raw("").raw("");
    if (c.verification)
        line.raw(c.verification->passed ? "true" : "false")
            .number(c.verification->error)
            .number(c.verification->bound);
    else
        line.raw("").raw("").raw("");
    line.end();
}

} // namespace

std::string to_csv(const record::Run& original) {
    const record::Run run = plain(original);
    std::string out;
    CsvLine header{out};
    for (const auto* name : columns) header.raw(name);
    header.end();
    for (const auto& c : run.cases) {
        if (headline(c) == nullptr) {
            add_row(out, run, c, nullptr, false);
            continue;
        }
        for (const auto& metric : c.metrics)
            add_row(out, run, c, &metric, &metric == &c.metrics.front());
    }
    return out;
}

} // namespace assay::report
