// SPDX-License-Identifier: Apache-2.0

#include "device/place.hpp"
#include "device/properties.hpp"
#include "peak/device_fma_chains.hpp"
#include "peak/device_tensor_kernels.hpp"

#include <assay/define.hpp>

#include <span>

namespace assay::peak {
namespace {

class DeviceTensor : public device::OnDevice {
public:
    struct Params {
        TensorFormat precision = TensorFormat::bf16;
    };
    static constexpr Info info{
        .id = "peak.tensor",
        .question = "What is the tensor-core peak of this device from registers?",
        .method = "Independent chains of the warp-level matrix instruction (mma.sync, dense) on "
                  "random operands in registers, accumulating in fp32 (fp64 and int32 for fp64 and "
                  "int8); the setting `instruction` names its shape. The fastest number of warps "
                  "in a short trial is used. Operands are chosen so that every sum is exact; each "
                  "is compared on the device with its closed form.",
        .caveats = "What mma.sync reaches, which most kernels use. On compute capability 9.0 that "
                   "is a part of the tensor-core peak: wgmma (9.0) and tcgen05 (10.x), with "
                   "operands from shared memory, reach the datasheet, and library matrix products "
                   "exceed this value; the roofline bound is then the datasheet's. For 9.0 the "
                   "compiler accumulates fp8 products with separate instructions. No sparsity. "
                   "Holds at the clock this instruction mix allows; integers of few bits take less "
                   "power than full mantissas. A multiply-add counts as two operations.",
        .headline = "flop_rate",
        .place = "cuda",
        .bound = Bound::matrix_units,
    };
    static constexpr std::tuple axes{
        choice("precision", "format of the products", &Params::precision,
               {Name{"fp64", TensorFormat::fp64}, Name{"tf32", TensorFormat::tf32},
                Name{"fp16", TensorFormat::fp16}, Name{"bf16", TensorFormat::bf16},
                Name{"int8", TensorFormat::int8}, Name{"fp8_e4m3", TensorFormat::fp8_e4m3},
                Name{"fp8_e5m2", TensorFormat::fp8_e5m2}}),
    };
    static constexpr bool is_ceiling = true;

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        constexpr std::int64_t buffers = std::int64_t{512}
                                         << 20U; // more than any device's sums need
        const int capability = tensor_capability(p.precision);
        if (Fit device = device::fits_device(buffers, capability); !device) return device;
        const int compiled = tensor_compiled_for(p.precision);
        return Fit::needs(compiled >= capability, "a build for compute capability ", capability,
                          " or later (ASSAY_CUDA_ARCHITECTURES), this device runs code for ",
                          compiled);
    }

    DeviceTensor(const Params& p, const Context& context)
        : format_{p.precision}, device_{device::properties()},
          shape_{tensor_shape(format_, tensor_compiled_for(format_))},
          plan_{tensor_plan(format_, has_fast_fp64(device_.capability))},
          most_blocks_{tensor_resident_blocks(format_)} {
        plan_.pairs = device_.times<std::int64_t>(plan_.pairs, 1);
        set_blocks(most_blocks_);
        upload_operands();
        start_ = device::Buffer<std::byte>{count() * register_bytes(format_)};
        result_ = device::Buffer<std::byte>{start_.size()};
        choose_blocks();
        context.setting("instruction",
                        joined("mma.sync m", shape_.m, 'n', shape_.n, 'k', shape_.k));
        context.setting("chains", plan_.chains);
        context.setting("blocks", sums_.threads / tensor_threads);
        context.setting("block_threads", tensor_threads);
        context.setting("compiled_for", tensor_compiled_for(format_));
    }

    void run() { launch_tensor(format_, arrays(), sums_, stream_); }

    Work work() const {
        const double operations = shape_.operations() * plan_.chains *
                                  static_cast<double>(2 * plan_.pairs * plan_.repeats) *
                                  static_cast<double>(sums_.threads / warp_lanes);
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
        sums_ = {.threads = blocks * tensor_threads,
                 .sums = shape_.sums(),
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

    /// As many blocks as a multiprocessor holds, half or a quarter of them: the fastest by trial; a later one must
    /// be clearly faster, so that the choice is the same in every process.
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
    device::Properties device_;
    TensorShape shape_;
    TensorPlan plan_;
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
