// SPDX-License-Identifier: Apache-2.0

#include "sweep_kernels.hpp"

#include <assay/trial.hpp>

#include <algorithm>

namespace assay::memory {

SweepChoice choose_sweep(Access access, const Words& words, std::size_t count) {
    constexpr std::size_t region = 1024; // words: 8 KiB
    const auto all = sweep_loops();
    const auto loop_of = [&](std::size_t i) {
        return all[i].loops.at(static_cast<std::size_t>(access));
    };
    const std::size_t best = host::fastest_of(
        all.size(), [&](std::size_t i) { keep(loop_of(i)(words, 0, std::min(count, region))); });
    return {.loop = loop_of(best), .instructions = all[best].instructions};
}

} // namespace assay::memory
