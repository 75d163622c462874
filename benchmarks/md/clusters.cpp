// SPDX-License-Identifier: Apache-2.0

#include "clusters.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::md {
namespace {

/// Clusters are about as long as wide where a column is as wide as the cube of its atoms.
std::int32_t columns_along(double edge, std::size_t width) {
    const double wanted = std::cbrt(static_cast<double>(width) / density);
    return std::max(1, static_cast<std::int32_t>(std::lround(edge / wanted)));
}

/// A bin is a third of a cluster or so: where it ends decides who is looked at in vain.
std::int32_t bins_along(double edge) { return std::max(1, static_cast<std::int32_t>(2 * edge)); }

/// Rounds down into [0, count); NaN becomes 0.
template <class T>
std::int32_t cell_of(T scaled, std::int32_t count) {
    if (!(scaled > 0)) return 0;
    return scaled >= static_cast<T>(count) ? count - 1 : static_cast<std::int32_t>(scaled);
}

} // namespace

template <class T>
Clusters<T>::Clusters(double edge, std::size_t atoms, std::size_t width, int threads)
    : edge_{edge}, atoms_{atoms}, width_{width}, threads_{threads},
      columns_{columns_along(edge, width)}, bins_{bins_along(edge)},
      per_column_{static_cast<T>(columns_ / edge)}, per_bin_{static_cast<T>(bins_ / edge)} {
    const std::size_t most = atoms / width + column_count() + 1; // each column ends in padding
    // Buffers at equal offsets in a huge page would fall into the same cache sets.
    std::size_t offset = 0;
    const auto place = [&] {
        offset += 17 * cache_line;
        return Placement{.threads = threads, .offset = offset};
    };
    for (Side& side : sides_) {
        side.position = HostBuffer<T>{most * stride(), place()};
        side.velocity = HostBuffer<T>{most * stride(), place()};
        side.number = HostBuffer<std::uint32_t>{most * width, place()};
    }
    force_ = HostBuffer<T>{most * stride(), place()};
    column_of_slot_.resize(most * width);
    tallies_.resize(static_cast<std::size_t>(threads) * column_count());
    first_key_.resize(column_count() + 1);
    keys_.resize(atoms);
    first_in_column_.resize(column_count() + 1);
    first_from_bin_.resize(column_count() * static_cast<std::size_t>(bins_));
    past_bin_.resize(first_from_bin_.size());
    filled_.resize(most);
    bounds_.resize(most);
}

template <class T>
ClusterView<T> Clusters<T>::view() const {
    return {.position = position(),
            .filled = filled_.data(),
            .bounds = bounds_.data(),
            .first_in_column = first_in_column_.data(),
            .first_from_bin = first_from_bin_.data(),
            .past_bin = past_bin_.data(),
            .edge = static_cast<T>(edge_),
            .column_edge = static_cast<T>(edge_ / columns_),
            .columns_per_length = per_column_,
            .bins_per_length = per_bin_,
            .columns = columns_,
            .bins = bins_,
            .clusters = count()};
}

template <class T>
void Clusters<T>::load(const Particles& particles) {
    Side& side = sides_[side_];
    slots_ = static_cast<std::uint32_t>(atoms_);
    for (std::size_t i = 0; i < atoms_; ++i) {
        side.number[i] = static_cast<std::uint32_t>(i);
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const std::size_t at = lane_of(i) + axis * width_;
            side.position[at] = static_cast<T>(particles.position[i][axis]);
            side.velocity[at] = static_cast<T>(particles.velocity[i][axis]);
        }
    }
}

template <class T>
void Clusters<T>::store(Particles& particles) const {
    particles.edge = edge_;
    particles.position.resize(atoms_);
    particles.velocity.resize(atoms_);
    particles.force.resize(atoms_);
    const Side& side = sides_[side_];
    for (std::size_t slot = 0; slot < count() * width_; ++slot) {
        const std::uint32_t number = side.number[slot];
        if (number == nobody) continue;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const std::size_t at = lane_of(slot) + axis * width_;
            particles.position[number][axis] = static_cast<double>(side.position[at]);
            particles.velocity[number][axis] = static_cast<double>(side.velocity[at]);
            particles.force[number][axis] = static_cast<double>(force_[at]);
        }
    }
}

template <class T>
void Clusters<T>::sort(Worker worker) {
    assign_columns(worker);
    wait_for_team();
    count_columns(worker);
    wait_for_team();
    if (worker.thread == 0) place_columns();
    wait_for_team();
    distribute(worker);
    wait_for_team();
    const Slice own = slice_of(column_count(), worker.thread, worker.team);
    for (std::size_t column = own.first; column < own.last; ++column) form_column(column);
    wait_for_team();
    if (worker.thread == 0) {
        side_ = 1 - side_;
        slots_ = static_cast<std::uint32_t>(count() * width_);
    }
    wait_for_team();
}

template <class T>
std::int32_t Clusters<T>::column_of(T coordinate) const {
    return cell_of(coordinate * per_column_, columns_);
}

template <class T>
void Clusters<T>::assign_columns(Worker worker) {
    std::uint32_t* const tally = tallies_.data() + worker.thread * column_count();
    std::fill_n(tally, column_count(), 0);
    Side& side = sides_[side_];
    const auto edge = static_cast<T>(edge_);
    const Slice own = slice_of(slots_, worker.thread, worker.team, 16 * width_);
    for (std::size_t slot = own.first; slot < own.last; ++slot) {
        if (side.number[slot] == nobody) continue;
        T* const at = side.position.data() + lane_of(slot);
        for (std::size_t axis = 0; axis < 3; ++axis) {
            T& x = at[axis * width_];
            x = x < 0 ? x + edge : x >= edge ? x - edge : x;
        }
        const std::int32_t column = column_of(at[0]) * columns_ + column_of(at[width_]);
        column_of_slot_[slot] = static_cast<std::uint32_t>(column);
        ++tally[column];
    }
}

/// Atoms of each column, and of each thread's share the place within the column.
template <class T>
void Clusters<T>::count_columns(Worker worker) {
    const Slice own = slice_of(column_count(), worker.thread, worker.team);
    for (std::size_t column = own.first; column < own.last; ++column) {
        std::uint32_t sum = 0;
        for (std::size_t thread = 0; thread < worker.team; ++thread) {
            std::uint32_t& tally = tallies_[thread * column_count() + column];
            const std::uint32_t mine = tally;
            tally = sum;
            sum += mine;
        }
        first_key_[column + 1] = sum;
    }
}

template <class T>
void Clusters<T>::place_columns() {
    first_key_[0] = 0;
    first_in_column_[0] = 0;
    const auto width = static_cast<std::uint32_t>(width_);
    for (std::size_t column = 0; column < column_count(); ++column) {
        const std::uint32_t atoms = first_key_[column + 1];
        first_in_column_[column + 1] = first_in_column_[column] + (atoms + width - 1) / width;
        first_key_[column + 1] += first_key_[column];
    }
}

template <class T>
void Clusters<T>::distribute(Worker worker) {
    std::uint32_t* const tally = tallies_.data() + worker.thread * column_count();
    const Side& side = sides_[side_];
    const Slice own = slice_of(slots_, worker.thread, worker.team, 16 * width_);
    for (std::size_t slot = own.first; slot < own.last; ++slot) {
        if (side.number[slot] == nobody) continue;
        const std::uint32_t column = column_of_slot_[slot];
        keys_[first_key_[column] + tally[column]++] = {
            .z = side.position[lane_of(slot) + 2 * width_],
            .slot = static_cast<std::uint32_t>(slot)};
    }
}

template <class T>
void Clusters<T>::form_column(std::size_t column) {
    Key* const keys = keys_.data() + first_key_[column];
    const std::size_t count = first_key_[column + 1] - first_key_[column];
    std::sort(keys, keys + count, [](const Key& a, const Key& b) { return a.z < b.z; });
    std::uint32_t cluster = first_in_column_[column];
    for (std::size_t at = 0; at < count; at += width_, ++cluster)
        form_cluster(cluster, keys + at, std::min(width_, count - at));
    index_column(column);
}

/// Clusters are sorted by z: those that reach a bin follow each other.
template <class T>
void Clusters<T>::index_column(std::size_t column) {
    const std::uint32_t end = first_in_column_[column + 1];
    std::uint32_t reaching = first_in_column_[column];
    std::uint32_t beyond = reaching;
    const std::size_t first_bin = column * static_cast<std::size_t>(bins_);
    for (std::int32_t bin = 0; bin < bins_; ++bin) {
        const T low = static_cast<T>(bin) / per_bin_;
        const T high = static_cast<T>(bin + 1) / per_bin_;
        while (reaching < end && bounds_[reaching].high[2] < low) ++reaching;
        while (beyond < end && bounds_[beyond].low[2] <= high) ++beyond;
        first_from_bin_[first_bin + static_cast<std::size_t>(bin)] = reaching;
        past_bin_[first_bin + static_cast<std::size_t>(bin)] = beyond;
    }
}

template <class T>
// NOLINTNEXTLINE(readability-function-cognitive-complexity): one pass over the lanes
void Clusters<T>::form_cluster(std::uint32_t cluster, const Key* keys, std::size_t count) {
    const Side& from = sides_[side_];
    Side& to = sides_[1 - side_];
    constexpr T largest = std::numeric_limits<T>::max();
    Bounds<T> bounds{.low = {largest, largest, largest}, .high = {-largest, -largest, -largest}};
    // Farther than any cutoff, near enough that no power of the distance leaves the range of float.
    const T away = static_cast<T>(-1000 - 2 * edge_);
    const std::size_t base = cluster * stride();
    for (std::size_t lane = 0; lane < width_; ++lane) {
        const bool is_atom = lane < count;
        const std::size_t source = is_atom ? keys[lane].slot : 0;
        to.number[cluster * width_ + lane] = is_atom ? from.number[source] : nobody;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const std::size_t at = base + axis * width_ + lane;
            const std::size_t old = lane_of(source) + axis * width_;
            const T x = is_atom ? from.position[old] : away;
            to.position[at] = x;
            to.velocity[at] = is_atom ? from.velocity[old] : T{0};
            if (!is_atom) continue;
            bounds.low[axis] = std::min(bounds.low[axis], x);
            bounds.high[axis] = std::max(bounds.high[axis], x);
        }
    }
    filled_[cluster] = static_cast<std::uint32_t>(count);
    bounds_[cluster] = bounds;
}

template class Clusters<float>;
template class Clusters<double>;

} // namespace assay::md
