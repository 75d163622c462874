// SPDX-License-Identifier: Apache-2.0
#include "device/back_to_back.hpp"
#include "workload/device_attention_data.cuh"
#include "workload/device_decoding_kernels.cuh"

namespace assay::workload {
namespace {

template <class T>
class Decoding : public DecodingData<T, float> {
public:
    Decoding(const AttentionShape& shape, device::Place& place, const Context& context)
        : DecodingData<T, float>{shape, place, context} {
        const auto spans = parts_.prepare(of_, kernel_, shape_.size, shape_.stretches(),
                                          place_.properties, place_.stream);
        of_.span = device::fastest_of(place_.clock, spans, [this](std::uint32_t span) {
            of_.span = span;
            run();
        });
        poison();
        context.setting("keys_of_part", of_.span);
        context.setting("parts", of_.splits());
    }

    void run() { kernel_.queue(place_.stream, of_, shape_.stretches(), results_.data()); }
    void poison() { // NaN
        device::set_bytes(parts_.states(), 0xff, place_.stream);
        DecodingData<T, float>::poison();
    }

private:
    using DecodingData<T, float>::place_;
    using DecodingData<T, float>::shape_;
    using DecodingData<T, float>::results_;

    DecodingKernel<T, T, float*> kernel_ = DecodingKernel<T, T, float*>::of(shape_.size);
    DecodingParts parts_;
    Decode<T> of_{.queries = this->queries_.data(),
                  .keys = this->keys_.data(),
                  .values = this->values_.data(),
                  .sums = nullptr,
                  .states = nullptr,
                  .joined = nullptr,
                  .group = static_cast<std::uint32_t>(shape_.group),
                  .context = static_cast<std::uint32_t>(shape_.context),
                  .span = tile};
};

class DeviceAttention : private device::Place, public OneOfFormats<Decoding> {
public:
    using Params = DecodingParams;
    static constexpr Info info{
        .id = "workload.attention",
        .question = "How fast does this device run the attention of a decoding step?",
        .method =
            "For each sequence and head, one query attends to all `context` cached keys and "
            "values with softmax, as FlashDecoding does: a block of four warps takes up to 16 "
            "queries that share keys (`group`) and a part of the context, which it copies to "
            "shared memory ahead of the matrix instructions; the last block of a tile of queries "
            "joins its parts. The number of parts is the fastest in a short trial. Queries, cache "
            "and probabilities are bf16 or fp16, sums fp32. For a sample of heads all outputs are "
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

    void metrics(Metrics& to) {
        device::add_back_to_back(to, device::Place::clock, stream, [this] { run(); });
    }
    device::EventClock& clock() { return device::Place::clock; }
};

} // namespace

extern constinit const assay_benchmark device_attention = define<DeviceAttention>();

} // namespace assay::workload
