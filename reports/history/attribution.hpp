// SPDX-License-Identifier: Apache-2.0
//
// Why did it change? Each step is set against what was recorded on both sides of it; steps of many series
// with one cause are one event (decision 0144).

#pragma once

#include "history/facts.hpp"
#include "history/history.hpp"
#include "history/steps.hpp"
#include "history/tracks.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace assay::report {

/// A step with its cause, and the series it belongs to.
struct ExplainedStep {
    std::size_t line = 0;
    std::size_t at = 0; ///< sample after it
    bool better = false;
    HistoryStep step;
};
std::vector<ExplainedStep> explain(const Collection& collection, const FactBook& book,
                                   const Tracks& tracks, std::span<const Line> lines,
                                   std::span<const FoundStep> found);

/// The events of one group, by time; `steps` are those of the group. Counts for each fact where else it
/// changed, also in the steps themselves, and writes the steps' texts.
std::vector<HistoryEvent> make_events(const Collection& collection, const FactBook& book,
                                      const Tracks& tracks, std::size_t group,
                                      std::span<const Line> lines, std::span<ExplainedStep> steps);

} // namespace assay::report
