// SPDX-License-Identifier: Apache-2.0
//
// Which path did the messages of a case take? Do the NVLink counters agree with the benchmark's evidence
// (Context::nvlink_at_least in assay/benchmark.hpp), and how fast is the network they went through? Asked where the
// case ran: the machine that plans and reports may be another. Knows no library.

#pragma once

#include "machine/files.hpp"
#include "record/model.hpp"
#include "telemetry/device.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace assay::worker {

struct LinkProof {
    std::string said;          ///< what was counted, for the record; empty if nothing was expected
    std::string contradiction; ///< empty, or how the counters contradict the benchmark
    record::Values values; ///< of the contradiction: counted_bytes, and least_bytes or most_bytes
};

/// `counted`: for the devices of the case; empty if the driver reports nothing. `calls`: in the window.
LinkProof prove_links(const record::Evidence& expected,
                      const std::vector<telemetry::LinkBytes>& counted, std::uint64_t calls);

/// The sums over the devices, for the record; nothing if none is counted.
telemetry::LinkBytes sum_of(const std::vector<telemetry::LinkBytes>& counted);

/// Adds the rate in one direction of `network_devices` ("mlx5_0:1, mlx5_1:1"), their sum, and its source or why it is
/// missing; for people as settings of the same names. Nothing for "memory".
void note_network_rate(record::Evidence& evidence, record::NamedList& settings,
                       const machine::Files& files = machine::Files{});

} // namespace assay::worker
