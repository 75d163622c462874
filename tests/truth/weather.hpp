// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "figures.hpp"

#include <cstdint>
#include <vector>

namespace assay::truth {

/// Compares so many tables of 23 cases of one machine for each kind of neighbours (none, bursts, two levels, minutes of
/// slow memory; of both sides or of one, which counters see or not) and each way to measure: one, three or five runs a side at
/// different times, ten pairs in an hour. False verdicts, and how often 3% of a peak or product and 5% of a memory case are
/// found.
std::vector<Figure> weather(std::size_t tables, std::uint64_t seed);

} // namespace assay::truth
