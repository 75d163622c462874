// SPDX-License-Identifier: Apache-2.0
//
// How the ranks of module `nccl_mpi` meet and learn of each other's problems: mpirun -n 2 nccl_job. Its collectives are
// tried by collective_job.
#include "collective/nccl_members.hpp"
#include "collective/world.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <string>
#include <string_view>

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
    members_are_ranks(program.context(), team->rank);
    problems_of_one_are_told_to_all(program.context(), team->rank);
    who_waits_learns_of_a_failure(team->rank);
    mpi::leave();
    return failures == 0 ? 0 : 1;
}
