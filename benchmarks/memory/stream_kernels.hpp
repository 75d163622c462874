// SPDX-License-Identifier: Apache-2.0
//
// The loops of memory.stream, compiled for every instruction set; stream_loops() gives those that this
// CPU can run. The widest is not always the fastest: a Zen 4 core triads through memory 10 to 18%
// faster with 128-bit vectors than with 512-bit ones.

#pragma once

#include "stream_data.hpp"

#include <cstddef>
#include <vector>

namespace assay::memory {

enum class Stores : std::uint8_t { plain, streaming };

/// Loops work on multiples of this many elements and have no remainder: 512 bytes, a multiple of
/// every vector (the longest are 256 bytes, of SVE).
inline constexpr std::size_t stream_granule = 64;

/// `out` is written (nstream reads it too), `left` and `right` are read.
struct Arrays {
    double* out;
    const double* left;
    const double* right;
    double scalar;
};

/// Works on elements [first, last), multiples of stream_granule; dot returns its sum, the others 0.
using Loop = double (*)(const Arrays& arrays, std::size_t first, std::size_t last);

struct StreamLoop {
    const char* instructions; ///< sse4, avx2, avx512, neon, sve, sve2, or scalar
    bool fused;               ///< multiply-add rounds once
    Loop run;
};

/// Narrowest vectors first; none where no write-allocate can be saved by streaming.
std::vector<StreamLoop> stream_loops(Kernel kernel, Stores stores);

} // namespace assay::memory
