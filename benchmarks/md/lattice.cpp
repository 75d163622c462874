// SPDX-License-Identifier: Apache-2.0

#include "lattice.hpp"

#include <assay/random.hpp>

#include <array>
#include <cmath>

namespace assay::md {
namespace {

/// Atoms of a cell, in units of its edge.
constexpr std::array<Vec3, 4> basis{{{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}}};

std::vector<Vec3> random_velocities(std::size_t count, std::uint64_t seed) {
    std::vector<Vec3> velocity(count);
    Vec3 mean{};
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t axis = 0; axis < 3; ++axis) {
            velocity[i][axis] = random_normal<double>(seed, 3 * i + axis);
            mean[axis] += velocity[i][axis] / static_cast<double>(count);
        }
    for (Vec3& v : velocity)
        for (std::size_t axis = 0; axis < 3; ++axis) v[axis] -= mean[axis];
    return velocity;
}

} // namespace

std::int64_t lattice_cells(std::int64_t atoms) {
    const auto near = static_cast<std::int64_t>(std::cbrt(static_cast<double>(atoms) / 4));
    std::int64_t best = near > 1 ? near : 1;
    for (const std::int64_t cells : {near, near + 1})
        if (cells > 0 &&
            std::abs(lattice_atoms(cells) - atoms) < std::abs(lattice_atoms(best) - atoms))
            best = cells;
    return best;
}

double box_edge(std::int64_t atoms) { return std::cbrt(static_cast<double>(atoms) / density); }

double temperature(const Particles& particles) {
    double squares = 0;
    for (const Vec3& v : particles.velocity) squares += v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    return squares / (3 * (static_cast<double>(particles.size()) - 1));
}

Particles make_lattice(std::int64_t cells, std::uint64_t seed) {
    Particles particles;
    const auto count = static_cast<std::size_t>(lattice_atoms(cells));
    particles.edge = box_edge(lattice_atoms(cells));
    particles.position.reserve(count);
    const double spacing = particles.edge / static_cast<double>(cells);
    for (std::int64_t x = 0; x < cells; ++x)
        for (std::int64_t y = 0; y < cells; ++y)
            for (std::int64_t z = 0; z < cells; ++z)
                for (const Vec3& atom : basis)
                    particles.position.push_back({spacing * (static_cast<double>(x) + atom[0]),
                                                  spacing * (static_cast<double>(y) + atom[1]),
                                                  spacing * (static_cast<double>(z) + atom[2])});
    particles.velocity = random_velocities(count, seed);
    particles.force.resize(count);
    const double scale = std::sqrt(start_temperature / temperature(particles));
    for (Vec3& v : particles.velocity)
        for (double& component : v) component *= scale;
    return particles;
}

} // namespace assay::md
