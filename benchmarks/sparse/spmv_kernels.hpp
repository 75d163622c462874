// SPDX-License-Identifier: Apache-2.0
//
// The loops of sparse.spmv: scalar, and with the gather instructions of every instruction set; spmv_loops() gives
// those that this CPU can run.

#pragma once

#include "spmv_data.hpp"

#include <cstddef>
#include <vector>

namespace assay::sparse {

/// Entries that may be read, though not used, behind the last one: a vector, of at most 256 bytes.
template <class T>
inline constexpr std::size_t spmv_margin = 256 / sizeof(T);

/// y[i] for rows in [first, last).
template <class T>
using Multiply = void (*)(Csr<T> matrix, const T* x, T* y, std::size_t first, std::size_t last);

template <class T>
struct SpmvLoop {
    const char* instructions; ///< of the gathers: avx2, avx512, sve, sve2; or scalar
    Multiply<T> multiply;
};

/// The scalar one first, then the narrowest vectors.
template <class T>
std::vector<SpmvLoop<T>> spmv_loops();

} // namespace assay::sparse
