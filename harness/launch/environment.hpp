// SPDX-License-Identifier: Apache-2.0
//
// The environment a worker is started with: what libraries read once, when they are loaded, is decided
// here, before exec. Everything that changes a result and is not decided here is recorded.

#pragma once

#include "plan/hosts.hpp"
#include "record/model.hpp"

#include <string>
#include <string_view>
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

/// The environment of a worker: `inherited` ("NAME=value") without what would place threads or make
/// the worker part of a job that the parent runs in, without what silently changes arithmetic, and
/// with what the placement asks for. `forced` beats all of it.
std::vector<std::string> worker_environment(const std::vector<std::string>& inherited,
                                            const Placement& placement,
                                            const record::NamedList& forced = {});
std::vector<std::string> own_environment();

/// The entries that libraries under measurement read, as settings `environment.NAME`, and those of
/// `inherited` that workers are not given because they silently change what is computed: "unset, was
/// 1". No dump: an environment holds secrets.
record::NamedList recorded_environment(const std::vector<std::string>& environment,
                                       const std::vector<std::string>& inherited = {});

/// The value of `name` among "NAME=value" entries, or null.
const char* find_variable(const std::vector<std::string>& environment, std::string_view name);

} // namespace assay::harness
