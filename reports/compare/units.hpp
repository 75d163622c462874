// SPDX-License-Identifier: Apache-2.0
//
// What is one independent value? Processes of one run share its machine and its hour, runs share their
// machine: taking them for independent answers calls a difference between two machines a difference
// between two types (pseudo-replication; decisions/comparison.md 0139).

#pragma once

#include "compare/arrange.hpp"
#include "compare/comparison.hpp"

#include <cstdint>
#include <set>
#include <vector>

namespace assay::report {

/// The figure of one process, run or machine.
struct UnitValue {
    std::uint64_t id = 0;   ///< of the process, run or machine
    std::uint64_t pair = 0; ///< units of two sides with the same one belong together; 0: with none
    double value = 0;       ///< in the metric's unit, above 0
};
using Sample = std::vector<UnitValue>; ///< in time order

/// Who took part on a side.
struct Participants {
    std::set<std::uint32_t> runs;
    std::set<std::uint32_t> machines; ///< numbers of machine ids
    std::set<std::uint32_t> sessions; ///< numbers of pairing ids
};

/// Was all that was measured disturbed by something else? Beside undisturbed figures, those are left out.
bool is_disturbed(const Collection& collection, const std::vector<std::uint32_t>& observations);

class Units {
public:
    Units(const Collection& collection, const Arrangement& arrangement);

    Unit unit() const { return unit_; }
    const std::vector<Participants>& sides() const { return sides_; }
    /// Do units of this side belong together with those of the first one by one?
    bool paired(std::size_t side) const { return side < paired_.size() && paired_[side]; }
    /// Figures that are none (zero, negative) take no part and are counted in `useless`.
    Sample sample(const std::vector<std::uint32_t>& observations, std::size_t& useless) const;

private:
    const Collection& collection_;
    Unit unit_ = Unit::replica;
    std::vector<Participants> sides_;
    std::vector<std::uint32_t> machines_; ///< for each run the number of its machine's id
    std::vector<std::uint32_t> sessions_; ///< for each run the number of its pairing, 0 without
    std::vector<bool> paired_;
};

} // namespace assay::report
