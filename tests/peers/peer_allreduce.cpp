// SPDX-License-Identifier: Apache-2.0
//
// collective.allreduce against a bare loop of MPI_Allreduce, inside one job and on equal buffers:
//   mpirun -n N peer_allreduce MODULE PAIRS SECONDS
// Every rank takes part; rank 0 prints a line per message size:
//   <bytes> <ours s> <bare s> <ratio> <low> <high> <added s> <low> <high> <pairs> <repeated> <disturbed>
#include "job.hpp"
#include "subject.hpp"
#include "turns.hpp"

#include <assay/host.hpp>
#include <assay/random.hpp>

#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iomanip>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace assay;
using peers::Job;

class Bare {
public:
    Bare(std::size_t bytes, MPI_Comm comm)
        : from_{bytes / sizeof(float)}, to_{bytes / sizeof(float)}, comm_{comm} {
        fill_integers<float>(from_.view(), 1, -100, 100);
    }
    double sample(std::size_t calls) {
        const auto start = std::chrono::steady_clock::now();
        for (std::size_t i = 0; i < calls; ++i)
            MPI_Allreduce(from_.data(), to_.data(), static_cast<int>(from_.size()), MPI_FLOAT,
                          MPI_SUM, comm_);
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }

private:
    HostBuffer<float> from_;
    HostBuffer<float> to_;
    MPI_Comm comm_;
};

/// How a side's part of a pair is cut: small messages drift within milliseconds, so the sides change
/// places every two of them.
struct Dose {
    std::size_t calls = 1;  ///< in a row
    std::size_t rounds = 1; ///< of ours, bare, bare, ours
};

/// Doubled until a turn is a quarter of what is wanted, so that one slow call misleads nobody.
Dose dose_for(const Job& job, Bare& bare, double seconds) {
    constexpr double longest_turn = 2e-3;
    const double wanted = std::min(seconds, longest_turn);
    for (std::size_t calls = 1;; calls *= 2) {
        const double once = job.turn(bare, calls);
        if (once * static_cast<double>(calls) < wanted / 4) continue;
        const double some = std::max(1.0, wanted / once);
        return {.calls = static_cast<std::size_t>(some),
                .rounds = static_cast<std::size_t>(std::max(1.0, seconds / (some * once)))};
    }
}

peers::Pair one_pair(const Job& job, peers::Subject& ours, Bare& bare, const Dose& dose) {
    // Rank 0 looks at the machine; the CPU time of all ranks is ours.
    const auto own = [&] { return job.reduce(peers::own_cpu_seconds(), MPI_SUM); };
    peers::ForeignUse foreign{own};
    foreign.begin();
    peers::Pair pair;
    const double turns = 2 * static_cast<double>(dose.rounds);
    for (std::size_t round = 0; round < dose.rounds; ++round)
        for (const bool is_ours : {true, false, false, true})
            (is_ours ? pair.a : pair.b) +=
                (is_ours ? job.turn(ours, dose.calls) : job.turn(bare, dose.calls)) / turns;
    pair.foreign = job.reduce(foreign.end(), MPI_MAX);
    return pair;
}

void compare(const Job& job, const std::string& module, std::size_t bytes,
             const peers::Plan& plan) {
    peers::Subject ours{
        module,
        "collective.allreduce",
        {{"bytes", static_cast<std::int64_t>(bytes)}, {"type", std::string{"fp32"}}},
        true};
    Bare bare{bytes, job.comm()};
    ours.prove();
    const Dose dose = dose_for(job, bare, plan.turn_seconds);

    std::vector<double> ratios;
    std::vector<double> added;
    peers::Ratio ratio;
    for (std::size_t i = 0; i < plan.pairs; ++i) {
        const peers::Pair pair = peers::quiet_pair([&] { return one_pair(job, ours, bare, dose); },
                                                   plan.attempts, ratio);
        ratios.push_back(pair.b / pair.a);
        added.push_back(pair.a - pair.b);
        ratio.a_seconds += pair.a / static_cast<double>(plan.pairs);
        ratio.b_seconds += pair.b / static_cast<double>(plan.pairs);
    }
    if (job.rank() != 0) return;
    const peers::Ratio mean = peers::mean_ratio(ratios);
    const peers::Difference more = peers::mean_difference(added);
    std::cout << std::setprecision(9) << bytes << ' ' << ratio.a_seconds << ' ' << ratio.b_seconds
              << ' ' << mean.value << ' ' << mean.low << ' ' << mean.high << ' ' << more.value
              << ' ' << more.low << ' ' << more.high << ' ' << plan.pairs << ' ' << ratio.repeated
              << ' ' << ratio.disturbed << '\n'
              << std::flush;
}

int run(char** argv) {
    const std::string module = argv[1];
    const peers::Plan plan{.pairs = std::strtoul(argv[2], nullptr, 10),
                           .turn_seconds = std::strtod(argv[3], nullptr)};
    MPI_Init(nullptr, nullptr); // the module finds it done, and adds communicators of its own
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    peers::bind_to_own_core(comm);
    {
        const Job job{comm};
        for (const std::size_t bytes :
             {std::size_t{8}, std::size_t{1} << 10U, std::size_t{32} << 10U, std::size_t{64} << 10U,
              std::size_t{1} << 20U, std::size_t{16} << 20U, std::size_t{64} << 20U})
            compare(job, module, bytes, plan);
    }
    MPI_Comm_free(&comm);
    peers::leave_team(module); // finalises MPI
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::cerr << "usage: mpirun -n RANKS peer_allreduce MODULE PAIRS SECONDS\n";
        return 2;
    }
    try {
        return run(argv);
    } catch (const std::exception& e) {
        std::cerr << e.what() << '\n';
        MPI_Abort(MPI_COMM_WORLD, 1); // the other ranks wait for this one
        return 1;
    }
}
