// SPDX-License-Identifier: Apache-2.0
//
// The module `nccl_mpi` in a job without any device: mpirun -n 2 nccl_job. How its ranks meet, and every
// collective on pretended devices; what NCCL would do, MPI does, at the end of this file.
#include "collective/nccl_members.hpp"
#include "collective/world.hpp"
#include "nccl_all.hpp"
#include "pretended.hpp"
#include "pretended_case.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace assay;
using namespace assay::collective;

int failures = 0;

void expect(bool right, const std::string& what) {
    if (right) return;
    ++failures;
    std::cerr << "nccl_job: " << what << '\n';
}

/// The program's side of a module, as far as it is asked.
class Program {
public:
    explicit Program(const assay_team* team) {
        services_.struct_size = sizeof services_;
        services_.abi = ASSAY_MODULE_ABI;
        services_.fact = [](void* /*context*/, const char* name) {
            return std::string_view{name} == "job.ranks" ? 2.0 : std::nan("");
        };
        services_.team = team;
    }
    Context context() const { return Context{&services_}; }

private:
    assay_services services_{};
};

template <class Body>
std::string problem_of(Body&& body) {
    try {
        body();
    } catch (const std::exception& e) {
        return e.what();
    }
    return {};
}

void members_are_ranks(const Context& context, int rank) {
    const auto members = join_members(Symbol::all, 2, context);
    expect(members.ranks == 2 && members.processes == 2 && members.machines == 1, "the job");
    expect(members.first == rank && members.device == rank && members.here == 1, "the own rank");
    expect(members.on_machine == 2, "ranks of this machine");
    const auto communicators = communicators_of(members);
    expect(communicators.size() == 1 && communicators[0] != nullptr, "one communicator");
    ncclCommDestroy(communicators[0]);
}

void problems_of_one_are_told_to_all(const Context& context, int rank) {
    const auto no_device = problem_of([&] { join_members(Symbol::all, 1, context); });
    expect(rank == 0 ? no_device == "another rank could not set up"
                     : no_device.find("rank 1 finds no device of its own") != std::string::npos,
           "too few devices: " + no_device);
    const auto wrong_count = problem_of([&] { join_members(3, 8, context); });
    expect(wrong_count.empty(), "the job's size beats the parameter: " + wrong_count);
}

void who_waits_learns_of_a_failure(int rank) {
    expect(!another_failed(), "nobody has failed yet");
    mpi::check(MPI_Barrier(mpi::communicator()), "MPI_Barrier");
    if (rank == 0) return tell_failure();
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{30};
    while (!another_failed() && std::chrono::steady_clock::now() < until) {
    }
    expect(another_failed(), "rank 0 has told that it failed");
}

void collectives_compute(const assay_team* team) {
    for (const auto* benchmark : all_of_nccl)
        for (const char* bytes : {"8", "65536"})
            for (const char* in_place : {"false", "true"}) {
                const pretended::Given given{{"bytes", bytes}, {"in_place", in_place}};
                pretended::Case one{*benchmark, given, team};
                const std::string name =
                    std::string{benchmark->id} + " bytes=" + bytes + " in_place=" + in_place + ": ";
                expect(one.misfit().empty(), name + "fits");
                const auto problem = one.create();
                expect(problem.empty(), name + problem);
                if (!problem.empty()) continue;
                expect(one.sample(1).empty() && one.verdict().empty(), name + one.verdict());
                expect(one.spoil().empty() && !one.verdict().empty(), name + "spoiled");
                expect(one.sample(1).empty() && one.verdict().empty(), name + "after spoil");
                expect(one.poison().empty() && !one.verdict().empty(), name + "poisoned");
                expect(one.sample(150).empty() && one.verdict().empty(), name + "150 calls");
                expect(one.numbers["processes"] == 2 && one.numbers["nvlink.devices"] == 2 &&
                           one.texts["path"] == "nvlink",
                       name + "settings");
            }
    expect(pretended::world().complaint.empty(), pretended::world().complaint);
    expect(pretended::world().memories + pretended::world().streams == 0, "all is given back");
}

} // namespace

int main() {
    std::array<char, 512> words{};
    assay_text error{.data = words.data(), .capacity = words.size()};
    const auto* team = mpi::join(&error);
    if (team == nullptr) {
        std::cerr << "nccl_job: " << words.data() << '\n';
        return 1;
    }
    const Program program{team};
    pretended::world().devices = 2;
    collectives_compute(team); // first: as NCCL, the one below reads where its log goes once
    members_are_ranks(program.context(), team->rank);
    problems_of_one_are_told_to_all(program.context(), team->rank);
    who_waits_learns_of_a_failure(team->rank);
    mpi::leave();
    return failures == 0 ? 0 : 1;
}

// --- NCCL ---------------------------------------------------------------------------------------------

struct ncclComm {
    int rank;
    int ranks;
};

namespace {

std::vector<MPI_Request> requests; // of the group

MPI_Datatype type_of(ncclDataType_t type) { return type == ncclFloat64 ? MPI_DOUBLE : MPI_FLOAT; }

void log(const std::string& text) {
    static std::ofstream file{std::getenv("NCCL_DEBUG_FILE")}; // NOLINT(concurrency-mt-unsafe)
    file << "host:1:1 [0] NCCL INFO " << text << '\n' << std::flush;
}

ncclResult_t answer(int code) { return code == MPI_SUCCESS ? ncclSuccess : ncclSystemError; }

/// A copy of what is sent, which in place is overwritten.
std::vector<char> copy_of(const void* from, std::size_t count, ncclDataType_t type) {
    const auto* begin = static_cast<const char*>(from);
    return {begin, begin + count * (type == ncclFloat64 ? 8 : 4)};
}

} // namespace

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
    *version = NCCL_VERSION_CODE;
    return ncclSuccess;
}
ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
    std::ranges::fill(id->internal, 'x');
    return ncclSuccess;
}
ncclResult_t ncclCommInitRank(ncclComm_t* communicator, int ranks, ncclUniqueId id, int rank) {
    const bool same = std::ranges::all_of(id.internal, [](char c) { return c == 'x'; });
    expect(same && ranks == 2 && rank >= 0 && rank < ranks, "what NCCL is given");
    *communicator = new ncclComm{rank, ranks};
    log("Pattern 4, crossNic 0, nChannels 4, bw 30.0/30.0, type NVL/PIX, sameChannels 1");
    log("Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM");
    return ncclSuccess;
}
ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
    delete communicator;
    return ncclSuccess;
}
ncclResult_t ncclCommAbort(ncclComm_t communicator) { return ncclCommDestroy(communicator); }
ncclResult_t ncclCommGetAsyncError(ncclComm_t /*communicator*/, ncclResult_t* late) {
    *late = ncclSuccess;
    return ncclSuccess;
}
const char* ncclGetErrorString(ncclResult_t /*status*/) { return "an error"; }
const char* ncclGetLastError(ncclComm_t /*communicator*/) { return ""; }
// Buffers of these kinds are not tried here.
ncclResult_t ncclMemAlloc(void** /*memory*/, std::size_t /*bytes*/) { return ncclInvalidUsage; }
ncclResult_t ncclMemFree(void* /*memory*/) { return ncclInvalidUsage; }
ncclResult_t ncclCommRegister(ncclComm_t, void*, std::size_t, void**) { return ncclInvalidUsage; }
ncclResult_t ncclCommDeregister(ncclComm_t, void*) { return ncclInvalidUsage; }
ncclResult_t ncclCommWindowRegister(ncclComm_t, void*, std::size_t, ncclWindow_t*, int) {
    return ncclInvalidUsage;
}
ncclResult_t ncclCommWindowDeregister(ncclComm_t, ncclWindow_t) { return ncclInvalidUsage; }

ncclResult_t ncclGroupStart() { return ncclSuccess; }
ncclResult_t ncclGroupEnd() {
    const int code =
        MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    requests.clear();
    return answer(code);
}
ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t, ncclComm_t communicator, cudaStream_t) {
    if (communicator->rank == 0)
        log("AllReduce: 64 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..3}");
    return answer(MPI_Allreduce(from == to ? MPI_IN_PLACE : from, to, static_cast<int>(count),
                                type_of(type), MPI_SUM, mpi::communicator()));
}
ncclResult_t ncclReduceScatter(const void* from, void* to, std::size_t count, ncclDataType_t type,
                               ncclRedOp_t, ncclComm_t communicator, cudaStream_t) {
    const auto sent = copy_of(from, count * static_cast<std::size_t>(communicator->ranks), type);
    return answer(MPI_Reduce_scatter_block(sent.data(), to, static_cast<int>(count), type_of(type),
                                           MPI_SUM, mpi::communicator()));
}
ncclResult_t ncclAllGather(const void* from, void* to, std::size_t count, ncclDataType_t type,
                           ncclComm_t, cudaStream_t) {
    const auto sent = copy_of(from, count, type);
    return answer(MPI_Allgather(sent.data(), static_cast<int>(count), type_of(type), to,
                                static_cast<int>(count), type_of(type), mpi::communicator()));
}
ncclResult_t ncclBroadcast(const void* from, void* to, std::size_t count, ncclDataType_t type,
                           int root, ncclComm_t communicator, cudaStream_t) {
    auto data = copy_of(from, count, type);
    const int code =
        MPI_Bcast(data.data(), static_cast<int>(count), type_of(type), root, mpi::communicator());
    expect(communicator->ranks == 2, "the communicator");
    std::ranges::copy(data, static_cast<char*>(to));
    return answer(code);
}
ncclResult_t ncclSend(const void* from, std::size_t count, ncclDataType_t type, int peer,
                      ncclComm_t, cudaStream_t) {
    return answer(MPI_Isend(from, static_cast<int>(count), type_of(type), peer, 7,
                            mpi::communicator(), &requests.emplace_back()));
}
ncclResult_t ncclRecv(void* to, std::size_t count, ncclDataType_t type, int peer, ncclComm_t,
                      cudaStream_t) {
    return answer(MPI_Irecv(to, static_cast<int>(count), type_of(type), peer, 7,
                            mpi::communicator(), &requests.emplace_back()));
}
} // extern "C"
