// SPDX-License-Identifier: Apache-2.0
#include "ranks.hpp"

#include "world.hpp"

#include <stdexcept>

namespace assay::collective {

std::int64_t rank_count(Symbolic wanted, const Machine& machine) {
    const std::int64_t of_job = machine.count("job.ranks");
    return of_job > 0 ? of_job : machine.workers(wanted);
}

Fit fit_ranks(Symbolic ranks, std::int64_t bytes_per_rank, const Machine& machine) {
    const std::int64_t count = rank_count(ranks, machine);
    if (count < 2) return Fit::no("not applicable: a single rank has no partner");
    // On several hosts their slots decide, which the user has given.
    const bool here = machine.count("job.hosts") == 0;
    if (here && count > machine.cores())
        return Fit::no("needs ", count, " cores, one per rank; ", machine.cores(), " can be used");
    const std::int64_t needed = here ? bytes_per_rank * count : bytes_per_rank;
    if (machine.memory_available() != 0 && needed > machine.memory_available())
        return Fit::no("needs ", needed >> 20U, " MiB of memory, ",
                       machine.memory_available() >> 20U, " MiB are available");
    return Fit::yes();
}

int join_ranks(Symbolic ranks, Context& context) {
    const int count = context.team().size();
    if (count < 2 || mpi::communicator() == MPI_COMM_NULL)
        throw std::runtime_error{
            "this process is alone: collectives run in a team, started by mpirun"};
    const std::int64_t wanted = rank_count(ranks, context.machine());
    if (count != wanted)
        throw std::runtime_error{joined("started with ", count, " ranks, asked for ", wanted)};
    mpi::check_library();
    const int machines = mpi::machine_count();
    context.setting("ranks", count);
    context.setting("machines", machines);
    context.tell({.machines = machines, .ranks = count});
    return count;
}

} // namespace assay::collective
