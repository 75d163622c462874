// SPDX-License-Identifier: Apache-2.0
//
// A step of a language model on a device: products by cuBLASLt or by rows, kernels between them, one CUDA graph. For
// .cu files.

#pragma once

#include "cublaslt_llm_products.cuh"
#include "device/graph.hpp"

#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace assay::model {

/// Shapes of the products of a step: of layers, and of the head for the last token of each sequence.
struct LlmProducts {
    explicit LlmProducts(const LlmStep& step)
        : qkv{step.shape.qkv_width(), step.tokens(), step.shape.hidden},
          output{step.shape.hidden, step.tokens(), step.shape.query_width()},
          gate_up{2 * step.shape.inner, step.tokens(), step.shape.hidden},
          down{step.shape.hidden, step.tokens(), step.shape.inner},
          head{step.shape.vocabulary, step.batch, step.shape.hidden} {}
    gemm::Shape qkv, output, gate_up, down, head;
};

class LlmOnDevice : private device::Place, public LlmStages<LlmTensor> {
public:
    static Fit fits(const LlmStep& step, const LlmNarrow& narrow) {
        using enum gemm::DevicePrecision;
        if (Fit fit = fits_positions(step); !fit) return fit;
        const bool has_fp8 = narrow.products || narrow.cache;
        if (Fit fit = device::fits_device(step.needed_bytes(bytes_of(narrow)) + workspace_bytes,
                                          gemm::spec_of(has_fp8 ? fp8_e4m3 : bf16).capability);
            !fit)
            return fit;
        const LlmProducts products{step};
        std::array shapes{products.qkv, products.output, products.gate_up, products.down};
        const auto precision = precision_of_products(narrow);
        for (gemm::Shape& shape : shapes) shape.n = multiplied_rows(shape.n, precision);
        if (Fit fit = gemm::fits_product({.precision = precision}, shapes); !fit) return fit;
        return gemm::fits_product({.precision = bf16}, std::array{products.head});
    }

    LlmOnDevice(const LlmStep& step, const LlmNarrow& narrow, const Context& context);

    void run() { graph_->launch(stream); }
    device::EventClock& clock() { return device::Place::clock; }
    Work work() const { return step_.work(bytes_of(data_.narrow())); }
    Check verify() const {
        for (const auto& stage : stages_) stage.tensor->look_again();
        return Base::verify();
    }
    void poison() {
        Base::poison();
        device::set_bytes(chosen_, 0xff, stream); // -1
    }
    /// Changes a stage, or takes the next token in place of the chosen one.
    void spoil() {
        const std::uint64_t pick = spoils_.next();
        if (pick % 16 != 0) return Base::spoil();
        const auto vocabulary = static_cast<std::int32_t>(shape_.vocabulary);
        device::change(chosen_.data() + (pick >> 16U) % chosen_.size(), stream,
                       [=](std::int32_t token) { return (token + 1) % vocabulary; });
    }
    void metrics(Metrics& metrics) const { metrics.add("planning_time", planning_seconds_); }

private:
    using Base = LlmStages<LlmTensor>;
    using Layer = LlmLayer<LlmTensor>;

    static LlmRounding rounding() {
        return {.attention = {Precision::fp32, 0x1p-9, workload::roundoff_of(Precision::bf16)},
                .lost = lost<gemm::DevicePrecision::bf16>,
                .lost_in_fp8 = lost<gemm::DevicePrecision::fp8_e4m3>};
    }
    template <gemm::DevicePrecision precision>
    static double lost(std::int64_t products) {
        return gemm::tolerance_of(precision, gemm::Accumulation::exact, products).absolute;
    }
    static constexpr std::int64_t workspace_bytes =
        gemm::workspace_bytes(gemm::DevicePrecision::bf16, {}); // in fp8 as much
    static LlmBytes bytes_of(const LlmNarrow& narrow) {
        return {narrow.products ? 1 : 2, narrow.cache ? 1 : 2, 2};
    }
    gemm::Scratch scratch() const { return {workspace_.data(), workspace_.bytes()}; }
    static device::Uniform<float> uniform(const Numbers& of) { return {of.seed, of.low, of.high}; }

    /// Numbers from `first` on.
    void fill(void* to, std::int64_t first, std::int64_t count, Kind kind,
              std::int64_t layer) const {
        const LlmData::Stored of = data_.stored(kind, layer);
        const auto write = [&]<class T>(T* numbers, const auto& make) {
            device::for_each_now(stream, static_cast<std::uint64_t>(count),
                                 device::Fill{numbers + first, make});
        };
        if (of.precision == Precision::fp8)
            write(static_cast<E4m3*>(to), InFp8{uniform(of.of), of.scale});
        else
            write(static_cast<Number*>(to), workload::Rounded<Number>{uniform(of.of)});
    }
    const float* scales(Kind kind, std::int64_t layer, std::int64_t count) {
        const auto& made = scales_.emplace_back(static_cast<std::size_t>(count));
        const Numbers of = data_.numbers(kind, layer);
        device::fill_uniform(stream, made, of.seed, of.low, of.high);
        return made.data();
    }
    void make_inputs();
    void make_layer(std::int64_t layer);
    void choose_span();
    void queue_norm(const LlmTensor& from, const float* scales, const Results<Number>& to,
                    std::int64_t rows, std::int64_t step) const;
    void queue_attention(std::size_t layer) const;
    template <class C>
    void queue_decoding(const Layer& l, const C* keys, const C* values) const;
    void queue_layer(std::size_t layer) const;
    void queue_all() const;

    gemm::Library library_ = gemm::open_library();
    device::Buffer<std::uint8_t> workspace_{static_cast<std::size_t>(workspace_bytes)};
    LayerProducts qkv_;
    LayerProducts output_;
    LayerProducts gate_up_;
    LayerProducts down_;
    LayerProducts head_;
    device::Buffer<Number> embedding_;
    device::Buffer<std::int32_t> tokens_;
    device::Buffer<std::int32_t> chosen_;
    device::Buffer<float2> turns_;
    std::deque<device::Buffer<float>> scales_;
    struct Norms {
        const float* one;
        const float* two;
    };
    std::vector<Norms> norms_;
    const float* last_norm_ = nullptr;
    std::vector<Rotate<Number>> rotations_;
    workload::Decode<Number> decode_{}; // of the first layer
    workload::DecodingParts parts_;
    std::optional<device::Graph> graph_;
    Picks spoils_{52};
    double planning_seconds_ = 0;
};

inline LlmOnDevice::LlmOnDevice(const LlmStep& step, const LlmNarrow& narrow,
                                const Context& context)
    : Base{step, Precision::bf16, rounding(), narrow},
      qkv_{library_, *this, LlmProducts{step}.qkv, scratch(), precision_of_products(narrow)},
      output_{library_, *this, LlmProducts{step}.output, scratch(), precision_of_products(narrow)},
      gate_up_{library_, *this, LlmProducts{step}.gate_up, scratch(),
               precision_of_products(narrow)},
      down_{library_, *this, LlmProducts{step}.down, scratch(), precision_of_products(narrow)},
      head_{library_, *this, LlmProducts{step}.head, scratch()},
      embedding_{static_cast<std::size_t>(shape_.vocabulary * shape_.hidden)},
      tokens_{static_cast<std::size_t>(step_.tokens())},
      chosen_{static_cast<std::size_t>(step_.batch)},
      turns_{static_cast<std::size_t>(step_.queries * shape_.head_size / 2)} {
    const auto make = [this, precision = precision_of_products(narrow)](
                          std::int64_t rows, std::int64_t width, auto... scale) {
        return LlmTensor{rows * width, multiplied_rows(rows, precision) * width, scale..., stream};
    };
    Base::add_stages(
        make,
        [this](std::size_t row) {
            return device::to_host(chosen_.data() + row, 1, stream).front();
        },
        [this](const LlmTensor& cache) {
            device::for_each_now(stream,
                                 static_cast<std::uint64_t>(step_.tokens() * shape_.key_width()),
                                 PoisonCache<Number>{rotations_.front(), cache.results()});
        });
    make_inputs();
    for (std::int64_t layer = 0; layer < shape_.layers; ++layer) make_layer(layer);
    // A tied head has the table of embeddings.
    if (shape_.ties_embedding)
        head_.add(embedding_.data(), last_, scores_, nullptr);
    else
        fill(head_.add(last_, scores_, nullptr), 0, shape_.vocabulary * shape_.hidden, Kind::head,
             0);
    last_norm_ = scales(Kind::norm_last, 0, shape_.hidden);
    const Stopwatch watch;
    workload::Kernels names;
    for (LayerProducts* products : {&qkv_, &output_, &gate_up_, &down_, &head_})
        names.add(products->tune());
    if (step_.is_decoding()) choose_span();
    planning_seconds_ = watch.seconds();
    queue_all(); // loads every kernel
    stream.wait();
    graph_.emplace(stream, [this] { queue_all(); });
    device::Place::clock.expect_operations(graph_->operations());
    poison();
    context.setting("implementation", names.words());
    context.setting("operations", graph_->operations());
    context.setting("weights", shape_.stored_weights());
    context.setting("cache_bytes",
                    step_.batch * step_.context * shape_.cached() * bytes_of(narrow).cache);
    if (step_.is_decoding()) context.setting("keys_of_part", decode_.span);
    context.tell({.footprint_bytes = work().bytes});
}

inline void LlmOnDevice::make_inputs() {
    fill(embedding_.data(), 0, shape_.vocabulary * shape_.hidden, Kind::embedding, 0);
    std::vector<std::int32_t> tokens;
    for (std::size_t i = 0; i < tokens_.size(); ++i) tokens.push_back(data_.token(i));
    device::to_device(std::span<const std::int32_t>{tokens}, tokens_.data(), stream);
    std::vector<float2> turns;
    for (std::int64_t i = step_.cached(); i < step_.context; ++i)
        for (std::int64_t pair = 0; pair < shape_.head_size / 2; ++pair) {
            const double angle = data_.angle(i, pair);
            turns.push_back(make_float2(static_cast<float>(std::cos(angle)),
                                        static_cast<float>(std::sin(angle))));
        }
    device::to_device(std::span<const float2>{turns}, turns_.data(), stream);
}

inline void LlmOnDevice::make_layer(std::int64_t layer) {
    const Layer& l = layers_[static_cast<std::size_t>(layer)];
    const LlmTensor& residual =
        layer == 0 ? embedded_ : layers_[static_cast<std::size_t>(layer) - 1].result;
    const std::int64_t h = shape_.hidden;
    const std::int64_t inner = shape_.inner;
    const std::int64_t queries = shape_.query_width() * h;
    const std::int64_t keys = shape_.key_width() * h;
    const auto scale = [&](Kind kind) { return data_.stored(kind, layer).scale; };
    void* const qkv =
        qkv_.add(entering(l.normed_one, l.normed_one_fp8), l.qkv, nullptr, scale(Kind::queries));
    fill(qkv, 0, queries, Kind::queries, layer);
    fill(qkv, queries, keys, Kind::keys, layer);
    fill(qkv, queries + keys, keys, Kind::values, layer);
    fill(
        output_.add(entering(l.context, l.context_fp8), l.attended, &residual, scale(Kind::output)),
        0, queries, Kind::output, layer);
    void* const gate_up = gate_up_.add(entering(l.normed_two, l.normed_two_fp8), l.gate_up, nullptr,
                                       scale(Kind::gate));
    fill(gate_up, 0, inner * h, Kind::gate, layer);
    fill(gate_up, inner * h, inner * h, Kind::up, layer);
    fill(down_.add(entering(l.inner, l.inner_fp8), l.result, &l.attended, scale(Kind::down)), 0,
         h * inner, Kind::down, layer);
    const std::int64_t cached = step_.batch * step_.context * shape_.key_width();
    fill(l.keys.numbers(), 0, cached, Kind::cached_keys, layer);
    fill(l.values.numbers(), 0, cached, Kind::cached_values, layer);
    norms_.push_back({scales(Kind::norm_one, layer, h), scales(Kind::norm_two, layer, h)});
    const bool norms = shape_.norms_heads;
    rotations_.push_back(
        {.qkv = l.qkv.data(),
         .queries = l.queries.data(),
         .keys = l.keys.results(),
         .values = l.values.results(),
         .turns = turns_.data(),
         .query_scales = norms ? scales(Kind::norm_queries, layer, shape_.head_size) : nullptr,
         .key_scales = norms ? scales(Kind::norm_keys, layer, shape_.head_size) : nullptr,
         .score_scale = static_cast<float>(data_.score_scale()),
         .heads = static_cast<std::uint32_t>(shape_.heads),
         .key_heads = static_cast<std::uint32_t>(shape_.key_heads),
         .size = static_cast<std::uint32_t>(shape_.head_size),
         .context = static_cast<std::uint32_t>(step_.context),
         .new_tokens = static_cast<std::uint32_t>(step_.queries),
         .tokens = static_cast<std::uint64_t>(step_.tokens())});
}

/// By trial, going round the layers.
inline void LlmOnDevice::choose_span() {
    const auto stretches = static_cast<std::size_t>(step_.batch * shape_.key_heads);
    decode_ = {.queries = nullptr,
               .keys = nullptr,
               .values = nullptr,
               .sums = nullptr,
               .states = nullptr,
               .joined = nullptr,
               .group = static_cast<std::uint32_t>(shape_.group()),
               .context = static_cast<std::uint32_t>(step_.context),
               .span = tile};
    const auto spans = parts_.prepare(
        decode_, workload::DecodingKernel<Number, Number, Results<Number>>::of(shape_.head_size),
        shape_.head_size, stretches, properties, stream);
    device::Place::clock.expect_operations(layers_.size());
    decode_.span = device::fastest_of(device::Place::clock, spans, [this](std::uint32_t span) {
        decode_.span = span;
        for (std::size_t layer = 0; layer < layers_.size(); ++layer) queue_attention(layer);
    });
}

inline void LlmOnDevice::queue_norm(const LlmTensor& from, const float* scales,
                                    const Results<Number>& to, std::int64_t rows,
                                    std::int64_t step) const {
    device::launch(rms_norm<Number>, {static_cast<unsigned>(rows), norm_threads, stream.get()},
                   from.data(), scales, to, static_cast<std::uint32_t>(shape_.hidden),
                   static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(step - 1));
}

template <class C>
void LlmOnDevice::queue_decoding(const Layer& l, const C* keys, const C* values) const {
    const workload::Decode<Number, C> of{.queries = l.queries.data(),
                                         .keys = keys,
                                         .values = values,
                                         .sums = decode_.sums,
                                         .states = decode_.states,
                                         .joined = decode_.joined,
                                         .group = decode_.group,
                                         .context = decode_.context,
                                         .span = decode_.span,
                                         .score_scale = 1 / l.keys.scale(),
                                         .value_scale = 1 / l.values.scale()};
    workload::DecodingKernel<Number, C, Results<Number>>::of(shape_.head_size)
        .queue(stream, of, static_cast<std::size_t>(step_.batch * shape_.key_heads),
               l.context.results(l.context_fp8));
}

inline void LlmOnDevice::queue_attention(std::size_t layer) const {
    const Layer& l = layers_[layer];
    const bool is_wide = shape_.head_size == 128;
    if (step_.is_decoding()) {
        if (l.keys.is_fp8()) return queue_decoding(l, l.keys.fp8(), l.values.fp8());
        return queue_decoding(l, l.keys.data(), l.values.data());
    }
    const std::int64_t of_block = std::int64_t{attend_warps} * tile;
    const std::int64_t blocks =
        (step_.queries + of_block - 1) / of_block * shape_.heads * step_.batch;
    device::launch(is_wide ? attend_prompt<Number, 128> : attend_prompt<Number, 64>,
                   {static_cast<unsigned>(blocks), attend_warps * warp, stream.get()},
                   l.queries.data(), l.keys.data(), l.values.data(),
                   l.context.results(l.context_fp8), static_cast<std::uint32_t>(step_.queries),
                   static_cast<std::uint32_t>(shape_.heads),
                   static_cast<std::uint32_t>(shape_.group()));
}

inline void LlmOnDevice::queue_layer(std::size_t layer) const {
    const Layer& l = layers_[layer];
    const std::int64_t tokens = step_.tokens();
    queue_norm(layer == 0 ? embedded_ : layers_[layer - 1].result, norms_[layer].one,
               l.normed_one.results(l.normed_one_fp8), tokens, 1);
    qkv_.queue(layer);
    const Rotate<Number>& rotate = rotations_[layer];
    const std::uint64_t rows = rotate.tokens * rotate.all_heads();
    device::launch(rotate_heads<Number>,
                   {static_cast<unsigned>((rows + rotate_warps - 1) / rotate_warps),
                    rotate_warps * warp, stream.get()},
                   rotate);
    queue_attention(layer);
    output_.queue(layer);
    queue_norm(l.attended, norms_[layer].two, l.normed_two.results(l.normed_two_fp8), tokens, 1);
    gate_up_.queue(layer);
    const auto packs = static_cast<std::uint64_t>(shape_.inner / 8);
    device::on_each(stream, static_cast<std::uint64_t>(tokens) * packs,
                    Gate<Number>{l.gate_up.data(), l.inner.results(l.inner_fp8), packs});
    down_.queue(layer);
}

inline void LlmOnDevice::queue_all() const {
    const auto packs = static_cast<std::uint64_t>(shape_.hidden / 8);
    device::on_each(stream, static_cast<std::uint64_t>(step_.tokens()) * packs,
                    Embed<Number>{tokens_.data(), embedding_.data(), embedded_.data(), packs});
    for (std::size_t layer = 0; layer < layers_.size(); ++layer) queue_layer(layer);
    queue_norm(layers_.back().result, last_norm_, last_.results(), step_.batch, step_.queries);
    head_.queue(0);
    device::launch(choose<Number>,
                   {static_cast<unsigned>(step_.batch), choose_threads, stream.get()},
                   scores_.data(), chosen_.data(), static_cast<std::uint32_t>(shape_.vocabulary));
    device::check(cudaGetLastError());
}

} // namespace assay::model
