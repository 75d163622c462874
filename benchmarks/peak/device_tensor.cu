// SPDX-License-Identifier: Apache-2.0
#include "device/benchmark.cuh"
#include "peak/device_fma_chains.hpp"
#include "peak/device_tensor_data.hpp"
#include "peak/device_wgmma.hpp"

namespace assay::peak {
namespace {

constexpr std::size_t register_bytes(TensorFormat format) {
    return format == TensorFormat::fp64 ? 8 : 4;
}

inline constexpr unsigned tensor_threads = 256; ///< of a block

#if defined(ASSAY_COMPILED_FOR) // of the device that is the CPU
constexpr int compiled_for = ASSAY_COMPILED_FOR;
#elif defined(__CUDA_ARCH__)
constexpr int compiled_for = __CUDA_ARCH__ / 10;
#elif defined(__gfx90a__)
constexpr int compiled_for = 90;
#elif defined(__gfx950__)
constexpr int compiled_for = 95;
#elif defined(__HIP_DEVICE_COMPILE__)
constexpr int compiled_for = 94;
#else
constexpr int compiled_for = 0; // the host's pass; no code comes of it
#endif

// The formats differ in the types of a register and a sum. Where the instruction is missing, nothing is computed;
// the benchmark does not run there, and its check would fail.
template <TensorFormat of>
struct Kind {
    static constexpr TensorFormat format = of;
    using Register = std::uint32_t;
    using Sum = float;
};
template <>
struct Kind<TensorFormat::fp64> {
    static constexpr TensorFormat format = TensorFormat::fp64;
    using Register = double;
    using Sum = double;
};
template <>
struct Kind<TensorFormat::int8> {
    static constexpr TensorFormat format = TensorFormat::int8;
    using Register = std::uint32_t;
    using Sum = std::int32_t;
};

/// The instruction of a format on the device that is compiled for.
constexpr device::Mma instruction_of(TensorFormat format) {
    using enum device::Mma;
    switch (format) {
    case TensorFormat::fp64:
        return is_amd ? m16n16k4_fp64 : compiled_for >= 90 ? m16n8k16_fp64 : m8n8k4_fp64;
    case TensorFormat::fp32:
        return m16n16k4_fp32;
    case TensorFormat::tf32:
        return is_amd ? m16n16k8_xf32 : m16n8k8_tf32;
    case TensorFormat::fp16:
        return is_amd ? m16n16k16_fp16 : m16n8k16_fp16;
    case TensorFormat::bf16:
        return is_amd ? m16n16k16_bf16 : m16n8k16_bf16;
    case TensorFormat::int8:
        return !is_amd ? m16n8k32_int8 : compiled_for >= 94 ? m16n16k32_int8 : m16n16k16_int8;
    case TensorFormat::fp8_e4m3:
        return is_amd ? m16n16k32_e4m3 : m16n8k32_e4m3;
    case TensorFormat::fp8_e4m3fnuz:
        return m16n16k32_e4m3fnuz;
    case TensorFormat::fp8_e5m2fnuz:
        return m16n16k32_e5m2fnuz;
    case TensorFormat::fp8_e5m2:
        break;
    }
    return is_amd ? m16n16k32_e5m2 : m16n8k32_e5m2;
}

template <class K>
__device__ void multiply(typename K::Sum* c, const typename K::Register* a,
                         const typename K::Register* b) {
    device::multiply_add<instruction_of(K::format)>(c, a, b);
}

template <class K>
__global__ void __launch_bounds__(tensor_threads)
    run_tensor(const typename K::Register* a_from, const typename K::Register* b_from,
               const typename K::Sum* start, typename K::Sum* result, std::int64_t pairs,
               std::int64_t repeats) {
    constexpr TensorShape shape = tensor_shape(K::format, compiled_for);
    constexpr unsigned chains = tensor_plan(K::format, true).chains;
    constexpr unsigned sums = shape.sums();
    const unsigned lane = threadIdx.x % warp_lanes;
    const std::uint64_t threads = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
    const std::uint64_t thread = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    typename K::Register a[2][shape.a_registers()];
    typename K::Register b[2][shape.b_registers()];
#pragma unroll
    for (unsigned operand = 0; operand < 2; ++operand) {
#pragma unroll
        for (unsigned r = 0; r < shape.a_registers(); ++r)
            a[operand][r] = a_from[(operand * shape.a_registers() + r) * warp_lanes + lane];
#pragma unroll
        for (unsigned r = 0; r < shape.b_registers(); ++r)
            b[operand][r] = b_from[(operand * shape.b_registers() + r) * warp_lanes + lane];
    }
    typename K::Sum total[chains][sums] = {};
    for (std::int64_t repeat = 0; repeat < repeats; ++repeat) {
        typename K::Sum c[chains][sums];
#pragma unroll
        for (unsigned i = 0; i < chains * sums; ++i)
            c[i / sums][i % sums] = start[i * threads + thread];
#pragma unroll 2
        for (std::int64_t pair = 0; pair < pairs; ++pair) {
#pragma unroll
            for (unsigned k = 0; k < chains; ++k) multiply<K>(c[k], a[k % 2], b[0]);
#pragma unroll
            for (unsigned k = 0; k < chains; ++k) multiply<K>(c[k], a[k % 2], b[1]);
        }
#pragma unroll
        for (unsigned i = 0; i < chains * sums; ++i)
            total[i / sums][i % sums] += c[i / sums][i % sums];
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

/// Calls what(kind) with the kind as a type.
template <class What>
auto with_kind(TensorFormat format, const What& what) {
    using enum TensorFormat;
    return device::with_type<Kind<fp64>, Kind<tf32>, Kind<fp16>, Kind<bf16>, Kind<int8>,
                             Kind<fp8_e4m3>, Kind<fp8_e5m2>, Kind<fp32>, Kind<fp8_e4m3fnuz>,
                             Kind<fp8_e5m2fnuz>>(static_cast<std::size_t>(format), what);
}

template <class T>
T* as(std::byte* memory) {
    return reinterpret_cast<T*>(memory);
}
template <class T>
const T* as(const std::byte* memory) {
    return reinterpret_cast<const T*>(memory);
}

/// 90 where the code that this device runs was compiled for compute capability 9.0. AMD's code is for one chip.
int tensor_compiled_for(TensorFormat format) {
    if constexpr (is_amd) return device::properties().capability;
    return with_kind(format, []<class K>(K) {
        cudaFuncAttributes attributes{};
        device::check(cudaFuncGetAttributes(&attributes, run_tensor<K>));
        return attributes.ptxVersion;
    });
}

/// Blocks that a multiprocessor holds at once.
int tensor_resident_blocks(TensorFormat format) {
    return with_kind(format, []<class K>(K) {
        int blocks = 0;
        device::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, run_tensor<K>,
                                                                    tensor_threads, 0));
        return blocks;
    });
}

void fill_sums(TensorFormat format, const TensorArrays& arrays, const TensorSums& sums,
               std::uint64_t count, const device::Stream& stream) {
    with_kind(format, [&]<class K>(K) {
        using Sum = typename K::Sum;
        device::on_each(stream, count, MakeStart<Sum>{as<Sum>(arrays.start), sums});
    });
    device::check_launches();
}

void launch_tensor(TensorFormat format, const TensorArrays& arrays, const TensorSums& sums,
                   const device::Stream& stream) {
    with_kind(format, [&]<class K>(K) {
        using Register = typename K::Register;
        using Sum = typename K::Sum;
        const auto blocks = static_cast<unsigned>(sums.threads / tensor_threads);
        device::launch(run_tensor<K>, {blocks, tensor_threads, stream.get()},
                       as<Register>(arrays.a), as<Register>(arrays.b), as<Sum>(arrays.start),
                       as<Sum>(arrays.result), sums.pairs, sums.repeats);
    });
}

Check check_tensor(TensorFormat format, const TensorArrays& arrays, const TensorSums& sums,
                   std::uint64_t count, const device::Stream& stream) {
    return with_kind(format, [&]<class K>(K) {
        using Sum = typename K::Sum;
        const WrongSum<Sum> wrong{as<Sum>(arrays.result), arrays.growths, sums};
        return device::check_each(stream, count, wrong, 0,
                                  "every sum of every chain against its closed form, exactly");
    });
}

class DeviceTensor : public device::OnDevice {
public:
    struct Params {
        TensorFormat precision = TensorFormat::bf16;
    };
    static constexpr Info info{
        .id = "peak.tensor",
        .version = is_amd ? 1 : 2, // 1: mma.sync on 9.0, too
        .question = is_amd ? "What is the matrix-core peak of this device from registers?"
                           : "What is the tensor-core peak of this device from registers?",
        .method =
            "Independent chains of the matrix instruction (dense) on random operands, accumulating "
            "in fp32 (fp64 and int32 for fp64 and int8): wgmma on compute capability 9.0, a in "
            "registers and b in shared memory; mma.sync on other devices of NVIDIA and for fp64, "
            "MFMA on AMD's, all operands in registers. The setting `instruction` names it and its "
            "shape. The fastest number of warps in a short trial is used. Operands are chosen so "
            "that every sum is exact; each is compared on the device with its closed form.",
        .caveats =
            is_amd
                ? "16 x 16 MFMA on registers, as libraries use it; tf32 is xf32 of CDNA3. The fnuz "
                  "formats "
                  "of CDNA3 have other codes than OCP's fp8 of CDNA4: rows of their own. "
                  "Holds at the clock this instruction mix allows; integers of few bits take "
                  "less power than full mantissas. A multiply-add counts as two operations."
                : "On compute capability 10.x mma.sync reaches a part of the tensor-core peak: "
                  "tcgen05 is not used, and library matrix products exceed this value. No "
                  "sparsity. Holds at the clock that this instruction mix and the power limit "
                  "allow; integers of few bits take less power than full mantissas. A "
                  "multiply-add counts as two operations.",
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
                Name{"fp8_e5m2fnuz", TensorFormat::fp8_e5m2fnuz}}),
    };
    static constexpr bool is_ceiling = true;

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        constexpr std::int64_t buffers = std::int64_t{512}
                                         << 20U; // more than any device's sums need
        const int capability = tensor_capability(p.precision);
        if (Fit device = device::fits_device(buffers, capability); !device) return device;
        const int compiled = tensor_compiled_for(p.precision);
        if (!has_instruction(p.precision, compiled))
            return Fit::no("not applicable: this device has no matrix instruction of this format");
        return Fit::needs(compiled >= capability, "a build for compute capability ", capability,
                          " or later (ASSAY_CUDA_ARCHITECTURES), this device runs code for ",
                          compiled);
    }

    DeviceTensor(const Params& p, const Context& context)
        : format_{p.precision}, by_warpgroup_{has_wgmma(format_)}, device_{device::properties()},
          shape_{by_warpgroup_ ? wgmma_shape(format_)
                               : tensor_shape(format_, tensor_compiled_for(format_))},
          plan_{tensor_plan(format_, has_fast_fp64(device_.capability))},
          block_threads_{by_warpgroup_ ? wgmma_lanes : tensor_threads},
          most_blocks_{by_warpgroup_ ? wgmma_resident_blocks(format_)
                                     : tensor_resident_blocks(format_)} {
        if (by_warpgroup_) {
            plan_.chains = 1;
            context.sustained(device::powerful_batch, 0);
        }
        plan_.pairs = device_.times<std::int64_t>(plan_.pairs, 1);
        set_blocks(most_blocks_);
        upload_operands();
        start_ = device::Buffer<std::byte>{count() * register_bytes(format_)};
        result_ = device::Buffer<std::byte>{start_.size()};
        choose_blocks();
        context.setting("instruction", joined(by_warpgroup_ ? "wgmma m"
                                              : is_amd      ? "mfma m"
                                                            : "mma.sync m",
                                              shape_.m, 'n', shape_.n, 'k', shape_.k));
        context.setting("chains", plan_.chains);
        context.setting("blocks", sums_.threads / block_threads_);
        context.setting("block_threads", block_threads_);
        context.setting("compiled_for", tensor_compiled_for(format_));
    }

    void run() {
        const auto launch = by_warpgroup_ ? launch_wgmma : launch_tensor;
        launch(format_, arrays(), sums_, stream_);
    }

    Work work() const {
        const double operations = shape_.operations() * plan_.chains *
                                  static_cast<double>(2 * plan_.pairs * plan_.repeats) *
                                  static_cast<double>(sums_.threads) / shape_.lanes;
        return format_ == TensorFormat::int8 ? Work{.operations = operations}
                                             : Work{.flops = operations};
    }
    Check verify() const { return check_tensor(format_, arrays(), sums_, count(), stream_); }
    void poison() {
        // A NaN; as an integer far below every sum.
        device::set_bytes(result_, format_ == TensorFormat::int8 ? 0x80 : 0xff, stream_);
    }
    /// One sum, by one.
    void spoil() {
        const std::uint64_t pick = spoils_.next() % count();
        if (format_ == TensorFormat::fp64)
            raise<double>(pick);
        else if (format_ == TensorFormat::int8)
            raise<std::int32_t>(pick);
        else
            raise<float>(pick);
    }

private:
    static constexpr std::uint64_t operand_seed = 11;

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
        fill_sums(format_, arrays(), sums_, count(), stream_);
        stream_.wait();
    }

    device::Buffer<std::byte> uploaded(std::span<const std::uint64_t> words) const {
        const std::size_t each = register_bytes(format_);
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
        a_ = uploaded(a_fragments(shape_, values, format_));
        b_ = uploaded(b_fragments(shape_, values, format_));
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
        constexpr int rounds = 4;
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

    TensorFormat format_;
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
