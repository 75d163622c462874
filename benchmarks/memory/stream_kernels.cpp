// SPDX-License-Identifier: Apache-2.0

// Highway compiles this file once per instruction set by including it again.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "memory/stream_kernels.cpp" // NOLINT: a macro by Highway's design
// clang-format off: foreach_target.h must come before highway.h.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "stream_kernels.hpp"

#include "host/targets.hpp"

#include <hwy/cache_control.h>

HWY_BEFORE_NAMESPACE();
namespace assay::memory::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Doubles = hn::ScalableTag<double>;

/// One vector of the result of every kernel but dot.
template <Kernel kernel>
HWY_INLINE auto result(Doubles d, const Arrays& arrays, std::size_t i) {
    const auto left = hn::Load(d, arrays.left + i);
    if constexpr (kernel == Kernel::copy) {
        return left;
    } else if constexpr (kernel == Kernel::scale) {
        return hn::Mul(left, hn::Set(d, arrays.scalar));
    } else {
        const auto right = hn::Load(d, arrays.right + i);
        if constexpr (kernel == Kernel::add) return hn::Add(left, right);
        const auto scalar = hn::Set(d, arrays.scalar);
        if constexpr (kernel == Kernel::triad) return hn::MulAdd(scalar, right, left);
        return hn::MulAdd(scalar, right, hn::Add(hn::Load(d, arrays.out + i), left));
    }
}

template <Kernel kernel, Stores stores>
double map(const Arrays& given, std::size_t first, std::size_t last) {
    const Doubles d;
    const Arrays arrays =
        given; // a local copy cannot be changed by the stores, so it stays in registers
    for (std::size_t i = first; i < last; i += hn::Lanes(d)) {
        const auto value = result<kernel>(d, arrays, i);
        if constexpr (stores == Stores::streaming)
            hn::Stream(value, d, arrays.out + i);
        else
            hn::Store(value, d, arrays.out + i);
    }
    // Streaming stores become visible to other threads only after a fence.
    if constexpr (stores == Stores::streaming) hwy::FlushStream();
    return 0;
}

double dot(const Arrays& arrays, std::size_t first, std::size_t last) {
    const Doubles d;
    // Four sums hide the latency of the addition behind the two loads that each needs.
    auto sum0 = hn::Zero(d);
    auto sum1 = hn::Zero(d);
    auto sum2 = hn::Zero(d);
    auto sum3 = hn::Zero(d);
    const std::size_t lanes = hn::Lanes(d);
    const auto next = [&](auto sum, std::size_t i) HWY_ATTR {
        return hn::MulAdd(hn::Load(d, arrays.left + i), hn::Load(d, arrays.right + i), sum);
    };
    std::size_t i = first;
    for (; i + 4 * lanes <= last; i += 4 * lanes) {
        sum0 = next(sum0, i);
        sum1 = next(sum1, i + lanes);
        sum2 = next(sum2, i + 2 * lanes);
        sum3 = next(sum3, i + 3 * lanes);
    }
    for (; i < last; i += lanes) sum0 = next(sum0, i);
    const auto sum = hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3));
    return hn::GetLane(hn::SumOfLanes(d, sum));
}

/// Null if the kernel has no such loop.
template <Stores stores>
Loop loop_of(Kernel kernel) {
    switch (kernel) {
    case Kernel::copy:
        return &map<Kernel::copy, stores>;
    case Kernel::scale:
        return &map<Kernel::scale, stores>;
    case Kernel::add:
        return &map<Kernel::add, stores>;
    case Kernel::triad:
        return &map<Kernel::triad, stores>;
    default: // dot writes nothing; nstream has read the line that it writes.
        if (stores == Stores::streaming) return nullptr;
        return kernel == Kernel::dot ? &dot : &map<Kernel::nstream, Stores::plain>;
    }
}

} // namespace
} // namespace assay::memory::HWY_NAMESPACE

namespace assay::memory {

StreamLoop stream_loop(Kernel kernel, Stores stores, host::Target<HWY_TARGET> target) {
    using namespace HWY_NAMESPACE;
    return {.instructions = target.name,
            .fused = HWY_NATIVE_FMA != 0,
            .run = stores == Stores::plain ? loop_of<Stores::plain>(kernel)
                                           : loop_of<Stores::streaming>(kernel)};
}

} // namespace assay::memory
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::memory {

std::vector<StreamLoop> stream_loops(Kernel kernel, Stores stores) {
    std::vector<StreamLoop> all;
    host::for_each_supported_target([&](auto target) {
        if (const auto loop = stream_loop(kernel, stores, target); loop.run != nullptr)
            all.push_back(loop);
    });
    return all;
}

} // namespace assay::memory
#endif
