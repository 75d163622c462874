// SPDX-License-Identifier: Apache-2.0
//
// How worker processes are started: as a plain process, or as the ranks of a job of a launcher such as
// mpirun. Makes the command; process.hpp executes it.

#pragma once

#include "base/result.hpp"
#include "launch/placement.hpp"
#include "plan/interleaving.hpp"
#include "plan/manifest.hpp"
#include "process/channel.hpp"
#include "process/process.hpp"
#include "record/model.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::launch {

// --- execution context ---------------------------------------------------------------------------
// What is around the workers of a variant: environment variables, a command that starts them.

struct ExecutionContext {
    record::NamedList variables;
    std::vector<std::string> prefix; ///< a program's path and arguments that start the worker
};

/// `path`: the PATH to search for programs. A missing one is an environment error.
Result<ExecutionContext> context_of(const plan::Variant& variant, std::string_view path);

/// Does `program worker` start in there? Fails with its error message if not.
Result<void> try_out(const ExecutionContext& context, const std::filesystem::path& program,
                     const std::vector<std::string>& environment);

// -------------------------------------------------------------------------------------------------

struct LaunchRequest {
    std::filesystem::path program; ///< answers `program worker`
    Placement placement;
    std::string address; ///< of the parent's socket
    std::string token;
    std::filesystem::path log;
    std::filesystem::path scratch;      ///< folder for files that a killed launcher leaves behind
    std::int64_t data_limit = 0;        ///< bytes each process may allocate; 0: no limit
    std::vector<std::string> inherited; ///< environment of the parent
    std::string build;                  ///< of the program of earlier workers; "": there was none
    ExecutionContext context{};
    std::filesystem::path groups; ///< where control groups may be made; empty: nowhere
    std::int64_t memory = 0;      ///< bytes that all processes together may use; 0: no limit
};

/// An environment error names what is missing: "needs mpirun (Debian package openmpi-bin)".
Result<process::Command> launch_command(const LaunchRequest& request);

/// Where the parent listens: on the route to the first other host, or without a network.
Result<process::Listener> listener_for(const Placement& placement);

/// How a process of a case ended. `ending`: nothing if only its connection closed. `by_proxy`: another program started
/// it. `who`, `values`: the rank, if known ("rank 1 on node1 ").
record::Conclusion death(const std::optional<process::Ending>& ending, bool by_proxy,
                         const std::string& phase, const std::string& who, record::Values values);
/// The same before any process has said hello: no module was loaded, so nothing is known of the case.
record::Conclusion early_death(const process::Ending& ending, bool by_proxy);

/// May processes of one user read each other's memory? Containers often deny it; shared memory transports
/// must then be configured.
bool may_read_siblings(const std::filesystem::path& root = "/");

} // namespace assay::launch
