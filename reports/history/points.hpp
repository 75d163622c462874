// SPDX-License-Identifier: Apache-2.0
//
// The points of a series as they are drawn: no more than can be shown.

#pragma once

#include "history/history.hpp"
#include "history/tracks.hpp"

#include <cstddef>
#include <vector>

namespace assay::report {

/// At most about `most` points, by time. Where there are more: a point for each machine and week, month
/// or quarter, else one of all machines for each of these.
std::vector<HistoryPoint> make_points(const Collection& collection, const SeriesTracks& tracks,
                                      bool higher_is_better, std::size_t most);

/// Where one machine ended and another began. Machines measured side by side are no break.
std::vector<SeriesBreak> make_breaks(const SeriesTracks& tracks);

} // namespace assay::report
