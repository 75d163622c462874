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

// Structures hold vectors, which those of unknown length (SVE) do not allow; the scalar target's hold no two words.
#if HWY_HAVE_SCALABLE || HWY_TARGET == HWY_SCALAR
namespace assay::montecarlo {
inline void add_loops(host::Target<HWY_TARGET> /*target*/, std::vector<OptionLoop>& /*to*/) {}
} // namespace assay::montecarlo
#else
HWY_BEFORE_NAMESPACE();
namespace assay::montecarlo::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#undef ASSAY_INLINE
#define ASSAY_INLINE HWY_INLINE
#include "montecarlo/formulas.inc"

/// Two vectors: a path is a chain of dependent operations, and two chains are interleaved (half as fast with one).
template <class Vector>
struct Two {
    Vector a;
    Vector b;
};

/// ScalarOps on two vectors.
template <class T>
struct VectorOps {
    using D = hn::ScalableTag<T>;
    using U = hn::RebindToUnsigned<D>;
    using I = hn::RebindToSigned<D>;
    using V = hn::Vec<D>;
    using W = hn::Vec<U>;
    using Real = Two<V>;
    using Bits = Two<W>;
    using Scalar = ScalarOps<T>;
    static constexpr bool is_fp64 = Scalar::is_fp64;

    static HWY_INLINE Real set(double value) {
        const V both = hn::Set(D{}, static_cast<T>(value));
        return {both, both};
    }
    static HWY_INLINE Real fma(Real x, Real y, Real z) {
        return {hn::MulAdd(x.a, y.a, z.a), hn::MulAdd(x.b, y.b, z.b)};
    }
    static HWY_INLINE Real mul(Real x, Real y) { return {hn::Mul(x.a, y.a), hn::Mul(x.b, y.b)}; }
    static HWY_INLINE Real add(Real x, Real y) { return {hn::Add(x.a, y.a), hn::Add(x.b, y.b)}; }
    static HWY_INLINE Real sub(Real x, Real y) { return {hn::Sub(x.a, y.a), hn::Sub(x.b, y.b)}; }
    static HWY_INLINE Real div(Real x, Real y) { return {hn::Div(x.a, y.a), hn::Div(x.b, y.b)}; }
    static HWY_INLINE Real sqrt(Real x) { return {hn::Sqrt(x.a), hn::Sqrt(x.b)}; }
    static HWY_INLINE Real round(Real x) { return {hn::Round(x.a), hn::Round(x.b)}; }
    static HWY_INLINE Real not_negative(Real x) {
        return {hn::Max(x.a, hn::Zero(D{})), hn::Max(x.b, hn::Zero(D{}))};
    }
    static HWY_INLINE Real is_below(Real x, Real limit) {
        return {is_below(x.a, limit.a), is_below(x.b, limit.b)};
    }
    static HWY_INLINE Real from_one_to_two(Bits bits) {
        return {from_one_to_two(bits.a), from_one_to_two(bits.b)};
    }
    static HWY_INLINE Real flipped(Real x, Bits bits) {
        return {flipped(x.a, bits.a), flipped(x.b, bits.b)};
    }
    static HWY_INLINE Real exponent(Real x) { return {exponent(x.a), exponent(x.b)}; }
    static HWY_INLINE Real mantissa(Real x) { return {mantissa(x.a), mantissa(x.b)}; }
    static HWY_INLINE Real scaled(Real x, Real power) {
        return {scaled(x.a, power.a), scaled(x.b, power.b)};
    }

private:
    static HWY_INLINE V is_below(V x, V limit) {
        return hn::IfThenElseZero(hn::Lt(x, limit), hn::Set(D{}, T{1}));
    }
    static HWY_INLINE V from_one_to_two(W bits) {
        return hn::BitCast(D{}, hn::Or(hn::ShiftRight<Scalar::width - Scalar::fraction>(bits),
                                       hn::Set(U{}, Scalar::one)));
    }
    static HWY_INLINE V flipped(V x, W bits) {
        return hn::BitCast(D{},
                           hn::Xor(hn::BitCast(U{}, x), hn::ShiftLeft<Scalar::width - 1>(bits)));
    }
    static HWY_INLINE V exponent(V x) {
        return hn::ConvertTo(D{},
                             hn::ShiftRight<Scalar::fraction>(hn::BitCast(I{}, above_root(x))));
    }
    static HWY_INLINE V mantissa(V x) {
        const auto power =
            hn::ShiftLeft<Scalar::fraction>(hn::ShiftRight<Scalar::fraction>(above_root(x)));
        return hn::BitCast(D{}, hn::Sub(hn::BitCast(U{}, x), power));
    }
    static HWY_INLINE V scaled(V x, V power) {
        const auto steps = hn::ShiftLeft<Scalar::fraction>(hn::ConvertTo(I{}, power));
        return hn::BitCast(D{}, hn::Add(hn::BitCast(I{}, x), steps));
    }
    static HWY_INLINE W above_root(V x) {
        return hn::Sub(hn::BitCast(U{}, x), hn::Set(U{}, Scalar::root_half));
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
        typename Formulas<Ops>::Sums sums{.payoff = Ops::set(0), .below = Ops::set(0)};
        for (std::size_t i = 0; i < option::counters<T>; i += 2 * lanes) {
            const std::uint64_t counter = block * option::counters<T> + i;
            const auto a = philox_pairs(hn::Iota(wide, counter));
            const auto b = philox_pairs(hn::Iota(wide, counter + lanes));
            const auto bits = [](WideVector x, WideVector y) HWY_ATTR {
                return typename Ops::Bits{hn::BitCast(typename Ops::U{}, x),
                                          hn::BitCast(typename Ops::U{}, y)};
            };
            Formulas<Ops>::add_paths(Ops{}, terms, bits(a.radius, b.radius), bits(a.angle, b.angle),
                                     sums);
        }
        const auto sum = [&](const Two<hn::Vec<decltype(d)>>& of) HWY_ATTR {
            return double{hn::GetLane(hn::SumOfLanes(d, hn::Add(of.a, of.b)))};
        };
        tallies[block] = {.payoff = sum(sums.payoff), .below = sum(sums.below)};
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
