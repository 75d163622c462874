// SPDX-License-Identifier: Apache-2.0
//
// Charts as inline SVG: no script, no fixed width (positions are percentages, so text keeps its size on
// a telephone and on paper), colours by the page's style sheet.

#pragma once

#include "model/view.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace assay::report {

/// Text between tags or inside a quoted attribute.
std::string escape_html(std::string_view text);

/// The same library has the same colour everywhere on a page.
class Palette {
public:
    std::size_t colour(const std::string& library);

private:
    std::map<std::string, std::size_t> known_;
};

/// Bars drawn per chart before the rest is only in the table: a chart taller than a page says nothing.
inline constexpr std::size_t bars_per_chart = 40;

/// Horizontal bars with interval and ceiling, one figure for each unit of the section. `id` starts the
/// ids of titles, and is unique on the page.
std::string bar_charts(const Section& section, const std::string& id, Palette& palette);

/// Batch values of each replica as dots in time order; up is faster.
std::string strip_chart(const Row& row);

} // namespace assay::report
