// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "figures.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::truth {

struct Purchases {
    std::size_t rankings = 4000; ///< for each row
    std::size_t printed = 2000;  ///< probabilities between 0.85 and 0.95
    std::uint64_t seed = 1;
};

/// Ranks made-up offers whose truth is known, as a procurement report does: of equal ones, which is called sure? Of those
/// that differ, are as many right as is printed?
std::vector<Figure> purchases(const Purchases& how);

} // namespace assay::truth
