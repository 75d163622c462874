// SPDX-License-Identifier: Apache-2.0
#include "device/benchmark.cuh"
#include "workload/attention_data.hpp"
#include "workload/device_attention_kernels.cuh"

#include <array>

namespace assay::workload {
namespace {

/// The numbers of a cache, rounded.
template <class T>
struct Rounded {
    device::Uniform<float> from;
    ASSAY_HOST_DEVICE T operator()(std::uint64_t i) const { return static_cast<T>(from(i)); }
};

template <class T>
class Decoding {
public:
    Decoding(const AttentionShape& shape, device::Place& place, const Context& context)
        : place_{place}, shape_{shape}, size_{static_cast<std::size_t>(shape.size)},
          queries_{shape.queries() * size_}, keys_{static_cast<std::size_t>(shape.rows()) * size_},
          values_{keys_.size()}, results_{queries_.size()} {
        const float most = attention_data::most;
        const float of_query = attention_data::most_of_queries(shape);
        fill(queries_, {attention_data::queries_seed, -of_query, of_query});
        fill(keys_, {attention_data::keys_seed, -most, most});
        fill(values_, {attention_data::values_seed, -most, most});
        choose_span();
        poison();
        const double bytes = work().bytes;
        context.setting("cache_bytes", bytes);
        context.setting("keys_of_part", of_.span);
        context.tell({.footprint_bytes = bytes});
    }

    void run() {
        const auto parts = static_cast<unsigned>(shape_.stretches() * of_.tiles() * of_.splits());
        const auto attend = shape_.size == 64 ? attend_part<T, 64> : attend_part<T, 128>;
        device::launch(attend, {parts, warp, place_.stream.get()}, of_);
        device::launch(join_parts<T>,
                       {static_cast<unsigned>(shape_.queries()), static_cast<unsigned>(size_),
                        place_.stream.get()},
                       of_, results_.data());
    }
    Work work() const { return shape_.work(static_cast<double>(keys_.bytes() + values_.bytes())); }
    Check verify() const {
        const Samples which = attention_data::samples(shape_, round_);
        struct Stretch {
            std::vector<T> keys;
            std::vector<T> values;
        };
        const auto context = static_cast<std::size_t>(shape_.context);
        std::vector<Stretch> stretches;
        for (std::size_t i = 0; i < which.size(); ++i) {
            const std::size_t first = shape_.first_row(which[i]) * size_;
            stretches.push_back(
                {device::to_host(keys_.data() + first, context * size_, place_.stream),
                 device::to_host(values_.data() + first, context * size_, place_.stream)});
        }
        const auto queries = device::to_host(queries_, place_.stream);
        const auto results = device::to_host(results_, place_.stream);
        const auto at = [&](const std::vector<T>& rows, std::size_t row, std::size_t d) {
            return static_cast<float>(rows[row % context * size_ + d]);
        };
        return attention_data::check(
            shape_, {Precision::fp32, is_bf16<T> ? 0x1p-9 : 0x1p-11}, which, team_threads(),
            [&](auto query, auto d) { return static_cast<float>(queries[query * size_ + d]); },
            [&](auto i, auto row, auto d) { return at(stretches[i].keys, row, d); },
            [&](auto i, auto row, auto d) { return at(stretches[i].values, row, d); },
            [&](auto query, auto d) { return results[query * size_ + d]; });
    }
    Outputs outputs() const { return {device::output(results_, place_.stream)}; }
    void poison() { // NaN
        device::set_bytes(results_, 0xff, place_.stream);
        device::set_bytes(states_, 0xff, place_.stream);
        ++round_;
    }
    /// One number of as many queries in a row as surely hold one that is looked at.
    void spoil() {
        const std::uint64_t pick = spoils_.next();
        const Slice damage = attention_data::samples(shape_, round_).damage(pick >> 16U);
        for (std::size_t query = damage.first; query < damage.last; ++query)
            device::change(results_.data() + query * size_ + pick % size_, place_.stream,
                           [](float value) { return damaged(Precision::bf16, value); });
    }

private:
    void fill(const device::Buffer<T>& to, const device::Uniform<float>& from) const {
        device::for_each_now(place_.stream, to.size(), device::Fill{to.data(), Rounded<T>{from}});
    }
    /// More parts fill the device, fewer have less to join: the fastest by trial.
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
        std::vector<std::uint32_t> spans;
        std::size_t most = 0;
        for (const std::size_t warps :
             std::array<std::size_t, 4>{64, 32, 16, 8}) { // of a multiprocessor
            const std::size_t splits =
                warps * static_cast<std::size_t>(place_.properties.multiprocessors) / tiles + 1;
            const auto keys =
                static_cast<std::uint32_t>((of_.context / splits + tile) / tile * tile);
            if (!spans.empty() && spans.back() == keys) continue;
            spans.push_back(keys);
            of_.span = keys;
            most = std::max<std::size_t>(most, of_.splits());
        }
        states_ = device::Buffer<float2>{tiles * most * tile};
        sums_ = device::Buffer<float>{states_.size() * size_};
        of_.states = states_.data();
        of_.sums = sums_.data();
        of_.span = device::fastest_of(place_.clock, spans, [this](std::uint32_t span) {
            of_.span = span;
            run();
        });
    }

    device::Place& place_;
    AttentionShape shape_;
    std::size_t size_;
    device::Buffer<T> queries_;
    device::Buffer<T> keys_;
    device::Buffer<T> values_;
    device::Buffer<float> results_;
    device::Buffer<float2> states_;
    device::Buffer<float> sums_;
    Decode<T> of_{};
    std::uint64_t round_ = 0; // of samples
    Picks spoils_{attention_data::spoil_seed};
};

enum class Format : std::uint8_t { bf16, fp16 };

class DeviceAttention : private device::Place,
                        public OneOf<Decoding<__nv_bfloat16>, Decoding<__half>> {
public:
    struct Params {
        std::int64_t batch = 1;
        std::int64_t context = 4096;
        std::int64_t heads = 32;
        std::int64_t head_size = 128;
        Format precision = Format::bf16;
        std::int64_t group = 1;
    };
    static constexpr Info info{
        .id = "workload.attention",
        .question = "How fast does this device run the attention of a decoding step?",
        .method =
            "For each sequence and head, one query attends to all `context` cached keys and values "
            "with softmax, as FlashDecoding does: a warp takes up to 16 queries that share keys "
            "(`group`) and a part of the context, by matrix instructions whose operands come from "
            "memory without a detour; parts are merged by a second kernel. As many parts as are "
            "the fastest in a short trial. Queries, cache and probabilities are bf16 or fp16, "
            "sums fp32. For a sample of heads all outputs are recomputed in fp64 from the cached "
            "numbers, within the rounding of probabilities. A call produces one token per "
            "sequence.",
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
    static constexpr auto axes =
        std::tuple_cat(attention_data::axes<Params>,
                       std::tuple{choice("precision", "type of the cache", &Params::precision,
                                         {Name{"bf16", Format::bf16}, Name{"fp16", Format::fp16}})},
                       attention_data::group_axis<Params>);
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
