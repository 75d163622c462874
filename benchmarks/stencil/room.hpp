// SPDX-License-Identifier: Apache-2.0
//
// What every benchmark of this folder asks of the machine: cores, and memory for what it walks over.

#pragma once

#include <assay/benchmark.hpp>
#include <assay/parallel.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

namespace assay::stencil {

inline Fit has_room(const Machine& m, Symbolic threads, std::int64_t bytes) {
    const std::int64_t wanted = m.workers(threads);
    const std::int64_t most = std::max(m.cores(), m.count("threads"));
    if (wanted > most)
        return Fit::no("needs " + std::to_string(wanted) + " cores, this process may use " +
                       std::to_string(most));
    if (wanted > 1 && !has_threads()) return Fit::no("needs a build with OpenMP");
    const std::int64_t available = m.memory_available();
    // A sixteenth more for the page tables and everything else that is alive.
    const std::int64_t needed = bytes + bytes / 16;
    return Fit::needs(available == 0 || needed <= available,
                      std::to_string(needed) + " bytes of free memory, there are " +
                          std::to_string(available) + "; a smaller footprint would do");
}

} // namespace assay::stencil
