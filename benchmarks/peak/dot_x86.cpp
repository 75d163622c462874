// SPDX-License-Identifier: Apache-2.0

#include "dot_kernels.hpp"

#include <hwy/base.h>

#include <array>

#if HWY_ARCH_X86
#include <immintrin.h>

HWY_PUSH_ATTRIBUTES("avx512f,avx512vnni")
namespace assay::peak::avx512_vnni {
namespace {
struct Vnni {
    static HWY_INLINE __m512i load(const void* from, std::size_t i) {
        return _mm512_loadu_si512(static_cast<const __m512i*>(from) + i);
    }
    static HWY_INLINE __m512i load_sum(const void* from, std::size_t i) { return load(from, i); }
    static HWY_INLINE void store_sum(void* to, std::size_t i, __m512i sum) {
        _mm512_storeu_si512(static_cast<__m512i*>(to) + i, sum);
    }
    static HWY_INLINE __m512i add(__m512i sum, __m512i a, __m512i b) {
        return _mm512_dpbusd_epi32(sum, a, b);
    }
};
#include "dot_chains.hpp" // NOLINT(readability-duplicate-include): once per instruction set
} // namespace
} // namespace assay::peak::avx512_vnni
HWY_POP_ATTRIBUTES

HWY_PUSH_ATTRIBUTES("avx512f,avx512bf16")
namespace assay::peak::avx512_bf16 {
namespace {
struct Bf16 {
    static HWY_INLINE __m512bh load(const void* from, std::size_t i) {
        return static_cast<const __m512bh*>(from)[i]; // operands are aligned
    }
    static HWY_INLINE __m512 load_sum(const void* from, std::size_t i) {
        return _mm512_loadu_ps(static_cast<const __m512*>(from) + i);
    }
    static HWY_INLINE void store_sum(void* to, std::size_t i, __m512 sum) {
        _mm512_storeu_ps(static_cast<__m512*>(to) + i, sum);
    }
    static HWY_INLINE __m512 add(__m512 sum, __m512bh a, __m512bh b) {
        return _mm512_dpbf16_ps(sum, a, b);
    }
};
#include "dot_chains.hpp" // NOLINT(readability-duplicate-include): once per instruction set
} // namespace
} // namespace assay::peak::avx512_bf16
HWY_POP_ATTRIBUTES

HWY_PUSH_ATTRIBUTES("avx2")
namespace assay::peak {
namespace {
/// Operands and sums of the sets with vectors of 32 bytes.
struct Integers256 {
    static HWY_INLINE __m256i load(const void* from, std::size_t i) {
        return _mm256_loadu_si256(static_cast<const __m256i*>(from) + i);
    }
    static HWY_INLINE __m256i load_sum(const void* from, std::size_t i) { return load(from, i); }
    static HWY_INLINE void store_sum(void* to, std::size_t i, __m256i sum) {
        _mm256_storeu_si256(static_cast<__m256i*>(to) + i, sum);
    }
};
} // namespace
} // namespace assay::peak
HWY_POP_ATTRIBUTES

HWY_PUSH_ATTRIBUTES("avx2,avxvnni")
namespace assay::peak::avx_vnni {
namespace {
struct Vnni : Integers256 {
    static HWY_INLINE __m256i add(__m256i sum, __m256i a, __m256i b) {
        return _mm256_dpbusd_avx_epi32(sum, a, b);
    }
};
#include "dot_chains.hpp" // NOLINT(readability-duplicate-include): once per instruction set
} // namespace
} // namespace assay::peak::avx_vnni
HWY_POP_ATTRIBUTES

HWY_PUSH_ATTRIBUTES("avx2")
namespace assay::peak::avx2 {
namespace {
struct Pairs : Integers256 {
    /// Matrix products without VNNI: pairs of products in 16 bits, pairs of those in 32, a sum. Written as
    /// instructions, because a compiler multiplies only once what does not change.
    static HWY_INLINE __m256i add(__m256i sum, __m256i a, __m256i b) {
        const __m256i ones = _mm256_set1_epi16(1);
        __m256i products;
        asm volatile("vpmaddubsw %[b], %[a], %[products]\n\t" // NOLINT(hicpp-no-assembler)
                     "vpmaddwd %[ones], %[products], %[products]\n\t"
                     "vpaddd %[products], %[sum], %[sum]"
                     : [sum] "+x"(sum), [products] "=&x"(products)
                     : [a] "x"(a), [b] "x"(b), [ones] "x"(ones));
        return sum;
    }
};
#include "dot_chains.hpp" // NOLINT(readability-duplicate-include): once per instruction set
} // namespace
} // namespace assay::peak::avx2
HWY_POP_ATTRIBUTES

namespace assay::peak {
namespace {

// Two units with a latency of five or six cycles need twelve chains, and sixteen registers hold
// twelve sums and four operands.
constexpr std::size_t wide_chains = 16;
constexpr std::size_t small_chains = 12;
// Additions have a latency of one cycle, and the products depend on nothing.
constexpr std::size_t avx2_chains = 8;

constexpr std::array paths{
    dot_path(DotIsa::avx512_vnni, Format::int8, "avx512_vnni", "vpdpbusd zmm",
             {"avx512f", "avx512_vnni"}, {Layout::lanes, 16, 4}, wide_chains,
             avx512_vnni::run<avx512_vnni::Vnni, wide_chains>),
    dot_path(DotIsa::avx512_bf16, Format::bf16, "avx512_bf16", "vdpbf16ps zmm",
             {"avx512f", "avx512_bf16"}, {Layout::lanes, 16, 2}, wide_chains,
             avx512_bf16::run<avx512_bf16::Bf16, wide_chains>),
    dot_path(DotIsa::avx_vnni, Format::int8, "avx_vnni", "vpdpbusd ymm", {"avx2", "avx_vnni"},
             {Layout::lanes, 8, 4}, small_chains, avx_vnni::run<avx_vnni::Vnni, small_chains>),
    dot_path(DotIsa::avx2, Format::int8, "avx2", "vpmaddubsw vpmaddwd vpaddd ymm", {"avx2", ""},
             {Layout::lanes, 8, 4}, avx2_chains, avx2::run<avx2::Pairs, avx2_chains>),
};

} // namespace

std::span<const DotPath> x86_dot_paths() { return paths; }

} // namespace assay::peak
#else
namespace assay::peak {
std::span<const DotPath> x86_dot_paths() { return {}; }
} // namespace assay::peak
#endif
