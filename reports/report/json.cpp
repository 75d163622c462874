// SPDX-License-Identifier: Apache-2.0

#include "json/json.hpp"

#include "document/chart.hpp"
#include "json/codec.hpp"
#include "report/report.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace assay::document {

ASSAY_FIELDS(Finding, severity, what, action)

} // namespace assay::document

namespace assay::report {

using namespace document;
namespace {

using json::Value;

Value facts(const std::vector<Fact>& facts) {
    json::Members members;
    for (const auto& fact : facts) members.set(fact.key, fact.text);
    return members.take();
}

const Bound* first_bound(const Row& row) {
    return row.bounds.empty() ? nullptr : &row.bounds.front();
}
std::vector<Bound> other_bounds(const Row& row) {
    return {row.bounds.begin() + (row.bounds.empty() ? 0 : 1), row.bounds.end()};
}

std::vector<std::string> notes_of(const Row& row) {
    auto notes = row.notes;
    for (const auto& detail : row.details)
        notes.push_back(say<text::words::labelled>(detail.name, detail.text));
    notes.insert(notes.end(), row.disturbances.begin(), row.disturbances.end());
    return notes;
}

Value figures_of(const Row& row) {
    Value figures = Value::object();
    for (const auto& figure : row.figures) figures[figure.key] = figure.text;
    return figures;
}

/// Curves with the same number of a chart share its axes.
struct ChartCurve {
    const Sweep& chart;
    std::size_t number;
    const Curve& curve;
};
std::vector<ChartCurve> curves_of(const Section& section) {
    std::vector<ChartCurve> curves;
    for (std::size_t number = 0; number < section.curves.size(); ++number)
        for (const auto& curve : section.curves[number].curves)
            curves.push_back({section.curves[number], number, curve});
    return curves;
}
Value points_of(const Curve& curve) {
    Value points = Value::array();
    for (const auto& point : curve.points) points.push_back({point.x, point.y});
    return points;
}
Value intervals_of(const Curve& curve) {
    Value intervals = Value::array();
    for (const auto& point : curve.points)
        intervals.push_back({json::encode(point.low), json::encode(point.high)});
    return intervals;
}
ASSAY_FIELDS(ChartCurve, (record.chart.benchmark, "benchmark"), (record.number, "chart"),
             (record.curve.label, "curve"), (record.chart.common, "common"),
             (record.chart.x_title, "x"), (record.chart.x_unit, "x_unit"),
             (record.chart.y_title, "y"), (record.chart.unit, "unit"),
             (record.chart.higher_is_better, "higher_is_better"),
             (points_of(record.curve), "points"), (intervals_of(record.curve), "intervals"),
             (record.chart.marks, "marks"), (record.curve.levels, "levels"))

struct ServedSeries {
    const Served& series;
    const ServedBatch* best;
};
std::vector<ServedSeries> series_of(const Serving& serving) {
    std::vector<ServedSeries> all;
    for (const auto& series : serving.series)
        all.push_back({series, serving.bound ? best_within(series, *serving.bound) : nullptr});
    return all;
}
ASSAY_FIELDS(ServedSeries, (record.series.name, "case"), (record.series.benchmark, "benchmark"),
             (record.series.library, "library"), (record.series.items, "items"),
             (record.series.batches, "batches"),
             (record.best != nullptr ? Value(record.best->identity) : Value(nullptr), "best"))

Value names(const std::vector<Fact>& facts) {
    Value names = Value::object();
    for (const auto& fact : facts)
        if (fact.name != fact.key) names[fact.key] = fact.name;
    return names;
}

/// Names of the keys of facts and figures in the language of the report, if not English: the keys themselves are
/// the same in every language.
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

} // namespace

ASSAY_FIELDS(Bound, (to_string(record.kind), "kind"), (record.share, "of_ceiling"),
             (record.number, "ceiling"), (record.note + 1, "ceiling_note"))
ASSAY_FIELDS(Row, identity, benchmark, (record.what, "case"), library, status, knowledge,
             (record.value, "text"), (record.number, "value"), low, high, unit, interval, covers,
             (record.title, "metric"), higher_is_better, on_curve,
             (first_bound(record) ? first_bound(record)->share : "", "of_ceiling"),
             (first_bound(record) ? std::optional{first_bound(record)->number} : std::nullopt,
              "ceiling"),
             (first_bound(record) ? std::optional{first_bound(record)->note + 1} : std::nullopt,
              "ceiling_note"),
             (other_bounds(record), "other_ceilings"), (notes_of(record), "notes"),
             (figures_of(record), "figures"), settings, strips)
ASSAY_FIELDS(Matrix, benchmark, (record.what, "case"), (record.title, "metric"), unit, row_title,
             column_title, rows, columns, merged, slow, values)
ASSAY_FIELDS(Section, family, title, question, ceilings, (curves_of(record), "curves"), maps,
             (record.rows, "cases"))
ASSAY_FIELDS(RoofCase, identity, benchmark, (record.what, "case"), library, intensity, rate)
ASSAY_FIELDS(Roofline, place, peaks, bandwidths, levels, cases)
ASSAY_FIELDS(ServedBatch, identity, batch, p50, p99, (record.queries, "queries_per_second"), rate,
             per_user)
ASSAY_FIELDS(Serving, (record.bound, "p99_bound"), (series_of(record), "series"))
ASSAY_FIELDS(Missing, status, reason, cases)
ASSAY_FIELDS(CheckGroup, benchmark, method, passed, total)
ASSAY_FIELDS(Report, label, title, source, (facts(record.run), "run"),
             (facts(record.machine), "machine"), (facts(record.software), "libraries"), verdict,
             cause, (facts(record.summary), "summary"), findings, sections, serving, rooflines,
             (record.missing, "not_measured"), checks, caps, (names(record), "names"))

static Value encode_value(const Strip& strip) { return strip.values; }

std::string to_json(std::span<const Report> reports) {
    Value list = Value::array();
    for (const auto& report : reports) list.push_back(json::encode(report));
    return json::to_text({{"schema", "assay.report/1"}, {"reports", std::move(list)}});
}

} // namespace assay::report
