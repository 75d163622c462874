// SPDX-License-Identifier: Apache-2.0
//
// Velocity Verlet over the clusters. Every thread owns a run of clusters, computes the forces on its
// atoms and moves them; nothing that another thread owns is ever written.

#pragma once

#include "clusters.hpp"
#include "kernels.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::md {

/// When the list of neighbours is made anew.
enum class Rebuild : std::uint8_t {
    every_20,  ///< by the count of steps, unchecked
    half_skin, ///< when an atom has moved by half of the skin since: no pair can be missed
};

template <class T>
class Simulation {
public:
    Simulation(const Particles& start, const Kernels<T>& kernels, Rebuild rebuild, int threads);

    /// Takes over positions and velocities, makes the list and computes the forces.
    void load(const Particles& particles);
    void run(int steps) noexcept;
    /// By number.
    void store(Particles& particles) const { clusters_.store(particles); }

    std::size_t rebuilds() const { return rebuilds_; } ///< since load()
    /// Pairs of an atom and a cluster in the newest list.
    std::size_t list_entries() const;
    Clusters<T>& clusters() { return clusters_; }

private:
    /// Data of one thread, on cache lines of its own.
    struct alignas(2 * cache_line) Own {
        NeighbourList list;
        Slice clusters;
        double moved = 0; ///< largest square of a distance from where the list was made
    };

    Slice elements_of(const Own& own) const {
        return {.first = own.clusters.first * clusters_.stride(),
                .last = own.clusters.last * clusters_.stride()};
    }
    void move(Own& own, double kick, double drift);
    void rebuild(Worker worker);
    bool must_rebuild(int step) const;
    double farthest(Slice clusters) const;
    void compute_forces(const Own& own);

    Kernels<T> kernels_;
    Rebuild policy_;
    int threads_;
    Clusters<T> clusters_;
    std::vector<Own> workers_;
    HostBuffer<T> listed_; // positions when the list was made; only where the policy asks for them
    std::size_t rebuilds_ = 0;
};

extern template class Simulation<float>;
extern template class Simulation<double>;

} // namespace assay::md
