// SPDX-License-Identifier: Apache-2.0
//
// What each rank does in an algorithm of formulas.hpp, message by message: for the simulator.

#pragma once

#include "predict/formulas.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace assay::report {

using Rank = std::uint32_t;
inline constexpr Rank nobody = ~Rank{0};

/// Sends and receives at the same time; done when both are.
struct Operation {
    Rank to = nobody;
    Rank from = nobody;
    double bytes = 0; ///< that are sent, per byte of the collective's message
};

/// The operations of each rank, one after the other.
class Program {
public:
    Program() = default;
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;
    virtual ~Program() = default;
    virtual std::uint32_t count(Rank rank) const = 0;
    virtual Operation at(Rank rank, std::uint32_t index) const = 0;
};
using ProgramPointer = std::unique_ptr<const Program>;

/// Programs that run side by side, two for the double tree; none where steps_of() knows no formula. Rank
/// 0 is the root. `pieces`: how many the double tree cuts each half of the message into.
std::vector<ProgramPointer> programs_of(Collective collective, Algorithm algorithm, Rank ranks,
                                        std::uint32_t pieces);

/// The same over nodes, as levels_of() counts; rank r is on node r / ranks_per_node. Two nodes at least.
std::vector<ProgramPointer> programs_of_levels(Collective collective, Algorithm within,
                                               Algorithm between, Rank nodes, Rank ranks_per_node);

} // namespace assay::report
