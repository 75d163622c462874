// SPDX-License-Identifier: Apache-2.0
//
// The steps of a simulation as functors on one atom or one cell, and their order. `On` runs them: on a device
// as kernels, in a unit test as loops. No functor reads what another index of the same functor writes.

#pragma once

#include "device/pack.hpp"
#include "device_liquid.hpp"
#include "reference_sum.hpp"

#include <cstdint>

namespace assay::md {

/// Adds `value` to a counter that others add to, and gives what was there before.
ASSAY_HOST_DEVICE inline std::uint32_t fetch_add(std::uint32_t* counter, std::uint32_t value) {
#ifdef ASSAY_ON_DEVICE
    return atomicAdd(counter, value);
#else
    const std::uint32_t before = *counter;
    *counter += value;
    return before;
#endif
}

// --- sorting ----------------------------------------------------------------------------------------

template <class T>
struct AssignCell {
    LiquidArrays<T> a;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t i) const {
        Four<T> p = a.position[i];
        p.x = a.box.wrapped(p.x);
        p.y = a.box.wrapped(p.y);
        p.z = a.box.wrapped(p.z);
        a.position[i] = p;
        const std::uint32_t cell = a.box.cell_of(p);
        a.cell[i] = cell;
        fetch_add(a.in_cell + cell, 1);
    }
};

/// Takes the counts back to zero.
template <class T>
struct PlaceAtom {
    LiquidArrays<T> a;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t i) const {
        const std::uint32_t cell = a.cell[i];
        const std::uint32_t left = fetch_add(a.in_cell + cell, ~std::uint32_t{0}); // -1
        a.order[a.first[cell] + left - 1] = static_cast<std::uint32_t>(i);
    }
};

/// Threads come in any order. By number within each cell, a run is the same every time.
template <class T>
struct SortCell {
    LiquidArrays<T> a;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t cell) const {
        const std::uint32_t first = a.first[cell];
        const std::uint32_t last = a.first[cell + 1];
        if (last - first > cell_capacity) {
            *a.overflow = 1;
            return;
        }
        for (std::uint32_t at = first + 1; at < last; ++at) {
            const std::uint32_t atom = a.order[at];
            std::uint32_t to = at;
            for (; to > first && a.number[a.order[to - 1]] > a.number[atom]; --to)
                a.order[to] = a.order[to - 1];
            a.order[to] = atom;
        }
    }
};

template <class T>
struct GatherAtom {
    LiquidArrays<T> a;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t to) const {
        const std::uint32_t from = a.order[to];
        a.next_position[to] = a.position[from];
        a.next_velocity[to] = a.velocity[from];
        a.next_number[to] = a.number[from];
    }
};

// --- neighbours -------------------------------------------------------------------------------------

/// Calls visit(other) for every atom in the cells around one at `p`, itself among them.
template <class T, class Visit>
ASSAY_HOST_DEVICE void visit_around(const LiquidArrays<T>& a, const Four<T>& p,
                                    const Visit& visit) {
    const CellBox<T>& box = a.box;
    const std::int32_t looked_at = box.looked_at();
    // Along z cells follow each other: one run, and a second one where it reaches over the end of the box.
    const std::int32_t z = box.inside(box.first_looked_at(box.at(p.z)));
    const std::int32_t over = z + looked_at - box.along;
    for (std::int32_t i = 0; i < looked_at; ++i)
        for (std::int32_t j = 0; j < looked_at; ++j) {
            const std::int32_t x = box.inside(box.first_looked_at(box.at(p.x)) + i);
            const std::int32_t y = box.inside(box.first_looked_at(box.at(p.y)) + j);
            const std::uint32_t* const begins = a.first + box.index(x, y, 0);
#ifdef ASSAY_ON_DEVICE
#pragma unroll 1
#endif
            for (std::int32_t run = 0; run < (over > 0 ? 2 : 1); ++run) {
                const std::uint32_t first = begins[run == 0 ? z : 0];
                const std::uint32_t past = begins[run == 1   ? over
                                                  : over > 0 ? box.along
                                                             : z + looked_at];
                const std::uint32_t most =
                    first + 5 * cell_capacity; // also of a system that has exploded
                for (std::uint32_t other = first; other < past && other < most; ++other)
                    visit(other);
            }
        }
}

/// Both atoms of a pair find each other: their distance is the same from either side.
template <class T>
struct ListNeighbours {
    LiquidArrays<T> a;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t i) const {
        const auto atom = static_cast<std::uint32_t>(i);
        const Four<T> p = a.position[atom];
        constexpr T reach = static_cast<T>((cutoff + skin) * (cutoff + skin));
        std::uint32_t count = 0;
        visit_around(a, p, [&](std::uint32_t other) {
            const Four<T> q = device::read_only(a.position + other);
            const T x = a.box.nearest(p.x - q.x);
            const T y = a.box.nearest(p.y - q.y);
            const T z = a.box.nearest(p.z - q.z);
            // One branch alone, because a warp waits for those of its threads that take one.
            const bool is_near = (x * x + y * y + z * z < reach) & (other != atom);
            if (is_near & (count < list_capacity)) a.neighbours[a.entry(atom, count)] = other;
            count += is_near ? 1 : 0;
        });
        if (count > list_capacity) *a.overflow = 1;
        a.neighbour_count[atom] = count < list_capacity ? count : list_capacity;
    }
};

// --- motion -----------------------------------------------------------------------------------------

/// Part of the force on an atom that one of its threads finds; the force is the sum over all of them. Divides as
/// `Arithmetic` does.
template <class T, class Arithmetic = Plain<T>>
struct ShareOfForce {
    const LiquidArrays<T>& a;
    ASSAY_HOST_DEVICE Four<T> operator()(std::uint32_t atom, std::uint32_t lane) const {
        constexpr T cutoff_squared = static_cast<T>(cutoff * cutoff);
        const Four<T> p = device::read_only(a.position + atom);
        const std::uint32_t rounds =
            (a.neighbour_count[atom] + a.lanes - 1 - lane) >> a.lane_bits();
        const std::size_t stride =
            static_cast<std::size_t>(a.atoms) * a.lanes; // entry() of k + lanes
        const std::uint32_t* entry = a.neighbours + a.entry(atom, lane);
        Four<T> force{};
#ifdef ASSAY_ON_DEVICE
#pragma unroll 4
#endif
        for (std::uint32_t round = 0; round < rounds; ++round, entry += stride) {
            const std::uint32_t other = device::read_only(entry);
            const Four<T> q = device::read_only(a.position + other);
            const T x = a.box.nearest(p.x - q.x);
            const T y = a.box.nearest(p.y - q.y);
            const T z = a.box.nearest(p.z - q.z);
            const T squared = x * x + y * y + z * z;
            // Computed in any case: the threads of a warp would wait for each other anyhow.
            const T factor = force_over_distance(Arithmetic{}, squared);
            const T counted = squared < cutoff_squared ? factor : T{0};
            force.x += counted * x;
            force.y += counted * y;
            force.z += counted * z;
        }
        return force;
    }
};

/// A kick of the velocity, and a drift with the new one to `next_position`.
template <class T>
struct MoveAtom {
    LiquidArrays<T> a;
    T kick;
    T drift;
    bool keeps_force = false; ///< for a check, or to go on from

    ASSAY_HOST_DEVICE void operator()(std::uint64_t i) const { (*this)(i, a.force[i]); }
    ASSAY_HOST_DEVICE void operator()(std::uint64_t i, const Four<T>& f) const {
        if (keeps_force) a.force[i] = f;
        Four<T> v = a.velocity[i];
        Four<T> p = a.position[i];
        v.x += kick * f.x;
        v.y += kick * f.y;
        v.z += kick * f.z;
        p.x += drift * v.x;
        p.y += drift * v.y;
        p.z += drift * v.z;
        a.velocity[i] = v;
        a.next_position[i] = p;
    }
};
/// Steps and sorts leave the state in either buffer.
template <class T>
struct CopyState {
    LiquidArrays<T> from;
    LiquidArrays<T> to;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t i) const {
        to.position[i] = from.position[i];
        to.velocity[i] = from.velocity[i];
        to.number[i] = from.number[i];
    }
};

// --- order ------------------------------------------------------------------------------------------

template <class T>
void rebuild(LiquidArrays<T>& a, const auto& on) {
    on.each(a.atoms, AssignCell<T>{a});
    on.sum_up(a.in_cell, a.first, a.box.cells());
    on.each(a.atoms, PlaceAtom<T>{a});
    on.each(a.box.cells(), SortCell<T>{a});
    on.each(a.atoms, GatherAtom<T>{a});
    a.take_sorted();
    on.each(a.atoms, ListNeighbours<T>{a});
}

/// Takes over the state from where sorts write it, makes the list and computes the forces.
template <class T>
void start_from_next(LiquidArrays<T> a, const auto& on) {
    a.take_sorted();
    rebuild(a, on);
    on.forces(MoveAtom<T>{a, 0, 0, true});
}

/// The second half of a step's kick and the first half of the next one's are one, as on a host; so forces and motion
/// are one kernel.
template <class T>
void run_steps_of(const LiquidArrays<T>& given, int steps, const auto& on) {
    constexpr T step = static_cast<T>(time_step);
    LiquidArrays<T> a = given;
    on.each(a.atoms, MoveAtom<T>{a, step / 2, step});
    for (int done = 1; done <= steps; ++done) {
        std::swap(a.position, a.next_position);
        if (done % rebuild_interval == 0) rebuild(a, on);
        const bool is_last = done == steps;
        on.forces(MoveAtom<T>{a, is_last ? step / 2 : step, is_last ? 0 : step, is_last});
    }
    on.each(a.atoms, CopyState<T>{a, given});
}

// --- check ------------------------------------------------------------------------------------------

/// The reference for one atom, from the cells around it. The newest list was made where atoms are now.
template <class T>
struct ReferenceOfAtom {
    LiquidArrays<T> a;
    double edge;
    double unit_roundoff;
    ForceReference* out;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t i) const {
        const auto atom = static_cast<std::uint32_t>(i);
        const Four<T> p = a.position[atom];
        ReferenceSum sum{edge, unit_roundoff};
        visit_around(a, p, [&](std::uint32_t other) {
            if (other == atom) return;
            const Four<T> q = a.position[other];
            const auto from = [this](T own, T others) {
                return to_nearest_image(static_cast<double>(own) - static_cast<double>(others),
                                        edge);
            };
            sum.add({from(p.x, q.x), from(p.y, q.y), from(p.z, q.z)});
        });
        out[atom] = sum.result();
    }
};

} // namespace assay::md
