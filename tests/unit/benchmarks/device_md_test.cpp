// SPDX-License-Identifier: Apache-2.0
//
// The simulation of a device, run on the host: every functor for all of its indices, in the order that the
// device has them.
#include "made_particles.hpp"
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
#include <string>
#include <type_traits>
#include <vector>

namespace assay::md {
namespace {

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
class DeviceMd : public testing::Test {};
using Formats = testing::Types<double, float>;
TYPED_TEST_SUITE(DeviceMd, Formats);

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

/// Over a rebuild.
TYPED_TEST(DeviceMd, follows_plain_velocity_verlet) {
    using T = TypeParam;
    const Particles start = rounded<T>(shaken(4, 0.05));
    Liquid<T> liquid{start, 4};
    constexpr int steps = 22;
    liquid.run(steps);
    // Rounding grows by e in about 0.5 time units here; and no atom meets another unseen so early.
    const double close = std::is_same_v<T, double> ? 1e-11 : 1e-3;
    EXPECT_LT(distance_moved(plain_verlet(start, steps), liquid.state()), close);
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
