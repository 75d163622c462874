// SPDX-License-Identifier: Apache-2.0

// Highway compiles this file once per instruction set by including it again.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "montecarlo/option_kernels.cpp" // NOLINT: a macro by Highway's design
// clang-format off: foreach_target.h must come before highway.h.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "option_kernels.hpp"

#include "host/targets.hpp"

#if HWY_TARGET != HWY_SCALAR // its vectors of one lane hold no two words
HWY_BEFORE_NAMESPACE();
namespace assay::montecarlo::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#undef ASSAY_INLINE
#define ASSAY_INLINE HWY_INLINE
#include "montecarlo/formulas.inc"

/// ScalarOps on vectors.
template <class T>
struct VectorOps {
    using D = hn::ScalableTag<T>;
    using U = hn::RebindToUnsigned<D>;
    using I = hn::RebindToSigned<D>;
    using Real = hn::Vec<D>;
    using Bits = hn::Vec<U>;
    using Scalar = ScalarOps<T>;
    static constexpr bool is_fp64 = Scalar::is_fp64;

    static HWY_INLINE Real set(double value) { return hn::Set(D{}, static_cast<T>(value)); }
    static HWY_INLINE Real fma(Real a, Real b, Real c) { return hn::MulAdd(a, b, c); }
    static HWY_INLINE Real mul(Real a, Real b) { return hn::Mul(a, b); }
    static HWY_INLINE Real add(Real a, Real b) { return hn::Add(a, b); }
    static HWY_INLINE Real sub(Real a, Real b) { return hn::Sub(a, b); }
    static HWY_INLINE Real div(Real a, Real b) { return hn::Div(a, b); }
    static HWY_INLINE Real sqrt(Real a) { return hn::Sqrt(a); }
    static HWY_INLINE Real round(Real a) { return hn::Round(a); }
    static HWY_INLINE Real not_negative(Real a) { return hn::Max(a, hn::Zero(D{})); }
    static HWY_INLINE Real is_below(Real a, Real limit) {
        return hn::IfThenElseZero(hn::Lt(a, limit), set(1));
    }
    static HWY_INLINE Real from_one_to_two(Bits bits) {
        return hn::BitCast(D{}, hn::Or(hn::ShiftRight<Scalar::width - Scalar::fraction>(bits),
                                       hn::Set(U{}, Scalar::one)));
    }
    static HWY_INLINE Real flipped(Real a, Bits bits) {
        return hn::BitCast(D{},
                           hn::Xor(hn::BitCast(U{}, a), hn::ShiftLeft<Scalar::width - 1>(bits)));
    }
    static HWY_INLINE Real exponent(Real a) {
        return hn::ConvertTo(D{},
                             hn::ShiftRight<Scalar::fraction>(hn::BitCast(I{}, above_root(a))));
    }
    static HWY_INLINE Real mantissa(Real a) {
        const auto power =
            hn::ShiftLeft<Scalar::fraction>(hn::ShiftRight<Scalar::fraction>(above_root(a)));
        return hn::BitCast(D{}, hn::Sub(hn::BitCast(U{}, a), power));
    }
    static HWY_INLINE Real scaled(Real a, Real power) {
        const auto steps = hn::ShiftLeft<Scalar::fraction>(hn::ConvertTo(I{}, power));
        return hn::BitCast(D{}, hn::Add(hn::BitCast(I{}, a), steps));
    }

private:
    static HWY_INLINE Bits above_root(Real a) {
        return hn::Sub(hn::BitCast(U{}, a), hn::Set(U{}, Scalar::root_half));
    }
};

/// Words of 32 bits in the lower halves of wider lanes; what is in the upper halves does not count.
using Wide = hn::ScalableTag<std::uint64_t>;
using Narrow = hn::Repartition<std::uint32_t, Wide>;
using WideVector = hn::Vec<Wide>;

HWY_INLINE WideVector multiplied(WideVector word, std::uint32_t factor) {
    return hn::MulEven(hn::BitCast(Narrow{}, word), hn::Set(Narrow{}, factor));
}
/// philox_words() of a counter in each lane: two words each, the one in the lower half.
struct WordPairs {
    WideVector radius;
    WideVector angle;
};
HWY_INLINE WordPairs philox_pairs(WideVector counter) {
    const Wide d;
    WideVector word0 = counter;
    WideVector word1 = hn::ShiftRight<32>(counter);
    WideVector word2 = hn::Zero(d);
    WideVector word3 = hn::Zero(d);
    auto key0 = static_cast<std::uint32_t>(option::key);
    auto key1 = static_cast<std::uint32_t>(option::key >> 32U);
    for (unsigned round = 0; round < philox::rounds; ++round) {
        const WideVector a = multiplied(word0, philox::factor0);
        const WideVector b = multiplied(word2, philox::factor1);
        word0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(b), word1), hn::Set(d, key0));
        word2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(a), word3), hn::Set(d, key1));
        word1 = b;
        word3 = a;
        key0 += philox::step0;
        key1 += philox::step1;
    }
    const WideVector low = hn::Set(d, 0xFFFF'FFFFU);
    return {.radius = hn::Or(hn::And(word0, low), hn::ShiftLeft<32>(word1)),
            .angle = hn::Or(hn::And(word2, low), hn::ShiftLeft<32>(word3))};
}

template <class T>
void simulate(std::uint64_t first, std::uint64_t last, option::Tally* tallies) {
    using Ops = VectorOps<T>;
    const Wide wide;
    const hn::ScalableTag<T> d;
    const std::size_t lanes = hn::Lanes(wide);
    for (std::uint64_t block = first; block < last; ++block) {
        typename Formulas<Ops>::Sums sums{.payoff = hn::Zero(d), .below = hn::Zero(d)};
        for (std::size_t i = 0; i < option::counters<T>; i += lanes) {
            const auto words = philox_pairs(hn::Iota(wide, block * option::counters<T> + i));
            Formulas<Ops>::add_paths(Ops{}, terms, hn::BitCast(typename Ops::U{}, words.radius),
                                     hn::BitCast(typename Ops::U{}, words.angle), sums);
        }
        tallies[block] = {.payoff = double{hn::GetLane(hn::SumOfLanes(d, sums.payoff))},
                          .below = double{hn::GetLane(hn::SumOfLanes(d, sums.below))}};
    }
}

} // namespace
} // namespace assay::montecarlo::HWY_NAMESPACE

namespace assay::montecarlo {

inline void add_loops(host::Target<HWY_TARGET> target, std::vector<OptionLoop>& to) {
    to.push_back({target.name, &HWY_NAMESPACE::simulate<double>, &HWY_NAMESPACE::simulate<float>});
}

} // namespace assay::montecarlo
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace assay::montecarlo {

std::vector<OptionLoop> option_loops() {
    std::vector<OptionLoop> loops;
    host::for_each_supported_target([&](auto target) { add_loops(target, loops); });
    return loops;
}

} // namespace assay::montecarlo
#endif
