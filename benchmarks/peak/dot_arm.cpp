// SPDX-License-Identifier: Apache-2.0
//
// Arm's dot products and its 2 x 2 matrix multiply-accumulates, on 128 bits.

#include "dot_kernels.hpp"

#include <hwy/base.h>

#include <array>

#if HWY_ARCH_ARM_A64
#include <arm_neon.h>

namespace assay::peak {
namespace {

struct Integers {
    static HWY_INLINE int8x16_t load(const void* from, std::size_t i) {
        return vld1q_s8(static_cast<const std::int8_t*>(from) + 16 * i);
    }
    static HWY_INLINE int32x4_t load_sum(const void* from, std::size_t i) {
        return vld1q_s32(static_cast<const std::int32_t*>(from) + 4 * i);
    }
    static HWY_INLINE void store_sum(void* to, std::size_t i, int32x4_t sum) {
        vst1q_s32(static_cast<std::int32_t*>(to) + 4 * i, sum);
    }
};

} // namespace
} // namespace assay::peak

HWY_PUSH_ATTRIBUTES("arch=armv8.2-a+dotprod") // with its architecture, or g++ inlines no intrinsic
namespace assay::peak::neon_dot {
namespace {
struct Sdot : Integers {
    static HWY_INLINE int32x4_t add(int32x4_t sum, int8x16_t a, int8x16_t b) {
        return vdotq_s32(sum, a, b);
    }
};
#include "dot_chains.hpp" // NOLINT(readability-duplicate-include): once per instruction set
} // namespace
} // namespace assay::peak::neon_dot
HWY_POP_ATTRIBUTES

HWY_PUSH_ATTRIBUTES("arch=armv8.2-a+i8mm")
namespace assay::peak::neon_i8mm {
namespace {
struct Smmla : Integers {
    static HWY_INLINE int32x4_t add(int32x4_t sum, int8x16_t a, int8x16_t b) {
        return vmmlaq_s32(sum, a, b);
    }
};
#include "dot_chains.hpp" // NOLINT(readability-duplicate-include): once per instruction set
} // namespace
} // namespace assay::peak::neon_i8mm
HWY_POP_ATTRIBUTES

HWY_PUSH_ATTRIBUTES("arch=armv8.2-a+bf16")
namespace assay::peak::neon_bf16 {
namespace {
struct Floats {
    static HWY_INLINE bfloat16x8_t load(const void* from, std::size_t i) {
        return vreinterpretq_bf16_u16(vld1q_u16(static_cast<const std::uint16_t*>(from) + 8 * i));
    }
    static HWY_INLINE float32x4_t load_sum(const void* from, std::size_t i) {
        return vld1q_f32(static_cast<const float*>(from) + 4 * i);
    }
    static HWY_INLINE void store_sum(void* to, std::size_t i, float32x4_t sum) {
        vst1q_f32(static_cast<float*>(to) + 4 * i, sum);
    }
};
struct Bfdot : Floats {
    static HWY_INLINE float32x4_t add(float32x4_t sum, bfloat16x8_t a, bfloat16x8_t b) {
        return vbfdotq_f32(sum, a, b);
    }
};
struct Bfmmla : Floats {
    static HWY_INLINE float32x4_t add(float32x4_t sum, bfloat16x8_t a, bfloat16x8_t b) {
        return vbfmmlaq_f32(sum, a, b);
    }
};
#include "dot_chains.hpp" // NOLINT(readability-duplicate-include): once per instruction set
} // namespace
} // namespace assay::peak::neon_bf16
HWY_POP_ATTRIBUTES

namespace assay::peak {
namespace {

// Four units with a latency of four cycles.
constexpr std::size_t chains = 16;

constexpr std::array paths{
    dot_path(DotIsa::neon_mm, Format::int8, "neon_mm", "smmla", {"asimd", "i8mm"},
             {Layout::pairs, 4, 8}, chains, neon_i8mm::run<neon_i8mm::Smmla, chains>),
    dot_path(DotIsa::neon_mm, Format::bf16, "neon_mm", "bfmmla", {"asimd", "bf16"},
             {Layout::pairs, 4, 4}, chains, neon_bf16::run<neon_bf16::Bfmmla, chains>),
    dot_path(DotIsa::neon_dot, Format::int8, "neon_dot", "sdot", {"asimd", "asimddp"},
             {Layout::lanes, 4, 4}, chains, neon_dot::run<neon_dot::Sdot, chains>),
    dot_path(DotIsa::neon_dot, Format::bf16, "neon_dot", "bfdot", {"asimd", "bf16"},
             {Layout::lanes, 4, 2}, chains, neon_bf16::run<neon_bf16::Bfdot, chains>),
};

} // namespace

std::span<const DotPath> arm_dot_paths() { return paths; }

} // namespace assay::peak
#else
namespace assay::peak {
std::span<const DotPath> arm_dot_paths() { return {}; }
} // namespace assay::peak
#endif
