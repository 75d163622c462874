// SPDX-License-Identifier: Apache-2.0
//
// A process for each device, in a job of MPI: the module `nccl_mpi`. MPI brings the ranks together and carries what the harness
// agrees on; the messages that are measured are NCCL's.

#include "collective/nccl_members.hpp"
#include "collective/world.hpp"
#include "device/properties.hpp"

#include <algorithm>

namespace assay::collective {
namespace {

constexpr int failure_tag = 1;

} // namespace

Crowd crowd_of(Symbolic wanted, int devices, const Machine& machine) {
    const auto hosts = std::max<std::int64_t>(machine.count("job.hosts"), 1);
    const auto started = machine.count("job.ranks");
    const auto asked = wanted.symbol == Symbol::none ? wanted.number : devices;
    return {.ranks = static_cast<int>(started > 0 ? started : asked),
            .hosts = static_cast<int>(hosts),
            .shares_devices = true};
}

Members join_members(Symbolic wanted, int devices, const Context& context) {
    const int size = context.team().size();
    const int rank = context.team().rank();
    if (size < 2 || mpi::communicator() == MPI_COMM_NULL)
        throw device::Error{"this process is alone: it takes a job with a rank for each device"};
    if (const int asked = crowd_of(wanted, devices, context.machine()).ranks; size != asked)
        throw device::Error{joined("started with ", size, " ranks, asked for ", asked)};
    const auto machine_of = mpi::machine_of_ranks();
    const auto own = machine_of.begin() + rank;
    Members members{.ranks = size,
                    .first = rank,
                    .device = static_cast<int>(std::ranges::count(machine_of.begin(), own, *own)),
                    .here = 1,
                    .on_machine = static_cast<int>(std::ranges::count(machine_of, *own)),
                    .machines = 1 + *std::ranges::max_element(machine_of),
                    .processes = size};
    agreed(context, [&] {
        if (members.device >= devices)
            throw device::Error{
                joined("rank ", rank, " finds no device of its own: its host has ", devices,
                       ", and at least ", members.device + 1,
                       " ranks; give hosts as many slots as they have devices (host:n)")};
    });
    return members;
}

std::vector<ncclComm_t> communicators_of(const Members& members) {
    ncclUniqueId id{};
    if (members.first == 0) check(ncclGetUniqueId(&id));
    mpi::check(MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, mpi::communicator()), "MPI_Bcast");
    ncclComm_t communicator = nullptr;
    check(ncclCommInitRank(&communicator, members.ranks, id, members.first));
    return {communicator};
}

void tell_failure() noexcept {
    static char nothing = 0;
    int size = 0;
    int rank = 0;
    if (MPI_Comm_size(mpi::communicator(), &size) != MPI_SUCCESS ||
        MPI_Comm_rank(mpi::communicator(), &rank) != MPI_SUCCESS)
        return;
    // Nobody waits for these messages: this process has failed
    for (int other = 0; other < size; ++other) {
        MPI_Request request = MPI_REQUEST_NULL;
        if (other == rank || MPI_Isend(&nothing, 1, MPI_CHAR, other, failure_tag,
                                       mpi::communicator(), &request) != MPI_SUCCESS)
            continue;
        MPI_Request_free(&request);
    }
}

bool another_failed() {
    int told = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, failure_tag, mpi::communicator(), &told, MPI_STATUS_IGNORE);
    return told != 0;
}

} // namespace assay::collective

extern const assay::Module assay_module_hooks;
const assay::Module assay_module_hooks =
    assay::mpi::module_of_job<assay::mpi::report_library, assay::collective::report_nccl,
                              assay::device::report_versions>();
