// SPDX-License-Identifier: Apache-2.0

// Highway compiles this file once per instruction set by including it again.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "peak/integer_kernels.cpp" // NOLINT: a macro by Highway's design
// clang-format off: foreach_target.h must come before highway.h.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "integer_kernels.hpp"

#include "host/targets.hpp"
#include "isa.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::peak::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Four units with a latency of two cycles (large Arm cores; one cycle on x86) need eight chains.
constexpr std::size_t registers =
    HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSSE3 ? 16 : 32;
constexpr std::size_t vector_count = registers == 16 ? 12 : 20;

template <class T>
std::size_t lanes() {
    return hn::Lanes(hn::ScalableTag<T>{});
}

/// One step of the ring. Each takes the next one as it was before the step, so none waits for another.
template <class First, class One, class Next, class... Rest>
HWY_INLINE void step(First& first, One& one, Next& next, Rest&... rest) {
    one = hn::Add(one, next);
    if constexpr (sizeof...(rest) > 0)
        step(first, next, rest...);
    else
        next = hn::Add(next, first);
}
template <class First, class... Rest>
HWY_INLINE void step_all(First& first, Rest&... rest) {
    step(first, first, rest...);
}

/// Loads one vector after the other and then runs them all. They are a pack of arguments because a
/// vector of SVE cannot be an element of an array.
template <class T, class... Vectors>
HWY_INLINE void run_ring(const T* start, T* result, std::size_t steps, Vectors... ring) {
    const hn::ScalableTag<T> d;
    const std::size_t n = hn::Lanes(d);
    if constexpr (sizeof...(ring) < vector_count) {
        const auto next = hn::LoadU(d, start + sizeof...(ring) * n);
        run_ring(start, result, steps, ring..., next);
    } else {
        for (std::size_t i = 0; i < steps; ++i) step_all(ring...);
        ((hn::StoreU(ring, d, result), result += n), ...);
    }
}

template <class T>
void run(const T* start, T* result, std::size_t steps) {
    run_ring(start, result, steps);
}

} // namespace
} // namespace assay::peak::HWY_NAMESPACE

namespace assay::peak {

/// Kernels of this instruction set.
AdditionChain addition_chain(host::Target<HWY_TARGET> target) {
    using namespace HWY_NAMESPACE;
    return {.isa = isa_named(target.name),
            .target = HWY_TARGET,
            .vectors = vector_count,
            .int32 = {.run = &run<std::uint32_t>, .lanes = &lanes<std::uint32_t>},
            .int64 = {.run = &run<std::uint64_t>, .lanes = &lanes<std::uint64_t>}};
}

} // namespace assay::peak
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::peak {

std::span<const AdditionChain> addition_chains() {
    static const std::vector<AdditionChain> chains = [] {
        std::vector<AdditionChain> all;
        host::for_each_target(
            [&](auto target) { all.insert(all.begin(), addition_chain(target)); });
        return all;
    }();
    return chains;
}

} // namespace assay::peak
#endif
