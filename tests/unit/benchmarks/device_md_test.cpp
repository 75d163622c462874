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
    void forces(const MoveAtom<T>& move) const {
        const ShareOfForce<T> share{move.a};
        for (std::uint32_t atom = 0; atom < move.a.atoms; ++atom) {
            Four<T> force{};
            for (std::uint32_t lane = 0; lane < move.a.lanes; ++lane) {
                const Four<T> part = share(atom, lane);
                force = {force.x + part.x, force.y + part.y, force.z + part.z, 0};
            }
            move(atom, force);
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
            vectors_[3][i] = four(start.position[i]);
            vectors_[4][i] = four(start.velocity[i]);
            by_atom_[1][i] = static_cast<std::uint32_t>(i);
        }
        start_from_next(arrays(), OnHost{});
    }
    LiquidArrays<T> arrays() {
        return {.atoms = static_cast<std::uint32_t>(atoms_),
                .lanes = lanes_,
                .box = box_,
                .position = vectors_[0].data(),
                .velocity = vectors_[1].data(),
                .force = vectors_[2].data(),
                .number = by_atom_[0].data(),
                .next_position = vectors_[3].data(),
                .next_velocity = vectors_[4].data(),
                .next_number = by_atom_[1].data(),
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

/// Even and odd numbers of steps, without and over a rebuild: each leaves the state in other buffers.
TYPED_TEST(DeviceMd, follows_plain_velocity_verlet) {
    using T = TypeParam;
    const Particles start = rounded<T>(shaken(4, 0.05));
    // Rounding grows by e in about 0.5 time units here; and no atom meets another unseen so early.
    const double close = std::is_same_v<T, double> ? 1e-11 : 1e-3;
    for (const int steps : {1, 2, 21, 22}) {
        Liquid<T> liquid{start, 4};
        liquid.run(steps);
        const Particles expected = plain_verlet(start, steps);
        const Particles now = liquid.state();
        EXPECT_LT(distance_moved(expected, now), close) << steps;
        const auto forces = all_forces(now, unit_roundoff<T>, 1);
        for (std::size_t i = 0; i < now.size(); ++i) {
            EXPECT_NEAR(now.velocity[i][1], expected.velocity[i][1], 100 * close) << steps;
            EXPECT_NEAR(now.force[i][1], forces[i].force[1], forces[i].bound) << steps;
        }
    }
}

TYPED_TEST(DeviceMd, finds_images_exactly_opposite_from_either_side) {
    using T = TypeParam;
    const auto box = CellBox<T>::of(box_edge(500));
    const auto expect = [&](T difference) {
        const T image = box.nearest(difference);
        EXPECT_EQ(box.nearest(-difference), -image);
        const double exact = to_nearest_image(static_cast<double>(difference), double{box.edge});
        if (std::fabs(exact) < 0.499 * double{box.edge}) {
            EXPECT_NEAR(image, exact, unit_roundoff<T> * double{box.edge}) << difference;
        }
    };
    for (std::uint64_t i = 0; i < 10'000; ++i)
        expect(random_uniform<T>(seed, i, -T{1.49F} * box.edge, T{1.49F} * box.edge));
    for (const T half : {T{0.5F}, T{1.5F}}) // ties
        expect(half / box.per_edge);
}

TYPED_TEST(DeviceMd, gives_each_neighbour_an_entry_of_its_own) {
    for (const std::uint32_t lanes : {1U, 2U, 8U, 32U}) {
        LiquidArrays<TypeParam> a{};
        a.atoms = 5;
        a.lanes = lanes;
        EXPECT_EQ(1U << a.lane_bits(), lanes);
        EXPECT_EQ(a.entry(2, lanes) - a.entry(2, 0), std::size_t{5} * lanes);
        std::vector<int> taken(std::size_t{5} * list_capacity);
        for (std::uint32_t atom = 0; atom < 5; ++atom)
            for (std::uint32_t k = 0; k < list_capacity; ++k) ++taken.at(a.entry(atom, k));
        EXPECT_EQ(std::ranges::count(taken, 1), 5 * list_capacity);
    }
}

/// A reciprocal that is `ulps` off, either way, and a product with it.
template <class T>
struct Rough : Plain<T> {
    T ulps;
    T divide(T x, T y) const {
        constexpr T ulp = 2 * static_cast<T>(unit_roundoff<T>);
        return x * (1 / y * (1 + ulps * ulp));
    }
    static T multiply_add(T x, T y, T z) { return std::fma(x, y, z); }
};
/// The largest error of the factor in roundings of the sum of its terms; the check allows 12.
template <class T>
double roundings(T ulps) {
    double worst = 0;
    for (std::uint64_t i = 0; i < 100'000; ++i) {
        const T squared = random_uniform<T>(seed, i, T{0.6F}, T{6.25F});
        const auto exact = static_cast<double>(squared);
        Rough<T> on{};
        on.ulps = ulps;
        const double off = static_cast<double>(force_over_distance(on, squared)) -
                           force_over_distance(Plain<double>{}, exact);
        const double size = 24 * (2 / std::pow(exact, 7) + 1 / std::pow(exact, 4));
        worst = std::max(worst, std::fabs(off) / size / unit_roundoff<T>);
    }
    return worst;
}
TEST(DeviceMdFactor, keeps_its_bound_with_a_reciprocal_one_ulp_off) {
    for (const float ulps : {-1.0F, 0.0F, 1.0F}) EXPECT_LE(roundings(ulps), 12);
    EXPECT_GT(roundings(8.0F), 12) << "rougher ones are noticed";
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
