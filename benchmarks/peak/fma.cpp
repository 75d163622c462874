// SPDX-License-Identifier: Apache-2.0

#include "fma_kernels.hpp"
#include "isa.hpp"

#include <assay/define.hpp>
#include <assay/host.hpp>
#include <assay/one_of.hpp>
#include <assay/random.hpp>
#include <assay/verify.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

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

/// The values of one precision, on every thread, and how they are computed and checked.
template <class T>
class Values {
public:
    Values(const Chain& chain, const Path<T>& path, int threads)
        : run_{path.run}, lanes_{path.lanes()}, threads_{threads}, own_{chain.chains * lanes_},
          start_{buffer(own_, threads)}, result_{buffer(own_, threads)},
          expected_{buffer(own_, threads)} {
        fill_uniform(start_.view(), start_seed, T{0.5}, T{1.5});
        on_each_thread(threads_, [&](std::size_t thread, std::size_t /*team*/) {
            const std::size_t at = thread * stride(own_);
            const Slice own{.first = at, .last = at + own_};
            const std::span<T> values = expected_.view(own);
            std::ranges::copy(start_.view(own), values.begin());
            (chain.fused ? recompute_fused<T> : recompute_separate<T>)(step, steps, values);
        });
    }

    void run() noexcept {
        on_each_thread(threads_, [&](std::size_t thread, std::size_t /*team*/) {
            const std::size_t at = thread * stride(own_);
            run_(start_.data() + at, result_.data() + at, step, steps);
        });
    }
    Work work() const {
        constexpr double flops_per_step = 2;
        return {.flops = flops_per_step * static_cast<double>(own_) * steps * threads_};
    }
    Check verify() const {
        const auto used = static_cast<std::size_t>(threads_) * own_;
        return check_each(
            used,
            [&](std::size_t i) {
                const std::size_t at = i / own_ * stride(own_) + i % own_;
                return ulps_apart(result_[at], expected_[at]);
            },
            0, "every lane of every chain recomputed with scalar arithmetic, to the last bit");
    }
    void poison() { std::ranges::fill(result_.view(), std::numeric_limits<T>::quiet_NaN()); }
    void spoil() {
        const std::uint64_t pick = random_bits(spoil_seed, spoils_++);
        const std::size_t thread = pick % static_cast<std::size_t>(threads_);
        T& value = result_[thread * stride(own_) + (pick >> 32U) % own_];
        value = std::nextafter(value, T{2});
    }
    std::size_t lanes() const { return lanes_; }

    // 2^17 steps of 12 or 16 chains are 0.2 ms or more, a hundred times the cost of starting and
    // ending a parallel region on many cores.
    static constexpr std::size_t steps = std::size_t{1} << 17U;

private:
    // Each step mirrors a value at 1 and brings it closer by 5e-6: values stay between 0.5 and 1.5,
    // differ from lane to lane to the end (half of the distance is left after 2^17 steps), and all
    // bits of the multiplier are at work, as a factor of 1 or 0.5 would not have it.
    static constexpr T factor = static_cast<T>(-0.99999512345678);
    static constexpr Step<T> step{.factor = factor, .addend = T{1} - factor};
    static constexpr std::uint64_t start_seed = 5;
    static constexpr std::uint64_t spoil_seed = 6;

    /// Values of one thread, with a gap to the next one's lines, which prefetchers fetch in pairs.
    static std::size_t stride(std::size_t own) {
        constexpr std::size_t gap = 2 * line_granule<T>;
        return (own + gap - 1) / gap * gap + gap;
    }
    static HostBuffer<T> buffer(std::size_t own, int threads) {
        return HostBuffer<T>{stride(own) * static_cast<std::size_t>(threads), {.threads = threads}};
    }
    Chains<T> run_;
    std::size_t lanes_;
    int threads_;
    std::size_t own_; // values of one thread
    HostBuffer<T> start_;
    HostBuffer<T> result_;
    HostBuffer<T> expected_; // what result_ must be
    std::uint64_t spoils_ = 0;
};

class Fma : public OneOf<Values<double>, Values<float>> {
public:
    struct Params {
        Precision precision = Precision::fp64;
        Isa isa = Isa::best;
        Symbolic threads = Symbol::all;
    };
    static constexpr Info info{
        .id = "peak.fma",
        .question = "How many floating point operations a second can the cores of this host issue?",
        .method =
            "Independent chains of multiply-adds in registers, enough of them to hide the latency, "
            "on values that differ in every lane; instruction sets are chosen at run time. sse4 "
            "has "
            "no fused multiply-add and uses a multiplication and an addition. Every lane is "
            "recomputed with scalar arithmetic and must agree to the last bit.",
        .caveats =
            "A ceiling for code that lives in registers. It holds at the clock that this very "
            "instruction mix allows; starting and ending the parallel region is included, about "
            "one "
            "percent on many cores. A multiply-add counts as two operations.",
        .headline = "flop_rate",
    };
    static constexpr std::tuple axes{
        choice("precision", "format of the values", &Params::precision,
               {Name{"fp64", Precision::fp64}, Name{"fp32", Precision::fp32}},
               {Precision::fp64, Precision::fp32}),
        isa_axis<Params>(),
        symbolic("threads", "cores used", "", &Params::threads,
                 {Symbolic{Symbol::one}, Symbolic{Symbol::all}}, {1, 4096},
                 {Symbol::one, Symbol::all}),
    };
    static constexpr bool is_ceiling = true;

    static Fit fit(const Params& p, const Machine& m) {
        return fits_chains(fma_chains(), p.isa, p.threads, m);
    }

    Fma(const Params& p, const Context& context)
        : OneOf{[&] { return make(p, context.machine()); }} {
        const Chain& chain = *find_chain(fma_chains(), p.isa, context.machine());
        context.setting("isa", requirement(chain.isa).name);
        context.setting("chains", static_cast<double>(chain.chains));
        context.setting("threads", static_cast<double>(context.machine().workers(p.threads)));
        std::visit(
            [&]<class T>(const Values<T>& values) {
                context.setting("lanes", static_cast<double>(values.lanes()));
            },
            state());
    }

private:
    static State make(const Params& p, const Machine& machine) {
        const Chain* chain = find_chain(fma_chains(), p.isa, machine);
        if (chain == nullptr) throw std::invalid_argument{"this machine lacks the instruction set"};
        const int threads = static_cast<int>(machine.workers(p.threads));
        if (p.precision == Precision::fp64) return Values<double>{*chain, chain->fp64, threads};
        return Values<float>{*chain, chain->fp32, threads};
    }
};

} // namespace

extern constinit const assay_benchmark fma;
constinit const assay_benchmark fma = define<Fma>();

} // namespace assay::peak
