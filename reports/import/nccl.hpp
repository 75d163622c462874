// SPDX-License-Identifier: Apache-2.0
//
// Collectives by their names, and what each link has to carry.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay::imports::nccl {

/// "/opt/build/all_reduce_perf", "all_reduce_perf_mpi", "AllReduce" and "allreduce" are "all_reduce"; empty for what is
/// exactly none of them.
std::string collective_of(std::string_view program);
/// The one collective that the words of a file's name make: "nccl_allreduce.log".
std::string collective_of_file(std::string_view source);
/// Bus bandwidth over algorithm bandwidth, by the collective's Get...Bw in nccl-tests (and its
/// doc/PERFORMANCE.md): what each link has to carry. Nothing where it follows from more than the ranks.
std::optional<double> bus_factor(std::string_view collective, std::int64_t ranks);

} // namespace assay::imports::nccl
