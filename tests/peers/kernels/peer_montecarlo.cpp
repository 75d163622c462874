// SPDX-License-Identifier: Apache-2.0
//
// The option of montecarlo.option as a program without a library of its own would price it: peer_montecarlo fp64|fp32
// THREADS; takes turns, see pipe.hpp. Each thread has a Mersenne twister and std::normal_distribution.
#include "montecarlo/option.hpp"
#include "pipe.hpp"

#include <assay/host.hpp>

#include <omp.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>

namespace {

using namespace assay::montecarlo;

template <class T>
double mean_payoff(std::int64_t paths) {
    double sum = 0;
    double below = 0;
#pragma omp parallel reduction(+ : sum, below)
    {
        std::mt19937_64 words{static_cast<std::uint64_t>(omp_get_thread_num())};
        std::normal_distribution<T> normal;
#pragma omp for schedule(static)
        for (std::int64_t i = 0; i < paths; ++i) {
            const T price = static_cast<T>(terms.start) *
                            std::exp(static_cast<T>(terms.drift) +
                                     static_cast<T>(terms.spread) * normal(words));
            sum += std::fmax(price - static_cast<T>(terms.strike), T{0});
            below += price < static_cast<T>(terms.floor) ? 1 : 0;
        }
    }
    return (sum + 0 * below) / static_cast<double>(paths);
}

template <class T>
int run() {
    constexpr std::int64_t paths = 1 << 22;
    if (std::fabs(mean_payoff<T>(paths) - option::payoff(terms).mean) > 0.1) {
        std::cerr << "a wrong price\n";
        return 1;
    }
    return assay::peers::answer_turns(double{paths}, "mt19937_64", [&](std::size_t calls) {
        const auto start = std::chrono::steady_clock::now();
        for (std::size_t i = 0; i < calls; ++i) assay::keep(mean_payoff<T>(paths));
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    });
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::cerr << "usage: peer_montecarlo fp64|fp32 THREADS\n";
        return 2;
    }
    omp_set_num_threads(static_cast<int>(std::strtol(argv[2], nullptr, 10)));
    return std::string{argv[1]} == "fp64" ? run<double>() : run<float>();
}
