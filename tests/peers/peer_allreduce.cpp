// SPDX-License-Identifier: Apache-2.0
//
// collective.allreduce against a bare loop of MPI_Allreduce, inside one job and on equal buffers:
//   mpirun -n N peer_allreduce MODULE PAIRS SECONDS
// Every rank takes part; rank 0 prints a line per message size:
//   <bytes> <ours s> <bare s> <ratio> <low> <high> <added s> <low> <high> <pairs> <repeated> <disturbed>
#include "job.hpp"
#include "pipe.hpp"
#include "subject.hpp"
#include "turns.hpp"

#include <assay/host.hpp>
#include <assay/random.hpp>

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iomanip>
#include <iostream>
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
        return peers::seconds_of(calls, [this] {
            MPI_Allreduce(from_.data(), to_.data(), static_cast<int>(from_.size()), MPI_FLOAT,
                          MPI_SUM, comm_);
        });
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

    std::vector<double> added;
    const auto ratio =
        peers::ratio_of_pairs([&] { return one_pair(job, ours, bare, dose); }, plan, &added);
    if (job.rank() != 0) return;
    const peers::Difference more = peers::mean_difference(added);
    std::cout << std::setprecision(9) << bytes << ' ' << ratio.a_seconds << ' ' << ratio.b_seconds
              << ' ' << ratio.value << ' ' << ratio.low << ' ' << ratio.high << ' ' << more.value
              << ' ' << more.low << ' ' << more.high << ' ' << plan.pairs << ' ' << ratio.repeated
              << ' ' << ratio.disturbed << '\n'
              << std::flush;
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::cerr << "usage: mpirun -n RANKS peer_allreduce MODULE PAIRS SECONDS\n";
        return 2;
    }
    const std::string module = argv[1];
    const peers::Plan plan{.pairs = std::strtoul(argv[2], nullptr, 10),
                           .turn_seconds = std::strtod(argv[3], nullptr)};
    return peers::run_job(module, [&](const Job& job) {
        for (const std::size_t bytes :
             {std::size_t{8}, std::size_t{1} << 10U, std::size_t{32} << 10U, std::size_t{64} << 10U,
              std::size_t{1} << 20U, std::size_t{16} << 20U, std::size_t{64} << 20U})
            compare(job, module, bytes, plan);
    });
}
