// SPDX-License-Identifier: Apache-2.0
//
// A noise profile: every core alternates two fixed pieces of work, one inside the core (a chain of
// additions) and one in memory (a stretch of a buffer larger than the caches), while foreign CPU use
// and steal are recorded. Shows the achievable precision on this machine.

#pragma once

#include "record/model.hpp"
#include "stats/noise.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace assay::harness {

/// What one core did.
struct CoreWatch {
    int cpu = -1;
    std::vector<stats::Quantum> arithmetic;
    std::vector<stats::Quantum> memory;
};

/// The pieces of work and the clock; tests replace them.
struct NoiseWork {
    std::function<double()> now; ///< seconds since any origin
    std::function<void()> arithmetic;
    std::function<void()> memory;
};
/// Alternates the pieces for that long.
CoreWatch watch_core(const NoiseWork& work, double seconds);

/// The range of the clock, from the chain of additions: one per cycle.
struct ClockRange {
    double low = 0; ///< hertz: the slowest tenth of a second of the slowest core
    double median = 0;
    double high = 0;
};
ClockRange clock_range(const std::vector<CoreWatch>& cores, std::int64_t additions);

struct NoiseProfile {
    double seconds = 0;
    std::vector<CoreWatch> cores;
    record::Telemetry telemetry; ///< steal, foreign CPU use and throttling meanwhile
    ClockRange clock;
};
/// Occupies the given CPUs with a thread each. `last_level_bytes`: of all their last-level caches
/// together. `progress` is called from this thread about ten times a second with the share done.
NoiseProfile profile_noise(const std::vector<int>& cpus, double seconds,
                           std::int64_t last_level_bytes,
                           const std::function<void(double)>& progress);

} // namespace assay::harness
