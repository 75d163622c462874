// SPDX-License-Identifier: Apache-2.0
//
// The image of stencil.filter2d by the loop that everybody writes: peer_filter fp64|fp32 3|5|7 BYTES THREADS; takes turns,
// see pipe.hpp.
#include "pipe.hpp"
#include "stencil/filter_data.hpp"

#include <assay/host.hpp>

#include <omp.h>

#include <chrono>
#include <cstdlib>
#include <string>

namespace {

using namespace assay;
using namespace assay::stencil;

/// Not inlined, so that the compiler knows no more about the arrays than in a program of its own.
template <std::ptrdiff_t side, class T>
[[gnu::noinline]] void plain_filter(const T* weights, const T* in, T* out, std::ptrdiff_t columns,
                                    std::ptrdiff_t rows, std::ptrdiff_t stride) {
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t y = 0; y < rows; ++y)
#pragma omp simd
        for (std::ptrdiff_t x = 0; x < columns; ++x) {
            T sum = 0;
            for (std::ptrdiff_t dy = 0; dy < side; ++dy)
                for (std::ptrdiff_t dx = 0; dx < side; ++dx)
                    sum += weights[dy * side + dx] * in[(y + dy) * stride + x + dx];
            out[y * stride + x] = sum;
        }
}

template <std::ptrdiff_t side, class T>
int run(std::int64_t bytes, int threads) {
    const filter_data::Image image{bytes, sizeof(T), static_cast<Side>(side),
                                   static_cast<std::size_t>(threads)};
    HostBuffer<T> in{image.count, {.threads = threads}};
    HostBuffer<T> out{image.count, {.threads = threads, .offset = 17 * cache_line}};
    assay::detail::fill(in.view(), threads, [](std::size_t i) { return filter_data::input<T>(i); });
    const auto weights = filter_data::weights<T>(image.side);
    return peers::answer_turns(
        filter_data::work<T>(image).flops, "plain loop", [&](std::size_t calls) {
            const auto start = std::chrono::steady_clock::now();
            for (std::size_t i = 0; i < calls; ++i)
                plain_filter<side>(weights.values, in.data(), out.data(),
                                   static_cast<std::ptrdiff_t>(image.columns),
                                   static_cast<std::ptrdiff_t>(image.rows),
                                   static_cast<std::ptrdiff_t>(image.stride));
            return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        });
}

template <class T>
int run(char side, std::int64_t bytes, int threads) {
    return side == '3'   ? run<3, T>(bytes, threads)
           : side == '5' ? run<5, T>(bytes, threads)
                         : run<7, T>(bytes, threads);
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 5) {
        std::cerr << "usage: peer_filter fp64|fp32 3|5|7 BYTES THREADS\n";
        return 2;
    }
    const auto bytes = std::strtol(argv[3], nullptr, 10);
    const auto threads = static_cast<int>(std::strtol(argv[4], nullptr, 10));
    omp_set_num_threads(threads);
    return std::string{argv[1]} == "fp64" ? run<double>(argv[2][0], bytes, threads)
                                          : run<float>(argv[2][0], bytes, threads);
}
