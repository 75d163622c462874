// SPDX-License-Identifier: Apache-2.0
//
// How worker processes come to be: as a plain process, or as the ranks of a job that a launcher such as
// mpirun starts. Says what to execute; process.hpp executes it.

#pragma once

#include "base/result.hpp"
#include "launch/environment.hpp"
#include "launch/execution_context.hpp"
#include "launch/placement.hpp"
#include "process/channel.hpp"
#include "process/process.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace assay::harness {

struct LaunchRequest {
    std::filesystem::path program; ///< answers `program worker`
    Placement placement;
    std::string address; ///< of the parent's socket
    std::string token;
    std::filesystem::path log;
    std::filesystem::path scratch; ///< folder for files that a killed launcher would leave behind
    std::int64_t data_limit = 0;   ///< bytes each process may allocate; 0: no limit
    std::vector<std::string> inherited; ///< environment of the parent
    std::string build;                  ///< of the program of earlier workers; "": there was none
    ExecutionContext context{};
};

/// An error of the environment says what is missing: "needs mpirun (Debian package openmpi-bin)".
Result<Command> launch_command(const LaunchRequest& request);

/// Where the parent waits: on the way to the first host that is not this one, or without a network.
Result<Listener> listener_for(const Placement& placement);

/// May processes of one user read each other's memory? Containers often forbid it, and shared memory
/// transports then have to be told.
bool may_read_siblings(const std::filesystem::path& root = "/");

} // namespace assay::harness
