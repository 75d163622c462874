// SPDX-License-Identifier: Apache-2.0

// Highway compiles this file once per instruction set by including it again.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "memory/sweep_kernels.cpp" // NOLINT: a macro by Highway's design
// clang-format off: foreach_target.h must come before highway.h.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "sweep_kernels.hpp"

#include "host/targets.hpp"

#include <numeric>

HWY_BEFORE_NAMESPACE();
namespace assay::memory::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Lanes = hn::ScalableTag<std::uint64_t>;

std::uint64_t read(const Words& words, std::size_t first, std::size_t last) {
    const Lanes d;
    const std::size_t n = hn::Lanes(d);
    const std::uint64_t* const in = words.in;
    // Sums of integers do not depend on their order. Eight vectors a turn leave a core that loads two
    // or three a cycle nothing but loads to wait for.
    auto sum0 = hn::Zero(d);
    auto sum1 = hn::Zero(d);
    auto sum2 = hn::Zero(d);
    auto sum3 = hn::Zero(d);
    std::size_t i = first;
    for (; i + 8 * n <= last; i += 8 * n) {
        sum0 = hn::Add(sum0, hn::Load(d, in + i));
        sum1 = hn::Add(sum1, hn::Load(d, in + i + n));
        sum2 = hn::Add(sum2, hn::Load(d, in + i + 2 * n));
        sum3 = hn::Add(sum3, hn::Load(d, in + i + 3 * n));
        sum0 = hn::Add(sum0, hn::Load(d, in + i + 4 * n));
        sum1 = hn::Add(sum1, hn::Load(d, in + i + 5 * n));
        sum2 = hn::Add(sum2, hn::Load(d, in + i + 6 * n));
        sum3 = hn::Add(sum3, hn::Load(d, in + i + 7 * n));
    }
    for (; i < last; i += n) sum0 = hn::Add(sum0, hn::Load(d, in + i));
    // Lane by lane: the intrinsic that adds them up is signed, and these sums are meant to wrap.
    HWY_ALIGN std::uint64_t lanes[sweep_granule]; // NOLINT: aligned storage for one vector
    hn::Store(hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3)), d, lanes);
    return std::accumulate(lanes, lanes + n, std::uint64_t{0});
}

std::uint64_t write(const Words& words, std::size_t first, std::size_t last) {
    const Lanes d;
    const std::size_t n = hn::Lanes(d);
    std::uint64_t* const out = words.out;
    const auto step = hn::Set(d, n * weyl);
    // Two sequences, so that the addition of one hides behind the store of the other. Lane j begins at
    // j * weyl; the multiplication is spelt as stores and a load, because not every set has it.
    HWY_ALIGN std::uint64_t begin[sweep_granule]; // NOLINT: aligned storage for one vector
    for (std::size_t j = 0; j < n; ++j) begin[j] = words.key + (first + j) * weyl;
    auto even = hn::Load(d, begin);
    auto odd = hn::Add(even, step);
    const auto two_steps = hn::Add(step, step);
    std::size_t i = first;
    for (; i + 2 * n <= last; i += 2 * n) {
        hn::Store(even, d, out + i);
        hn::Store(odd, d, out + i + n);
        even = hn::Add(even, two_steps);
        odd = hn::Add(odd, two_steps);
    }
    for (; i < last; i += n) hn::Store(even, d, out + i); // at most one vector
    return 0;
}

std::uint64_t copy(const Words& words, std::size_t first, std::size_t last) {
    const Lanes d;
    const std::size_t n = hn::Lanes(d);
    const std::uint64_t* const in = words.in;
    std::uint64_t* const out = words.out;
    std::size_t i = first;
    for (; i + 4 * n <= last; i += 4 * n) {
        const auto word0 = hn::Load(d, in + i);
        const auto word1 = hn::Load(d, in + i + n);
        const auto word2 = hn::Load(d, in + i + 2 * n);
        const auto word3 = hn::Load(d, in + i + 3 * n);
        hn::Store(word0, d, out + i);
        hn::Store(word1, d, out + i + n);
        hn::Store(word2, d, out + i + 2 * n);
        hn::Store(word3, d, out + i + 3 * n);
    }
    for (; i < last; i += n) hn::Store(hn::Load(d, in + i), d, out + i);
    return 0;
}

} // namespace
} // namespace assay::memory::HWY_NAMESPACE

namespace assay::memory {

SweepLoop sweep_loop(Access access, host::Target<HWY_TARGET> target) {
    using namespace HWY_NAMESPACE;
    if (access == Access::read) return {.instructions = target.name, .run = &read};
    return {.instructions = target.name, .run = access == Access::write ? &write : &copy};
}

} // namespace assay::memory
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::memory {

std::vector<SweepLoop> sweep_loops(Access access) {
    std::vector<SweepLoop> all;
    host::for_each_supported_target(
        [&](auto target) { all.push_back(sweep_loop(access, target)); });
    return all;
}

} // namespace assay::memory
#endif
