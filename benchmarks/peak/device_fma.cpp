// SPDX-License-Identifier: Apache-2.0

#include "device/place.hpp"
#include "device/properties.hpp"
#include "device/trial.hpp"
#include "peak/device_fma_kernels.hpp"

#include <assay/define.hpp>

#include <span>

namespace assay::peak {
namespace {

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
        .place = "cuda",
        .bound = Bound::vector_units,
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
