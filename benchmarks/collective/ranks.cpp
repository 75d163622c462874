// SPDX-License-Identifier: Apache-2.0
#include "ranks.hpp"

#include "world.hpp"

#include <stdexcept>
#include <string>

namespace assay::collective {

std::int64_t rank_count(Symbolic wanted, const Machine& machine) {
    const std::int64_t of_job = machine.count("job.ranks");
    return of_job > 0 ? of_job : machine.workers(wanted);
}

Fit fit_ranks(Symbolic ranks, std::int64_t bytes_per_rank, const Machine& machine) {
    const std::int64_t count = rank_count(ranks, machine);
    if (count < 2) return Fit::no("not applicable: a single rank has nobody to exchange data with");
    // On several hosts their slots decide, which the user has given.
    const bool here = machine.count("job.hosts") == 0;
    if (here && count > machine.cores())
        return Fit::no("needs " + std::to_string(count) + " cores, one per rank; " +
                       std::to_string(machine.cores()) + " can be used");
    const std::int64_t needed = here ? bytes_per_rank * count : bytes_per_rank;
    if (machine.memory_available() != 0 && needed > machine.memory_available())
        return Fit::no("needs " + std::to_string(needed >> 20U) + " MiB of memory, " +
                       std::to_string(machine.memory_available() >> 20U) + " MiB are available");
    return Fit::yes();
}

int join_ranks(Symbolic ranks, Context& context) {
    const int count = context.team().size();
    if (count < 2 || mpi::communicator() == MPI_COMM_NULL)
        throw std::runtime_error{
            "this process is alone: collectives run in a team, started by mpirun"};
    const std::int64_t wanted = rank_count(ranks, context.machine());
    if (count != wanted)
        throw std::runtime_error{"started with " + std::to_string(count) + " ranks, asked for " +
                                 std::to_string(wanted)};
    mpi::check_library();
    context.setting("ranks", count);
    context.setting("machines", mpi::machine_count());
    return count;
}

} // namespace assay::collective
