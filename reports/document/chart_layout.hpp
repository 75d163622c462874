// SPDX-License-Identifier: Apache-2.0
//
// Which keys charts have in the data of a page: one list for the writer and for page/src/data.ts, which is made from
// it (tests/unit/reports/page_types_test.cpp holds both against each other).

#pragma once

#include "base/fields.hpp"
#include "document/chart.hpp"

namespace assay::document {

ASSAY_FIELDS(Point, x, y, low, high)
ASSAY_FIELDS(Curve, label, side, points)
ASSAY_FIELDS(Mark, x, text)
ASSAY_FIELDS(CurveChart, unit, y_title, x_title, x_unit, higher_is_better, curves, marks)
ASSAY_FIELDS(HeatMap, unit, row_title, column_title, rows, columns, values, ratio)
ASSAY_FIELDS(Roof, name, value)
ASSAY_FIELDS(RoofPoint, label, intensity, rate)
ASSAY_FIELDS(RooflineChart, peaks, bandwidths, levels, points)
ASSAY_FIELDS(Ratio, label, side, ratio, low, high, outcome, text, mark, from)
ASSAY_FIELDS(RatioChart, share, ratios)
ASSAY_FIELDS(TimePoint, seconds, value, low, high, label)
ASSAY_FIELDS(TimeMark, seconds, text, outcome)
ASSAY_FIELDS(TimeChart, unit, higher_is_better, points, marks)
ASSAY_FIELDS(RankedMeasure, label, weight)
ASSAY_FIELDS(RankedType, machines)
ASSAY_FIELDS(RankedChoice, label, type, price, other, by_use, commitment)
ASSAY_FIELDS(RankingChart, currency, measures, types, choices, term, utilisation, prior_deviation,
             prior_degrees)

} // namespace assay::document
