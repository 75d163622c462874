// SPDX-License-Identifier: Apache-2.0

// Highway compiles this file once per instruction set by including it again.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "peak/fma_kernels.cpp" // NOLINT: a macro by Highway's design
// clang-format off: foreach_target.h must come before highway.h.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "fma_kernels.hpp"

#include "host/targets.hpp"
#include "isa.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::peak::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Two units with a latency of four cycles need eight chains, the four units of large Arm cores need
// sixteen. Beside them there are two constants: twelve is what fits into sixteen registers.
constexpr std::size_t registers =
    HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSSE3 ? 16 : 32;
constexpr std::size_t chain_count = registers == 16 ? 12 : 16;

template <class T>
std::size_t lanes() {
    return hn::Lanes(hn::ScalableTag<T>{});
}

/// Loads one chain after the other and then runs them all. The chains are a pack of arguments
/// because a vector of SVE cannot be an element of an array.
template <class T, class... Vectors>
HWY_INLINE void run_chains(const T* start, T* result, Step<T> step, std::size_t steps,
                           Vectors... chains) {
    const hn::ScalableTag<T> d;
    const std::size_t n = hn::Lanes(d);
    if constexpr (sizeof...(chains) < chain_count) {
        const auto next = hn::LoadU(d, start + sizeof...(chains) * n);
        run_chains(start, result, step, steps, chains..., next);
    } else {
        const auto factor = hn::Set(d, step.factor);
        const auto addend = hn::Set(d, step.addend);
        for (std::size_t i = 0; i < steps; ++i)
            ((chains = hn::MulAdd(chains, factor, addend)), ...);
        ((hn::StoreU(chains, d, result), result += n), ...);
    }
}

template <class T>
void run(const T* start, T* result, Step<T> step, std::size_t steps) {
    run_chains(start, result, step, steps);
}

} // namespace
} // namespace assay::peak::HWY_NAMESPACE

namespace assay::peak {

/// Kernels of this instruction set.
Chain chain(host::Target<HWY_TARGET> target) {
    using namespace HWY_NAMESPACE;
    return {.isa = isa_named(target.name),
            .target = HWY_TARGET,
            .chains = chain_count,
            .fused = HWY_NATIVE_FMA != 0,
            .fp32 = {.run = &run<float>, .lanes = &lanes<float>},
            .fp64 = {.run = &run<double>, .lanes = &lanes<double>}};
}

} // namespace assay::peak
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::peak {

std::span<const Chain> fma_chains() {
    static const std::vector<Chain> chains = [] {
        std::vector<Chain> all;
        host::for_each_target([&](auto target) { all.insert(all.begin(), chain(target)); });
        return all;
    }();
    return chains;
}

bool is_supported(std::int64_t target) { return (hwy::SupportedTargets() & target) != 0; }

} // namespace assay::peak
#endif
