// SPDX-License-Identifier: Apache-2.0
//
// Atoms that simulations on hosts and devices begin with, and what becomes of them.

#pragma once

#include "md/lattice.hpp"
#include "md/reference.hpp"

#include <assay/random.hpp>
#include <assay/verify.hpp>

#include <cstddef>
#include <cstdint>

namespace assay::md {

inline constexpr std::uint64_t seed = 11;

/// A crystal shaken by up to `most` along every axis, some atoms pushed out of the box.
inline Particles shaken(std::int64_t cells, double most) {
    Particles particles = make_lattice(cells, seed);
    for (std::size_t i = 0; i < particles.size(); ++i)
        for (std::size_t axis = 0; axis < 3; ++axis)
            particles.position[i][axis] += random_uniform<double>(seed, 3 * i + axis, -most, most);
    return particles;
}

/// A state as numbers of type T hold it.
template <class T>
Particles rounded(Particles particles) {
    for (auto* vectors : {&particles.position, &particles.velocity})
        for (Vec3& v : *vectors)
            for (double& component : v) component = static_cast<double>(static_cast<T>(component));
    return particles;
}

/// Velocity Verlet as it is in the books.
inline Particles plain_verlet(Particles particles, int steps) {
    const auto kick = [&particles] {
        const auto forces = all_forces(particles, unit_roundoff<double>, 1);
        for (std::size_t i = 0; i < particles.size(); ++i)
            for (std::size_t axis = 0; axis < 3; ++axis)
                particles.velocity[i][axis] += time_step / 2 * forces[i].force[axis];
    };
    for (int step = 0; step < steps; ++step) {
        kick();
        for (std::size_t i = 0; i < particles.size(); ++i)
            for (std::size_t axis = 0; axis < 3; ++axis)
                particles.position[i][axis] += time_step * particles.velocity[i][axis];
        kick();
    }
    return particles;
}

} // namespace assay::md
