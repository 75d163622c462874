// SPDX-License-Identifier: Apache-2.0
//
// Static distribution of work over OpenMP threads, the same everywhere: the thread that first touches
// a part of a buffer also works on it. Built without OpenMP, everything runs on the calling
// thread.

#pragma once

#include <cstddef>
#include <utility>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace assay {

/// Elements [first, last).
struct Slice {
    std::size_t first = 0;
    std::size_t last = 0;
    std::size_t size() const { return last - first; }
};

/// Part `part` of `parts` nearly equal ones. All but the last end at multiples of `granule` elements;
/// a granule of one cache line avoids false sharing.
constexpr Slice slice_of(std::size_t count, std::size_t part, std::size_t parts,
                         std::size_t granule = 1) {
    const std::size_t blocks = count / granule + (count % granule != 0 ? 1 : 0);
    const std::size_t each = blocks / parts;
    const std::size_t longer = blocks % parts; // the first `longer` parts get one block more
    const auto cut = [&](std::size_t p) {
        const std::size_t at = (p * each + (p < longer ? p : longer)) * granule;
        return at < count ? at : count;
    };
    return {.first = cut(part), .last = cut(part + 1)};
}

/// Threads of a parallel region by default (OMP_NUM_THREADS).
inline int team_threads() {
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

/// Whether this build has OpenMP.
constexpr bool has_threads() {
#ifdef _OPENMP
    return true;
#else
    return false;
#endif
}

/// Calls body(thread, threads) once on each of `threads` threads, in one parallel region. The body
/// must not throw: an exception cannot leave a parallel region.
template <class Body>
void on_each_thread(int threads, Body&& body) {
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
    body(static_cast<std::size_t>(omp_get_thread_num()),
         static_cast<std::size_t>(omp_get_num_threads()));
#else
    static_cast<void>(threads);
    body(std::size_t{0}, std::size_t{1});
#endif
}

/// Calls body(slice) on every thread with its slice of `count` elements.
template <class Body>
void on_each_slice(int threads, std::size_t count, std::size_t granule, Body&& body) {
    on_each_thread(threads, [&](std::size_t thread, std::size_t team) {
        body(slice_of(count, thread, team, granule));
    });
}

} // namespace assay
