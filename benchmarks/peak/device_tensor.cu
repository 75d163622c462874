// SPDX-License-Identifier: Apache-2.0
#include "device/benchmark.cuh"
#include "peak/device_fma_chains.hpp"
#include "peak/device_tensor_kinds.cuh"
#include "peak/device_wgmma.hpp"

namespace assay::peak {
namespace {

constexpr std::size_t register_bytes(TensorFormat format) {
    return format == TensorFormat::fp64 ? 8 : 4;
}

inline constexpr unsigned tensor_threads = 256; ///< of a block

/// Where the instruction is missing, nothing is computed; the benchmark does not run there, and its check would fail.
template <class K>
__device__ void multiply(typename K::SumRegister* c, const typename K::Register* a,
                         const typename K::Register* b) {
    device::multiply_add<instruction_of(K::kind)>(c, a, b);
}

template <class K>
__global__ void __launch_bounds__(tensor_threads)
    run_tensor(const typename K::Register* a_from, const typename K::Register* b_from,
               const typename K::Sum* start, typename K::Sum* result, std::int64_t pairs,
               std::int64_t repeats) {
    constexpr TensorShape shape = tensor_shape(K::kind, compiled_for);
    constexpr unsigned chains = tensor_plan(K::kind, true).chains;
    constexpr unsigned sums = shape.sums();
    constexpr unsigned steps = K::kind.promotes ? promoted_pairs : 1;
    const unsigned lane = threadIdx.x % warp_lanes;
    const std::uint64_t threads = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
    const std::uint64_t thread = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    typename K::Register a[2][shape.a_words()];
    typename K::Register b[2][shape.b_registers()];
#pragma unroll
    for (unsigned operand = 0; operand < 2; ++operand) {
#pragma unroll
        for (unsigned r = 0; r < shape.a_words(); ++r)
            a[operand][r] = a_from[(operand * shape.a_words() + r) * warp_lanes + lane];
#pragma unroll
        for (unsigned r = 0; r < shape.b_registers(); ++r)
            b[operand][r] = b_from[(operand * shape.b_registers() + r) * warp_lanes + lane];
    }
    typename K::Sum total[chains][sums] = {};
    for (std::int64_t repeat = 0; repeat < repeats; ++repeat) {
        typename K::SumRegister c[chains][sums / K::packed];
        const auto add_to_total = [&] {
#pragma unroll
            for (unsigned i = 0; i < chains * sums; ++i)
                total[i / sums][i % sums] += get_sum<K>(c[i / sums], i % sums);
        };
#pragma unroll
        for (unsigned i = 0; i < chains * sums; ++i)
            set_sum<K>(c[i / sums], i % sums, start[i * threads + thread]);
        if constexpr (K::kind.promotes) add_to_total();
#pragma unroll 2
        for (std::int64_t pair = 0; pair < pairs; pair += steps) {
            if constexpr (K::kind.promotes)
#pragma unroll
                for (unsigned i = 0; i < chains * sums; ++i) c[i / sums][i % sums] = 0;
#pragma unroll
            for (unsigned step = 0; step < steps; ++step) {
#pragma unroll
                for (unsigned k = 0; k < chains; ++k) multiply<K>(c[k], a[k % 2], b[0]);
#pragma unroll
                for (unsigned k = 0; k < chains; ++k) multiply<K>(c[k], a[k % 2], b[1]);
            }
            if constexpr (K::kind.promotes) add_to_total();
        }
        if constexpr (!K::kind.promotes) add_to_total();
    }
#pragma unroll
    for (unsigned i = 0; i < chains * sums; ++i)
        result[i * threads + thread] = total[i / sums][i % sums];
}

template <class Sum>
struct MakeStart {
    Sum* to;
    TensorSums sums;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t i) const {
        to[i] = static_cast<Sum>(sums.start_of(i));
    }
};

template <class Sum>
struct WrongSum {
    const Sum* result;
    const std::int64_t* growths;
    TensorSums sums;
    ASSAY_HOST_DEVICE double operator()(std::uint64_t i) const {
        const std::int64_t wanted = sums.expected(i, growths[sums.growth_index(i)]);
        return static_cast<double>(result[i]) - static_cast<double>(wanted);
    }
};

/// 90 where the code that this device runs was compiled for compute capability 9.0. AMD's code is for one chip.
int tensor_compiled_for(const TensorKind& kind) {
    if constexpr (is_amd) return device::properties().capability;
    return with_kind(kind, []<class K>(K) {
        cudaFuncAttributes attributes{};
        device::check(cudaFuncGetAttributes(&attributes, run_tensor<K>));
        return attributes.ptxVersion;
    });
}

/// Blocks that a multiprocessor holds at once.
int tensor_resident_blocks(const TensorKind& kind) {
    return with_kind(kind, []<class K>(K) {
        int blocks = 0;
        device::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, run_tensor<K>,
                                                                    tensor_threads, 0));
        return blocks;
    });
}

void fill_sums(const TensorKind& kind, const TensorArrays& arrays, const TensorSums& sums,
               std::uint64_t count, const device::Stream& stream) {
    with_kind(kind, [&]<class K>(K) {
        using Sum = typename K::Sum;
        device::on_each(stream, count, MakeStart<Sum>{as<Sum>(arrays.start), sums});
    });
    device::check_launches();
}

void launch_tensor(const TensorKind& kind, const TensorArrays& arrays, const TensorSums& sums,
                   const device::Stream& stream) {
    with_kind(kind, [&]<class K>(K) {
        using Register = typename K::Register;
        using Sum = typename K::Sum;
        const auto blocks = static_cast<unsigned>(sums.threads / tensor_threads);
        device::launch(run_tensor<K>, {blocks, tensor_threads, stream.get()},
                       as<Register>(arrays.a), as<Register>(arrays.b), as<Sum>(arrays.start),
                       as<Sum>(arrays.result), sums.pairs, sums.repeats);
    });
}

Check check_tensor(const TensorKind& kind, const TensorArrays& arrays, const TensorSums& sums,
                   std::uint64_t count, const device::Stream& stream) {
    return with_kind(kind, [&]<class K>(K) {
        using Sum = typename K::Sum;
        const WrongSum<Sum> wrong{as<Sum>(arrays.result), arrays.growths, sums};
        return device::check_each(stream, count, wrong, 0,
                                  "every sum of every chain against its closed form, exactly");
    });
}

enum class Sparsity : std::uint8_t { none, two_of_four };
enum class Accumulation : std::uint8_t { exact, fast };
struct TensorParams {
    TensorFormat precision = TensorFormat::bf16;
    Sparsity sparsity = Sparsity::none;
    Accumulation accumulation = Accumulation::exact;
};

constexpr Name<Accumulation> accumulations[]{{"exact", Accumulation::exact},
                                             {"fast", Accumulation::fast}};
/// By default both on NVIDIA's devices: frozen suites without this parameter have always measured fast fp8.
template <bool amd>
consteval auto accumulation_axis() {
    constexpr const char* help = "accumulation of fp8 products: as exact as fp32, or fast";
    constexpr auto field = &TensorParams::accumulation;
    if constexpr (amd)
        return choice("accumulation", help, field, accumulations, {Accumulation::exact});
    else
        return choice("accumulation", help, field, accumulations);
}

class DeviceTensor : public device::OnDevice {
public:
    using Params = TensorParams;
    static constexpr Info info{
        .id = "peak.tensor",
        .version = is_amd ? 1 : 2, // 1: mma.sync on 9.0, too
        .question = is_amd ? "What is the matrix-core peak of this device from registers?"
                           : "What is the tensor-core peak of this device from registers?",
        .method =
            "Independent chains of the matrix instruction on random operands, accumulating in fp32 "
            "(fp64 and int32 for fp64 and int8, fp16 for fp16_accumulate): wgmma on compute "
            "capability 9.0, a in registers and b in shared memory; mma.sync on other devices of "
            "NVIDIA and for fp64, MFMA on AMD's, all operands in registers. The setting "
            "`instruction` names it and its shape. NVIDIA's exact fp8 adds the sums of every four "
            "instructions to others in fp32, as libraries do; fast fp8 leaves them in the tensor "
            "cores. Sparse operands have random positions. The fastest number of warps in a short "
            "trial is used. Operands are chosen so that every sum is exact; each is compared on "
            "the device with its closed form.",
        .caveats =
            is_amd
                ? "16 x 16 MFMA on registers, as libraries use it; tf32 is xf32 of CDNA3. The fnuz "
                  "formats "
                  "of CDNA3 have other codes than OCP's fp8 of CDNA4: rows of their own. "
                  "Holds at the clock this instruction mix allows; integers of few bits take "
                  "less power than full mantissas. A multiply-add counts as two operations."
                : "On compute capability 10.x mma.sync reaches a part of the tensor-core peak: "
                  "tcgen05 is not used, and library matrix products exceed this value. With 2:4 "
                  "sparsity (tf32: 1:2) the operations of the dense product count, as in data "
                  "sheets, although half of them are left out; dense work is not compared with it. "
                  "Holds at the clock that this instruction mix and the power limit allow; "
                  "integers of few bits take less power than full mantissas. A multiply-add "
                  "counts as two operations.",
        .headline = "flop_rate",
        .place = device::place_kind,
        .bound = Bound::matrix_units,
        .noise = Noise::arithmetic,
    };
    static constexpr std::tuple axes{
        choice("precision", "format of the products", &Params::precision,
               {Name{"fp64", TensorFormat::fp64}, Name{"tf32", TensorFormat::tf32},
                Name{"fp16", TensorFormat::fp16}, Name{"bf16", TensorFormat::bf16},
                Name{"int8", TensorFormat::int8}, Name{"fp8_e4m3", TensorFormat::fp8_e4m3},
                Name{"fp8_e5m2", TensorFormat::fp8_e5m2}, Name{"fp32", TensorFormat::fp32},
                Name{"fp8_e4m3fnuz", TensorFormat::fp8_e4m3fnuz},
                Name{"fp8_e5m2fnuz", TensorFormat::fp8_e5m2fnuz},
                Name{"fp16_accumulate", TensorFormat::fp16_accumulate}}),
        choice("sparsity", "zeros in a: none, or two of four neighbours (tf32: one of two)",
               &Params::sparsity,
               {Name{"none", Sparsity::none}, Name{"2:4", Sparsity::two_of_four}},
               {Sparsity::none}),
        accumulation_axis<is_amd>(),
    };
    static constexpr bool is_ceiling = true;

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        constexpr std::int64_t buffers = std::int64_t{512}
                                         << 20U; // more than any device's sums need
        const int capability = tensor_capability(p.precision);
        if (p.accumulation == Accumulation::fast && (is_amd || !is_fp8(p.precision)))
            return Fit::no("not applicable: only fp8 on NVIDIA's devices has a fast accumulation");
        if (p.sparsity != Sparsity::none && !can_be_sparse(p.precision))
            return Fit::no("not applicable: no instruction for 2:4 sparsity in this format");
        if (Fit device = device::fits_device(buffers, capability); !device) return device;
        const int compiled = tensor_compiled_for(kind_of(p));
        if (!has_instruction(p.precision, compiled) ||
            (is_emulated(kind_of(p), compiled) && !has_wgmma(kind_of(p))))
            return Fit::no("not applicable: this device has no matrix instruction of this format");
        return Fit::needs(compiled >= capability, "a build for compute capability ", capability,
                          " or later (ASSAY_CUDA_ARCHITECTURES), this device runs code for ",
                          compiled);
    }

    DeviceTensor(const Params& p, const Context& context)
        : kind_{kind_of(p)}, by_warpgroup_{has_wgmma(kind_)}, device_{device::properties()},
          shape_{by_warpgroup_ ? wgmma_shape(kind_)
                               : tensor_shape(kind_, tensor_compiled_for(kind_))},
          plan_{tensor_plan(kind_, has_fast_fp64(device_.capability))},
          block_threads_{by_warpgroup_ ? wgmma_lanes : tensor_threads},
          most_blocks_{by_warpgroup_ ? wgmma_resident_blocks(kind_)
                                     : tensor_resident_blocks(kind_)} {
        if (by_warpgroup_) {
            plan_.chains = 1;
            context.sustained(device::powerful_batch, 0);
        }
        plan_.pairs = device_.times<std::int64_t>(plan_.pairs, kind_.promotes  ? 2 * promoted_pairs
                                                               : by_warpgroup_ ? wgmma_pairs
                                                                               : 1);
        most_blocks_ = device_.times(most_blocks_, std::min(most_blocks_, 2));
        plan_.repeats = device_.times(plan_.repeats, std::min<std::int64_t>(plan_.repeats, 2));
        set_blocks(most_blocks_);
        upload_operands();
        start_ = device::Buffer<std::byte>{count() * register_bytes(kind_.format)};
        result_ = device::Buffer<std::byte>{start_.size()};
        choose_blocks();
        const auto* const family = by_warpgroup_     ? "wgmma"
                                   : is_amd          ? "mfma"
                                   : kind_.is_sparse ? "mma"
                                                     : "mma.sync";
        context.setting("instruction", joined(family, kind_.is_sparse ? ".sp m" : " m", shape_.m,
                                              'n', shape_.n, 'k', shape_.k));
        context.setting("chains", plan_.chains);
        context.setting("blocks", sums_.threads / block_threads_);
        context.setting("block_threads", block_threads_);
        context.setting("compiled_for", tensor_compiled_for(kind_));
    }

    void run() {
        const auto launch = by_warpgroup_ ? launch_wgmma : launch_tensor;
        launch(kind_, arrays(), sums_, stream_);
    }

    Work work() const {
        const double operations = shape_.operations() * plan_.chains *
                                  static_cast<double>(2 * plan_.pairs * plan_.repeats) *
                                  static_cast<double>(sums_.threads) / shape_.lanes;
        return kind_.format == TensorFormat::int8 ? Work{.operations = operations}
                                                  : Work{.flops = operations};
    }
    Check verify() const { return check_tensor(kind_, arrays(), sums_, count(), stream_); }
    void poison() {
        // A NaN; as an integer far below every sum.
        device::set_bytes(result_, kind_.format == TensorFormat::int8 ? 0x80 : 0xff, stream_);
    }
    /// One sum, by one.
    void spoil() {
        const std::uint64_t pick = spoils_.next() % count();
        if (kind_.format == TensorFormat::fp64)
            raise<double>(pick);
        else if (kind_.format == TensorFormat::int8)
            raise<std::int32_t>(pick);
        else
            raise<float>(pick);
    }

private:
    static constexpr std::uint64_t operand_seed = 11;

    static TensorKind kind_of(const Params& p) {
        return {.format = p.precision,
                .is_sparse = p.sparsity == Sparsity::two_of_four,
                .promotes =
                    !is_amd && is_fp8(p.precision) && p.accumulation == Accumulation::exact};
    }

    std::uint64_t count() const { return sums_.threads * plan_.chains * sums_.sums; }
    TensorArrays arrays() const {
        return {.a = a_.data(),
                .b = b_.data(),
                .start = start_.data(),
                .result = result_.data(),
                .growths = growths_.data()};
    }
    void set_blocks(int each) {
        const auto blocks =
            static_cast<std::uint64_t>(each) * static_cast<std::uint64_t>(device_.multiprocessors);
        sums_ = {.threads = blocks * block_threads_,
                 .sums = shape_.sums(),
                 .lanes = shape_.lanes,
                 .start = plan_.start,
                 .pairs = plan_.pairs,
                 .repeats = plan_.repeats};
    }

    /// The place of a sum depends on the number of threads, and so does its start.
    void start_with(int blocks_each) {
        set_blocks(blocks_each);
        fill_sums(kind_, arrays(), sums_, count(), stream_);
        stream_.wait();
    }

    device::Buffer<std::byte> uploaded(std::span<const std::uint64_t> words) const {
        const std::size_t each = register_bytes(kind_.format);
        std::vector<std::byte> bytes(words.size() * each);
        for (std::size_t i = 0; i < words.size();
             ++i) // the lower half first, as on every such host
            std::memcpy(bytes.data() + i * each, &words[i], each);
        device::Buffer<std::byte> buffer{bytes.size()};
        device::to_device(std::span<const std::byte>{bytes}, buffer.data(), stream_);
        return buffer;
    }
    void upload_operands() {
        const TensorValues values = tensor_values(shape_, plan_, operand_seed);
        a_ = uploaded(a_fragments(shape_, values, kind_.format));
        b_ = uploaded(b_fragments(shape_, values, kind_.format));
        const auto growths = sum_growths(shape_, values);
        growths_ = device::Buffer<std::int64_t>{growths.size()};
        device::to_device(std::span<const std::int64_t>{growths}, growths_.data(), stream_);
    }

    template <class T>
    void raise(std::uint64_t index) {
        T* const at = reinterpret_cast<T*>(result_.data()) + index;
        device::put(device::get(at, stream_) + T{1}, at, stream_);
    }

    /// The blocks that a multiprocessor holds, half or a quarter of them: the fastest by trial; a later one must be
    /// clearly faster, so that the choice is the same in every process.
    void choose_blocks() {
        const int rounds = device_.times(4, 1);
        constexpr double clearly = 0.995;
        int best = most_blocks_;
        double best_seconds = std::numeric_limits<double>::infinity();
        for (int each = most_blocks_; each >= 1 && 4 * each >= most_blocks_; each /= 2) {
            start_with(each);
            double seconds = std::numeric_limits<double>::infinity();
            for (int round = 0; round < rounds; ++round)
                seconds = std::min(seconds, clock_.seconds(1, [this] { run(); }));
            seconds /= each;
            if (seconds >= clearly * best_seconds) continue;
            best = each;
            best_seconds = seconds;
        }
        start_with(best);
    }

    TensorKind kind_;
    bool by_warpgroup_;
    device::Properties device_;
    TensorShape shape_;
    TensorPlan plan_;
    unsigned block_threads_;
    int most_blocks_; // on a multiprocessor
    TensorSums sums_{};
    device::Buffer<std::byte> a_;
    device::Buffer<std::byte> b_;
    device::Buffer<std::int64_t> growths_;
    device::Buffer<std::byte> start_;
    device::Buffer<std::byte> result_;
    Picks spoils_{31};
};

} // namespace

extern constinit const assay_benchmark device_tensor = define<DeviceTensor>();

} // namespace assay::peak
