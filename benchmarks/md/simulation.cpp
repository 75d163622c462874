// SPDX-License-Identifier: Apache-2.0

#include "simulation.hpp"

#include <algorithm>

namespace assay::md {

template <class T>
Simulation<T>::Simulation(const Particles& start, const Kernels<T>& kernels, Rebuild rebuild,
                          int threads)
    : kernels_{kernels}, policy_{rebuild}, threads_{threads},
      clusters_{start.edge, start.size(), kernels.width, threads},
      workers_(static_cast<std::size_t>(threads)) {
    if (policy_ == Rebuild::half_skin)
        listed_ = HostBuffer<T>{clusters_.capacity() * clusters_.stride(), {.threads = threads}};
    load(start);
}

template <class T>
void Simulation<T>::load(const Particles& particles) {
    clusters_.load(particles);
    on_each_thread(threads_, [this](std::size_t thread, std::size_t team) {
        rebuild({.thread = thread, .team = team});
        compute_forces(workers_[thread]);
    });
    rebuilds_ = 0;
}

template <class T>
void Simulation<T>::run(int steps) noexcept {
    on_each_thread(threads_, [this, steps](std::size_t thread, std::size_t team) {
        Own& own = workers_[thread];
        for (int step = 1; step <= steps; ++step) {
            // The second half of a step's kick and the first half of the next one's are one.
            move(own, step == 1 ? time_step / 2 : time_step, time_step);
            wait_for_team();
            if (must_rebuild(step)) rebuild({.thread = thread, .team = team});
            compute_forces(own);
            wait_for_team(); // others have read the positions that will now move
        }
        move(own, time_step / 2, 0);
    });
}

template <class T>
std::size_t Simulation<T>::list_entries() const {
    std::size_t entries = 0;
    for (const Own& own : workers_) entries += own.list.entries;
    return entries;
}

template <class T>
void Simulation<T>::move(Own& own, double kick, double drift) {
    const Slice mine = elements_of(own);
    kernels_.move(clusters_.position() + mine.first, clusters_.velocity() + mine.first,
                  clusters_.force() + mine.first, mine.size(), static_cast<T>(kick),
                  static_cast<T>(drift));
    if (policy_ == Rebuild::half_skin && drift != 0) own.moved = farthest(own.clusters);
}

/// Largest square of a distance from where the list was made.
template <class T>
double Simulation<T>::farthest(Slice clusters) const {
    const std::size_t width = clusters_.width();
    T most = 0;
    for (std::size_t cluster = clusters.first; cluster < clusters.last; ++cluster) {
        const T* const now = clusters_.position() + cluster * clusters_.stride();
        const T* const then = listed_.data() + cluster * clusters_.stride();
        for (std::size_t lane = 0; lane < width; ++lane) {
            T squared = 0;
            for (std::size_t at = lane; at < 3 * width; at += width)
                squared += (now[at] - then[at]) * (now[at] - then[at]);
            most = std::max(most, squared);
        }
    }
    return static_cast<double>(most);
}

/// The same on every thread, between the two barriers of a step.
template <class T>
bool Simulation<T>::must_rebuild(int step) const {
    if (policy_ == Rebuild::every_20) return step % rebuild_interval == 0;
    constexpr double allowed = skin / 2 * (skin / 2);
    return std::ranges::any_of(workers_, [](const Own& own) { return own.moved > allowed; });
}

template <class T>
void Simulation<T>::rebuild(Worker worker) {
    clusters_.sort(worker);
    Own& own = workers_[worker.thread];
    own.clusters = slice_of(clusters_.count(), worker.thread, worker.team);
    if (policy_ == Rebuild::half_skin) {
        const Slice mine = elements_of(own);
        std::copy_n(clusters_.position() + mine.first, mine.size(), listed_.data() + mine.first);
    }
    kernels_.list(clusters_.view(), own.clusters, static_cast<T>(cutoff + skin), own.list);
    if (worker.thread == 0) ++rebuilds_;
}

template <class T>
void Simulation<T>::compute_forces(const Own& own) {
    kernels_.forces(clusters_.view(), own.clusters, own.list, clusters_.force());
}

template class Simulation<float>;
template class Simulation<double>;

} // namespace assay::md
