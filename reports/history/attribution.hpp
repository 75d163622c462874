// SPDX-License-Identifier: Apache-2.0
//
// Why did it change? Each change is set against what was recorded on both sides of it; changes of many series
// with one cause are one event (decision 0144).

#pragma once

#include "history/change_points.hpp"
#include "history/facts.hpp"
#include "history/history.hpp"
#include "history/tracks.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace assay::history {

/// A change with its cause, and the series it belongs to.
struct ExplainedChange {
    std::size_t line = 0;
    std::size_t at = 0; ///< sample after it
    bool better = false;
    ChangePoint point;
};
std::vector<ExplainedChange> explain(const store::Collection& collection, const FactBook& book,
                                     const Tracks& tracks, std::span<const SeriesLine> lines,
                                     std::span<const FoundChange> found);

/// The events of one group, by time; `changes` are those of the group. Counts for each fact where else it
/// changed, also in the changes themselves, and writes the changes' texts.
std::vector<HistoryEvent> make_events(const store::Collection& collection, const FactBook& book,
                                      const Tracks& tracks, std::size_t group,
                                      std::span<const SeriesLine> lines,
                                      std::span<ExplainedChange> changes);

} // namespace assay::history
