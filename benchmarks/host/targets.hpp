// SPDX-License-Identifier: Apache-2.0
//
// The instruction sets that a file of kernels was compiled for, each by its own name: Highway's HWY_EXPORT
// would give the best one's code alone. Such a file has an overload for Target<HWY_TARGET> of what it offers.

#pragma once

#include <hwy/targets.h>

#include <cstdint>

namespace assay::host {

template <std::int64_t bits>
struct Target {
    const char* name; ///< sse4, avx2, avx512, neon, sve, sve2, or scalar
};

/// visit(Target) for every instruction set in this build but the scalar one, the narrowest vectors first.
template <class Visit>
void for_each_target(const Visit& visit) {
    const auto one = [&]<std::int64_t bits>(Target<bits> target) {
        if constexpr ((HWY_TARGETS & bits) != 0) visit(target);
    };
    one(Target<HWY_SSE4>{"sse4"});
    one(Target<HWY_AVX2>{"avx2"});
    one(Target<HWY_AVX3>{"avx512"});
    one(Target<HWY_NEON>{"neon"});
    one(Target<HWY_SVE>{"sve"});
    one(Target<HWY_SVE2>{"sve2"});
}

/// visit(Target) for those that this CPU has; scalar code stands in where there is nothing else.
template <class Visit>
void for_each_supported_target(const Visit& visit) {
    bool any = false;
    for_each_target([&]<std::int64_t bits>(Target<bits> target) {
        if ((hwy::SupportedTargets() & bits) == 0) return;
        any = true;
        visit(target);
    });
    if constexpr ((HWY_TARGETS & HWY_EMU128) != 0)
        if (!any) visit(Target<HWY_EMU128>{"scalar"});
}

} // namespace assay::host
