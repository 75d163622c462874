// SPDX-License-Identifier: Apache-2.0
#include "device/back_to_back.hpp"
#include "workload/cudnn_prefill.hpp"
#include "workload/device_prefill_data.cuh"

namespace assay::workload {
namespace {

template <class T, bool is_causal>
class CudnnPrefilling : public PrefillData<T> {
public:
    CudnnPrefilling(const PrefillShape& shape, device::Place& place, const Context& context)
        : PrefillData<T>{shape, place, context}, scale_{shape.scale()}, handle_{place.stream},
          chosen_{handle_,      Operations{shape, precision},
                  precision,    tensors(),
                  place.stream, place.clock,
                  workspace_},
          arguments_{Operations::uids, tensors(), workspace_.at_least(0)} {
        this->poison();
        context.setting("implementation", chosen_.name());
        context.setting("plans_tried", chosen_.tried());
        context.setting("workspace_bytes", workspace_.bytes());
    }
    void run() { arguments_.queue(handle_, chosen_.plan()); }
    void metrics(Metrics& to) {
        device::add_back_to_back(to, this->place_.clock, this->place_.stream, [this] { run(); });
    }

private:
    using Operations = cudnn::PrefillOperations<is_causal>;
    using Chosen = cudnn::Chosen<Operations>;
    static constexpr Precision precision = is_bf16<T> ? Precision::bf16 : Precision::fp16;

    typename Chosen::Data tensors() {
        typename Chosen::Data all{this->queries_.data(), this->keys_.data(), this->values_.data(),
                                  this->results_.data(), &scale_};
        if constexpr (is_causal) all.back() = &left_out_;
        return all;
    }

    float scale_;
    float left_out_ = Operations::left_out;
    cudnn::Handle handle_;
    cudnn::Workspace workspace_;
    Chosen chosen_;
    cudnn::Arguments arguments_;
};

using Bf16 = __nv_bfloat16;
class CudnnPrefill : private device::Place,
                     public OneOf<CudnnPrefilling<Bf16, false>, CudnnPrefilling<__half, false>,
                                  CudnnPrefilling<Bf16, true>, CudnnPrefilling<__half, true>> {
public:
    using Params = PrefillParams;
    static constexpr Info info{
        .id = "workload.prefill_attention",
        .question = "How fast does cuDNN run the attention of a prompt on this device?",
        .method =
            "For each prompt and head, every token's query attends to the keys and values of all "
            "tokens, or with `causal` to its own and earlier ones. Scores are divided by "
            "sqrt(head_size) before softmax. It is cuDNN's fused operation; the fastest plan of "
            "the "
            "library in a short trial is measured. Tensors are bf16 or fp16, sums fp32. Rows of a "
            "sample of heads are recomputed in fp64, within the rounding of probabilities and "
            "results.",
        .caveats =
            "The rate of a library: another version may be faster. It compiles these kernels "
            "itself, by NVRTC. FLOP are those of both products, half of them with `causal`, "
            "as FlashAttention counts. Tensors are [prompt][head][token][number].",
        .headline = "flop_rate",
        .ceiling = "peak.tensor",
        .place = "cuda",
        .bound = Bound::matrix_units,
        .noise = Noise::workload,
        .items = "tokens",
    };
    static constexpr auto axes = prefill_axes<Params>;
    static constexpr bool single_call = true; // a call is what a user waits for

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        if (p.head_size % 8 != 0) return Fit::no("head_size must be a multiple of 8");
        const auto shape = PrefillShape::of(p);
        if (Fit fit = shape.fits(); !fit) return fit;
        if (Fit fit = device::fits_device(shape.bytes() + cudnn::most_workspace, 80); !fit)
            return fit;
        return cudnn::fits_library([&](const cudnn::Handle& handle) {
            const auto precision = p.precision == Format::bf16 ? Precision::bf16 : Precision::fp16;
            const auto ask = [&](const auto& operations) {
                return cudnn::fits_engines(handle, operations, precision);
            };
            return shape.is_causal ? ask(cudnn::PrefillOperations<true>{shape, precision})
                                   : ask(cudnn::PrefillOperations<false>{shape, precision});
        });
    }

    CudnnPrefill(const Params& p, const Context& context)
        : OneOf{static_cast<Which>((p.causal ? 2 : 0) + static_cast<int>(p.precision)),
                PrefillShape::of(p), static_cast<device::Place&>(*this), context} {}

    device::EventClock& clock() { return device::Place::clock; }
    void metrics(Metrics& to) {
        std::visit([&](auto& one) { one.metrics(to); }, state());
    }

private:
    enum class Which : std::uint8_t {}; // number of the state
};

} // namespace

extern constinit const assay_benchmark cudnn_prefill = define<CudnnPrefill>();

} // namespace assay::workload
