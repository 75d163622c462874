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

#include <hwy/cache_control.h>

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

/// Asks for the line of a cell, into the second-level cache: the first level's few outstanding misses
/// would be the limit (23 GB/s of one Zen 4 core, against 32). Addresses that are not there do nothing.
template <class T>
HWY_INLINE void expect(const T* cell) {
    __builtin_prefetch(cell, 0, 2); // for reading, locality of the second level
}

/// Left and right neighbours of a cell.
template <class D, class T>
HWY_INLINE auto beside(D d, const T* cell) {
    return hn::Add(hn::LoadU(d, cell - 1), hn::LoadU(d, cell + 1));
}

/// 7 points, one plane after the other: the one that pairs leave over.
template <class T, Stores stores>
void sweep_7_singly(const Fields<T>& f, const Weights<T>& weights, const Block& b) {
    const hn::ScalableTag<T> d;
    const auto centre = hn::Set(d, weights.centre);
    const auto face = hn::Set(d, weights.face);
    const auto across = [d](const T* cell, std::size_t stride) HWY_ATTR {
        return hn::Add(hn::Load(d, cell - stride), hn::Load(d, cell + stride));
    };
    for (std::size_t z = b.first_plane; z < b.last_plane; ++z)
        for (std::size_t y = b.first_row; y < b.last_row; ++y)
            for (std::size_t x = 0; x < f.columns; x += hn::Lanes(d)) {
                const std::size_t at = z * f.plane + y * f.row + x;
                const T* const cell = f.in + at;
                const auto faces =
                    hn::Add(hn::Add(beside(d, cell), across(cell, f.row)), across(cell, f.plane));
                put<stores>(hn::MulAdd(face, faces, hn::Mul(centre, hn::Load(d, cell))), d,
                            f.out + at);
            }
}

// Fields and weights go by value below: stores cannot change them, so they stay in registers.

/// 7 points for a row of two planes at once: the two cells are neighbours of each other, and a plane is
/// read from the second-level cache twice, not three times. Rows go one by one, so that each plane is one
/// stream from end to end: two rows at once are a quarter slower.
template <class T, Stores stores>
HWY_INLINE void update_two(Fields<T> f, Weights<T> weights, std::size_t first) {
    const hn::ScalableTag<T> d;
    const auto centre = hn::Set(d, weights.centre);
    const auto face = hn::Set(d, weights.face);
    const std::size_t row = f.row;
    const std::size_t plane = f.plane;
    for (std::size_t x = 0; x < f.columns; x += hn::Lanes(d)) {
        const T* const a = f.in + first + x; // and b behind it
        const T* const b = a + plane;
        // The next two planes, two rows further on: there is time for memory to answer.
        expect(b + 2 * plane + 2 * row);
        expect(b + 3 * plane + 2 * row);

        const auto at_a = hn::Load(d, a);
        const auto at_b = hn::Load(d, b);
        const auto value = [&](auto own, const T* cell, auto other, const T* outer_plane) HWY_ATTR {
            const auto rows = hn::Add(hn::Load(d, cell - row), hn::Load(d, cell + row));
            const auto planes = hn::Add(hn::Load(d, outer_plane), other);
            const auto faces = hn::Add(beside(d, cell), hn::Add(rows, planes));
            return hn::MulAdd(face, faces, hn::Mul(centre, own));
        };
        T* const to = f.out + first + x;
        put<stores>(value(at_a, a, at_b, a - plane), d, to);
        put<stores>(value(at_b, b, at_a, b + plane), d, to + plane);
    }
}

template <class T, Stores stores>
void sweep_7(const Fields<T>& f, const Weights<T>& weights, const Block& b) {
    const std::size_t planes = b.first_plane + (b.last_plane - b.first_plane) / 2 * 2;
    for (std::size_t z = b.first_plane; z < planes; z += 2)
        for (std::size_t y = b.first_row; y < b.last_row; ++y)
            update_two<T, stores>(f, weights, z * f.plane + y * f.row);
    sweep_7_singly<T, stores>(f, weights,
                              {.first_row = b.first_row,
                               .last_row = b.last_row,
                               .first_plane = planes,
                               .last_plane = b.last_plane});
    if constexpr (stores == Stores::streaming) hwy::FlushStream();
}

/// 27 points for some rows of a plane at once. The nine cells around one in its row and in the planes
/// before and behind are added up by distance: itself (near), four next to it, four at its corners.
/// These three sums serve the row itself and the rows above and below: 9 loads for each of ten rows
/// are 11 for a cell instead of 27.
template <class T, Stores stores>
HWY_INLINE void update_rows(Fields<T> f, Weights<T> weights, std::size_t first, std::size_t rows) {
    const hn::ScalableTag<T> d;
    const auto centre = hn::Set(d, weights.centre);
    const auto face = hn::Set(d, weights.face);
    const auto edge = hn::Set(d, weights.edge);
    const auto corner = hn::Set(d, weights.corner);
    const std::size_t plane = f.plane;
    const auto planes = [&](const T* cell) HWY_ATTR {
        return hn::Add(hn::LoadU(d, cell - plane), hn::LoadU(d, cell + plane));
    };
    for (std::size_t x = 0; x < f.columns; x += hn::Lanes(d)) {
        const T* cell = f.in + first + x - f.row;
        T* to = f.out + first + x;
        auto near_above = hn::Load(d, cell);
        auto next_above = hn::Add(beside(d, cell), planes(cell));
        auto corner_above = hn::Add(planes(cell - 1), planes(cell + 1));
        cell += f.row;
        auto near = hn::Load(d, cell);
        auto next = hn::Add(beside(d, cell), planes(cell));
        auto corners = hn::Add(planes(cell - 1), planes(cell + 1));
        for (std::size_t y = 0; y < rows; ++y) {
            expect(cell + 2 * plane + 2 * f.row);
            cell += f.row;
            const auto near_below = hn::Load(d, cell);
            const auto next_below = hn::Add(beside(d, cell), planes(cell));
            const auto corner_below = hn::Add(planes(cell - 1), planes(cell + 1));
            const auto faces = hn::Add(next, hn::Add(near_above, near_below));
            const auto edges = hn::Add(corners, hn::Add(next_above, next_below));
            auto value = hn::Mul(centre, near);
            value = hn::MulAdd(face, faces, value);
            value = hn::MulAdd(edge, edges, value);
            value = hn::MulAdd(corner, hn::Add(corner_above, corner_below), value);
            put<stores>(value, d, to);
            to += f.row;
            near_above = near;
            next_above = next;
            corner_above = corners;
            near = near_below;
            next = next_below;
            corners = corner_below;
        }
    }
}

template <class T, Stores stores>
void sweep_27(const Fields<T>& f, const Weights<T>& weights, const Block& b) {
    constexpr std::size_t at_once = 8; // 20% faster than four
    for (std::size_t z = b.first_plane; z < b.last_plane; ++z)
        for (std::size_t y = b.first_row; y < b.last_row; y += at_once)
            update_rows<T, stores>(f, weights, z * f.plane + y * f.row,
                                   y + at_once < b.last_row ? at_once : b.last_row - y);
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
    to.push_back({target.name, neighbours, Stores::plain,
                  all ? &sweep_27<T, Stores::plain> : &sweep_7<T, Stores::plain>});
    to.push_back({target.name, neighbours, Stores::streaming,
                  all ? &sweep_27<T, Stores::streaming> : &sweep_7<T, Stores::streaming>});
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
