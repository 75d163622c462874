// SPDX-License-Identifier: Apache-2.0
//
// One explicit step of the heat equation for one cell: the arithmetic that hosts and devices share.
// Both stencils are the cell plus `diffusion` times a discrete Laplacian that is exact for quadratic
// polynomials; they differ in how many neighbours it looks at.

#pragma once

#include <assay/host_device.hpp>

namespace assay::stencil {

/// Weights of the cell itself, and of neighbours that differ in one, two or three coordinates.
template <class T>
struct Weights {
    T centre;
    T face;
    T edge;
    T corner;
};

/// `diffusion` is dt k / h^2; the step is stable up to 1/6. The Laplacian is the textbook's: six
/// neighbours less six times the cell.
template <class T>
ASSAY_HOST_DEVICE constexpr Weights<T> weights_of_7(T diffusion) {
    return {T{1} - T{6} * diffusion, diffusion, T{0}, T{0}};
}
/// (14 faces + 3 edges + corners - 128 cells) / 30, whose error does not depend on the direction to
/// leading order (Spotz and Carey, Numer. Methods PDE 12, 1996).
template <class T>
ASSAY_HOST_DEVICE constexpr Weights<T> weights_of_27(T diffusion) {
    const T part = diffusion / T{30};
    return {T{1} - T{128} * part, T{14} * part, T{3} * part, part};
}

/// `at(dx, dy, dz)` is the neighbour at that distance.
template <class T, class At>
ASSAY_HOST_DEVICE T heat_7(const Weights<T>& w, const At& at) {
    const T faces = ((at(-1, 0, 0) + at(1, 0, 0)) + (at(0, -1, 0) + at(0, 1, 0))) +
                    (at(0, 0, -1) + at(0, 0, 1));
    return w.centre * at(0, 0, 0) + w.face * faces;
}

template <class T, class At>
ASSAY_HOST_DEVICE T heat_27(const Weights<T>& w, const At& at) {
    T sums[4] = {}; // by the number of coordinates that differ
    for (int dz = -1; dz <= 1; ++dz)
        for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx) sums[dx * dx + dy * dy + dz * dz] += at(dx, dy, dz);
    return w.centre * sums[0] + w.face * sums[1] + w.edge * sums[2] + w.corner * sums[3];
}

} // namespace assay::stencil
