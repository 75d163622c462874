// SPDX-License-Identifier: Apache-2.0
//
// What can slow a case from outside the node, and how much replicas and runs of a kind of work are expected to differ
// before this machine has shown it. Both depend on whose clock and memory the work uses: a host that is busy does not
// slow a kernel that the device times. A fault of the node itself (heat, a power brake, broken memory, a narrow link)
// does not excuse any case (decisions/timing.md 0456, 0457).

#pragma once

#include "record/model.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::record {

/// The part whose clock and memory a case depends on.
enum class Influence : std::uint8_t {
    device,  // kernels and copies on a device, timed by its clocks
    link,    // copies between device and host
    launch,  // of a device, timed by the host's clock: launches, completions, messages
    program, // a program on a device that we did not write: nothing is known of what it waits for
    host,    // cores
    host_memory, // and the memory behind them
};
/// Told from what every result file records: place, benchmark, library and parameters.
Influence influence_of(const Case& c);

bool can_slow(DisturbanceCode code, Influence influence);
/// Says it anything about the case? Little that happened on a host concerns a kernel that the device times.
bool concerns(DisturbanceCode code, Influence influence);

enum class NoisePlace : std::uint8_t { device, device_and_host, bare_metal, guest };
/// A host of which nothing says that nobody shares it is a guest.
NoisePlace noise_place(const Case& c, const Machine& machine);

/// Standard deviations of logarithms; between_replicas is worth `degrees` degrees of freedom.
struct NoiseLevel {
    double between_replicas;
    double between_runs;
    double degrees;
};
/// `work`: as a manifest names the kind of a benchmark ("memory", "fft"). Any other is "unknown", whose degrees are 0.
NoiseLevel noise_level(std::string_view work, NoisePlace place);

/// Expected spread of so many replicas. The limit is the usual half width, if that exceeds `target`.
Spread expected_spread(const NoiseLevel& level, double target, int replicas, std::string source);

} // namespace assay::record
