// SPDX-License-Identifier: Apache-2.0
//
// The processes, threads and CPUs of a case: what its parameters `threads` and `ranks` mean on this
// machine.

#pragma once

#include "base/result.hpp"
#include "launch/team.hpp"
#include "plan/plan.hpp"
#include "record/model.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace assay::launch {

/// Conditions for two cases to be measured by one worker process.
struct Placement {
    std::string launcher;         ///< "" or "mpirun"
    int ranks = 1;                ///< processes
    int threads = 1;              ///< of each process
    std::vector<int> cpus;        ///< of all processes together; empty: not bound
    std::vector<HostRanks> hosts; ///< of a team spread over hosts; empty: on this one
    record::NamedList variables;  ///< OPENBLAS_CORETYPE=SkylakeX: tunings, and values of parameters
    std::vector<std::string> devices{}; ///< UUIDs of the visible devices; empty: all
    std::string device_kind{};          ///< "cuda", "hip"; of a case on devices
    /// A team in which each rank has a device of its host. Its ranks are not bound, because the library
    /// places its own threads near each device.
    bool rank_per_device = false;
    bool operator==(const Placement&) const = default;
};

/// Logical CPUs for this number of threads, as machine::choose_cpus: near the PCI device with this address,
/// unless it is empty. A call takes milliseconds.
using ChooseCpus = std::function<std::vector<int>(int threads, const std::string& near)>;

/// An error says why the case does not apply here: too many threads. `job`: the hosts of teams; other
/// cases run on this machine.
Result<Placement> place(const plan::PlannedCase& planned, const record::Machine& machine,
                        const record::NamedList& variables, const ChooseCpus& choose_cpus,
                        const plan::Job& job = {});

/// Bytes that each of `processes` may allocate, so that a benchmark that allocates too much reaches its limit
/// before the machine's. `available`: usable now.
std::int64_t data_limit_for(double available, int processes);

// --- environment ---------------------------------------------------------------------------------
// The environment of a worker. Variables that libraries read once, when they are loaded, are set here,
// before exec. All others that change a result are recorded.

/// The environment of a worker: `inherited` ("NAME=value") without what would place threads or make
/// the worker part of a job that the parent runs in, without what silently changes kernels or arithmetic, and
/// with what the placement asks for. `forced` beats all of it.
std::vector<std::string> worker_environment(const std::vector<std::string>& inherited,
                                            const Placement& placement,
                                            const record::NamedList& forced = {});

/// The entries that libraries under measurement read, as settings `environment.NAME`, and those of
/// `inherited` that workers are not given because they silently change what is measured: "unset, was
/// 1". No dump: an environment holds secrets.
record::NamedList recorded_environment(const std::vector<std::string>& environment,
                                       const std::vector<std::string>& inherited = {});

} // namespace assay::launch
