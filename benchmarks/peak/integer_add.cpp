// SPDX-License-Identifier: Apache-2.0

#include "integer_kernels.hpp"
#include "isa.hpp"
#include "thread_chains.hpp"

#include <assay/define.hpp>

#include <span>

namespace assay::peak {
namespace {

enum class Width : std::uint8_t { int32, int64 };

template <class T>
struct Ring {
    using Value = T;
    using Path = AdditionPath<T>;
    using Chain = AdditionChain;
    static constexpr const char* method =
        "every number of every ring recomputed one after the other, exactly";

    static std::size_t count(const Chain& chain) { return chain.vectors; }
    static T start(std::uint64_t i) {
        constexpr std::uint64_t seed = 7;
        return static_cast<T>(random_bits(seed, i));
    }
    static void recompute(const Chain& /*chain*/, std::size_t lanes, std::span<T> numbers) {
        const std::size_t last = numbers.size() - lanes;
        for (std::size_t i = 0; i < chain_steps; ++i) {
            for (std::size_t k = 0; k < last; ++k) numbers[k] += numbers[k + lanes];
            for (std::size_t k = 0; k < lanes; ++k) numbers[last + k] += numbers[k];
        }
    }
    static void run(Additions<T> additions, const T* start, T* result) noexcept {
        additions(start, result, chain_steps);
    }
    static Work work(double steps) { return {.operations = steps}; }
    static double error(T got, T expected) { return got == expected ? 0.0 : 1.0; }
    static T poisoned(T expected) { return static_cast<T>(~expected); }
    static void damage(T& value) { value ^= 1U; }
};

using Int32 = ThreadChains<Ring<std::uint32_t>>;
using Int64 = ThreadChains<Ring<std::uint64_t>>;

class IntegerAdd : public OneOf<Int32, Int64> {
public:
    struct Params {
        Width width = Width::int32;
        Isa isa = Isa::best;
        Symbolic threads = Symbol::all;
    };
    static constexpr Info info{
        .id = "peak.integer_add",
        .question = "What is the integer addition peak of the cores of this host?",
        .method = "A ring of vectors in registers, each added to its neighbour, on random numbers, "
                  "enough to keep all units busy; the instruction set is chosen at run time. Every "
                  "number is recomputed exactly.",
        .caveats = "Vector additions of 32 or 64 bits with wrap-around; scalar loops reach a "
                   "fraction. Other integer instructions differ: 64-bit products are several times "
                   "slower, dot products do more per instruction (peak.dot).",
        .headline = "operation_rate",
        .noise = Noise::arithmetic,
    };
    static constexpr std::tuple axes{
        choice("width", "size of a number", &Params::width,
               {{"int32", Width::int32}, {"int64", Width::int64}}),
        isa_axis<Params>(),
        threads_axis(&Params::threads, {Symbol::one, Symbol::all}),
    };
    static constexpr bool is_ceiling = true;

    static Fit fit(const Params& p, const Machine& m) {
        return fits_chains(addition_chains(), p.isa, p.threads, m);
    }

    IntegerAdd(const Params& p, const Context& context)
        : OneOf{[&] { return make(p, context.machine()); }} {
        const AdditionChain& chain = *find_chain(addition_chains(), p.isa, context.machine());
        context.setting("isa", requirement(chain.isa).name);
        context.setting("vectors", chain.vectors);
        context.setting("threads", context.machine().workers(p.threads));
        std::visit([&](const auto& rings) { context.setting("lanes", rings.lanes()); }, state());
    }

private:
    static State make(const Params& p, const Machine& machine) {
        const AdditionChain* chain = find_chain(addition_chains(), p.isa, machine);
        if (chain == nullptr) throw std::invalid_argument{"this machine lacks the instruction set"};
        const int threads = static_cast<int>(machine.workers(p.threads));
        if (p.width == Width::int32) return Int32{*chain, chain->int32, threads};
        return Int64{*chain, chain->int64, threads};
    }
};

} // namespace

extern constinit const assay_benchmark integer_add = define<IntegerAdd>();

} // namespace assay::peak
