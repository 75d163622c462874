// SPDX-License-Identifier: Apache-2.0

#include "fma_kernels.hpp"
#include "isa.hpp"
#include "thread_chains.hpp"

#include <assay/define.hpp>

#include <span>

namespace assay::peak {
namespace {

enum class Precision : std::uint8_t { fp64, fp32 };

/// The steps again, one number after the other, in plain C++. With the target named, std::fma() is an
/// instruction and not a call, which makes this thirty times faster.
template <class T>
#if defined(__x86_64__)
[[gnu::target("fma")]]
#endif
void recompute_fused(Step<T> step, std::size_t steps, std::span<T> values) {
    for (std::size_t i = 0; i < steps; ++i)
        for (T& value : values) value = std::fma(value, step.factor, step.addend);
}
template <class T>
void recompute_separate(Step<T> step, std::size_t steps, std::span<T> values) {
    for (std::size_t i = 0; i < steps; ++i)
        for (T& value : values) value = value * step.factor + step.addend;
}

template <class T>
struct Values {
    using Value = T;
    using Path = peak::Path<T>;
    using Chain = peak::Chain;
    static constexpr const char* method =
        "every lane of every chain recomputed with scalar arithmetic, bit for bit";

    static std::size_t count(const Chain& chain) { return chain.chains; }
    static T start(std::uint64_t i) {
        constexpr std::uint64_t seed = 5;
        return random_uniform<T>(seed, i, T{0.5}, T{1.5});
    }
    static void recompute(const Chain& chain, std::size_t /*lanes*/, std::span<T> values) {
        (chain.fused ? recompute_fused<T> : recompute_separate<T>)(step, chain_steps, values);
    }
    static void run(Chains<T> chains, const T* start, T* result) noexcept {
        chains(start, result, step, chain_steps);
    }
    static Work work(double steps) { return {.flops = 2 * steps}; }
    static double error(T got, T expected) { return ulps_apart(got, expected); }
    static T poisoned(T /*expected*/) { return std::numeric_limits<T>::quiet_NaN(); }
    static void damage(T& value) { value = std::nextafter(value, T{2}); }

private:
    // Each step mirrors a value at 1 and brings it closer by 5e-6: values stay between 0.5 and 1.5,
    // differ from lane to lane to the end (half of the distance is left after 2^17 steps), and all
    // bits of the multiplier are at work, as a factor of 1 or 0.5 would not have it.
    static constexpr T factor = static_cast<T>(-0.99999512345678);
    static constexpr Step<T> step{.factor = factor, .addend = T{1} - factor};
};

using Fp64 = ThreadChains<Values<double>>;
using Fp32 = ThreadChains<Values<float>>;

class Fma : public OneOf<Fp64, Fp32> {
public:
    struct Params {
        Precision precision = Precision::fp64;
        Isa isa = Isa::best;
        Symbolic threads = Symbol::all;
    };
    static constexpr Info info{
        .id = "peak.fma",
        .question = "What is the floating-point peak of the cores of this host?",
        .method = "Independent chains of multiply-adds in registers, enough to hide the latency, "
                  "on values that differ in every lane; the instruction set is chosen at run time. "
                  "sse4 lacks FMA and uses a multiplication and an addition. Every lane is "
                  "recomputed with scalar arithmetic and compared bit for bit.",
        .caveats = "A roofline bound for code that stays in registers, at the clock this "
                   "instruction mix allows. Starting and joining the threads is included, about "
                   "one percent on many cores. A multiply-add counts as two operations.",
        .headline = "flop_rate",
        .bound = Bound::vector_units,
        .noise = Noise::arithmetic,
    };
    static constexpr std::tuple axes{
        choice("precision", "format of the values", &Params::precision,
               {{"fp64", Precision::fp64}, {"fp32", Precision::fp32}}),
        isa_axis<Params>(),
        threads_axis(&Params::threads, {Symbol::one, Symbol::all}),
    };
    static constexpr bool is_ceiling = true;

    static Fit fit(const Params& p, const Machine& m) {
        return fits_chains(fma_chains(), p.isa, p.threads, m);
    }

    Fma(const Params& p, const Context& context)
        : OneOf{[&] { return make(p, context.machine()); }} {
        const Chain& chain = *find_chain(fma_chains(), p.isa, context.machine());
        context.setting("isa", requirement(chain.isa).name);
        context.setting("chains", chain.chains);
        context.setting("threads", context.machine().workers(p.threads));
        std::visit([&](const auto& chains) { context.setting("lanes", chains.lanes()); }, state());
    }

private:
    static State make(const Params& p, const Machine& machine) {
        const Chain* chain = find_chain(fma_chains(), p.isa, machine);
        if (chain == nullptr) throw std::invalid_argument{"this machine lacks the instruction set"};
        const int threads = static_cast<int>(machine.workers(p.threads));
        if (p.precision == Precision::fp64) return Fp64{*chain, chain->fp64, threads};
        return Fp32{*chain, chain->fp32, threads};
    }
};

} // namespace

extern constinit const assay_benchmark fma = define<Fma>();

} // namespace assay::peak
