// SPDX-License-Identifier: Apache-2.0
//
// What the collectives share before they begin: can so many processes run here, and are they there?

#pragma once

#include <assay/define.hpp>
#include <assay/machine.hpp>

#include <mpi.h>

#include <cstdint>
#include <type_traits>

namespace assay::collective {

enum class Type : std::uint8_t { fp32, fp64 };

template <class T>
MPI_Datatype mpi_type() {
    return std::is_same_v<T, float> ? MPI_FLOAT : MPI_DOUBLE;
}

/// One core for each of the ranks, and `bytes_per_rank` of memory.
Fit fit_ranks(Symbolic ranks, std::int64_t bytes_per_rank, const Machine& machine);

/// The number of ranks; records them and their machines. Throws std::runtime_error where this process
/// is alone or was started with others than asked for.
int join_ranks(Symbolic ranks, Context& context);

} // namespace assay::collective
