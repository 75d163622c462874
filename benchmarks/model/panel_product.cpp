// SPDX-License-Identifier: Apache-2.0

#include "llm_host_kernels.hpp"

#include <hwy/base.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#if HWY_ARCH_X86
#include <immintrin.h>

HWY_PUSH_ATTRIBUTES("avx512f,avx512vl,avx512bw,avx512bf16")
namespace assay::model {
namespace {

constexpr std::size_t lanes = 16;
constexpr std::size_t vectors = PanelProduct::width / lanes;
/// Numbers between what is used and what is fetched: memory's latency, and half of a small first cache.
constexpr std::size_t ahead = 4096;

/// Two inputs of a row, for each lane.
HWY_INLINE __m512bh pair(const std::uint16_t* from) {
    int both = 0;
    std::memcpy(&both, from, sizeof both);
    return reinterpret_cast<__m512bh>(_mm512_set1_epi32(both));
}
HWY_INLINE __m512 widened(const std::uint16_t* from) {
    constexpr __mmask16 all = 0xffff; // without a mask GCC 12 warns of its own header
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    return _mm512_castsi512_ps(
        _mm512_maskz_slli_epi32(all, _mm512_maskz_cvtepu16_epi32(all, bits), 16));
}

/// Some rows times a panel. The sums stay in registers.
template <std::size_t rows>
void multiply(const PanelProduct& p, std::size_t row, std::size_t panel) {
    __m512 sums[rows][vectors]; // NOLINT(*-avoid-c-arrays): of vectors
    const std::uint16_t* const in = p.in + row * p.inputs;
    const std::uint16_t* weights = p.weights + panel * p.inputs * PanelProduct::width;
#pragma GCC unroll 8
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t v = 0; v < vectors; ++v) sums[r][v] = _mm512_setzero_ps();
    for (std::size_t k = 0; k < p.inputs; k += 2, weights += 2 * PanelProduct::width) {
        __m512bh of[vectors]; // NOLINT(*-avoid-c-arrays)
        for (std::size_t v = 0; v < vectors; ++v) {
            const std::uint16_t* const at = weights + 2 * lanes * v;
            of[v] = reinterpret_cast<__m512bh>(_mm512_loadu_si512(at));
            _mm_prefetch(reinterpret_cast<const char*>(at + ahead), _MM_HINT_T0);
        }
#pragma GCC unroll 8
        for (std::size_t r = 0; r < rows; ++r) {
            const __m512bh inputs = pair(in + r * p.inputs + k);
            for (std::size_t v = 0; v < vectors; ++v)
                sums[r][v] = _mm512_dpbf16_ps(sums[r][v], inputs, of[v]);
        }
    }
#pragma GCC unroll 8
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t v = 0; v < vectors; ++v) {
            const std::size_t at = (row + r) * p.outputs + panel * PanelProduct::width + v * lanes;
            const __m512 sum =
                p.added == nullptr ? sums[r][v] : _mm512_add_ps(sums[r][v], widened(p.added + at));
            const __m256bh rounded = _mm512_cvtneps_pbh(sum);
            std::memcpy(p.out + at, &rounded, sizeof rounded);
        }
}

} // namespace
} // namespace assay::model
HWY_POP_ATTRIBUTES
#endif

namespace assay::model {

#if HWY_ARCH_X86
namespace {
constexpr std::size_t most = 8; // rows at a time: 32 vectors of sums
constexpr auto products = []<std::size_t... i>(std::index_sequence<i...>) {
    return std::array{multiply<i + 1>...};
}(std::make_index_sequence<most>{});
} // namespace

void PanelProduct::run(std::size_t first, std::size_t last) const noexcept {
    for (std::size_t panel = first; panel < last; ++panel)
        for (std::size_t row = 0; row < rows; row += most)
            products[std::min(most, rows - row) - 1](*this, row, panel);
}
#else
void PanelProduct::run(std::size_t /*first*/, std::size_t /*last*/) const noexcept {}
#endif

} // namespace assay::model
