// SPDX-License-Identifier: Apache-2.0
//
// What does a series say as a whole: by quarters, as a slope, and between machines?

#pragma once

#include "history/attribution.hpp"
#include "history/history.hpp"
#include "history/tracks.hpp"

#include <optional>
#include <span>
#include <vector>

namespace assay::history {

/// The changes of one series, and the lines they are on.
struct SeriesChanges {
    std::span<const SeriesLine> lines;
    std::span<const ExplainedChange> changes;
    std::span<const double> detectable; ///< of each line
};

std::vector<Quarter> make_quarters(const SeriesTracks& tracks, bool higher_is_better);
/// Nothing for a single quarter.
std::optional<QuarterChange> make_quarter_change(const SeriesTracks& tracks,
                                                 const SeriesChanges& changes);
/// Theil and Sen on what is left when the changes and the differences between machines are taken out;
/// nothing for less than half a year or five samples. `level`: of the test that finds it.
std::optional<Trend> make_trend(const SeriesTracks& tracks, const SeriesChanges& changes,
                                double level);
/// Nothing for fewer than `fewest_machines` that were measured in the last year.
std::optional<Spread> make_spread(const SeriesTracks& tracks, const SeriesChanges& changes,
                                  const decide::Series& series);

} // namespace assay::history
