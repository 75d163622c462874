// SPDX-License-Identifier: Apache-2.0
//
// What is one independent value? Processes of one run share its machine and its hour, runs share their
// machine: taking them for independent answers calls a difference between two machines a difference
// between two types (pseudo-replication; decisions/comparison.md 0139).

#pragma once

#include "compare/arrange.hpp"
#include "compare/comparison.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <vector>

namespace assay::compare {

/// The figure of one process, run or machine.
struct UnitValue {
    std::uint64_t id = 0;   ///< of the process, run or machine
    std::uint64_t pair = 0; ///< units of two sides with the same one belong together; 0: with none
    double value = 0;       ///< in the metric's unit; 0 where that is a value: packets lost
};
using Sample = std::vector<UnitValue>; ///< in time order

/// Fewer runs do not show how they differ.
inline constexpr std::size_t enough_runs = 3;

/// When a side was measured, and what other times may have shown; see Units::times.
struct Times {
    std::vector<std::uint32_t> runs; ///< each once, in order
    double deviation = 0;            ///< between runs, of the logarithm; 0 where nothing is known
    double degrees = std::numeric_limits<double>::infinity(); ///< of the deviation
    std::size_t history = 0; ///< runs of the machine that show it; 0: a default
    double replicas =
        0; ///< what those of one run are expected to differ by; 0 where nothing is known
};

/// Runs, machines and sessions of a side.
struct Participants {
    std::set<std::uint32_t> runs;
    std::set<std::uint32_t> machines; ///< numbers of machine ids
    std::set<std::uint32_t> sessions; ///< numbers of pairing ids
};

/// How well a side is known, and what may hide a difference; logarithms.
struct Quality {
    record::Knowledge knowledge = record::Knowledge::known;
    double levels = 0; ///< from the value to the furthest undisturbed replica that it leaves out
    double spread = 0; ///< to the furthest replica of all
};
Quality quality_of(const store::Collection& collection,
                   const std::vector<std::uint32_t>& observations);

/// Those that a side is made of: values measured under load are left out where others are there.
std::vector<std::uint32_t> used_of(const store::Collection& collection,
                                   const std::vector<std::uint32_t>& observations);

/// Delivered performance of guests: geometric means over all runs, those under
/// load too. Nothing for other machines and for devices.
std::optional<decide::Delivered> delivered_of(const store::Collection& collection,
                                              const std::vector<std::uint32_t>& observations);

/// The time between virtual CPUs in these, in seconds: their geometric mean; NaN where it is not known.
double core_latency(const store::Collection& collection,
                    const std::vector<std::uint32_t>& observations);

class Units {
public:
    Units(const store::Collection& collection, const Arrangement& arrangement);

    Unit unit() const { return unit_; }
    const std::vector<Participants>& sides() const { return sides_; }
    /// Do units of this side belong together with those of the first one by one?
    bool paired(std::size_t side) const { return side < paired_.size() && paired_[side]; }
    bool one_machine() const; ///< on all sides
    /// Did this side take turns with the first one?
    bool interleaved(std::size_t side) const;
    /// For sides that took turns, the median of all pairs of replicas, those too that the values leave out, as the
    /// logarithm of second over first. NaN without pairs.
    double of_all_pairs(const std::vector<std::uint32_t>& first,
                        const std::vector<std::uint32_t>& second) const;
    /// How runs at other times than those of a side would differ from them. Here and below: of those used.
    Times times(const std::vector<std::uint32_t>& observations, const ArrangedRow& row) const;
    /// Figures that are none (negative, infinite) take no part and are counted in `invalid`.
    Sample sample(const std::vector<std::uint32_t>& observations, std::size_t& invalid) const;

private:
    const store::Collection& collection_;
    Unit unit_ = Unit::replica;
    std::vector<Participants> sides_;
    std::vector<std::uint32_t> machines_; ///< for each run the number of its machine's id
    std::vector<std::uint32_t> sessions_; ///< for each run the number of its pairing, 0 without
    std::vector<bool> paired_;
};

} // namespace assay::compare
