// SPDX-License-Identifier: Apache-2.0
//
// Where else did the same change, and what came of it there?

#pragma once

#include "history/attribution.hpp"
#include "history/facts.hpp"
#include "history/tracks.hpp"

#include <span>

namespace assay::report {

/// Sets ChangedFact::without_effect in the changes of one group. A machine counts where the series that
/// made the change elsewhere moved by less than half of it, in the middle of all of them: a machine that is
/// only too noisy or too seldom measured for a change of its own is no evidence.
void count_elsewhere(const Collection& collection, const FactBook& book, const GroupTracks& group,
                     std::span<const SeriesLine> lines, std::span<ExplainedChange> changes);

} // namespace assay::report
