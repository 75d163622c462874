// SPDX-License-Identifier: Apache-2.0
//
// The ranks of a job in which two things take turns.

#pragma once

#include "machine/inventory.hpp"
#include "subject.hpp"

#include <mpi.h>
#include <sched.h>

#include <cstddef>
#include <exception>
#include <iostream>
#include <string>

namespace assay::peers {

/// Joint steps of all ranks. They decide everything alike, because they see the same numbers.
class Job {
public:
    explicit Job(MPI_Comm comm) : comm_{comm} { MPI_Comm_rank(comm, &rank_); }
    int rank() const { return rank_; }
    MPI_Comm comm() const { return comm_; }

    double reduce(double value, MPI_Op operation) const {
        MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, operation, comm_);
        return value;
    }
    /// Seconds per call of the slowest rank.
    template <class Side>
    double turn(Side& side, std::size_t calls) const {
        MPI_Barrier(comm_);
        return reduce(side.sample(calls), MPI_MAX) / static_cast<double>(calls);
    }

private:
    MPI_Comm comm_;
    int rank_ = 0;
};

/// One core for each rank, as the workers of a team have it.
inline void bind_to_own_core(MPI_Comm comm) {
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    const auto cpus = machine::choose_cpus(ranks);
    if (cpus.size() < static_cast<std::size_t>(ranks)) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(cpus[static_cast<std::size_t>(rank)]), &set);
    ::sched_setaffinity(0, sizeof set, &set);
}

/// A rank's life from MPI_Init to MPI_Finalize; the exit code of its program.
template <class Work>
int run_job(const std::string& module, Work&& work) {
    try {
        MPI_Init(nullptr, nullptr); // the module finds it done, and adds communicators of its own
        MPI_Comm comm = MPI_COMM_NULL;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        bind_to_own_core(comm);
        work(Job{comm});
        MPI_Comm_free(&comm);
        leave_team(module); // finalises MPI
        return 0;
    } catch (const std::exception& e) {
        std::cerr << e.what() << '\n';
        MPI_Abort(MPI_COMM_WORLD, 1); // the other ranks wait for this one
        return 1;
    }
}

} // namespace assay::peers
