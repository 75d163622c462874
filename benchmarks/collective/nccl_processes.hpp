// SPDX-License-Identifier: Apache-2.0
//
// The same benchmarks are compiled for two modules: one process with all devices, and a process for each
// (ASSAY_NCCL_TEAM). What that changes in their descriptions is here.

#pragma once

namespace assay::collective {

#if defined(ASSAY_NCCL_TEAM)
inline constexpr bool is_team = true;
#define ASSAY_NCCL_PROCESSES                                                                       \
    "A process for each device, started by mpirun or srun; each queues its own calls, back to "    \
    "back. Events on every stream, the slowest device counts. "
#define ASSAY_NCCL_CAVEAT                                                                          \
    "Small messages contain NCCL's own launch on each device, and on the first rank a line of "    \
    "its "                                                                                         \
    "log for each call (about a microsecond). Ranks start a batch together to within an MPI "      \
    "barrier. "
#else
inline constexpr bool is_team = false;
#define ASSAY_NCCL_PROCESSES                                                                       \
    "One process with all devices (ncclCommInitAll, one group call for all), calls back to back. " \
    "Events on every stream, the slowest device counts. "
#define ASSAY_NCCL_CAVEAT                                                                          \
    "Small messages show the host's time to launch a kernel on every device from one thread, and " \
    "a line of NCCL's log for each call (about a microsecond); module nccl_mpi, one process for "  \
    "each device, launches faster. "
#endif

} // namespace assay::collective
