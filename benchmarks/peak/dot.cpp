// SPDX-License-Identifier: Apache-2.0

#include "dot_data.hpp"
#include "dot_kernels.hpp"
#include "isa.hpp"

#include <assay/define.hpp>

#include <span>

namespace assay::peak {

std::vector<DotPath> dot_paths() {
    std::vector<DotPath> all;
    for (const auto some : {amx_dot_paths(), x86_dot_paths(), arm_dot_paths()})
        all.insert(all.end(), some.begin(), some.end());
    return all;
}

std::string refusal(const DotPath& path) {
    if (path.isa != DotIsa::amx || allow_tiles()) return {};
    return "needs a kernel that lets processes use AMX tiles (Linux 5.16)";
}

namespace {

class Dot {
public:
    struct Params {
        Format precision = Format::int8;
        DotIsa isa = DotIsa::best;
        Symbolic threads = Symbol::all;
    };
    static constexpr Info info{
        .id = "peak.dot",
        .question = "What is the int8 and bf16 peak of the cores of this host?",
        .method =
            "Independent chains of the instruction that adds products of narrow numbers to 32-bit "
            "sums (VNNI, AVX512-BF16, AMX, Arm's dot and matrix products), random operands in "
            "registers, int32 or fp32 sums; the setting `instruction` names it. avx2 has none and "
            "uses three: multiply to 16 bits, add pairs to 32, add. Operands are chosen so that "
            "every sum is exact; each is compared with its closed form.",
        .caveats = "A roofline bound for matrix products with operands at hand, at the clock this "
                   "instruction mix allows. A multiply-add counts as two operations. Few CPUs have "
                   "bf16 instructions; others have no bf16 peak.",
        .headline = "flop_rate",
        .bound = Bound::matrix_units,
        .noise = Noise::arithmetic,
    };
    static constexpr std::tuple axes{
        choice("precision", "format of the products", &Params::precision,
               {{"int8", Format::int8}, {"bf16", Format::bf16}}),
        choice("isa", "instruction set; best is the most productive that this machine has",
               &Params::isa,
               {Name{"best", DotIsa::best}, Name{"avx2", DotIsa::avx2},
                Name{"avx_vnni", DotIsa::avx_vnni}, Name{"avx512_vnni", DotIsa::avx512_vnni},
                Name{"avx512_bf16", DotIsa::avx512_bf16}, Name{"amx", DotIsa::amx},
                Name{"neon_dot", DotIsa::neon_dot}, Name{"neon_mm", DotIsa::neon_mm}},
               {DotIsa::best}),
        threads_axis(&Params::threads, {Symbol::one, Symbol::all}),
    };
    static constexpr bool is_ceiling = true;

    static Fit fit(const Params& p, const Machine& m) {
        if (Fit cores = host::fits_cores(p.threads, m); !cores) return cores;
        std::string why;
        return find(p, m, why) != nullptr ? Fit::yes() : Fit::no("not applicable: " + why);
    }

    Dot(const Params& p, const Context& context)
        : path_{path_for(p, context.machine())},
          threads_{static_cast<int>(context.machine().workers(p.threads))},
          own_{path_.chains * path_.shape.sums},
          values_{dot_values(path_.shape, path_.format, operand_seed)}, a_{operand(values_.a)},
          b_{operand(values_.b)}, start_{sums()}, result_{sums()} {
        on_each_thread(threads_, [&](std::size_t thread, std::size_t /*team*/) {
            const std::size_t at = thread * stride();
            const std::span<std::uint32_t> own = start_.view({.first = at, .last = at + own_});
            for (std::size_t i = 0; i < own_; ++i)
                own[i] = sum_bits(start(thread, i), path_.format);
        });
        poison();
        context.setting("isa", path_.name);
        context.setting("instruction", path_.instruction);
        context.setting("chains", path_.chains);
        context.setting("threads", threads_);
    }

    void run() noexcept {
        on_each_thread(threads_, [&](std::size_t thread, std::size_t /*team*/) {
            const std::size_t at = thread * stride();
            path_.run({.a = a_.data(),
                       .b = b_.data(),
                       .start = start_.data() + at,
                       .result = result_.data() + at},
                      dot_steps);
        });
    }
    Work work() const {
        const double products = static_cast<double>(own_ * path_.shape.depth) *
                                static_cast<double>(dot_steps) * threads_;
        return path_.format == Format::int8 ? Work{.operations = 2 * products}
                                            : Work{.flops = 2 * products};
    }
    Check verify() const {
        return check_each(
            own_ * static_cast<std::size_t>(threads_),
            [&](std::size_t i) {
                const std::size_t thread = i / own_;
                const std::size_t at = i % own_;
                const double got = sum_value(result_[thread * stride() + at], path_.format);
                return got - static_cast<double>(expected(thread, at));
            },
            0, "every sum of every chain against its closed form, exactly");
    }
    void poison() {
        const std::uint32_t impossible = path_.format == Format::bf16
                                             ? 0x7fc00000U  // a NaN
                                             : 0x80000000U; // sums stay far from the lowest
        std::ranges::fill(result_.view(), impossible);
    }
    /// One sum, by one.
    void spoil() {
        const std::uint64_t pick = spoils_.next();
        const std::size_t thread = pick % static_cast<std::size_t>(threads_);
        std::uint32_t& sum = result_[thread * stride() + (pick >> 32U) % own_];
        const auto value = static_cast<std::int64_t>(sum_value(sum, path_.format));
        sum = sum_bits(value + 1, path_.format);
    }

private:
    static constexpr std::uint64_t operand_seed = 11;
    static constexpr std::uint64_t start_seed = 21;

    /// The first path of those asked for that can be used; null, and why not.
    static const DotPath* find(const Params& p, const Machine& machine, std::string& why) {
        static const std::vector<DotPath> all = dot_paths();
        why = nothing_for(p);
        for (const DotPath& path : all) {
            if (path.format != p.precision || (p.isa != DotIsa::best && p.isa != path.isa))
                continue;
            const std::string lack = lacking(path, machine);
            if (lack.empty()) return &path;
            if (p.isa != DotIsa::best) why = lack;
        }
        return nullptr;
    }
    static std::string lacking(const DotPath& path, const Machine& machine) {
        std::string why = missing(path.features, machine);
        return why.empty() ? refusal(path) : why;
    }
    static const char* nothing_for(const Params& p) {
        if (p.isa != DotIsa::best)
            return "this instruction set, or this build, has no such instruction for the precision";
        return p.precision == Format::int8
                   ? "needs avx2, avx_vnni, avx512_vnni, amx_int8, asimddp or i8mm"
                   : "needs avx512_bf16, amx_bf16, or bf16 of Arm";
    }
    static const DotPath& path_for(const Params& p, const Machine& machine) {
        std::string why;
        const DotPath* path = find(p, machine, why);
        if (path == nullptr) throw std::invalid_argument{why};
        return *path;
    }

    HostBuffer<std::byte> operand(std::span<const int> values) const {
        const std::size_t bytes = path_.format == Format::int8 ? 1 : 2;
        HostBuffer<std::byte> buffer{values.size() * bytes, {.threads = 1}};
        store_elements(values, path_.format, buffer.view());
        return buffer;
    }
    /// Sums of one thread, with a gap to the next one's lines, which prefetchers fetch in pairs.
    std::size_t stride() const {
        constexpr std::size_t gap = 2 * line_granule<std::uint32_t>;
        return (own_ + gap - 1) / gap * gap + gap;
    }
    HostBuffer<std::uint32_t> sums() const {
        return HostBuffer<std::uint32_t>{stride() * static_cast<std::size_t>(threads_),
                                         {.threads = threads_}};
    }
    std::int64_t start(std::size_t thread, std::size_t i) const {
        return random_integer<std::int64_t>(start_seed, thread * own_ + i, -dot_start, dot_start);
    }
    std::int64_t expected(std::size_t thread, std::size_t i) const {
        const std::size_t operand = i / path_.shape.sums % 2; // even and odd chains
        const auto pairs = static_cast<std::int64_t>(dot_steps / 2);
        return start(thread, i) +
               pairs * dot_growth(path_.shape, values_, operand, i % path_.shape.sums);
    }

    const DotPath path_;
    int threads_;
    std::size_t own_; // sums of one thread
    DotValues values_;
    HostBuffer<std::byte> a_;
    HostBuffer<std::byte> b_;
    HostBuffer<std::uint32_t> start_;
    HostBuffer<std::uint32_t> result_;
    Picks spoils_{31};
};

} // namespace

extern constinit const assay_benchmark dot = define<Dot>();

} // namespace assay::peak
