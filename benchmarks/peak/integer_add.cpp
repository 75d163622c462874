// SPDX-License-Identifier: Apache-2.0

#include "integer_kernels.hpp"
#include "isa.hpp"

#include <assay/define.hpp>
#include <assay/host.hpp>
#include <assay/one_of.hpp>
#include <assay/random.hpp>
#include <assay/verify.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>

namespace assay::peak {
namespace {

enum class Width : std::uint8_t { int32, int64 };

/// The rings of all threads, of one type.
template <class T>
class Rings {
public:
    Rings(const AdditionChain& chain, const AdditionPath<T>& path, int threads)
        : run_{path.run}, lanes_{path.lanes()}, vectors_{chain.vectors}, threads_{threads},
          start_{buffer()}, result_{buffer()}, expected_{buffer()} {
        on_each_thread(threads_, [&](std::size_t thread, std::size_t /*team*/) {
            const Slice own{.first = thread * stride(), .last = thread * stride() + own_count()};
            const std::span<T> numbers = start_.view(own);
            for (std::size_t i = 0; i < numbers.size(); ++i)
                numbers[i] = static_cast<T>(random_bits(start_seed, own.first + i));
            std::ranges::copy(numbers, expected_.view(own).begin());
            recompute(expected_.view(own));
        });
    }

    void run() noexcept {
        on_each_thread(threads_, [&](std::size_t thread, std::size_t /*team*/) {
            const std::size_t at = thread * stride();
            run_(start_.data() + at, result_.data() + at, steps);
        });
    }
    Work work() const {
        return {.operations =
                    static_cast<double>(own_count()) * static_cast<double>(steps) * threads_};
    }
    Check verify() const {
        return check_each(
            own_count() * static_cast<std::size_t>(threads_),
            [&](std::size_t i) {
                const std::size_t at = i / own_count() * stride() + i % own_count();
                return result_[at] == expected_[at] ? 0.0 : 1.0;
            },
            0, "every number of every ring recomputed one after the other, exactly");
    }
    /// Not what any number comes out as: each becomes its expected value's complement.
    void poison() {
        for (std::size_t i = 0; i < result_.size(); ++i) result_[i] = ~expected_[i];
    }
    void spoil() {
        const std::uint64_t pick = random_bits(spoil_seed, spoils_++);
        const std::size_t thread = pick % static_cast<std::size_t>(threads_);
        result_[thread * stride() + (pick >> 32U) % own_count()] ^= 1U;
    }
    std::size_t lanes() const { return lanes_; }

private:
    // 2^17 steps of 12 or 20 additions are 0.2 ms or more, a hundred times the cost of starting and
    // ending a parallel region on many cores.
    static constexpr std::size_t steps = std::size_t{1} << 17U;
    static constexpr std::uint64_t start_seed = 7;
    static constexpr std::uint64_t spoil_seed = 8;

    std::size_t own_count() const { return vectors_ * lanes_; }
    /// Numbers of one thread, with a gap to the next one's lines, which prefetchers fetch in pairs.
    std::size_t stride() const {
        constexpr std::size_t gap = 2 * line_granule<T>;
        return (own_count() + gap - 1) / gap * gap + gap;
    }
    HostBuffer<T> buffer() const {
        return HostBuffer<T>{stride() * static_cast<std::size_t>(threads_), {.threads = threads_}};
    }
    void recompute(std::span<T> numbers) const {
        for (std::size_t i = 0; i < steps; ++i) {
            const std::size_t last = numbers.size() - lanes_;
            for (std::size_t k = 0; k < last; ++k) numbers[k] += numbers[k + lanes_];
            for (std::size_t k = 0; k < lanes_; ++k) numbers[last + k] += numbers[k];
        }
    }

    Additions<T> run_;
    std::size_t lanes_;
    std::size_t vectors_;
    int threads_;
    HostBuffer<T> start_;
    HostBuffer<T> result_;
    HostBuffer<T> expected_; // what result_ must be
    std::uint64_t spoils_ = 0;
};

class IntegerAdd : public OneOf<Rings<std::uint32_t>, Rings<std::uint64_t>> {
public:
    struct Params {
        Width width = Width::int32;
        Isa isa = Isa::best;
        Symbolic threads = Symbol::all;
    };
    static constexpr Info info{
        .id = "peak.integer_add",
        .question = "How many integer additions a second can the cores of this host issue?",
        .method =
            "A ring of vectors in registers, each added to its neighbour, on random numbers; "
            "enough of them to keep all units busy; instruction sets are chosen at run time. Every "
            "number is recomputed, exactly.",
        .caveats =
            "Additions in vectors, of 32 or 64 bits that wrap around; a scalar loop reaches a "
            "fraction. Other integer instructions differ: products of 64 bits are several times "
            "slower, dot products do more in one (peak.dot).",
        .headline = "operation_rate",
    };
    static constexpr std::tuple axes{
        choice("width", "size of a number", &Params::width,
               {Name{"int32", Width::int32}, Name{"int64", Width::int64}},
               {Width::int32, Width::int64}),
        isa_axis<Params>(),
        symbolic("threads", "cores used", "", &Params::threads,
                 {Symbolic{Symbol::one}, Symbolic{Symbol::all}}, {1, 4096},
                 {Symbol::one, Symbol::all}),
    };
    static constexpr bool is_ceiling = true;

    static Fit fit(const Params& p, const Machine& m) {
        return fits_chains(addition_chains(), p.isa, p.threads, m);
    }

    IntegerAdd(const Params& p, const Context& context)
        : OneOf{[&] { return make(p, context.machine()); }} {
        const AdditionChain& chain = *find_chain(addition_chains(), p.isa, context.machine());
        poison();
        context.setting("isa", requirement(chain.isa).name);
        context.setting("vectors", static_cast<double>(chain.vectors));
        context.setting("threads", static_cast<double>(context.machine().workers(p.threads)));
        std::visit(
            [&](const auto& rings) {
                context.setting("lanes", static_cast<double>(rings.lanes()));
            },
            state());
    }

private:
    static State make(const Params& p, const Machine& machine) {
        const AdditionChain* chain = find_chain(addition_chains(), p.isa, machine);
        if (chain == nullptr) throw std::invalid_argument{"this machine lacks the instruction set"};
        const int threads = static_cast<int>(machine.workers(p.threads));
        if (p.width == Width::int32) return Rings<std::uint32_t>{*chain, chain->int32, threads};
        return Rings<std::uint64_t>{*chain, chain->int64, threads};
    }
};

} // namespace

extern constinit const assay_benchmark integer_add;
constinit const assay_benchmark integer_add = define<IntegerAdd>();

} // namespace assay::peak
