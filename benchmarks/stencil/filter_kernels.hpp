// SPDX-License-Identifier: Apache-2.0
//
// The sweeps of stencil.filter2d, compiled for every instruction set; filter_sweeps() gives those that this CPU has.

#pragma once

#include "filter_data.hpp"
#include "stores.hpp"

#include <cstddef>
#include <vector>

namespace assay::stencil {

/// Rows [first, last) of the result, a multiple of filter_data::rows_at_once.
template <class T>
using Filter = void (*)(const filter_data::Image& image, const T* weights, const T* in, T* out,
                        std::size_t first, std::size_t last);

template <class T>
struct FilterSweep {
    const char* instructions; ///< sse4, avx2, avx512, neon, sve, sve2, or scalar
    Stores stores;
    Filter<T> sweep;
};

/// Narrowest vectors first, of each plain stores first.
template <class T>
std::vector<FilterSweep<T>> filter_sweeps(Side side);

} // namespace assay::stencil
