// SPDX-License-Identifier: Apache-2.0
#include "device/back_to_back.hpp"
#include "workload/cudnn_plans.hpp"
#include "workload/device_attention_data.cuh"

#include <optional>

namespace assay::workload {
namespace {

using cudnn::AttentionOperations;

/// Results have the type of the cache, as users have it.
template <class T>
class CudnnDecoding : public DecodingData<T, T, CacheOrder::tokens_first> {
    using Base = DecodingData<T, T, CacheOrder::tokens_first>;

public:
    CudnnDecoding(const AttentionShape& shape, device::Place& place, const Context& context)
        : Base{shape, place, context}, handle_{place.stream},
          chosen_{handle_,      AttentionOperations{shape, precision},
                  precision,    tensors(),
                  place.stream, place.clock,
                  workspace_},
          arguments_{AttentionOperations::uids, tensors(), workspace_.at_least(0)} {
        graph_.emplace(place.stream, [this] { queue(); });
        place.clock.expect_operations(graph_->operations());
        this->poison();
        context.setting("implementation", chosen_.name());
        context.setting("plans_tried", chosen_.tried());
        context.setting("workspace_bytes", workspace_.bytes());
        context.setting("operations", graph_->operations());
    }
    void run() { graph_->launch(this->place_.stream); }
    void queue() const { arguments_.queue(handle_, chosen_.plan()); }

private:
    using Chosen = cudnn::Chosen<AttentionOperations>;
    static constexpr Precision precision = is_bf16<T> ? Precision::bf16 : Precision::fp16;

    typename Chosen::Data tensors() const {
        return {this->queries_.data(), this->keys_.data(), this->values_.data(),
                this->results_.data()};
    }

    cudnn::Handle handle_;
    cudnn::Workspace workspace_;
    Chosen chosen_;
    cudnn::Arguments arguments_;
    std::optional<device::Graph> graph_;
};

Precision precision_of(Format format) {
    return format == Format::bf16 ? Precision::bf16 : Precision::fp16;
}

class CudnnAttention : private device::Place, public OneOfFormats<CudnnDecoding> {
public:
    using Params = DecodingParams;
    static constexpr Info info{
        .id = "workload.attention",
        .question = "How fast does cuDNN run the attention of a decoding step on this device?",
        .method =
            "For each sequence and head, one query attends to all `context` cached keys and "
            "values with softmax, by cuDNN's fused operation; `group` heads share keys and "
            "values. The graph is softmax(Q K^T) V without mask or scale: queries are scaled "
            "before. The cache is [sequence][token][head][number]. The fastest plan of the library "
            "in a short trial is launched as a CUDA graph. Queries, cache and results are bf16 or "
            "fp16, sums fp32. For a sample of heads all outputs are recomputed in fp64 from the "
            "cached numbers, within the rounding of probabilities and results. A call produces one "
            "token per sequence.",
        .caveats =
            "The rate of a library: another version may be faster. It compiles these kernels "
            "itself, by NVRTC. Bytes are the cached keys and values, once; FLOP those of scores "
            "and "
            "weighted values. A cache that fits in the device's second level is faster than "
            "memory. "
            "No pages: a server's cache is in blocks of memory.",
        .headline = "bandwidth",
        .ceiling = "memory.stream peak.tensor",
        .place = "cuda",
        .bound = Bound::memory,
        .noise = Noise::workload,
    };
    static constexpr auto axes = decoding_axes;
    static constexpr bool single_call = true; // a call is what a user waits for

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        if (p.head_size % 8 != 0 ||
            p.head_size > 256) // what its kernels load at once; their largest
            return Fit::no("head_size must be a multiple of 8, 256 at most");
        const auto shape = AttentionShape::of(p);
        if (Fit fit = shape.fits(); !fit) return fit;
        const std::int64_t bytes = 2 * shape.rows() * p.head_size * 2;
        if (Fit fit = device::fits_device(bytes + cudnn::most_workspace, 80); !fit) return fit;
        return cudnn::fits_library([&](const cudnn::Handle& handle) {
            const Precision precision = precision_of(p.precision);
            return cudnn::fits_engines(handle, AttentionOperations{shape, precision}, precision);
        });
    }

    CudnnAttention(const Params& p, const Context& context)
        : OneOf{p.precision, AttentionShape::of(p), static_cast<device::Place&>(*this), context} {}

    void metrics(Metrics& to) {
        device::add_back_to_back(to, device::Place::clock, stream, [this] {
            std::visit([](const auto& decoding) { decoding.queue(); }, state());
        });
    }
    device::EventClock& clock() { return device::Place::clock; }
};

} // namespace

extern constinit const assay_benchmark cudnn_attention = define<CudnnAttention>();

} // namespace assay::workload
