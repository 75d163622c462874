// SPDX-License-Identifier: Apache-2.0
//
// Bare FFTW in fp64: peer_fftw WISDOM THREADS DIMENSIONS POINTS BATCH c2c|r2c; takes turns, see
// pipe.hpp. WISDOM is a file that ends in FFTW's words, from the first bracket on; without a plan in
// it there is nothing to compare.
#include "pipe.hpp"

#include <assay/host.hpp>
#include <assay/random.hpp>

#include <fftw3.h>
#include <omp.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

int main(int argc, char** argv) {
    if (argc != 7) {
        std::cerr << "usage: peer_fftw WISDOM THREADS DIMENSIONS POINTS BATCH c2c|r2c\n";
        return 2;
    }
    const auto integer = [&](int i) { return static_cast<int>(std::strtol(argv[i], nullptr, 10)); };
    const int threads = integer(2);
    const int dimensions = integer(3);
    const int points = integer(4);
    const int batch = integer(5);
    const bool is_real = std::string{argv[6]} == "r2c";

    std::ifstream file{argv[1]};
    const std::string text{std::istreambuf_iterator<char>{file}, {}};
    omp_set_num_threads(threads);
    fftw_init_threads();
    fftw_plan_with_nthreads(threads);
    const auto begin = text.find('(');
    if (begin == std::string::npos || fftw_import_wisdom_from_string(text.c_str() + begin) == 0) {
        std::cerr << argv[1] << " holds no wisdom\n";
        return 1;
    }

    int volume = 1;
    for (int d = 0; d < dimensions; ++d) volume *= points;
    const int bins = is_real ? volume / points * (points / 2 + 1) : volume;
    const auto count = [&](int each) {
        return static_cast<std::size_t>(each) * static_cast<std::size_t>(batch);
    };
    assay::HostBuffer<double> in{count(is_real ? volume : 2 * volume), {.threads = threads}};
    assay::HostBuffer<double> out{count(2 * bins), {.threads = threads}};
    const std::array<int, 3> lengths{points, points, points};
    const unsigned flags = FFTW_MEASURE | FFTW_WISDOM_ONLY;
    auto* const bin = reinterpret_cast<fftw_complex*>(out.data());
    auto* const point = reinterpret_cast<fftw_complex*>(in.data());
    const fftw_plan plan =
        is_real ? fftw_plan_many_dft_r2c(dimensions, lengths.data(), batch, in.data(), nullptr, 1,
                                         volume, bin, nullptr, 1, bins, flags)
                : fftw_plan_many_dft(dimensions, lengths.data(), batch, point, nullptr, 1, volume,
                                     bin, nullptr, 1, bins, FFTW_FORWARD, flags);
    if (plan == nullptr) {
        std::cerr << argv[1] << " is about another plan\n";
        return 1;
    }
    assay::fill_uniform<double>(in.view(), 1, -1, 1, threads);
    const double flops = (is_real ? 2.5 : 5) * volume * std::log2(volume) * batch;
    return assay::peers::answer_turns(flops, "the same plan", [&](std::size_t calls) {
        return assay::peers::seconds_of(calls, [&] { fftw_execute(plan); });
    });
}
