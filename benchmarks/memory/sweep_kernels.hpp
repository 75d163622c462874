// SPDX-License-Identifier: Apache-2.0
//
// Loops that do nothing but load, nothing but store, or both, compiled for every instruction set;
// sweep_loops() gives those that this CPU can run. They work in cache, where one operation more per
// vector would be seen.

#pragma once

#include <assay/trial.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::memory {

enum class Access : std::uint8_t { read, write, copy };

/// Loops work on multiples of this many words and have no remainder: 512 bytes, a multiple of every
/// vector (the longest are 256 bytes, of SVE).
inline constexpr std::size_t sweep_granule = 64;

/// The word that `write` puts at place i: key + i * weyl, a Weyl sequence, which fills all bits and
/// costs one addition per vector.
inline constexpr std::uint64_t weyl = 0x9e3779b97f4a7c15U; // 2^64 / golden ratio, odd

struct Words {
    std::uint64_t* out;      ///< of write and copy
    const std::uint64_t* in; ///< of read and copy
    std::uint64_t key;       ///< of write
};

/// Works on words [first, last), multiples of sweep_granule; read returns their sum modulo 2^64, the
/// others 0.
using Sweep = std::uint64_t (*)(const Words& words, std::size_t first, std::size_t last);

struct SweepLoop {
    const char* instructions; ///< sse4, avx2, avx512, neon, sve, sve2, or scalar
    Sweep run;
};

/// Narrowest vectors first.
std::vector<SweepLoop> sweep_loops(Access access);

/// The fastest loop for this access, by trial on the first words of these arrays, at most 8 KiB: in the
/// first cache the width of the vectors decides, by a factor of two and always alike, so that every
/// footprint of a curve is measured with the same loop. Wider vectors must be clearly faster.
inline SweepLoop choose_sweep(Access access, const Words& words, std::size_t count) {
    constexpr std::size_t region = 1024; // words: 8 KiB
    return host::fastest_of(sweep_loops(access), [&](const SweepLoop& loop) {
        keep(loop.run(words, 0, std::min(count, region)));
    });
}

} // namespace assay::memory
