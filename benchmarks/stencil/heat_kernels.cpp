// SPDX-License-Identifier: Apache-2.0

// Highway compiles this file once per instruction set by including it again.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stencil/heat_kernels.cpp" // NOLINT: a macro by Highway's design
// clang-format off: foreach_target.h must come before highway.h.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "heat_kernels.hpp"

#include "host/targets.hpp"
#include "lanes.hpp"

#include <hwy/cache_control.h>

#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace assay::stencil::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <Stores stores, class D, class V, class T>
HWY_INLINE void put(V value, D d, T* to) {
    if constexpr (stores == Stores::streaming)
        hn::Stream(value, d, to);
    else
        hn::Store(value, d, to);
}

/// Asks for lines of the two planes that a pair of planes needs next, into the second-level cache: the first
/// level's few outstanding misses would be the limit. A request is dropped when all of these are busy with lines
/// that come from the second level, so each line is asked for again some rows later. More requests help where memory
/// answers late, with all cores at work, and cost time where it does not. Addresses that are not there do nothing.
template <unsigned requests, class T>
HWY_INLINE void expect(const T* cell, std::size_t row, std::size_t plane) {
    for (const T* const at : {cell + 3 * plane, cell + 4 * plane}) {
        __builtin_prefetch(at + 2 * row, 0, 2); // for reading, locality of the second level
        if constexpr (requests <= 3) __builtin_prefetch(at - 3 * row, 0, 2);
        if constexpr (requests == 5) {
            __builtin_prefetch(at - row, 0, 2);
            __builtin_prefetch(at - 4 * row, 0, 2);
            __builtin_prefetch(at - 2 * plane + 6 * row, 0, 2);
        }
    }
    if constexpr (requests >= 3) { // the next rows of this pair, into the first level
        __builtin_prefetch(cell + plane + 3 * row, 0, 3);
        __builtin_prefetch(cell + 2 * plane + 2 * row, 0, 3);
    }
}

// Fields and weights go by value below: stores cannot change them, so they stay in registers.

/// 7 points for a row of two planes at once: the two cells are neighbours of each other, and a plane is
/// read from the second-level cache twice, not three times. Rows go one by one, so that each plane is one
/// stream from end to end: two rows at once are a quarter slower. Not `both`: the first of the planes alone.
template <class T, Stores stores, unsigned requests, bool both>
HWY_INLINE void update_7(Fields<T> f, Weights<T> weights, std::size_t first) {
    const hn::ScalableTag<T> d;
    const auto centre = hn::Set(d, weights.centre);
    const auto face = hn::Set(d, weights.face);
    const std::size_t row = f.row;
    const std::size_t plane = f.plane;
    for (std::size_t x = 0; x < f.columns; x += hn::Lanes(d)) {
        const T* const a = f.in + first + x; // and b behind it
        const T* const b = a + plane;
        if (begins_line<T>(x)) expect<requests>(a, row, plane);

        const auto at_a = hn::Load(d, a);
        const auto at_b = hn::Load(d, b);
        const auto value = [&](auto own, const T* cell, auto other, const T* outer_plane) HWY_ATTR {
            const auto beside = hn::Add(hn::LoadU(d, cell - 1), hn::LoadU(d, cell + 1));
            const auto rows = hn::Add(hn::Load(d, cell - row), hn::Load(d, cell + row));
            const auto planes = hn::Add(hn::Load(d, outer_plane), other);
            const auto faces = hn::Add(beside, hn::Add(rows, planes));
            return hn::MulAdd(face, faces, hn::Mul(centre, own));
        };
        T* const to = f.out + first + x;
        put<stores>(value(at_a, a, at_b, a - plane), d, to);
        if constexpr (both) put<stores>(value(at_b, b, at_a, b + plane), d, to + plane);
    }
}

/// 27 points for a row of two planes at once. Cells of one column of the cube of 27 share the weights of their
/// distance in the plane across it. So with the sums over a cell, over its four neighbours by a face and its four by
/// an edge in that plane, the result is own(x) + side(x - 1) + side(x + 1): one vector of `side` moves along the row
/// instead of eight that are loaded again. 6 loads for a cell instead of 27, all of whole lines: others touch two each.
/// Not `both`: the first of the planes alone.
template <class T, Stores stores, unsigned requests, bool both, class Lanes>
// NOLINTNEXTLINE(readability-function-size): its lambdas share vectors in registers
HWY_INLINE void update_27(Fields<T> f, Weights<T> weights, std::size_t first, Lanes from_left,
                          Lanes from_right) {
    const hn::ScalableTag<T> d;
    using V = hn::Vec<hn::ScalableTag<T>>;
    const std::size_t lanes = hn::Lanes(d);
    const auto first_lane = hn::FirstN(d, 1);
    const auto last_lane = hn::Not(hn::FirstN(d, lanes - 1));
    const auto centre = hn::Set(d, weights.centre);
    const auto face = hn::Set(d, weights.face);
    const auto edge = hn::Set(d, weights.edge);
    const auto corner = hn::Set(d, weights.corner);
    const std::size_t row = f.row;
    const std::size_t plane = f.plane;

    const auto rows = [&](const T* cell) HWY_ATTR {
        return hn::Add(hn::LoadU(d, cell - row), hn::LoadU(d, cell + row));
    };
    // Sums for a vector of plane a and of plane b behind it.
    const auto sums = [&](const T* a, V& own_a, V& side_a, V& own_b, V& side_b) HWY_ATTR {
        const T* const b = a + plane;
        const auto at_a = hn::LoadU(d, a);
        const auto at_b = hn::LoadU(d, b);
        const auto rows_a = rows(a);
        const auto rows_b = rows(b);
        const auto weigh = [&](auto at, auto rows_at, auto other, auto rows_other,
                               const T* outer_plane, V& own, V& side) HWY_ATTR {
            const auto faces = hn::Add(rows_at, hn::Add(hn::LoadU(d, outer_plane), other));
            const auto edges = hn::Add(rows(outer_plane), rows_other);
            own = hn::MulAdd(edge, edges, hn::MulAdd(face, faces, hn::Mul(centre, at)));
            side = hn::MulAdd(corner, edges, hn::MulAdd(edge, faces, hn::Mul(face, at)));
        };
        weigh(at_a, rows_a, at_b, rows_b, a - plane, own_a, side_a);
        if constexpr (both) weigh(at_b, rows_b, at_a, rows_a, b + plane, own_b, side_b);
    };
    const T* const in = f.in + first;
    T* const out = f.out + first;
    auto own_a = hn::Zero(d);
    auto own_b = hn::Zero(d);
    auto left_a = hn::Zero(d); // its first lane is what the first cell has on its left
    auto left_b = hn::Zero(d);
    sums(in - 1, own_a, left_a, own_b, left_b);
    auto side_a = hn::Zero(d);
    auto side_b = hn::Zero(d);
    sums(in, own_a, side_a, own_b, side_b);
    auto right_a = hn::TableLookupLanes(side_a, from_right);
    auto right_b = hn::TableLookupLanes(side_b, from_right);
    for (std::size_t x = 0; x < f.columns; x += lanes) {
        if (begins_line<T>(x)) expect<requests>(in + x, row, plane);
        auto next_own_a = hn::Zero(d);
        auto next_own_b = hn::Zero(d);
        auto next_a = hn::Zero(d);
        auto next_b = hn::Zero(d);
        sums(in + x + lanes, next_own_a, next_a, next_own_b, next_b);
        const auto step = [&](V& own, V& side, V& left, V& right, V next_own, V next,
                              T* to) HWY_ATTR {
            const auto turned_left = hn::TableLookupLanes(side, from_left);
            const auto turned_right = hn::TableLookupLanes(next, from_right);
            const auto sides = hn::Add(hn::IfThenElse(first_lane, left, turned_left),
                                       hn::IfThenElse(last_lane, turned_right, right));
            put<stores>(hn::Add(own, sides), d, to);
            own = next_own;
            side = next;
            left = turned_left;
            right = turned_right;
        };
        step(own_a, side_a, left_a, right_a, next_own_a, next_a, out + x);
        if constexpr (both)
            step(own_b, side_b, left_b, right_b, next_own_b, next_b, out + x + plane);
    }
}

/// Calls update(first cell, both) for each row of pairs of planes, and of the one that pairs may leave over.
template <class T, class Update>
HWY_INLINE void for_each_pair(const Fields<T>& f, const Block& b, const Update& update) {
    const std::size_t pairs_end = b.first_plane + (b.last_plane - b.first_plane) / 2 * 2;
    for (std::size_t z = b.first_plane; z < pairs_end; z += 2)
        for (std::size_t y = b.first_row; y < b.last_row; ++y)
            update(z * f.plane + y * f.row, std::true_type{});
    for (std::size_t y = b.first_row; pairs_end < b.last_plane && y < b.last_row; ++y)
        update(pairs_end * f.plane + y * f.row, std::false_type{});
}

template <class T, Stores stores, unsigned requests>
void sweep_7(const Fields<T>& f, const Weights<T>& weights, const Block& b) {
    for_each_pair(f, b, [&](std::size_t first, auto both) HWY_ATTR {
        update_7<T, stores, requests, decltype(both)::value>(f, weights, first);
    });
    if constexpr (stores == Stores::streaming) hwy::FlushStream();
}

template <class T, Stores stores, unsigned requests>
void sweep_27(const Fields<T>& f, const Weights<T>& weights, const Block& b) {
    const hn::ScalableTag<T> d;
    const std::size_t lanes = hn::Lanes(d);
    const auto from_left = hn::SetTableIndices(d, rotation<T>(lanes, lanes - 1).data());
    const auto from_right = hn::SetTableIndices(d, rotation<T>(lanes, 1).data());
    for_each_pair(f, b, [&](std::size_t first, auto both) HWY_ATTR {
        update_27<T, stores, requests, decltype(both)::value>(f, weights, first, from_left,
                                                              from_right);
    });
    if constexpr (stores == Stores::streaming) hwy::FlushStream();
}

} // namespace
} // namespace assay::stencil::HWY_NAMESPACE

namespace assay::stencil {

template <class T>
void add_sweeps(host::Target<HWY_TARGET> target, Neighbours neighbours,
                std::vector<HeatSweep<T>>& to) {
    using namespace HWY_NAMESPACE;
    const bool all = neighbours == Neighbours::all;
    const auto add = [&](Stores stores, unsigned requests, Sweep<T> faces, Sweep<T> cube) {
        to.push_back({target.name, neighbours, stores, requests, all ? cube : faces});
    };
    add(Stores::plain, 2, &sweep_7<T, Stores::plain, 2>, &sweep_27<T, Stores::plain, 2>);
    constexpr auto streaming = Stores::streaming;
    add(streaming, 2, &sweep_7<T, streaming, 2>, &sweep_27<T, streaming, 2>);
    add(streaming, all ? 3 : 5, &sweep_7<T, streaming, 5>, &sweep_27<T, streaming, 3>);
}

} // namespace assay::stencil
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::stencil {

template <class T>
std::vector<HeatSweep<T>> heat_sweeps(Neighbours neighbours) {
    std::vector<HeatSweep<T>> sweeps;
    host::for_each_supported_target([&](auto target) { add_sweeps(target, neighbours, sweeps); });
    return sweeps;
}

template std::vector<HeatSweep<double>> heat_sweeps(Neighbours neighbours);
template std::vector<HeatSweep<float>> heat_sweeps(Neighbours neighbours);

} // namespace assay::stencil
#endif
