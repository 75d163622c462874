// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "figures.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::truth {

struct LimitTrials {
    std::size_t nodes = 20000; ///< for each row
    std::uint64_t seed = 1;
};

/// Simulated nodes of known distance from a limit: how often do they PASS, how often FAIL, with noise from half of what
/// is expected to three times that? One check of forty on a node.
std::vector<Figure> limit_trials(const LimitTrials& how);

} // namespace assay::truth
