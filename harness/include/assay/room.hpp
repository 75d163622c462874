// SPDX-License-Identifier: Apache-2.0
//
// Checks before a benchmark runs on the host: cores and memory.

#pragma once

#include "assay/benchmark.hpp"
#include "assay/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace assay::host {

/// Whether this process may use the cores that `wanted` stands for, and these are at least `least`.
inline Fit fits_cores(Symbolic wanted, const Machine& machine, std::int64_t least = 1) {
    const std::int64_t threads = machine.workers(wanted);
    const std::int64_t most = std::max(machine.cores(), machine.count("threads"));
    if (threads > 1 && !has_threads()) return Fit::no("needs a build with OpenMP");
    return Fit::needs(threads <= most && threads >= least, std::max(threads, least),
                      " cores, this process may use ",
                      std::min(most, std::max(threads, least - 1)));
}

/// Bytes of memory plus one sixteenth for page tables and other allocations.
template <class Bytes>
constexpr Bytes with_page_tables(Bytes bytes) {
    return bytes + bytes / 16;
}

/// Whether this much memory is available; yes if unknown. double, because requested sizes may exceed every
/// integer type.
inline Fit fits_memory(double bytes, const Machine& machine) {
    constexpr double mebi = 1 << 20U;
    const auto available = static_cast<double>(machine.memory_available());
    return Fit::needs(available == 0 || bytes <= available, std::ceil(bytes / mebi),
                      " MiB of free memory, ", std::floor(available / mebi), " MiB are available");
}
inline Fit fits_memory(std::int64_t bytes, const Machine& machine) {
    return fits_memory(static_cast<double>(bytes), machine);
}

template <class Bytes>
Fit fits(Symbolic threads, Bytes bytes, const Machine& machine) {
    if (Fit cores = fits_cores(threads, machine); !cores) return cores;
    return fits_memory(bytes, machine);
}

/// Sets the size of OpenMP teams, those of libraries included.
inline int use_threads(const Machine& machine, Symbolic threads) {
    const auto count = static_cast<int>(machine.workers(threads));
#ifdef _OPENMP
    omp_set_num_threads(count);
#endif
    return count;
}

} // namespace assay::host
