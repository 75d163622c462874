// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "figures.hpp"
#include "recording.hpp"

#include <cstdint>
#include <vector>

namespace assay::truth {

struct Simulation {
    std::size_t comparisons = 10000; ///< tables of all recorded series
    std::uint64_t seed = 1;
};

/// Draws replicas of each series from those recorded, with replacement, and compares them as the
/// report does: with nothing changed, with one series 3% slower, and with one changed by what was said to be
/// the least that would be found. Ten pairs; three and ten replicas that are not paired.
std::vector<Figure> simulate(const std::vector<Recorded>& recorded, const Simulation& simulation);

} // namespace assay::truth
