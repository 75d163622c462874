// SPDX-License-Identifier: Apache-2.0

// Highway compiles this file once per instruction set by including it again.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "md/kernels.cpp" // NOLINT: a macro by Highway's design
// clang-format off: foreach_target.h must come before highway.h.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "kernels.hpp"

#include "pair.hpp"

#include <algorithm>
#include <array>

// Clusters are as wide as a vector and hold some, which those of unknown length (SVE) do not allow: Arm uses Neon.
#if !HWY_HAVE_SCALABLE
HWY_BEFORE_NAMESPACE();
namespace assay::md::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#include "pair_formulas.inc"

/// The arithmetic of pair_formulas.inc on vectors.
template <class D>
struct Lanes {
    using V = hn::Vec<D>;
    using T = hn::TFromD<D>;
    D d;
    V constant(double value) const { return hn::Set(d, static_cast<T>(value)); }
    V reciprocal(V x) const { return hn::Div(hn::Set(d, T{1}), x); }
    V divide(V x, V y) const { return hn::Div(x, y); }
    V multiply(V x, V y) const { return hn::Mul(x, y); }
    V multiply_add(V x, V y, V z) const { return hn::MulAdd(x, y, z); }
};

/// Neighbours of one cluster's atoms, written row by row behind each other.
template <class T, std::size_t width>
class Rows {
    using D = hn::FixedTag<T, width>;
    static constexpr D d{};

public:
    Rows(const ClusterView<T>& clusters, std::uint32_t cluster, T reach, NeighbourList& list)
        : clusters_{clusters}, cluster_{cluster}, reach_squared_{reach * reach}, list_{list} {}

    HWY_INLINE void add(const std::vector<Range>& ranges, std::uint32_t kind) {
        std::size_t at = 0;
        while (at < ranges.size()) {
            const std::uint32_t shift = ranges[at].shift;
            std::array<std::uint32_t, width> heads = lengths_;
            for (std::uint32_t& length : lengths_) ++length;
            for (; at < ranges.size() && ranges[at].shift == shift; ++at) add_range(ranges[at]);
            close(heads, kind | shift << NeighbourList::shift_at);
        }
    }
    void finish() {
        const std::uint32_t rows = clusters_.filled[cluster_];
        std::size_t needed = list_.used;
        for (std::uint32_t row = 0; row < rows; ++row) needed += lengths_[row] + 1;
        if (list_.words.size() < needed) list_.words.resize(needed + needed / 8);
        for (std::uint32_t row = 0; row < rows; ++row) {
            std::copy_n(row_data(row), lengths_[row], list_.words.data() + list_.used);
            list_.used += lengths_[row];
            list_.words[list_.used++] = 0;
            list_.entries += entries_[row];
        }
    }
    void reserve() {
        std::size_t most = 0;
        for (const auto* ranges : {&list_.candidates.mutual, &list_.candidates.one_sided})
            for (const Range& range : *ranges) most += range.last - range.first + 1;
        row_capacity_ = most;
        if (list_.scratch.size() < width * most) list_.scratch.resize(width * most);
    }

private:
    std::uint32_t* row_data(std::size_t row) { return list_.scratch.data() + row * row_capacity_; }

    HWY_INLINE void add_range(const Range& range) {
        const T* const mine = clusters_.position + std::size_t{cluster_} * 3 * width;
        const T sx = static_cast<T>(Shift::along(range.shift, 0)) * clusters_.edge;
        const T sy = static_cast<T>(Shift::along(range.shift, 1)) * clusters_.edge;
        const T sz = static_cast<T>(Shift::along(range.shift, 2)) * clusters_.edge;
        const auto reach_squared = hn::Set(d, reach_squared_);
        std::array<std::uint32_t*, width> ends; // in registers: nothing points to them
        for (std::size_t row = 0; row < width; ++row) ends[row] = row_data(row) + lengths_[row];
        for (std::uint32_t other = range.first; other < range.last; ++other) {
            const T* const theirs = clusters_.position + std::size_t{other} * 3 * width;
            const auto x = hn::Sub(hn::Load(d, theirs), hn::Set(d, sx));
            const auto y = hn::Sub(hn::Load(d, theirs + width), hn::Set(d, sy));
            const auto z = hn::Sub(hn::Load(d, theirs + 2 * width), hn::Set(d, sz));
            const auto offset = static_cast<std::uint32_t>(std::size_t{other} * 3 * width);
            for (std::size_t row = 0; row < width; ++row) {
                const auto dx = hn::Sub(x, hn::Set(d, mine[row]));
                const auto dy = hn::Sub(y, hn::Set(d, mine[row + width]));
                const auto dz = hn::Sub(z, hn::Set(d, mine[row + 2 * width]));
                const auto squared = hn::MulAdd(dz, dz, hn::MulAdd(dy, dy, hn::Mul(dx, dx)));
                const bool is_near = !hn::AllFalse(d, hn::Lt(squared, reach_squared));
                // Written in any case, and kept by counting it: there is nothing to predict.
                *ends[row] = offset;
                ends[row] += is_near ? 1 : 0;
            }
        }
        for (std::size_t row = 0; row < width; ++row)
            lengths_[row] = static_cast<std::uint32_t>(ends[row] - row_data(row));
    }
    /// Writes the heads of the sections that have entries and takes back the others.
    void close(const std::array<std::uint32_t, width>& heads, std::uint32_t head) {
        for (std::size_t row = 0; row < width; ++row) {
            const std::uint32_t count = lengths_[row] - heads[row] - 1;
            if (count == 0)
                lengths_[row] = heads[row];
            else
                row_data(row)[heads[row]] = head | count;
            entries_[row] += count;
        }
    }

    const ClusterView<T>& clusters_;
    std::uint32_t cluster_;
    T reach_squared_;
    NeighbourList& list_;
    std::size_t row_capacity_ = 0;
    std::array<std::uint32_t, width> lengths_{};
    std::array<std::uint32_t, width> entries_{};
};

template <class T, std::size_t width>
void make_list(const ClusterView<T>& clusters, Slice own, T reach, NeighbourList& list) {
    list.used = 0;
    list.entries = 0;
    for (std::size_t i = own.first; i < own.last; ++i) {
        const auto cluster = static_cast<std::uint32_t>(i);
        find_candidates(clusters, own, cluster, reach, list.candidates);
        Rows<T, width> rows{clusters, cluster, reach, list};
        rows.reserve();
        rows.add(list.candidates.mutual, 0);
        rows.add(list.candidates.one_sided, NeighbourList::one_sided);
        rows.finish();
    }
}

template <class T, std::size_t width>
class AtomForce {
    using D = hn::FixedTag<T, width>;
    using V = hn::Vec<D>;
    static constexpr D d{};

public:
    HWY_INLINE AtomForce()
        : x_{hn::Zero(d)}, y_{hn::Zero(d)}, z_{hn::Zero(d)},
          cutoff_squared_{hn::Set(d, static_cast<T>(cutoff * cutoff))} {}

    HWY_INLINE void place(T x, T y, T z) {
        at_x_ = hn::Set(d, x);
        at_y_ = hn::Set(d, y);
        at_z_ = hn::Set(d, z);
    }
    /// The other atoms of the own cluster.
    HWY_INLINE void own_cluster(const T* position, std::size_t row) {
        const auto others = hn::Ne(hn::Iota(d, T{0}), hn::Set(d, static_cast<T>(row)));
        pairs<false, true>(position, nullptr, others);
    }
    template <bool mutual>
    HWY_INLINE void neighbours(const T* position, T* force, const std::uint32_t* entry,
                               std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i)
            pairs<mutual, false>(position + entry[i], force + entry[i], hn::Mask<D>{});
    }
    HWY_INLINE void add_to(T* force) const {
        force[0] += hn::GetLane(hn::SumOfLanes(d, x_));
        force[width] += hn::GetLane(hn::SumOfLanes(d, y_));
        force[2 * width] += hn::GetLane(hn::SumOfLanes(d, z_));
    }

private:
    template <bool mutual, bool masked>
    HWY_INLINE void pairs(const T* position, T* force, hn::Mask<D> allowed) {
        const V dx = hn::Sub(at_x_, hn::Load(d, position));
        const V dy = hn::Sub(at_y_, hn::Load(d, position + width));
        const V dz = hn::Sub(at_z_, hn::Load(d, position + 2 * width));
        const V squared = hn::MulAdd(dz, dz, hn::MulAdd(dy, dy, hn::Mul(dx, dx)));
        auto near = hn::Lt(squared, cutoff_squared_);
        if constexpr (masked) near = hn::And(near, allowed);
        const V factor = hn::IfThenElseZero(near, force_over_distance(Lanes<D>{}, squared));
        x_ = hn::MulAdd(factor, dx, x_);
        y_ = hn::MulAdd(factor, dy, y_);
        z_ = hn::MulAdd(factor, dz, z_);
        if constexpr (mutual) {
            hn::Store(hn::NegMulAdd(factor, dx, hn::Load(d, force)), d, force);
            hn::Store(hn::NegMulAdd(factor, dy, hn::Load(d, force + width)), d, force + width);
            hn::Store(hn::NegMulAdd(factor, dz, hn::Load(d, force + 2 * width)), d,
                      force + 2 * width);
        }
    }

    V at_x_, at_y_, at_z_;
    V x_, y_, z_;
    V cutoff_squared_;
};

template <class T, std::size_t width>
void compute_forces(const ClusterView<T>& clusters, Slice own, const NeighbourList& list,
                    T* force) {
    constexpr std::size_t stride = 3 * width;
    std::fill(force + own.first * stride, force + own.last * stride, T{0});
    std::array<T, std::size_t{3} * Shift::count> shifts{};
    for (std::uint32_t shift = 0; shift < Shift::count; ++shift)
        for (std::size_t axis = 0; axis < 3; ++axis)
            shifts[std::size_t{3} * shift + axis] =
                static_cast<T>(Shift::along(shift, axis)) * clusters.edge;

    const std::uint32_t* word = list.words.data();
    for (std::size_t cluster = own.first; cluster < own.last; ++cluster) {
        const T* const position = clusters.position + cluster * stride;
        for (std::size_t row = 0; row < clusters.filled[cluster]; ++row) {
            const T x = position[row];
            const T y = position[row + width];
            const T z = position[row + 2 * width];
            AtomForce<T, width> atom;
            atom.place(x, y, z);
            atom.own_cluster(position, row);
            for (std::uint32_t head = *word++; head != 0; head = *word++) {
                const std::uint32_t count = head & NeighbourList::count_mask;
                const std::uint32_t shift =
                    (head & ~NeighbourList::one_sided) >> NeighbourList::shift_at;
                const T* const moved = shifts.data() + std::size_t{3} * shift;
                atom.place(x + moved[0], y + moved[1], z + moved[2]);
                if ((head & NeighbourList::one_sided) == 0)
                    atom.template neighbours<true>(clusters.position, force, word, count);
                else
                    atom.template neighbours<false>(clusters.position, force, word, count);
                word += count;
            }
            atom.add_to(force + cluster * stride + row);
        }
    }
}

template <class T>
void move(T* position, T* velocity, const T* force, std::size_t elements, T kick, T drift) {
    for (std::size_t i = 0; i < elements; ++i) {
        velocity[i] += kick * force[i];
        position[i] += drift * velocity[i];
    }
}

template <class T, std::size_t width>
Kernels<T> kernels_of() {
    return {.list = &make_list<T, width>,
            .forces = &compute_forces<T, width>,
            .move = &move<T>,
            .width = width};
}

template <std::size_t bytes>
KernelSet set_of(const char* isa) {
    // Without vectors, an atom is a cluster.
    constexpr bool is_scalar = HWY_TARGET == HWY_SCALAR;
    constexpr std::size_t floats = is_scalar ? 1 : bytes / sizeof(float);
    constexpr std::size_t doubles = is_scalar ? 1 : bytes / sizeof(double);
    return {.isa = isa,
            .target = HWY_TARGET,
            .fp32 = kernels_of<float, floats>(),
            .fp64 = kernels_of<double, doubles>()};
}

} // namespace

KernelSet narrow(const char* isa) { return set_of<16>(isa); }
#if HWY_MAX_BYTES >= 32
KernelSet middle(const char* isa) { return set_of<32>(isa); }
#endif
#if HWY_MAX_BYTES >= 64
KernelSet wide(const char* isa) { return set_of<64>(isa); }
#endif

} // namespace assay::md::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace assay::md {

std::span<const KernelSet> kernel_sets() {
    static const std::array sets{
#if HWY_TARGETS & HWY_AVX3
        N_AVX3::wide("avx512"),     N_AVX3::middle("avx512vl"),
#endif
#if HWY_TARGETS & HWY_AVX2
        N_AVX2::middle("avx2"),
#endif
#if HWY_TARGETS & HWY_SSE4
        N_SSE4::narrow("sse4"),
#endif
#if HWY_TARGETS & HWY_NEON
        N_NEON::narrow("neon"),
#endif
#if HWY_TARGETS & HWY_SCALAR
        N_SCALAR::narrow("scalar"),
#endif
    };
    return sets;
}

bool is_supported(const KernelSet& set) { return (hwy::SupportedTargets() & set.target) != 0; }

} // namespace assay::md
#endif
