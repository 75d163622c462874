// SPDX-License-Identifier: Apache-2.0
//
// What the collectives share before they begin: can so many processes run here, and are they there?

#pragma once

#include <assay/define.hpp>

#include <mpi.h>

#include <type_traits>

namespace assay::collective {

enum class Type : std::uint8_t { fp32, fp64 };

template <class T>
MPI_Datatype mpi_type() {
    return std::is_same_v<T, float> ? MPI_FLOAT : MPI_DOUBLE;
}

template <class Params>
consteval auto ranks_axis() {
    return symbolic("ranks", "processes: one per core, per socket or per machine, or a number", "",
                    &Params::ranks, {Symbol::all}, {2, 4096},
                    {Symbol::all, Symbol::per_socket, Symbol::per_node});
}

/// Least bytes that every rank must send or receive for a message of so many bytes, by any algorithm.
constexpr double least_moved(double bytes, int ranks) {
    return bytes * static_cast<double>(ranks - 1) / static_cast<double>(ranks);
}

/// Ranks that `wanted` stands for in this job, or on this machine outside a job.
std::int64_t rank_count(Symbolic wanted, const Machine& machine);

/// One core for each of the ranks, and `bytes_per_rank` of memory.
Fit fit_ranks(Symbolic ranks, std::int64_t bytes_per_rank, const Machine& machine);

/// The number of ranks; records them and their machines. Throws std::runtime_error where this process
/// is alone or was started with others than asked for.
int join_ranks(Symbolic ranks, Context& context);

} // namespace assay::collective
