// SPDX-License-Identifier: Apache-2.0
//
// Which keys charts have in the data of a page: one list for the writer and for page/src/data.ts, which is made from
// it (tests/unit/reports/page_types_test.cpp holds both against each other).

#pragma once

#include "base/fields.hpp"
#include "document/chart.hpp"

namespace assay::document {

template <class Visit>
void each_field(Visit&& visit, Maybe<Point> auto& point) {
    visit("x", point.x);
    visit("y", point.y);
    visit("low", point.low);
    visit("high", point.high);
}
template <class Visit>
void each_field(Visit&& visit, Maybe<Curve> auto& curve) {
    visit("label", curve.label);
    visit("side", curve.side);
    visit("points", curve.points);
}
template <class Visit>
void each_field(Visit&& visit, Maybe<Mark> auto& mark) {
    visit("x", mark.x);
    visit("text", mark.text);
}
template <class Visit>
void each_field(Visit&& visit, Maybe<CurveChart> auto& chart) {
    visit("unit", chart.unit);
    visit("y_title", chart.y_title);
    visit("x_title", chart.x_title);
    visit("x_unit", chart.x_unit);
    visit("higher_is_better", chart.higher_is_better);
    visit("curves", chart.curves);
    visit("marks", chart.marks);
}
template <class Visit>
void each_field(Visit&& visit, Maybe<HeatMap> auto& map) {
    visit("unit", map.unit);
    visit("row_title", map.row_title);
    visit("column_title", map.column_title);
    visit("rows", map.rows);
    visit("columns", map.columns);
    visit("values", map.values);
    visit("ratio", map.ratio);
}
template <class Visit>
void each_field(Visit&& visit, Maybe<Roof> auto& roof) {
    visit("name", roof.name);
    visit("value", roof.value);
}
template <class Visit>
void each_field(Visit&& visit, Maybe<RoofPoint> auto& point) {
    visit("label", point.label);
    visit("intensity", point.intensity);
    visit("rate", point.rate);
}
template <class Visit>
void each_field(Visit&& visit, Maybe<RooflineChart> auto& chart) {
    visit("peaks", chart.peaks);
    visit("bandwidths", chart.bandwidths);
    visit("levels", chart.levels);
    visit("points", chart.points);
}
template <class Visit>
void each_field(Visit&& visit, Maybe<Ratio> auto& ratio) {
    visit("label", ratio.label);
    visit("side", ratio.side);
    visit("ratio", ratio.ratio);
    visit("low", ratio.low);
    visit("high", ratio.high);
    visit("outcome", ratio.outcome);
    visit("text", ratio.text);
    visit("mark", ratio.mark);
    visit("from", ratio.from);
}
template <class Visit>
void each_field(Visit&& visit, Maybe<RatioChart> auto& chart) {
    visit("share", chart.share);
    visit("ratios", chart.ratios);
}
template <class Visit>
void each_field(Visit&& visit, Maybe<TimePoint> auto& point) {
    visit("seconds", point.seconds);
    visit("value", point.value);
    visit("low", point.low);
    visit("high", point.high);
    visit("label", point.label);
}
template <class Visit>
void each_field(Visit&& visit, Maybe<TimeMark> auto& mark) {
    visit("seconds", mark.seconds);
    visit("text", mark.text);
    visit("outcome", mark.outcome);
}
template <class Visit>
void each_field(Visit&& visit, Maybe<TimeChart> auto& chart) {
    visit("unit", chart.unit);
    visit("higher_is_better", chart.higher_is_better);
    visit("points", chart.points);
    visit("marks", chart.marks);
}
template <class Visit>
void each_field(Visit&& visit, Maybe<RankedMeasure> auto& measure) {
    visit("label", measure.label);
    visit("weight", measure.weight);
}
template <class Visit>
void each_field(Visit&& visit, Maybe<RankedType> auto& type) {
    visit("machines", type.machines);
}
template <class Visit>
void each_field(Visit&& visit, Maybe<RankedChoice> auto& choice) {
    visit("label", choice.label);
    visit("type", choice.type);
    visit("price", choice.price);
    visit("other", choice.other);
    visit("by_use", choice.by_use);
    visit("commitment", choice.commitment);
}
template <class Visit>
void each_field(Visit&& visit, Maybe<RankingChart> auto& chart) {
    visit("currency", chart.currency);
    visit("measures", chart.measures);
    visit("types", chart.types);
    visit("choices", chart.choices);
    visit("term", chart.term);
    visit("utilisation", chart.utilisation);
    visit("prior_deviation", chart.prior_deviation);
    visit("prior_degrees", chart.prior_degrees);
}

} // namespace assay::document
