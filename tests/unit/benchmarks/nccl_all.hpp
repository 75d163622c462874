// SPDX-License-Identifier: Apache-2.0
//
// The benchmarks of the modules nccl and nccl_mpi.

#pragma once

#include <assay/module.h>

#include <array>

namespace assay::collective {
extern const assay_benchmark device_allreduce;
extern const assay_benchmark device_reduce_scatter;
extern const assay_benchmark device_allgather;
extern const assay_benchmark device_broadcast;
extern const assay_benchmark device_alltoall;
extern const assay_benchmark device_send_receive;

inline const std::array all_of_nccl{&device_allreduce, &device_reduce_scatter,
                                    &device_allgather, &device_broadcast,
                                    &device_alltoall,  &device_send_receive};

} // namespace assay::collective
