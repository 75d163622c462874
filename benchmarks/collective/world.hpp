// SPDX-License-Identifier: Apache-2.0
//
// The MPI job that this process belongs to, shared by the benchmarks of a module. The
// harness' traffic and a benchmark's never meet: each has a communicator of its own.

#pragma once

#include <assay/define.hpp>

#include <mpi.h>

namespace assay::mpi {

/// For benchmarks; errors are returned, not fatal. MPI_COMM_NULL before the module has joined.
MPI_Comm communicator();

/// The hooks of a module whose ranks MPI brings together: joining the job, and leaving it.
const assay_team* join(assay_text* error);
void leave();
/// Records the library: "Open MPI v4.1.4".
void report_library(const Context& context);

/// What an MPI error code means.
std::string error_text(int code);

/// Throws std::runtime_error when an MPI call did not succeed.
void check(int code, const char* call);

/// Throws std::runtime_error on all ranks where one has another MPI library than rank 0.
void check_library();

/// What the library's control variable of this name holds (MPI_T), as text: "self,tcp", "ring". Empty
/// where it has none.
std::string control(const char* name);

/// The machine of each rank: groups of ranks that can share memory, numbered from 0 in the order of their
/// first ranks. Collective.
std::vector<int> machine_of_ranks();
/// How many machines there are. Collective.
int machine_count();
/// "node1" for each rank, with the rank where a machine has several; "rank 1" where there is but one machine.
/// Collective.
std::vector<std::string> rank_labels();

/// A module whose ranks MPI brings together, and what it says of itself.
template <void (*... reports)(const Context&)>
constexpr Module module_of_job() {
    return {.launcher = "mpirun", .facts = facts<reports...>, .join = join, .leave = leave};
}

} // namespace assay::mpi
