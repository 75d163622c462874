// SPDX-License-Identifier: Apache-2.0
//
// Bare cblas_sgemm of a size given as the argument; takes turns, see pipe.hpp.
#include "pipe.hpp"

#include <assay/host.hpp>
#include <assay/random.hpp>

#include <cblas.h>

#include <cstdlib>

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: peer_openblas SIZE\n";
        return 2;
    }
    const auto n = static_cast<blasint>(std::strtol(argv[1], nullptr, 10));
    const auto elements = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
    assay::HostBuffer<float> a{elements};
    assay::HostBuffer<float> b{elements};
    assay::HostBuffer<float> c{elements};
    assay::fill_uniform<float>(a.view(), 1, -1, 1);
    assay::fill_uniform<float>(b.view(), 2, -1, 1);
    const auto size = static_cast<double>(n);
    return assay::peers::answer_turns(
        2 * size * size * size, openblas_get_corename(), [&](std::size_t calls) {
            return assay::peers::seconds_of(calls, [&] {
                cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a.data(), n,
                            b.data(), n, 0, c.data(), n);
            });
        });
}
