// SPDX-License-Identifier: Apache-2.0
//
// Atoms in clusters of one vector's width: neighbours in space are neighbours in memory, and a
// kernel loads the x, y and z of a cluster as three vectors, without gathering.
//
// The box is cut into columns along z, square in x and y; the atoms of a column are sorted by z and
// cut into clusters. The last cluster of a column is filled up with atoms far outside of the box.
// Cluster c keeps its x at [3 c width, ...), followed by its y and its z; velocities and forces alike.

#pragma once

#include "model.hpp"

#include <assay/host.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::md {

/// A thread's place in its team: every thread calls with its own.
struct Worker {
    std::size_t thread = 0;
    std::size_t team = 1;
};

/// Waits for the whole team. Only inside of on_each_thread(), and by all of its threads.
inline void wait_for_team() {
#ifdef _OPENMP
#pragma omp barrier
#endif
}

/// The smallest box around the atoms of a cluster.
template <class T>
struct Bounds {
    std::array<T, 3> low;
    std::array<T, 3> high;
};

/// View of the clusters for kernels.
template <class T>
struct ClusterView {
    const T* position;
    const std::uint32_t* filled; ///< atoms of a cluster; the other lanes are padding
    const Bounds<T>* bounds;
    const std::uint32_t* first_in_column; ///< one more than there are columns
    /// By column and bin of z: the first cluster that reaches the bin or lies beyond it, and the
    /// first one that lies beyond it.
    const std::uint32_t* first_from_bin;
    const std::uint32_t* past_bin;
    T edge;
    T column_edge;
    T columns_per_length;
    T bins_per_length;    ///< of z
    std::int32_t columns; ///< along x, and along y
    std::int32_t bins;    ///< along z
    std::uint32_t clusters;
};

template <class T>
class Clusters {
public:
    static constexpr std::uint32_t nobody = 0xffffffffU; ///< in place of an atom's number

    Clusters(double edge, std::size_t atoms, std::size_t width, int threads);

    /// Takes over all atoms, by number; sort() must follow.
    void load(const Particles& particles);
    /// Brings all atoms into the box and forms the clusters anew. By every thread of the team.
    void sort(Worker worker);
    void store(Particles& particles) const;

    std::size_t width() const { return width_; }
    std::size_t atoms() const { return atoms_; }
    std::size_t capacity() const { return filled_.size(); } ///< clusters there is room for
    std::uint32_t count() const { return first_in_column_.back(); }
    /// Elements of a cluster in position(), velocity() and force().
    std::size_t stride() const { return 3 * width_; }
    ClusterView<T> view() const;

    T* position() { return sides_[side_].position.data(); }
    T* velocity() { return sides_[side_].velocity.data(); }
    T* force() { return force_.data(); }
    const T* position() const { return sides_[side_].position.data(); }
    const T* velocity() const { return sides_[side_].velocity.data(); }
    const T* force() const { return force_.data(); }
    const std::uint32_t* number() const { return sides_[side_].number.data(); }
    /// Elements of position(), velocity() and force() that are in use.
    std::size_t elements() const { return count() * stride(); }

private:
    /// Sorting reads one side and writes the other.
    struct Side {
        HostBuffer<T> position;
        HostBuffer<T> velocity;
        HostBuffer<std::uint32_t> number;
    };
    /// Where an atom is and in which order it comes within its column.
    struct Key {
        T z;
        std::uint32_t slot;
    };

    void assign_columns(Worker worker);
    void count_columns(Worker worker);
    void place_columns();
    void distribute(Worker worker);
    void form_column(std::size_t column);
    void index_column(std::size_t column);
    void form_cluster(std::uint32_t cluster, const Key* keys, std::size_t count);

    std::size_t column_count() const {
        return static_cast<std::size_t>(columns_) * static_cast<std::size_t>(columns_);
    }
    std::int32_t column_of(T coordinate) const;
    std::size_t lane_of(std::size_t slot) const { return slot / width_ * stride() + slot % width_; }

    double edge_;
    std::size_t atoms_;
    std::size_t width_;
    int threads_;
    std::int32_t columns_; // along one edge
    std::int32_t bins_;
    T per_column_; // columns per unit of length
    T per_bin_;
    std::uint32_t slots_ = 0; // of the side that is read, padding included
    std::size_t side_ = 0;
    std::array<Side, 2> sides_;
    HostBuffer<T> force_;
    std::vector<std::uint32_t> column_of_slot_;
    std::vector<std::uint32_t> tallies_;   // by thread and column: atoms, then where they go
    std::vector<std::uint32_t> first_key_; // of each column
    std::vector<Key> keys_;
    std::vector<std::uint32_t> first_in_column_;
    std::vector<std::uint32_t> first_from_bin_;
    std::vector<std::uint32_t> past_bin_;
    std::vector<std::uint32_t> filled_;
    std::vector<Bounds<T>> bounds_;
};

extern template class Clusters<float>;
extern template class Clusters<double>;

} // namespace assay::md
