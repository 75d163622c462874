// SPDX-License-Identifier: Apache-2.0
//
// One series over time as inline SVG: a dot for each point, a colour for each machine, upright lines
// where the level changes.

#pragma once

#include "history/history.hpp"

#include <string>

namespace assay::report {

/// `id` starts the ids of titles, and is unique on the page. Nothing for fewer than two points.
std::string history_chart(const HistorySeries& series, const std::string& id);

} // namespace assay::report
