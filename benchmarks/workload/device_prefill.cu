// SPDX-License-Identifier: Apache-2.0
#include "device/back_to_back.hpp"
#include "workload/device_prefill_data.cuh"
#include "workload/device_prefill_kernels.cuh"

#include <numbers>

namespace assay::workload {
namespace {

enum class Instruction : std::uint8_t { best, mma };

struct OwnPrefillParams : PrefillParams {
    Instruction instruction = Instruction::best;
};

template <class T>
class Prefilling : public PrefillData<T> {
public:
    Prefilling(const PrefillShape& shape, Instruction wanted, device::Place& place,
               const Context& context)
        : PrefillData<T>{shape, place, context} {
        of_ = {.queries = queries_.data(),
               .keys = keys_.data(),
               .values = values_.data(),
               .results = results_.data(),
               .tokens = static_cast<std::uint32_t>(shape.tokens),
               .group = static_cast<std::uint32_t>(shape.group),
               .is_causal = shape.is_causal,
               .scale = shape.scale() * std::numbers::log2e_v<float>};
        if (wanted == Instruction::best && place.properties.capability == prefill_wgmma_capability)
            choose(context);
        this->poison();
        context.setting("matrix_instruction", by_wgmma_ ? "wgmma" : "mma");
    }

    void run() {
        const std::int64_t heads = shape_.batch * shape_.heads;
        if (by_wgmma_) return launch_prefill_wgmma(of_, heads, shape_.size, place_.stream);
        using By = PrefillByMma;
        const auto kernel = shape_.size == 64 ? prefill_by_mma<T, 64> : prefill_by_mma<T, 128>;
        const unsigned shared = By::shared_bytes(static_cast<unsigned>(shape_.size));
        device::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           static_cast<int>(shared)));
        device::launch(kernel,
                       {static_cast<unsigned>(heads * of_.blocks_of_head(By::rows)), By::threads,
                        place_.stream.get(), shared},
                       of_);
    }
    void metrics(Metrics& to) {
        device::add_back_to_back(to, place_.clock, place_.stream, [this] { run(); });
    }

private:
    using PrefillData<T>::place_;
    using PrefillData<T>::shape_;
    using PrefillData<T>::queries_;
    using PrefillData<T>::keys_;
    using PrefillData<T>::values_;
    using PrefillData<T>::results_;

    /// By trial, if results by wgmma are right here.
    void choose(const Context& context) {
        by_wgmma_ = true;
        if (place_.properties.is_cpu()) return; // nothing to time
        this->poison();
        run();
        if (const Check check = this->verify(); !check.passed) {
            context.setting("wgmma_refused", check.detail);
            by_wgmma_ = false;
            return;
        }
        by_wgmma_ = device::fastest_of(place_.clock, 2, [this](std::size_t which) {
                        by_wgmma_ = which == 1;
                        run();
                    }) == 1;
    }

    Prefill<T> of_{};
    bool by_wgmma_ = false;
};

class DevicePrefill : private device::Place, public OneOfFormats<Prefilling> {
public:
    using Params = OwnPrefillParams;
    static constexpr Info info{
        .id = "workload.prefill_attention",
        .question = "How fast does this device run the attention of a prompt?",
        .method =
            "For each prompt and head, every token's query attends to the keys and values of all "
            "tokens, or with `causal` to its own and earlier ones. Scores are divided by "
            "sqrt(head_size) before softmax. A block passes over tiles of keys and values in "
            "shared memory, as FlashAttention-2 does, by mma.sync; on compute capability 9.0 also "
            "by wgmma with scores of the next tile computed meanwhile, as FlashAttention-3 does. "
            "`best` is wgmma where it is right and faster in a short trial. Data and probabilities "
            "are bf16 or fp16, sums fp32. Rows of a sample of heads are recomputed in fp64, within "
            "the rounding of probabilities and results.",
        .caveats = "FLOP are those of both products, half of them with `causal`, as FlashAttention "
                   "counts; the kernel computes a little more along the diagonal. Tensors are "
                   "[prompt][head][token][number]. No dropout, padding or sliding window.",
        .headline = "flop_rate",
        .ceiling = "peak.tensor",
        .place = "cuda",
        .bound = Bound::matrix_units,
        .noise = Noise::workload,
        .items = "tokens",
    };
    static constexpr auto axes = std::tuple_cat(
        prefill_axes<Params>,
        std::tuple{choice(
            "instruction", "matrix instruction; best: wgmma where it is faster in a trial",
            &Params::instruction, {Name{"best", Instruction::best}, Name{"mma", Instruction::mma}},
            {Instruction::best})});
    static constexpr bool single_call = true; // a call is what a user waits for

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        if (p.head_size != 64 && p.head_size != 128) return Fit::no("head_size must be 64 or 128");
        const auto shape = PrefillShape::of(p);
        if (Fit fit = shape.fits(); !fit) return fit;
        return device::fits_device(shape.bytes(), 80);
    }

    DevicePrefill(const Params& p, const Context& context)
        : OneOf{p.precision, PrefillShape::of(p), p.instruction, static_cast<device::Place&>(*this),
                context} {}

    device::EventClock& clock() { return device::Place::clock; }
    void metrics(Metrics& to) {
        std::visit([&](auto& one) { one.metrics(to); }, state());
    }
};

} // namespace

extern constinit const assay_benchmark device_prefill = define<DevicePrefill>();

} // namespace assay::workload
