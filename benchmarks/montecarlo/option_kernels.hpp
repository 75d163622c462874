// SPDX-License-Identifier: Apache-2.0
//
// The paths of montecarlo.option by vectors of every instruction set; option_loops() gives those that this CPU has.

#pragma once

#include "option.hpp"

#include <cstdint>
#include <vector>

namespace assay::montecarlo {

/// The sums of blocks [first, last), in fp64 or fp32 and added up in fp64.
using Simulate = void (*)(std::uint64_t first, std::uint64_t last, option::Tally* tallies);

struct OptionLoop {
    const char* instructions; ///< sse4, avx2, avx512, neon, or scalar
    Simulate fp64;
    Simulate fp32;
};

/// The narrowest vectors first.
std::vector<OptionLoop> option_loops();

} // namespace assay::montecarlo
