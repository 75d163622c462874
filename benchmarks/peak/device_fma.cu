// SPDX-License-Identifier: Apache-2.0
#include "device/benchmark.cuh"
#include "peak/device_fma_chains.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace assay::peak {
namespace {

/// Start values and results, of one slot for each chain.
struct FmaSlots {
    std::byte* start;
    std::byte* result;
};

constexpr std::size_t slot_bytes(FmaPrecision precision) {
    return precision == FmaPrecision::fp64 ? 8 : 4;
}
constexpr int slot_values(FmaPrecision precision) {
    return precision == FmaPrecision::fp64 || precision == FmaPrecision::fp32 ? 1 : 2;
}

// The instruction that is counted, on the type that the device has for a slot.
struct Fp64 {
    using Format = Fp64Fma;
    using Register = double;
    __device__ static Register step(Register x, Register f, Register a) { return fma(x, f, a); }
};
struct Fp32 {
    using Format = Fp32Fma;
    using Register = float;
    __device__ static Register step(Register x, Register f, Register a) { return fmaf(x, f, a); }
};
// NOLINTBEGIN(performance-unnecessary-value-param): registers
struct Fp16 {
    using Format = Fp16Fma;
    using Register = __half2;
    __device__ static Register step(Register x, Register f, Register a) { return __hfma2(x, f, a); }
};
struct Bf16 {
    using Format = Bf16Fma;
    using Register = __nv_bfloat162;
    __device__ static Register step(Register x, Register f, Register a) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
        return __hfma2(x, f, a);
#else
        static_cast<void>(f); // no such instruction; the benchmark does not run there
        static_cast<void>(a);
        return x;
#endif
    }
};
// NOLINTEND(performance-unnecessary-value-param)

/// Pairs come as parameters of the kernel: a constant is an immediate of the instruction, which one of its two opcodes
/// (HFMA2, HFMA2.MMA) has, and the pipe of the other would stay idle.
template <class Kind>
__device__ typename Kind::Register in_register(typename Kind::Format::Slot parameter,
                                               typename Kind::Format::Slot constant) {
    if constexpr (Kind::Format::values == 1) return constant;
    typename Kind::Register pair;
    memcpy(static_cast<void*>(&pair), &parameter, sizeof pair);
    return pair;
}

template <class Kind, unsigned chains>
__global__ void __launch_bounds__(fma_threads)
    run_chains(const typename Kind::Register* start, typename Kind::Register* result,
               std::uint64_t rounds, typename Kind::Format::Slot factor_slot,
               typename Kind::Format::Slot addend_slot) {
    using Format = typename Kind::Format;
    const std::uint64_t threads = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
    const std::uint64_t thread = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const auto factor = in_register<Kind>(factor_slot, Format::slot_of(Format::factor));
    const auto addend = in_register<Kind>(addend_slot, Format::slot_of(Format::addend));
    typename Kind::Register values[chains];
#pragma unroll
    for (unsigned k = 0; k < chains; ++k) values[k] = start[k * threads + thread];
    for (std::uint64_t round = 0; round < rounds; ++round)
#pragma unroll
        for (unsigned step = 0; step < round_instructions / chains; ++step)
#pragma unroll
            for (unsigned k = 0; k < chains; ++k) values[k] = Kind::step(values[k], factor, addend);
#pragma unroll
    for (unsigned k = 0; k < chains; ++k)
        result[k * threads + thread] = Kind::step(values[k], factor, addend);
}

template <class Format>
struct MakeStart {
    typename Format::Slot* to;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t i) const { to[i] = Format::start(i); }
};

template <class Format>
struct WrongResult {
    const typename Format::Slot* result;
    std::uint64_t steps;
    ASSAY_HOST_DEVICE double operator()(std::uint64_t i) const {
        return result[i] == fma_result<Format>(i, steps) ? 0 : 1;
    }
};

/// Calls what(kind) with the kind as a type.
template <class What>
auto with_kind(FmaPrecision precision, const What& what) {
    return device::with_type<Fp64, Fp32, Fp16, Bf16>(static_cast<std::size_t>(precision), what);
}

template <class Kind>
auto kernel_of(unsigned chains) {
    return chains == 4 ? run_chains<Kind, 4> : run_chains<Kind, most_chains>;
}

template <class T>
T* as(std::byte* memory) {
    return reinterpret_cast<T*>(memory);
}

/// Blocks of this kernel that a multiprocessor holds at once.
int resident_blocks(FmaPrecision precision, unsigned chains) {
    return with_kind(precision, [&]<class Kind>(Kind) {
        int blocks = 0;
        device::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks, kernel_of<Kind>(chains), fma_threads, 0));
        return blocks;
    });
}

void fill_starts(FmaPrecision precision, const FmaSlots& slots, std::uint64_t count,
                 const device::Stream& stream) {
    with_kind(precision, [&]<class Kind>(Kind) {
        using Slot = typename Kind::Format::Slot;
        device::on_each(stream, count, MakeStart<typename Kind::Format>{as<Slot>(slots.start)});
    });
    device::check_launches();
}

void launch_fma(FmaPrecision precision, const FmaSlots& slots, const FmaShape& shape,
                const device::Stream& stream) {
    with_kind(precision, [&]<class Kind>(Kind) {
        using Register = typename Kind::Register;
        using Format = typename Kind::Format;
        device::launch(kernel_of<Kind>(shape.chains), {shape.blocks, fma_threads, stream.get()},
                       as<Register>(slots.start), as<Register>(slots.result), shape.rounds,
                       Format::slot_of(Format::factor), Format::slot_of(Format::addend));
    });
}

Check check_fma(FmaPrecision precision, const FmaSlots& slots, const FmaShape& shape,
                const device::Stream& stream) {
    return with_kind(precision, [&]<class Kind>(Kind) {
        using Format = typename Kind::Format;
        const WrongResult<Format> wrong{as<typename Format::Slot>(slots.result), fma_steps(shape)};
        return device::check_each(
            stream, fma_slots(shape), wrong, 0,
            "every value of every chain recomputed one step after the other, bit for bit");
    });
}

class DeviceFma : public device::OnDevice {
public:
    struct Params {
        FmaPrecision precision = FmaPrecision::fp64;
    };
    static constexpr Info info{
        .id = "peak.fma",
        .question = "What is the floating-point peak of the cores of this device?",
        .method =
            "Four or eight independent chains of multiply-adds per thread, in registers, on values "
            "that differ in every chain, with the multiprocessors fully or half occupied: the "
            "fastest in a short trial. fp16 and bf16 use the instructions on pairs. Every value is "
            "recomputed on the device step by step and compared bit for bit.",
        .caveats =
            "A roofline bound for code that stays in registers and uses no tensor cores "
            "(peak.tensor), at the clock this instruction mix allows. Starting and ending the "
            "kernel is included, below one percent. A multiply-add counts as two operations. "
            "Devices not made for fp64 have a thirty-second or less of their fp32 rate.",
        .headline = "flop_rate",
        .place = device::place_kind,
        .bound = Bound::vector_units,
        .noise = Noise::arithmetic,
    };
    static constexpr std::tuple axes{
        choice("precision", "format of the values", &Params::precision,
               {Name{"fp64", FmaPrecision::fp64}, Name{"fp32", FmaPrecision::fp32},
                Name{"fp16", FmaPrecision::fp16}, Name{"bf16", FmaPrecision::bf16}}),
    };
    static constexpr bool is_ceiling = true;

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        constexpr std::int64_t buffers = std::int64_t{64}
                                         << 20U; // more than any device's chains need
        return device::fits_device(buffers, p.precision == FmaPrecision::bf16 ? 80 : 0);
    }

    DeviceFma(const Params& p, const Context& context)
        : precision_{p.precision}, shapes_{shapes(precision_)}, start_{most_bytes()},
          result_{most_bytes()} {
        fill_starts(precision_, slots(), most_slots(), stream_);
        stream_.wait();
        choose_shape();
        context.setting("blocks", shape_.blocks);
        context.setting("block_threads", fma_threads);
        context.setting("chains", shape_.chains);
        context.setting("steps", fma_steps(shape_));
    }

    void run() { launch_fma(precision_, slots(), shape_, stream_); }
    Work work() const {
        constexpr double flops_per_step = 2;
        return {.flops = flops_per_step * slot_values(precision_) *
                         static_cast<double>(fma_slots(shape_)) *
                         static_cast<double>(fma_steps(shape_))};
    }
    Check verify() const { return check_fma(precision_, slots(), shape_, stream_); }
    void poison() { device::set_bytes(result_, 0xff, stream_); } // NaN
    /// The last bit of one slot.
    void spoil() {
        const std::uint64_t slot = spoils_.next() % fma_slots(shape_);
        std::byte* const at = result_.data() + slot * slot_bytes(precision_);
        device::put(device::get(at, stream_) ^ std::byte{1}, at, stream_);
    }

private:
    /// Full and half full multiprocessors, more and fewer chains.
    static std::vector<FmaShape> shapes(FmaPrecision precision) {
        const device::Properties found = device::properties();
        std::vector<FmaShape> all;
        for (const unsigned chains : {most_chains, 4U}) {
            const int resident = resident_blocks(precision, chains);
            for (const int blocks : {resident, (resident + 1) / 2})
                all.push_back({.blocks = static_cast<unsigned>(blocks * found.multiprocessors),
                               .chains = chains,
                               .rounds = found.times<std::uint64_t>(
                                   fma_rounds(precision, found.capability), 1)});
        }
        return all;
    }
    std::uint64_t most_slots() const {
        std::uint64_t most = 0;
        for (const FmaShape& shape : shapes_) most = std::max(most, fma_slots(shape));
        return most;
    }
    std::size_t most_bytes() const { return most_slots() * slot_bytes(precision_); }
    FmaSlots slots() const { return {.start = start_.data(), .result = result_.data()}; }

    void choose_shape() {
        const auto queue = [this](std::size_t i) {
            shape_ = shapes_[i];
            run();
        };
        const auto steps = [this](std::size_t i) {
            return static_cast<double>(fma_slots(shapes_[i]) * fma_steps(shapes_[i]));
        };
        shape_ = shapes_[device::fastest_of(clock_, shapes_.size(), queue, steps)];
    }

    FmaPrecision precision_;
    std::vector<FmaShape> shapes_;
    FmaShape shape_;
    device::Buffer<std::byte> start_;
    device::Buffer<std::byte> result_;
    Picks spoils_{6};
};

} // namespace

extern constinit const assay_benchmark device_fma = define<DeviceFma>();

} // namespace assay::peak
