// SPDX-License-Identifier: Apache-2.0
//
// The crystal that every simulation starts from.

#pragma once

#include "model.hpp"

#include <cstdint>

namespace assay::md {

/// Cells along an edge of the face-centred cubic lattice whose 4 k^3 atoms come nearest to `atoms`.
std::int64_t lattice_cells(std::int64_t atoms);

constexpr std::int64_t lattice_atoms(std::int64_t cells) { return 4 * cells * cells * cells; }

/// Edge of the box of so many atoms at the model's density.
double box_edge(std::int64_t atoms);

/// The lattice at the model's density. Velocities are normal random numbers without total momentum,
/// scaled to the starting temperature exactly.
Particles make_lattice(std::int64_t cells, std::uint64_t seed);

/// Temperature of all atoms; mass and Boltzmann's constant are 1, and three degrees of freedom are the centre's.
double temperature(const Particles& particles);

} // namespace assay::md
