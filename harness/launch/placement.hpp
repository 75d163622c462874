// SPDX-License-Identifier: Apache-2.0
//
// Which processes, threads and CPUs a case is measured with: what its parameters `threads` and `ranks`
// mean on this machine.

#pragma once

#include "base/result.hpp"
#include "launch/team.hpp"
#include "plan/plan.hpp"
#include "record/model.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace assay::harness {

/// What must be equal for two cases to be measured by one worker process.
struct Placement {
    std::string launcher;  ///< "" or "mpirun"
    int ranks = 1;         ///< processes
    int threads = 1;       ///< of each process
    std::vector<int> cpus; ///< of all processes together; empty: not bound
    std::vector<HostRanks>
        hosts;                   ///< of a team that was spread over hosts; empty: it is on this one
    record::NamedList variables; ///< OPENBLAS_CORETYPE=SkylakeX: tunings, and values of parameters
    std::vector<std::string> devices{}; ///< UUIDs of the CUDA devices it is shown; empty: all
    /// A team of which each rank has a device of its host: its ranks are not bound, for the library
    /// places threads of its own near each device.
    bool rank_per_device = false;
    bool operator==(const Placement&) const = default;
};

/// Logical CPUs for so many threads, as machine::choose_cpus: of those near the PCI device with this address,
/// where it is not empty. Asking it costs milliseconds.
using ChooseCpus = std::function<std::vector<int>(int threads, const std::string& near)>;

/// An error says why the case does not apply here: more threads than there are. `job`: the hosts of
/// teams; other cases stay on this machine.
Result<Placement> place(const PlannedCase& planned, const record::Machine& machine,
                        const record::NamedList& variables, const ChooseCpus& choose_cpus,
                        const Job& job = {});

/// Bytes that each of `processes` may allocate, so that a benchmark which eats memory meets its limit
/// before the machine does. `available`: what can be used now.
std::int64_t data_limit_for(double available, int processes);

} // namespace assay::harness
