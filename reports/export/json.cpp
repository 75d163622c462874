// SPDX-License-Identifier: Apache-2.0

#include "export/json.hpp"

#include "json/json.hpp"
#include "json/members.hpp"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::report {
namespace {

using json::Value;

Value facts(const std::vector<Fact>& facts) {
    json::Members members;
    for (const auto& fact : facts) members.set(fact.key, fact.text);
    return members.take();
}

Value optional(const std::optional<double>& value) {
    return value ? Value(*value) : Value(nullptr);
}

Value others(const Row& row) {
    Value list = Value::array();
    for (const auto& other : row.other_ceilings)
        list.push_back({{"of_ceiling", other.share},
                        {"ceiling", optional(other.number)},
                        {"ceiling_note", other.note + 1}});
    return list;
}

std::vector<std::string> notes_of(const Row& row) {
    auto notes = row.notes;
    notes.insert(notes.end(), row.disturbances.begin(), row.disturbances.end());
    return notes;
}

Value row(const Row& row) {
    Value figures = Value::object();
    for (const auto& figure : row.figures) figures[figure.key] = figure.text;
    Value strips = Value::array();
    for (const auto& strip : row.strips) strips.push_back(strip.values);
    return {{"identity", row.identity},
            {"benchmark", row.benchmark},
            {"case", row.what},
            {"library", row.library},
            {"status", record::to_string(row.status)},
            {"text", row.value},
            {"value", optional(row.number)},
            {"low", optional(row.low)},
            {"high", optional(row.high)},
            {"unit", row.unit},
            {"interval", row.interval},
            {"covers", row.covers},
            {"metric", row.title},
            {"higher_is_better", row.higher_is_better},
            {"on_curve", row.on_curve},
            {"of_ceiling", row.share},
            {"ceiling", optional(row.ceiling)},
            {"ceiling_note", row.ceiling_note ? Value(*row.ceiling_note + 1) : Value(nullptr)},
            {"other_ceilings", others(row)},
            {"notes", notes_of(row)},
            {"figures", std::move(figures)},
            {"settings", row.settings},
            {"strips", std::move(strips)}};
}

Value marks(const Sweep& chart) {
    Value marks = Value::array();
    for (const auto& mark : chart.marks) marks.push_back({{"x", mark.x}, {"text", mark.text}});
    return marks;
}

/// Curves with the same number of a chart share its axes.
Value curves(const Section& section) {
    Value charts = Value::array();
    for (std::size_t number = 0; number < section.curves.size(); ++number) {
        const auto& chart = section.curves[number];
        for (const auto& curve : chart.curves) {
            Value points = Value::array();
            Value intervals = Value::array();
            for (const auto& point : curve.points) {
                points.push_back({point.x, point.y});
                intervals.push_back({optional(point.low), optional(point.high)});
            }
            charts.push_back({{"benchmark", chart.benchmark},
                              {"chart", number},
                              {"curve", curve.label},
                              {"common", chart.common},
                              {"x", chart.x_title},
                              {"x_unit", chart.x_unit},
                              {"y", chart.y_title},
                              {"unit", chart.unit},
                              {"higher_is_better", chart.higher_is_better},
                              {"points", std::move(points)},
                              {"intervals", std::move(intervals)},
                              {"marks", marks(chart)},
                              {"levels", curve.levels}});
        }
    }
    return charts;
}

Value maps(const Section& section) {
    Value maps = Value::array();
    for (const auto& map : section.maps) {
        Value values = Value::array();
        for (const auto& value : map.values) values.push_back(optional(value));
        maps.push_back({{"benchmark", map.benchmark},
                        {"case", map.what},
                        {"metric", map.title},
                        {"unit", map.unit},
                        {"row_title", map.row_title},
                        {"column_title", map.column_title},
                        {"rows", map.rows},
                        {"columns", map.columns},
                        {"merged", map.merged},
                        {"slow", map.slow},
                        {"values", std::move(values)}});
    }
    return maps;
}

Value section(const Section& section) {
    Value rows = Value::array();
    for (const auto& entry : section.rows) rows.push_back(row(entry));
    return {{"family", section.family},     {"title", section.title},
            {"question", section.question}, {"ceilings", section.ceilings},
            {"curves", curves(section)},    {"maps", maps(section)},
            {"cases", std::move(rows)}};
}

Value roofs(const std::vector<Roof>& roofs) {
    Value list = Value::array();
    for (const auto& roof : roofs) list.push_back({{"name", roof.name}, {"value", roof.value}});
    return list;
}

Value roofline_of(const Roofline& roofline) {
    Value cases = Value::array();
    for (const auto& entry : roofline.cases)
        cases.push_back({{"identity", entry.identity},
                         {"benchmark", entry.benchmark},
                         {"case", entry.what},
                         {"library", entry.library},
                         {"intensity", entry.intensity},
                         {"rate", entry.rate}});
    return {{"place", roofline.place},
            {"peaks", roofs(roofline.peaks)},
            {"bandwidths", roofs(roofline.bandwidths)},
            {"levels", roofs(roofline.levels)},
            {"cases", std::move(cases)}};
}

Value rooflines(const std::vector<Roofline>& all) {
    Value list = Value::array();
    for (const auto& roofline : all) list.push_back(roofline_of(roofline));
    return list;
}

Value serving_of(const Serving& serving) {
    Value list = Value::array();
    for (const auto& series : serving.series) {
        Value batches = Value::array();
        for (const auto& of : series.batches)
            batches.push_back({{"identity", of.identity},
                               {"batch", of.batch},
                               {"p50", of.p50},
                               {"p99", optional(of.p99)},
                               {"queries_per_second", of.queries}});
        const auto* best = serving.bound ? best_within(series, *serving.bound) : nullptr;
        list.push_back({{"case", series.name},
                        {"benchmark", series.benchmark},
                        {"library", series.library},
                        {"batches", std::move(batches)},
                        {"best", best != nullptr ? Value(best->identity) : Value(nullptr)}});
    }
    return {{"p99_bound", optional(serving.bound)}, {"series", std::move(list)}};
}

Value names(const std::vector<Fact>& facts) {
    Value names = Value::object();
    for (const auto& fact : facts)
        if (fact.name != fact.key) names[fact.key] = fact.name;
    return names;
}

/// What the keys of facts and figures are called in the language of the report, where that is not English:
/// the keys themselves are the same in every language.
Value names(const Report& report) {
    Value figures = Value::object();
    for (const auto& section : report.sections)
        for (const auto& row : section.rows)
            for (const auto& figure : row.figures)
                if (figure.title != figure.key) figures[figure.key] = figure.title;
    return {{"run", names(report.run)},
            {"machine", names(report.machine)},
            {"libraries", names(report.software)},
            {"summary", names(report.summary)},
            {"figures", std::move(figures)}};
}

Value report_of(const Report& report) {
    Value findings = Value::array();
    for (const auto& finding : report.findings)
        findings.push_back({{"severity", to_string(finding.severity)},
                            {"what", finding.what},
                            {"action", finding.action}});
    Value sections = Value::array();
    for (const auto& entry : report.sections) sections.push_back(section(entry));
    Value missing = Value::array();
    for (const auto& group : report.missing)
        missing.push_back({{"status", record::to_string(group.status)},
                           {"reason", group.reason},
                           {"cases", group.cases}});
    Value checks = Value::array();
    for (const auto& group : report.checks)
        checks.push_back({{"benchmark", group.benchmark},
                          {"method", group.method},
                          {"passed", group.passed},
                          {"total", group.total}});
    return {{"label", report.label},
            {"title", report.title},
            {"source", report.source},
            {"run", facts(report.run)},
            {"machine", facts(report.machine)},
            {"libraries", facts(report.software)},
            {"verdict", report.verdict},
            {"cause", report.cause},
            {"summary", facts(report.summary)},
            {"findings", std::move(findings)},
            {"sections", std::move(sections)},
            {"serving", serving_of(report.serving)},
            {"rooflines", rooflines(report.rooflines)},
            {"not_measured", std::move(missing)},
            {"checks", std::move(checks)},
            {"caps", report.caps},
            {"names", names(report)}};
}

} // namespace

std::string to_json(std::span<const Report> reports) {
    Value list = Value::array();
    for (const auto& report : reports) list.push_back(report_of(report));
    return json::to_text({{"schema", "assay.report/1"}, {"reports", std::move(list)}});
}

} // namespace assay::report
