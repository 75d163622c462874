// SPDX-License-Identifier: Apache-2.0
//
// The same physics, computed slowly and simply in fp64: what the kernels are checked against.

#pragma once

#include "model.hpp"
#include "reference_sum.hpp"

#include <cstddef>
#include <vector>

namespace assay::md {

/// From all other atoms, by the nearest image of each. `unit_roundoff` is that of the kernel's type.
/// Positions must be finite.
ForceReference force_on(const Particles& particles, std::size_t atom, double unit_roundoff);

/// Forces on every atom, from the atoms in the cells around it.
std::vector<ForceReference> all_forces(const Particles& particles, double unit_roundoff,
                                       int threads);

/// Quantities that a run conserves, and those that it is a rate of.
struct Totals {
    /// Per atom. Pairs count with their energy less that at the cutoff: forces that end at the cutoff
    /// without a jump in energy are the forces of that potential.
    double energy = 0;
    Vec3 momentum{};
    double pairs = 0; ///< within the cutoff, each counted once
};
Totals totals_of(const Particles& particles, const std::vector<ForceReference>& forces);

/// Root of the mean square of the distances between two states, by the nearest image.
double distance_moved(const Particles& from, const Particles& to);

} // namespace assay::md
