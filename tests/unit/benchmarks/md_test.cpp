// SPDX-License-Identifier: Apache-2.0

#include "made_particles.hpp"
#include "md/check.hpp"
#include "md/lattice.hpp"
#include "md/pair.hpp"
#include "md/reference.hpp"
#include "md/simulation.hpp"

#include <assay/random.hpp>
#include <assay/verify.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <type_traits>
#include <vector>

namespace assay::md {
namespace {

template <class T>
std::vector<std::pair<std::string, Kernels<T>>> supported_kernels() {
    std::vector<std::pair<std::string, Kernels<T>>> result;
    for (const KernelSet& set : kernel_sets()) {
        if (!is_supported(set)) continue;
        if constexpr (std::is_same_v<T, float>)
            result.emplace_back(set.isa, set.fp32);
        else
            result.emplace_back(set.isa, set.fp64);
    }
    return result;
}

template <class T>
Particles state_of(const Simulation<T>& simulation) {
    Particles particles;
    simulation.store(particles);
    return particles;
}

/// Largest deviation of a force component from the sum over all atoms, over its bound.
double worst_force(const Particles& particles, double unit_roundoff) {
    double worst = 0;
    for (std::size_t i = 0; i < particles.size(); ++i) {
        const ForceReference expected = force_on(particles, i, unit_roundoff);
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const double off = std::abs(particles.force[i][axis] - expected.force[axis]);
            if (!(off / expected.bound <= worst)) worst = off / expected.bound;
        }
    }
    return worst;
}

TEST(MdLattice, TakesTheNearestNumberOfAtoms) {
    EXPECT_EQ(lattice_cells(32000), 20);
    EXPECT_EQ(lattice_cells(256000), 40);
    EXPECT_EQ(lattice_cells(33000), 20);
    EXPECT_EQ(lattice_cells(36000), 21); // 37044, not 32000
    EXPECT_EQ(lattice_cells(1), 1);
}

TEST(MdLattice, HasDensityTemperatureAndNoMomentum) {
    const Particles particles = make_lattice(5, seed);
    ASSERT_EQ(particles.size(), 500U);
    EXPECT_NEAR(500 / std::pow(particles.edge, 3), density, 1e-12);
    EXPECT_NEAR(temperature(particles), start_temperature, 1e-12);
    for (std::size_t axis = 0; axis < 3; ++axis) {
        double sum = 0;
        for (const Vec3& v : particles.velocity) sum += v[axis];
        EXPECT_NEAR(sum, 0, 1e-11);
    }
    // No two atoms nearer than face-centred neighbours are.
    const double nearest = particles.edge / 5 / std::numbers::sqrt2;
    for (std::size_t i = 1; i < particles.size(); ++i) {
        double squared = 0;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            double d = particles.position[i][axis] - particles.position[0][axis];
            d -= particles.edge * std::nearbyint(d / particles.edge);
            squared += d * d;
        }
        EXPECT_GT(std::sqrt(squared), nearest * (1 - 1e-12));
    }
}

TEST(MdPair, ForceIsTheSlopeOfTheEnergy) {
    const Plain<double> on;
    for (const double r : {0.85, 1.0, 1.3, 2.0, 2.5}) {
        constexpr double h = 1e-6;
        const double slope =
            (pair_energy(on, (r + h) * (r + h)) - pair_energy(on, (r - h) * (r - h))) / (2 * h);
        EXPECT_NEAR(force_over_distance(on, r * r) * r, -slope, 1e-6 * std::abs(slope));
        EXPECT_NEAR(force_over_distance(Plain<float>{}, static_cast<float>(r * r)) /
                        force_over_distance(on, r * r),
                    1, 1e-5);
    }
    EXPECT_DOUBLE_EQ(pair_energy(on, 1.0), 0);
    const double deepest = std::cbrt(2.0); // square of the distance 2^(1/6)
    EXPECT_NEAR(pair_energy(on, deepest), -1, 1e-15);
    EXPECT_NEAR(force_over_distance(on, deepest), 0, 1e-13);
}

TEST(MdReference, CellsFindWhatAllAtomsGive) {
    for (const std::int64_t cells : {4, 5}) { // two cells along an edge, and three
        const Particles particles = shaken(cells, 0.3);
        const auto by_cells = all_forces(particles, unit_roundoff<double>, 2);
        for (std::size_t i = 0; i < particles.size(); ++i) {
            const ForceReference direct = force_on(particles, i, unit_roundoff<double>);
            EXPECT_EQ(by_cells[i].pairs, direct.pairs);
            EXPECT_NEAR(by_cells[i].energy, direct.energy, 1e-9);
            for (std::size_t axis = 0; axis < 3; ++axis)
                EXPECT_NEAR(by_cells[i].force[axis], direct.force[axis], direct.bound);
        }
    }
}

template <class T>
class MdSimulation : public testing::Test {};
using Formats = testing::Types<double, float>;
TYPED_TEST_SUITE(MdSimulation, Formats);

TYPED_TEST(MdSimulation, ForcesAreThoseOfAllAtoms) {
    using T = TypeParam;
    for (const auto& [isa, kernels] : supported_kernels<T>())
        for (const std::int64_t cells : {4, 5, 6})
            for (const int threads : {1, 2, 5}) {
                SCOPED_TRACE(isa + " cells " + std::to_string(cells) + " threads " +
                             std::to_string(threads));
                const Particles start = rounded<T>(shaken(cells, 0.3));
                const Simulation<T> simulation{start, kernels, Rebuild::every_20, threads};
                EXPECT_LE(worst_force(state_of(simulation), unit_roundoff<T>), 1);
            }
}

TYPED_TEST(MdSimulation, MissesNoPairWhereItLooksAtEveryStep) {
    using T = TypeParam;
    for (const auto& [isa, kernels] : supported_kernels<T>()) {
        SCOPED_TRACE(isa);
        Simulation<T> simulation{make_lattice(4, seed), kernels, Rebuild::half_skin, 2};
        for (int step = 0; step < 40; ++step) {
            simulation.run(1);
            EXPECT_LE(worst_force(state_of(simulation), unit_roundoff<T>), 1) << "step " << step;
        }
        EXPECT_GE(simulation.rebuilds(), 2U);
        EXPECT_LE(simulation.rebuilds(), 10U);
    }
}

TYPED_TEST(MdSimulation, RebuildsAsThePolicySays) {
    using T = TypeParam;
    const auto kernels = supported_kernels<T>().front().second;
    Simulation<T> counting{make_lattice(4, seed), kernels, Rebuild::every_20, 2};
    counting.run(100);
    EXPECT_EQ(counting.rebuilds(), 5U);

    Particles still = make_lattice(4, seed); // in equilibrium: nothing moves
    for (Vec3& v : still.velocity) v = {};
    Simulation<T> watching{still, kernels, Rebuild::half_skin, 2};
    watching.run(30);
    EXPECT_EQ(watching.rebuilds(), 0U);
}

TYPED_TEST(MdSimulation, FollowsPlainVelocityVerlet) {
    using T = TypeParam;
    // Rounding grows by e in about 0.5 time units here; 30 steps are 0.15.
    const double close = std::is_same_v<T, double> ? 1e-11 : 1e-3;
    const Particles start = rounded<T>(shaken(4, 0.05));
    const Particles expected = plain_verlet(start, 30);
    for (const auto& [isa, kernels] : supported_kernels<T>()) {
        SCOPED_TRACE(isa);
        Simulation<T> simulation{start, kernels, Rebuild::half_skin, 2};
        simulation.run(30);
        const Particles end = state_of(simulation);
        EXPECT_LT(distance_moved(expected, end), close);
        double most = 0;
        for (std::size_t i = 0; i < end.size(); ++i)
            for (std::size_t axis = 0; axis < 3; ++axis)
                most = std::max(most, std::abs(end.velocity[i][axis] - expected.velocity[i][axis]));
        EXPECT_LT(most, 100 * close);
    }
}

/// A melted system at the start and the end of a run, which passes.
class MdCheck : public testing::Test {
protected:
    MdCheck() {
        Simulation<double> simulation{make_lattice(4, seed),
                                      supported_kernels<double>().front().second,
                                      Rebuild::half_skin, 2};
        simulation.run(300);
        simulation.store(start);
        simulation.load(start);
        totals = totals_of(start, all_forces(start, unit_roundoff<double>, 1));
        simulation.run(run_steps);
        simulation.store(end);
        simulation.load(start);
        simulation.store(unmoved);
        simulation.run(run_steps / 4);
        simulation.store(part);
    }
    Check check(const Particles& particles) const {
        return check_run(start, totals, particles, unit_roundoff<double>, true, 1);
    }
    Particles start, end, unmoved, part;
    Totals totals;
};

TEST_F(MdCheck, AcceptsARun) {
    const Check check = this->check(end);
    EXPECT_TRUE(check.passed) << check.detail;
    EXPECT_LE(check.error, 1);
}

TEST_F(MdCheck, RefusesWhatDidNotRunToItsEnd) {
    EXPECT_FALSE(check(unmoved).passed);
    EXPECT_NE(check(unmoved).detail.find("moved"), std::string::npos) << check(unmoved).detail;
    EXPECT_FALSE(check(part).passed);
}

TEST_F(MdCheck, RefusesDamage) {
    Particles damaged = end;
    damaged.force[17][1] *= 1 + 1e-9;
    EXPECT_NE(check(damaged).detail.find("force on atom 17"), std::string::npos);
    damaged = end;
    damaged.velocity[3][2] += 1e-10;
    EXPECT_NE(check(damaged).detail.find("momentum"), std::string::npos);
    damaged = end;
    for (Vec3& v : damaged.velocity)
        for (double& component : v) component *= 1.002;
    EXPECT_NE(check(damaged).detail.find("energy"), std::string::npos);
    damaged = end;
    damaged.position[200][0] += 1e-9;
    EXPECT_NE(check(damaged).detail.find("force"), std::string::npos);
    damaged = end;
    damaged.position[5][0] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_FALSE(check(damaged).passed);
}

} // namespace
} // namespace assay::md
