// SPDX-License-Identifier: Apache-2.0
//
// The matrix of sparse.spmv times a vector: peer_spmv loop|eigen fp64|fp32 EDGE THREADS; takes turns, see pipe.hpp.
#include "pipe.hpp"
#include "sparse/spmv_data.hpp"

#include <assay/host.hpp>

#ifdef ASSAY_HAS_EIGEN
#include <Eigen/SparseCore>
#endif
#include <omp.h>

#include <chrono>
#include <cstdlib>
#include <string>

namespace {

using namespace assay;
using namespace assay::sparse;

/// Not inlined, so that the compiler knows no more about the arrays than in a program of its own.
template <class T>
[[gnu::noinline]] void plain_loop(const Csr<T>& m, const T* x, T* y, std::ptrdiff_t rows) {
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t row = 0; row < rows; ++row) {
        T sum = 0; // no `omp simd`: gathers are slower on many processors
        for (std::uint32_t at = m.first[row]; at < m.first[row + 1]; ++at)
            sum += m.values[at] * x[m.columns[at]];
        y[row] = sum;
    }
}

template <class Body>
double timed(std::size_t calls, const Body& body) {
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < calls; ++i) body();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <class T>
int run(const std::string& method, std::uint64_t edge, int threads) {
    const Cube cube{edge};
    HostBuffer<std::uint32_t> first{cube.rows() + 1, {.threads = threads}};
    HostBuffer<std::uint32_t> columns{cube.entries(), {.threads = threads}};
    HostBuffer<T> values{cube.entries(), {.threads = threads, .offset = 17 * cache_line}};
    HostBuffer<T> x{cube.rows(), {.threads = threads}};
    HostBuffer<T> y{cube.rows(), {.threads = threads, .offset = 9 * cache_line}};
    const spmv_data::Fill<T> fill{cube, first.data(), columns.data(), values.data(), x.data()};
    for (std::uint64_t row = 0; row < cube.rows(); ++row) fill(row);
    const double flops = spmv_data::work<T>(cube).flops;
    if (method == "loop") {
        const Csr<T> matrix{first.data(), columns.data(), values.data()};
        return peers::answer_turns(flops, method, [&](std::size_t calls) {
            return timed(calls, [&] {
                plain_loop(matrix, x.data(), y.data(), static_cast<std::ptrdiff_t>(cube.rows()));
            });
        });
    }
#ifdef ASSAY_HAS_EIGEN
    const auto size = static_cast<Eigen::Index>(cube.rows());
    // Eigen's indexes have a sign; these are small enough.
    const Eigen::Map<const Eigen::SparseMatrix<T, Eigen::RowMajor, int>> matrix{
        size,
        size,
        static_cast<Eigen::Index>(cube.entries()),
        reinterpret_cast<const int*>(first.data()),
        reinterpret_cast<const int*>(columns.data()),
        values.data()};
    const Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, 1>> vector{x.data(), size};
    Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>> product{y.data(), size};
    return peers::answer_turns(flops, method, [&](std::size_t calls) {
        return timed(calls, [&] { product.noalias() = matrix * vector; });
    });
#else
    std::cerr << "built without Eigen\n";
    return 1;
#endif
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 5) {
        std::cerr << "usage: peer_spmv loop|eigen fp64|fp32 EDGE THREADS\n";
        return 2;
    }
    const auto edge = std::strtoul(argv[3], nullptr, 10);
    const auto threads = static_cast<int>(std::strtol(argv[4], nullptr, 10));
    omp_set_num_threads(threads);
    return std::string{argv[2]} == "fp64" ? run<double>(argv[1], edge, threads)
                                          : run<float>(argv[1], edge, threads);
}
