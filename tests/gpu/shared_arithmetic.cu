// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic that host and device kernels share must compile as device code. Compiled by the preset
// `cuda`, never run; what it computes is tested on the host (tests/unit/benchmarks).
#include "md/pair.hpp"
#include "stencil/heat_cell.hpp"

namespace assay::shared_arithmetic_test {

template <class T>
__global__ void forces(const T* squared_distances, T* out, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count) return;
    const md::Plain<T> on;
    out[i] = md::force_over_distance(on, squared_distances[i]) +
             md::pair_energy(on, squared_distances[i]);
}

template <class T>
__global__ void heat(const T* in, T* out, int width) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const auto at = [&](int dx, int dy, int dz) { return in[i + dx + width * (dy + width * dz)]; };
    const auto seven = stencil::weights_of_7(static_cast<T>(0.1));
    const auto all = stencil::weights_of_27(static_cast<T>(0.1));
    out[i] = stencil::heat_7(seven, at) + stencil::heat_27(all, at);
}

template __global__ void forces<float>(const float*, float*, int);
template __global__ void forces<double>(const double*, double*, int);
template __global__ void heat<float>(const float*, float*, int);
template __global__ void heat<double>(const double*, double*, int);

} // namespace assay::shared_arithmetic_test
