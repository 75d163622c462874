// SPDX-License-Identifier: Apache-2.0
//
// Costs as a document and as data.

#pragma once

#include "document/document.hpp"
#include "offers/cost.hpp"

#include <string>
#include <vector>

namespace assay::offers {

/// `explain`: every line of each calculation, with formula and source.
document::Document make_document(const std::vector<Cost>& costs, bool explain);
std::string to_json(const std::vector<Cost>& costs);

// What other documents of calculations say likewise.

/// "USD 12.34/h", "67%", "5.05e+11 FLOP": with the interval behind it where it has one.
std::string in_words(const Quantity& quantity, const std::string& unit);
/// The title of a line: cost_line.json of document/texts.
std::string name_of_line(const std::string& key);
/// "Power usage effectiveness: not given"
std::string reason_in_words(const Line& line);
/// The value, or why there is none.
document::Cell cell_of(const Line* line);
/// The cell, live in a workbook: what the line of that name has there: "offer_1.month".
document::Cell linked(document::Cell cell, const std::string& to);
/// All lines, live in a workbook. `name`: what formulas of other tables call it; `of`: what the lines are about.
document::Table explained(const Calculation& lines, std::string name = {},
                          const std::string& of = {}, const std::string& folded = {});
json::Value to_json(const Calculation& lines);

} // namespace assay::offers
