// SPDX-License-Identifier: Apache-2.0
//
// The Lennard-Jones liquid that is simulated, in reduced units (mass, sigma and epsilon are 1). The
// numbers are those of the "melt" of LAMMPS's benchmark collection, so that rates can be compared.

#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace assay::md {

inline constexpr double density = 0.8442;
inline constexpr double cutoff = 2.5; ///< pairs at this distance and beyond do not interact
inline constexpr double skin = 0.3;   ///< lists hold pairs up to cutoff + skin
inline constexpr double time_step = 0.005;
inline constexpr double start_temperature = 1.44;
/// Steps between two rebuilds of the list where the policy is to count steps.
inline constexpr int rebuild_interval = 20;

using Vec3 = std::array<double, 3>;

/// All atoms in a cubic box with periodic boundaries, by number. Positions may lie a little outside
/// of the box.
struct Particles {
    double edge = 0;
    std::vector<Vec3> position;
    std::vector<Vec3> velocity;
    std::vector<Vec3> force;

    std::size_t size() const { return position.size(); }
};

} // namespace assay::md
