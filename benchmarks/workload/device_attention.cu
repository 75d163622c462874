// SPDX-License-Identifier: Apache-2.0
#include "workload/device_attention_data.cuh"
#include "workload/device_attention_kernels.cuh"

#include <algorithm>

namespace assay::workload {
namespace {

template <class T>
class Decoding : public DecodingData<T, float> {
public:
    Decoding(const AttentionShape& shape, device::Place& place, const Context& context)
        : DecodingData<T, float>{shape, place, context} {
        choose_span();
        poison();
        context.setting("keys_of_part", of_.span);
    }

    void run() {
        const auto parts = static_cast<unsigned>(shape_.stretches() * of_.tiles() * of_.splits());
        const auto attend = shape_.size == 64 ? attend_part<T, 64> : attend_part<T, 128>;
        device::launch(attend, {parts, warp, place_.stream.get()}, of_);
        device::launch(join_parts<T, float*>,
                       {static_cast<unsigned>(shape_.queries()), static_cast<unsigned>(size_),
                        place_.stream.get()},
                       of_, results_.data());
    }
    void poison() { // NaN
        device::set_bytes(states_, 0xff, place_.stream);
        DecodingData<T, float>::poison();
    }

private:
    using DecodingData<T, float>::place_;
    using DecodingData<T, float>::shape_;
    using DecodingData<T, float>::size_;
    using DecodingData<T, float>::queries_;
    using DecodingData<T, float>::keys_;
    using DecodingData<T, float>::values_;
    using DecodingData<T, float>::results_;

    /// By trial.
    void choose_span() {
        of_ = {.queries = queries_.data(),
               .keys = keys_.data(),
               .values = values_.data(),
               .sums = nullptr,
               .states = nullptr,
               .group = static_cast<std::uint32_t>(shape_.group),
               .context = static_cast<std::uint32_t>(shape_.context),
               .span = tile};
        const std::size_t tiles = shape_.stretches() * of_.tiles();
        const auto spans = spans_of(of_, shape_.stretches(), place_.properties.multiprocessors);
        of_.span = *std::ranges::min_element(spans);
        const std::size_t most = of_.splits();
        states_ = device::Buffer<float2>{tiles * most * tile};
        sums_ = device::Buffer<float>{states_.size() * size_};
        of_.states = states_.data();
        of_.sums = sums_.data();
        of_.span = device::fastest_of(place_.clock, spans, [this](std::uint32_t span) {
            of_.span = span;
            run();
        });
    }

    device::Buffer<float2> states_;
    device::Buffer<float> sums_;
    Decode<T> of_{};
};

class DeviceAttention : private device::Place, public OneOfFormats<Decoding> {
public:
    using Params = DecodingParams;
    static constexpr Info info{
        .id = "workload.attention",
        .question = "How fast does this device run the attention of a decoding step?",
        .method =
            "For each sequence and head, one query attends to all `context` cached keys and "
            "values with softmax, as FlashDecoding does: a warp takes up to 16 queries that "
            "share keys (`group`) and a part of the context, by matrix instructions whose "
            "operands come from memory without a detour; parts are merged by a second kernel. "
            "The number of parts is the fastest in a short trial. Queries, cache and "
            "probabilities are bf16 or fp16, sums fp32. For a sample of heads all outputs are "
            "recomputed in fp64 from the cached numbers, within the rounding of probabilities. A "
            "call produces one token per sequence.",
        .caveats = "Bytes are the cached keys and values, once; FLOP those of scores and weighted "
                   "values. A cache that fits in the device's second level is faster than "
                   "memory. head_size 64 or 128. Groups of fewer than 16 leave rows of the "
                   "matrix instructions empty. No pages: a server's cache is in blocks of memory.",
        .headline = "bandwidth",
        .ceiling = "memory.stream peak.tensor",
        .place = "cuda",
        .bound = Bound::memory,
        .noise = Noise::workload,
    };
    static constexpr auto axes = decoding_axes;
    static constexpr bool single_call = true; // a call is what a user waits for

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        if (p.head_size != 64 && p.head_size != 128) return Fit::no("head_size must be 64 or 128");
        const auto shape = AttentionShape::of(p);
        if (Fit fit = shape.fits(); !fit) return fit;
        return device::fits_device(2 * shape.rows() * p.head_size * 2, 80);
    }

    DeviceAttention(const Params& p, const Context& context)
        : OneOf{p.precision, AttentionShape::of(p), static_cast<device::Place&>(*this), context} {}

    device::EventClock& clock() { return device::Place::clock; }
};

} // namespace

extern constinit const assay_benchmark device_attention = define<DeviceAttention>();

} // namespace assay::workload
