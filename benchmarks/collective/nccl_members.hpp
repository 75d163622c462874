// SPDX-License-Identifier: Apache-2.0
//
// Which ranks of a communicator this process holds, and how it meets the others. Two files answer, one for
// each module: nccl_alone.cpp (one process has all devices) and nccl_job.cpp (a process for each).

#pragma once

#include "device/error.hpp"

#include <assay/benchmark.hpp>

#include <nccl.h>

#include <source_location>
#include <string>
#include <vector>

namespace assay::collective {

/// Module `rccl` has NCCL's interface from AMD's library, which may be missing: then why. Else "".
#ifdef ASSAY_RCCL
inline constexpr bool is_rccl = true;
const std::string& why_no_nccl();
#else
inline constexpr bool is_rccl = false;
inline std::string why_no_nccl() { return {}; }
#endif

/// Makes an exception of what an NCCL call answers, with the place it was called from.
inline void check(ncclResult_t status,
                  const std::source_location& from = std::source_location::current()) {
    if (status == ncclSuccess) return;
    std::string words = joined(is_rccl ? "RCCL: " : "NCCL: ", ncclGetErrorString(status));
    const char* last = ncclGetLastError(nullptr);
    if (last != nullptr && *last != '\0') (words += ": ") += last;
    throw device::Error{words + " (at " + device::words_of(from) + ')'};
}

/// Version of the loaded library, which may differ from the header's: 22809 is 2.28.9.
int nccl_version();
/// The version, for a module's facts.
void report_nccl(const Context& context);

struct Members {
    int ranks = 0;      ///< of the communicator: devices of all processes
    int first = 0;      ///< rank of this process' first device; the others follow
    int device = 0;     ///< the number of that device
    int here = 0;       ///< devices of this process
    int on_machine = 0; ///< devices of all processes on this machine, the first of those it has
    int machines = 1;
    int processes = 1;
};

/// Before anybody has joined.
struct Crowd {
    int ranks = 0;
    int hosts = 1;
    bool shares_devices = false; ///< other processes of the job ask about the same devices
};
/// The number that `wanted` stands for on a machine with so many devices.
Crowd crowd_of(Symbolic wanted, int devices, const Machine& machine);

/// Throws where this process is not what was asked for, or has no device for its rank.
Members join_members(Symbolic wanted, int devices, const Context& context);

/// A communicator for each device of this process, in order. Waits for the other processes.
std::vector<ncclComm_t> communicators_of(const Members& members);

/// Other processes that wait on their devices shall not wait for ever.
void tell_failure() noexcept;
bool another_failed();

/// Does what concerns this process alone; where it fails in one process it throws in all, so that none waits
/// for it in what follows.
template <class Body>
void agreed(const Context& context, Body&& body) {
    std::string problem;
    try {
        body();
    } catch (const std::exception& e) {
        problem = e.what();
    }
    if (context.team().max(problem.empty() ? 0 : 1) == 0) return;
    throw device::Error{problem.empty() ? "another rank could not set up" : problem};
}

} // namespace assay::collective
