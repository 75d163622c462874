// SPDX-License-Identifier: Apache-2.0
//
// Devices that are memory of the host, and an NCCL that copies and adds there: what collectives on devices do on
// the host's side (which buffer, which rank, which device is the current one, in which order) runs without any
// device. Everything that CUDA would refuse is refused.

#pragma once

#include <cstdint>
#include <string>

namespace assay::pretended {

struct World {
    int devices = 4;
    std::uint64_t memory_bytes = std::uint64_t{80} << 30U; ///< of each device, all of it free
    bool reach_each_other = true;
    int capability = 90;

    // What NCCL does.
    std::string connection = "P2P/CUMEM"; ///< what its log says
    std::string link = "NVL";
    std::string algorithm = "RING";
    bool has_windows = true;
    int fails_at = -1; ///< the collective call, counted from 0, that fails
    int calls = 0;

    // What must be zero in the end.
    int memories = 0;
    int streams = 0;
    int events = 0;
    int communicators = 0;
    int registrations = 0;
    int aborted = 0; ///< communicators that were given up

    std::string complaint; ///< what CUDA would have refused first; empty: nothing
};
World& world();

/// Remembers the first complaint.
void complain(const std::string& what);

/// Of a stream or memory; -1: there is no such thing.
int device_of_stream(const void* stream);
int device_of_memory(const void* address);

} // namespace assay::pretended
