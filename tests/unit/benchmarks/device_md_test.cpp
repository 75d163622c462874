// SPDX-License-Identifier: Apache-2.0
//
// The simulation of a device, run on the host: every functor for all of its indices, in the order that the
// device has them.
#include "md/check.hpp"
#include "md/device_steps.hpp"
#include "md/lattice.hpp"

#include <assay/random.hpp>
#include <assay/verify.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace assay::md {
namespace {

constexpr std::uint64_t seed = 11;

/// Loops in place of kernels.
struct OnHost {
    void each(std::uint64_t count, const auto& body) const {
        // From the last to the first, every other time: no order of threads is promised.
        static bool is_backwards = false;
        is_backwards = !is_backwards;
        for (std::uint64_t i = 0; i < count; ++i) body(is_backwards ? count - 1 - i : i);
    }
    void sum_up(const std::uint32_t* counts, std::uint32_t* first, std::uint64_t cells) const {
        first[0] = 0;
        for (std::uint64_t i = 0; i < cells; ++i) first[i + 1] = first[i] + counts[i];
    }
    template <class T>
    void forces(const LiquidArrays<T>& a) const {
        const ShareOfForce<T> share{a};
        for (std::uint32_t atom = 0; atom < a.atoms; ++atom) {
            Four<T> force{};
            for (std::uint32_t lane = 0; lane < a.lanes; ++lane) {
                const Four<T> part = share(atom, lane);
                force = {force.x + part.x, force.y + part.y, force.z + part.z, 0};
            }
            a.force[atom] = force;
        }
    }
};

/// The arrays of a device in the memory of the host.
template <class T>
class Liquid {
public:
    Liquid(const Particles& start, std::uint32_t lanes)
        : edge_{start.edge}, atoms_{start.size()}, box_{CellBox<T>::of(start.edge)},
          vectors_(5, std::vector<Four<T>>(atoms_)),
          by_atom_(5, std::vector<std::uint32_t>(atoms_)), in_cell_(box_.cells()),
          first_(box_.cells() + 1), list_(atoms_ * list_capacity), lanes_{lanes} {
        for (std::size_t i = 0; i < atoms_; ++i) {
            vectors_[0][i] = four(start.position[i]);
            vectors_[1][i] = four(start.velocity[i]);
            by_atom_[0][i] = static_cast<std::uint32_t>(i);
        }
        rebuild(arrays(), OnHost{});
        OnHost{}.forces(arrays());
    }
    LiquidArrays<T> arrays() {
        return {.atoms = static_cast<std::uint32_t>(atoms_),
                .lanes = lanes_,
                .box = box_,
                .position = vectors_[0].data(),
                .velocity = vectors_[1].data(),
                .force = vectors_[2].data(),
                .number = by_atom_[0].data(),
                .sorted_position = vectors_[3].data(),
                .sorted_velocity = vectors_[4].data(),
                .sorted_number = by_atom_[1].data(),
                .cell = by_atom_[2].data(),
                .order = by_atom_[3].data(),
                .in_cell = in_cell_.data(),
                .first = first_.data(),
                .neighbours = list_.data(),
                .neighbour_count = by_atom_[4].data(),
                .overflow = &overflow_};
    }
    void run(int steps) { run_steps_of(arrays(), steps, OnHost{}); }
    Particles state() const {
        Particles p;
        p.edge = edge_;
        p.position.resize(atoms_);
        p.velocity.resize(atoms_);
        p.force.resize(atoms_);
        for (std::size_t i = 0; i < atoms_; ++i) {
            const std::size_t number = by_atom_[0][i];
            p.position[number] = vec3(vectors_[0][i]);
            p.velocity[number] = vec3(vectors_[1][i]);
            p.force[number] = vec3(vectors_[2][i]);
        }
        return p;
    }
    /// By number, as the device computes it.
    std::vector<ForceReference> reference() {
        std::vector<ForceReference> sorted(atoms_);
        OnHost{}.each(atoms_, ReferenceOfAtom<T>{arrays(), edge_, unit_roundoff<T>, sorted.data()});
        std::vector<ForceReference> by_number(atoms_);
        for (std::size_t i = 0; i < atoms_; ++i) by_number[by_atom_[0][i]] = sorted[i];
        return by_number;
    }
    std::uint32_t overflow() const { return overflow_; }
    const std::vector<std::uint32_t>& in_cell() const { return in_cell_; }

private:
    static Four<T> four(const Vec3& v) {
        return {static_cast<T>(v[0]), static_cast<T>(v[1]), static_cast<T>(v[2]), 0};
    }
    static Vec3 vec3(const Four<T>& v) {
        return {static_cast<double>(v.x), static_cast<double>(v.y), static_cast<double>(v.z)};
    }

    double edge_;
    std::size_t atoms_;
    CellBox<T> box_;
    std::vector<std::vector<Four<T>>> vectors_;
    std::vector<std::vector<std::uint32_t>> by_atom_;
    std::vector<std::uint32_t> in_cell_;
    std::vector<std::uint32_t> first_;
    std::vector<std::uint32_t> list_;
    std::uint32_t overflow_ = 0;
    std::uint32_t lanes_;
};

template <class T>
Particles rounded(Particles particles) {
    for (auto* vectors : {&particles.position, &particles.velocity})
        for (Vec3& v : *vectors)
            for (double& component : v) component = static_cast<double>(static_cast<T>(component));
    return particles;
}
/// A crystal shaken by up to `most` along every axis, some atoms pushed out of the box.
Particles shaken(std::int64_t cells, double most) {
    Particles particles = make_lattice(cells, seed);
    for (std::size_t i = 0; i < particles.size(); ++i)
        for (std::size_t axis = 0; axis < 3; ++axis)
            particles.position[i][axis] += random_uniform<double>(seed, 3 * i + axis, -most, most);
    return particles;
}

template <class T>
class DeviceMd : public testing::Test {};
using Formats = testing::Types<double, float>;
TYPED_TEST_SUITE(DeviceMd, Formats);

TYPED_TEST(DeviceMd, lists_each_pair_within_reach_once_and_on_both_sides) {
    using T = TypeParam;
    for (const std::int64_t cells : {4, 5, 6}) // four cells along the box, six and seven
        for (const std::uint32_t lanes : {1U, 4U}) {
            SCOPED_TRACE(std::to_string(cells) + " cells, lanes " + std::to_string(lanes));
            Liquid<T> liquid{rounded<T>(shaken(cells, 0.3)), lanes};
            const auto a = liquid.arrays();
            std::set<std::pair<std::uint32_t, std::uint32_t>> listed;
            std::size_t entries = 0;
            for (std::uint32_t i = 0; i < a.atoms; ++i)
                for (std::uint32_t k = 0; k < a.neighbour_count[i]; ++k, ++entries)
                    listed.insert({i, a.neighbours[a.entry(i, k)]});
            EXPECT_EQ(listed.size(), entries) << "a pair stands in a list twice";
            std::size_t wanted = 0;
            std::size_t missing = 0;
            for (std::uint32_t i = 0; i < a.atoms; ++i)
                for (std::uint32_t j = 0; j < a.atoms; ++j) {
                    const T x = a.box.nearest(a.position[i].x - a.position[j].x);
                    const T y = a.box.nearest(a.position[i].y - a.position[j].y);
                    const T z = a.box.nearest(a.position[i].z - a.position[j].z);
                    if (i == j || x * x + y * y + z * z >= static_cast<T>(2.8 * 2.8)) continue;
                    ++wanted;
                    missing += 1 - listed.count({i, j});
                }
            EXPECT_EQ(missing, 0U);
            EXPECT_EQ(entries, wanted);
            EXPECT_EQ(liquid.overflow(), 0U);
            for (const std::uint32_t left : liquid.in_cell()) EXPECT_EQ(left, 0U);
        }
}

TYPED_TEST(DeviceMd, sorts_by_cell_and_number_and_keeps_every_atom) {
    using T = TypeParam;
    const Particles start = rounded<T>(shaken(4, 0.3));
    Liquid<T> liquid{start, 1};
    const auto a = liquid.arrays();
    for (std::uint32_t i = 1; i < a.atoms; ++i) {
        const auto before = std::pair{a.box.cell_of(a.position[i - 1]), a.number[i - 1]};
        EXPECT_LT(before, (std::pair{a.box.cell_of(a.position[i]), a.number[i]}));
    }
    const Particles sorted = liquid.state();
    EXPECT_EQ(sorted.velocity, start.velocity);
    EXPECT_LT(distance_moved(start, sorted), 1e-5);
    for (const Vec3& p : sorted.position)
        for (const double x : p) EXPECT_TRUE(x >= 0 && x <= static_cast<double>(a.box.edge)) << x;
}

TYPED_TEST(DeviceMd, computes_forces_that_any_number_of_threads_share) {
    using T = TypeParam;
    for (const std::int64_t cells : {4, 6})
        for (const std::uint32_t lanes : {1U, 2U, 8U, 32U}) {
            SCOPED_TRACE(std::to_string(cells) + " cells, lanes " + std::to_string(lanes));
            Liquid<T> liquid{rounded<T>(shaken(cells, 0.3)), lanes};
            const Particles now = liquid.state();
            const auto by_cells = liquid.reference();
            const auto expected = all_forces(now, unit_roundoff<T>, 1);
            double worst = 0;
            for (std::size_t i = 0; i < now.size(); ++i) {
                EXPECT_EQ(by_cells[i].pairs, expected[i].pairs);
                EXPECT_NEAR(by_cells[i].energy, expected[i].energy, 1e-9);
                EXPECT_NEAR(by_cells[i].bound, expected[i].bound, 1e-6 * expected[i].bound);
                for (std::size_t axis = 0; axis < 3; ++axis) {
                    EXPECT_NEAR(by_cells[i].force[axis], expected[i].force[axis],
                                1e-9 * (1 + std::fabs(expected[i].force[axis])));
                    const double off = std::fabs(now.force[i][axis] - expected[i].force[axis]);
                    if (!(off / expected[i].bound <= worst)) worst = off / expected[i].bound;
                }
            }
            EXPECT_LE(worst, 1);
            EXPECT_GT(worst, 0);
        }
}

/// 500 atoms, from the crystal into the liquid and a whole run: what the benchmark does.
TYPED_TEST(DeviceMd, runs_a_liquid_that_passes_its_check) {
    using T = TypeParam;
    Liquid<T> melting{make_lattice(5, seed), 2};
    melting.run(200);
    const Particles start = melting.state();
    Liquid<T> liquid{start, 2};
    const Totals totals = totals_of(start, liquid.reference());
    liquid.run(run_steps);
    EXPECT_EQ(liquid.overflow(), 0U);
    // Both sides of a pair find each other, so momentum is kept as where lists are complete.
    const Check check =
        check_run(start, totals, liquid.state(), liquid.reference(), unit_roundoff<T>, true, 1);
    EXPECT_TRUE(check.passed) << check.detail;
    EXPECT_GT(check.error, 0);

    Particles damaged = liquid.state();
    damaged.velocity[3][2] += 2.1 * tolerance_of(damaged.size(), unit_roundoff<T>, true).momentum;
    EXPECT_FALSE(
        check_run(start, totals, damaged, liquid.reference(), unit_roundoff<T>, true, 1).passed);
    damaged = liquid.state();
    damaged.force[17][1] += 2.1 * liquid.reference()[17].bound;
    EXPECT_FALSE(
        check_run(start, totals, damaged, liquid.reference(), unit_roundoff<T>, true, 1).passed);
}

/// Velocity Verlet as it is in the books, over a rebuild.
TYPED_TEST(DeviceMd, follows_plain_velocity_verlet) {
    using T = TypeParam;
    Particles plain = rounded<T>(shaken(4, 0.05));
    Liquid<T> liquid{plain, 4};
    const auto kick = [&plain] {
        const auto forces = all_forces(plain, unit_roundoff<double>, 1);
        for (std::size_t i = 0; i < plain.size(); ++i)
            for (std::size_t axis = 0; axis < 3; ++axis)
                plain.velocity[i][axis] += time_step / 2 * forces[i].force[axis];
    };
    constexpr int steps = 22;
    for (int step = 0; step < steps; ++step) {
        kick();
        for (std::size_t i = 0; i < plain.size(); ++i)
            for (std::size_t axis = 0; axis < 3; ++axis)
                plain.position[i][axis] += time_step * plain.velocity[i][axis];
        kick();
    }
    liquid.run(steps);
    // Rounding grows by e in about 0.5 time units here; and no atom meets another unseen so early.
    const double close = std::is_same_v<T, double> ? 1e-11 : 1e-3;
    EXPECT_LT(distance_moved(plain, liquid.state()), close);
}

TEST(DeviceMdLimits, notice_a_cell_and_a_list_without_room) {
    Particles crowded = make_lattice(5, seed);
    for (std::size_t i = 0; i < cell_capacity + 2; ++i)
        for (std::size_t axis = 0; axis < 3; ++axis)
            crowded.position[i][axis] = 1e-3 * static_cast<double>((i + axis) % 60);
    EXPECT_EQ((Liquid<double>{crowded, 1}.overflow()), 1U);
    Particles dense = make_lattice(5, seed); // more neighbours than there is room for, no cell full
    for (std::size_t i = 0; i < 300; ++i) {
        const std::size_t layer = i / 49;
        dense.position[i] = {0.4 * static_cast<double>(i % 7), 0.4 * static_cast<double>(i / 7 % 7),
                             0.4 * static_cast<double>(layer)};
    }
    EXPECT_EQ((Liquid<double>{dense, 1}.overflow()), 1U);
}

TEST(DeviceMdLimits, box_is_cut_into_cells_of_half_the_reach) {
    for (const std::int64_t atoms : {256, 500, 32000, 2048000, 100000000}) {
        const double edge = box_edge(atoms);
        const auto box = CellBox<float>::of(edge);
        EXPECT_GE(edge / box.along, 1.4);
        EXPECT_LT(edge / (box.along + 1), 1.4);
        EXPECT_LT(static_cast<double>(box.cells()), 0x1p32);
        EXPECT_EQ(box.at(box.edge), box.along - 1);
        EXPECT_EQ(box.at(-1e-7F), 0);
    }
}

} // namespace
} // namespace assay::md
