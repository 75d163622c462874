// SPDX-License-Identifier: Apache-2.0
//
// The same benchmarks are compiled for two modules: one process with all devices, and a process for each
// (ASSAY_NCCL_TEAM). What that changes in their descriptions is here.

#pragma once

namespace assay::collective {

#if defined(ASSAY_NCCL_TEAM)
inline constexpr bool is_team = true;
#define ASSAY_NCCL_PROCESSES                                                                       \
    "One process per device, started by mpirun or srun; calls back to back. Timed with CUDA "      \
    "events, the slowest device counts. "
#define ASSAY_NCCL_CAVEAT                                                                          \
    "Small messages include NCCL's launch on each device and, on the first rank, a log line per "  \
    "call (about a microsecond). Ranks start a batch together to within an MPI barrier. "
#else
inline constexpr bool is_team = false;
#define ASSAY_NCCL_PROCESSES                                                                       \
    "One process with all devices (ncclCommInitAll, one group call), calls back to back. Timed "   \
    "with CUDA events, the slowest device counts. "
#define ASSAY_NCCL_CAVEAT                                                                          \
    "Small messages show the launch of a kernel on every device from one thread, and a log line "  \
    "of NCCL per call (about a microsecond); module nccl_mpi, one process per device, is faster. "
#endif
/// How every collective is checked.
#define ASSAY_NCCL_CHECK                                                                           \
    "Every element is checked on every device. The transport is read from NCCL's log; one other "  \
    "than requested fails the check."

} // namespace assay::collective
