// SPDX-License-Identifier: Apache-2.0
//
// Where does the level of a series change? Each machine is looked at by itself, because machines of one
// type lie further apart than most changes; those measured too seldom for that make one line, a sample
// each. Noise is learned from all machines together, and the correction is for all series of all groups
// (decision 0143).

#pragma once

#include "history/history.hpp"
#include "history/tracks.hpp"
#include "stats/difference.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace assay::history {

/// Samples in the order of time among which changes are looked for.
struct SeriesLine {
    std::size_t group = 0;  ///< index into Tracks::groups
    std::size_t series = 0; ///< index into GroupTracks::series
    std::string machine;    ///< id; empty where each sample is a machine
    std::span<const Sample> samples;
};

/// Every line that is long enough; `tracks` must outlive it.
std::vector<SeriesLine> lines_of(const Tracks& tracks);

struct FoundChange {
    std::size_t line = 0; ///< index into the lines
    std::size_t at = 0;   ///< first sample after the change
    std::size_t from = 0; ///< first sample of the level before
    std::size_t to = 0;   ///< end of the level after
    /// Places of the change that the data do not exclude, the best first; never empty.
    std::vector<std::size_t> places;
    double before = 0; ///< levels: logarithms of how good it is
    double after = 0;
    stats::Difference difference{}; ///< of the two
    double p = 1;                   ///< adjusted
};
struct Changes {
    std::vector<FoundChange> found; ///< by line, then by time
    /// Of each line: a change of this size (0.03 is 3%) that lasts for a quarter of the samples is found nearly
    /// always; NaN where nobody can say.
    std::vector<double> detectable;
};
Changes find_changes(std::span<const SeriesLine> lines, double alpha, double minimum_effect);

} // namespace assay::history
