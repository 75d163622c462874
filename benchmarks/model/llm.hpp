// SPDX-License-Identifier: Apache-2.0
//
// Large language models: their shapes, the work of a step, and their numbers, each made from (layer, kind, index)
// wherever it is needed. Pre-norm decoders with RMSNorm, rotary positions, grouped-query attention and SiLU gates
// (Touvron et al. 2023; Grattafiori et al. 2024, table 3; Qwen3 technical report 2025, table 1).

#pragma once

#include "../workload/precision.hpp"

#include <assay/define.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

namespace assay::model {

using workload::Numbers;
using workload::Precision;

/// One model, or the part that one of several devices has: it holds its heads, its share of the inner width and
/// of the vocabulary, and adds partial sums (tensor parallelism without the all-reduce).
struct LlmShape {
    std::int64_t layers;
    std::int64_t hidden;
    std::int64_t heads;     ///< of queries
    std::int64_t key_heads; ///< of keys and values
    std::int64_t head_size;
    std::int64_t inner; ///< width of the gated perceptron
    std::int64_t vocabulary;
    std::int64_t positions;      ///< that it was trained for
    bool ties_embedding = false; ///< the head has the embedding's weights
    bool norms_heads = false;    ///< queries and keys are normalised, head by head

    constexpr std::int64_t group() const { return heads / key_heads; }
    constexpr std::int64_t query_width() const { return heads * head_size; }
    constexpr std::int64_t key_width() const { return key_heads * head_size; }
    constexpr std::int64_t qkv_width() const { return query_width() + 2 * key_width(); }
    /// Weights in the products of a layer.
    constexpr std::int64_t layer_weights() const {
        return hidden * (qkv_width() + query_width() + 3 * inner);
    }
    /// Weights in products that a token passes: layers and head, without the table of embeddings.
    constexpr std::int64_t weights() const {
        return layers * layer_weights() + hidden * vocabulary;
    }
    constexpr std::int64_t stored_weights() const {
        return weights() + (ties_embedding ? 0 : hidden * vocabulary);
    }
    /// Everything that is trained.
    constexpr std::int64_t parameters() const {
        const std::int64_t norms = 2 * hidden + (norms_heads ? 2 * head_size : 0);
        return stored_weights() + layers * norms + hidden;
    }
    /// Cached numbers of a token.
    constexpr std::int64_t cached() const { return 2 * layers * key_width(); }
    constexpr LlmShape shard(std::int64_t count) const {
        LlmShape part = *this;
        part.heads /= count;
        part.key_heads /= count;
        part.inner /= count;
        part.vocabulary /= count;
        return part;
    }
};

enum class Llm : std::uint8_t { tiny, llama3_1b, llama3_8b, llama3_70b, qwen3_32b };

constexpr LlmShape shape_of(Llm model) {
    switch (model) {
    case Llm::tiny: // what a device that is a CPU runs
        return {2, 128, 16, 8, 64, 256, 512, 4096};
    case Llm::llama3_1b:
        return {16, 2048, 32, 8, 64, 8192, 128256, 131072, true};
    case Llm::llama3_8b:
        return {32, 4096, 32, 8, 128, 14336, 128256, 131072};
    case Llm::llama3_70b:
        return {80, 8192, 64, 8, 128, 28672, 128256, 131072};
    case Llm::qwen3_32b:
        return {64, 5120, 64, 8, 128, 25600, 151936, 40960, false, true};
    }
    return {};
}

enum class Shards : std::uint8_t { one, eight };

/// Bytes of a number.
struct LlmBytes {
    std::int64_t products; ///< weights of layers
    std::int64_t cache;
    std::int64_t other; ///< the head, the table of embeddings, and stages
    // NOLINTNEXTLINE(google-explicit-constructor): of all numbers
    constexpr LlmBytes(std::int64_t each) : LlmBytes{each, each, each} {}
    constexpr LlmBytes(std::int64_t of_products, std::int64_t of_cache, std::int64_t of_others)
        : products{of_products}, cache{of_cache}, other{of_others} {}
};

/// A step: `queries` new tokens of each sequence, behind context - queries that are in the cache. Decoding has one new
/// token, a prompt as many as its context.
struct LlmStep {
    LlmShape shape;
    std::int64_t batch;
    std::int64_t context;
    std::int64_t queries;

    constexpr std::int64_t tokens() const { return batch * queries; }
    constexpr std::int64_t cached() const { return context - queries; }
    constexpr bool is_decoding() const { return queries < context; }

    /// 2 for each weight and token, 4 for each number of a query and each key it attends to; the head for the last
    /// token of a sequence alone.
    constexpr double flops() const {
        const auto t = static_cast<double>(tokens());
        const auto layers = static_cast<double>(shape.layers);
        const auto keys = static_cast<double>(cached()) + static_cast<double>(queries + 1) / 2;
        return 2 * t * layers * static_cast<double>(shape.layer_weights()) +
               4 * t * layers * static_cast<double>(shape.query_width()) * keys +
               2 * static_cast<double>(batch * shape.hidden * shape.vocabulary);
    }
    /// Weights once, and the cache of every sequence once.
    constexpr double bytes(const LlmBytes& each) const {
        return static_cast<double>(each.products * shape.layers * shape.layer_weights() +
                                   each.other * shape.hidden * shape.vocabulary +
                                   each.cache * batch * context * shape.cached());
    }
    /// Numbers that are kept for the check, of every stage.
    constexpr std::int64_t stage_numbers() const {
        const std::int64_t layer =
            4 * shape.hidden + shape.qkv_width() + 2 * shape.query_width() + 3 * shape.inner;
        return tokens() * (shape.hidden + shape.layers * layer) +
               batch * (shape.hidden + shape.vocabulary);
    }
    /// Memory.
    constexpr std::int64_t needed_bytes(const LlmBytes& each) const {
        const std::int64_t in_layers = shape.layers * shape.layer_weights();
        const std::int64_t rounded_again = // what products take in fp8
            each.products < each.other
                ? tokens() * shape.layers * (2 * shape.hidden + shape.query_width() + shape.inner)
                : 0;
        return each.products * (in_layers + rounded_again) +
               each.cache * batch * context * shape.cached() +
               each.other * (shape.stored_weights() - in_layers + stage_numbers());
    }
    Work work(const LlmBytes& each) const {
        return {.flops = flops(), .bytes = bytes(each), .items = static_cast<double>(tokens())};
    }
};

namespace llm {

inline constexpr auto model_help = "shape of the model; tiny: to try it out";
inline constexpr Name<Llm> model_names[] = { // NOLINT(*-avoid-c-arrays): as choice() takes it
    {"tiny", Llm::tiny},
    {"llama3_1b", Llm::llama3_1b},
    {"llama3_8b", Llm::llama3_8b},
    {"llama3_70b", Llm::llama3_70b},
    {"qwen3_32b", Llm::qwen3_32b}};
template <class Params>
inline constexpr auto model_axis =
    choice("model", model_help, &Params::model, model_names, {Llm::llama3_1b, Llm::llama3_8b});
template <class Params>
inline constexpr auto layers_axis = integer("layers", "layers at most, for a quick look; 0: all",
                                            "", &Params::layers, {0}, {0, 1024});
template <class Params>
inline constexpr auto shards_axis =
    choice("shards", "devices that share the model; one of them is measured, without all-reduce",
           &Params::shards, {Name{"1", Shards::one}, Name{"8", Shards::eight}}, {Shards::one});

} // namespace llm

template <class Params>
LlmStep step_of(const Params& p, std::int64_t context, std::int64_t queries) {
    LlmShape shape = shape_of(p.model);
    if (p.layers > 0) shape.layers = std::min(shape.layers, p.layers);
    if (p.shards == Shards::eight) shape = shape.shard(8);
    return {shape, p.batch, context, queries};
}

inline Fit fits_positions(const LlmStep& step) {
    if (step.shape.key_heads == 0)
        return Fit::no("not applicable: this model has fewer key heads than shards");
    return Fit::needs(step.context <= step.shape.positions,
                      "a context within the positions of this model: at most ",
                      step.shape.positions, " tokens, not ", step.context);
}

/// What is stored in fp8.
struct LlmNarrow {
    bool products = false; ///< weights of layers, and what they are multiplied with
    bool cache = false;
};

/// The numbers of a model. Weights keep sizes in bounds: projections have outputs of variance one, scores a standard
/// deviation of two, so that single keys matter, and each branch has a tenth of the residual's variance (a twentieth in
/// deep models), so that the residual's rounding hides none of them.
class LlmData {
public:
    LlmData(const LlmStep& step, Precision stored, LlmNarrow narrow = {})
        : step_{step}, stored_{stored}, narrow_{narrow} {}

    enum Kind : std::uint8_t {
        embedding,
        head,
        queries,
        keys,
        values,
        output,
        gate,
        up,
        down,
        norm_one,
        norm_two,
        norm_last,
        norm_queries,
        norm_keys,
        cached_keys,
        cached_values,
        tokens
    };

    const LlmStep& step() const { return step_; }
    const LlmShape& shape() const { return step_.shape; }
    Precision stored() const { return stored_; }
    LlmNarrow narrow() const { return narrow_; }

    /// Numbers as they are stored.
    struct Stored {
        Numbers of;
        Precision precision;
        float scale = 1; ///< in fp8: a power of two

        float operator()(std::uint64_t i) const {
            if (precision != Precision::fp8)
                return workload::random_value(precision, of.seed, i, of.low, of.high);
            return workload::round_to_e4m3(scale *
                                           random_uniform<float>(of.seed, i, of.low, of.high)) /
                   scale;
        }
    };
    Stored stored(Kind kind, std::int64_t layer) const {
        const Numbers of = numbers(kind, layer);
        if (narrow_.products && kind >= queries && kind <= down)
            return {of, Precision::fp8, weight_scale(kind, layer)};
        if (narrow_.cache && (kind == cached_keys || kind == cached_values))
            return {of, Precision::fp8, kind == cached_keys ? key_scale() : value_scale()};
        return {of, stored_};
    }
    // Scales of fp8 are static, from what is known of the numbers: the largest power of two with which six standard
    // deviations fit.
    static float norm_scale() { return scale_for(6 * 1.5); }
    static float key_scale() { return norm_scale(); } // where heads are normalised, else variance 1
    float value_scale() const { return scale_for(6 * std::sqrt(value_variance())); }
    /// What heads find is at most the largest value.
    float context_scale() const { return value_scale(); }
    static float gated_scale() { return scale_for(6 * 6); }
    /// Queries, keys and values share one product.
    float weight_scale(Kind kind, std::int64_t layer) const {
        if (kind == queries || kind == keys || kind == values)
            return scale_for(std::max({numbers(queries, layer).high, numbers(keys, layer).high,
                                       numbers(values, layer).high}));
        return scale_for(numbers(kind, layer).high);
    }

    /// Before they are rounded, for who makes them on a device. Weights lie in rows of inputs, a row for each output.
    Numbers numbers(Kind kind, std::int64_t layer) const {
        switch (kind) {
        case norm_one:
        case norm_two:
        case norm_last:
        case norm_keys:
            return between(kind, layer, 0.5F, 1.5F);
        case norm_queries: // twice as large, for the scores
            return between(kind, layer, 1, 3);
        default:
            const auto most = static_cast<float>(std::sqrt(3 * variance(kind, layer)));
            return between(shape().ties_embedding && kind == head ? embedding : kind, layer, -most,
                           most);
        }
    }
    float number(Kind kind, std::int64_t layer, std::uint64_t i) const {
        return stored(kind, layer)(i);
    }
    /// Scale i of a norm; they are fp32.
    float scale(Kind kind, std::int64_t layer, std::uint64_t i) const {
        const Numbers of = numbers(kind, layer);
        return random_uniform<float>(of.seed, i, of.low, of.high);
    }
    /// The token at this place of all.
    std::int32_t token(std::uint64_t i) const {
        return static_cast<std::int32_t>(random_bits(seed_of(tokens, 0), i) %
                                         static_cast<std::uint64_t>(shape().vocabulary));
    }

    /// The angle at a position: pair i of a head turns by position / theta^(2 i / head_size) (Su et al. 2021), with
    /// the theta of Llama 3, without its scaling for longer contexts.
    double angle(std::int64_t position, std::int64_t pair) const {
        constexpr double theta = 500000;
        const auto part = static_cast<double>(2 * pair) / static_cast<double>(shape().head_size);
        return static_cast<double>(position) * std::pow(theta, -part);
    }
    /// What queries are multiplied by, before they are stored.
    double score_scale() const { return 1 / std::sqrt(static_cast<double>(shape().head_size)); }

private:
    static constexpr double of_norm = 3.25 / 3; // mean square of what norms give: of [0.5, 1.5]
    static float scale_for(double largest) {
        constexpr double most = 448; // of e4m3
        return static_cast<float>(std::exp2(std::floor(std::log2(most / largest))));
    }
    static std::uint64_t seed_of(Kind kind, std::int64_t layer) {
        return 20'000 + 32 * static_cast<std::uint64_t>(layer) + kind;
    }
    static Numbers between(Kind kind, std::int64_t layer, float low, float high) {
        return {seed_of(kind, layer), low, high};
    }
    double variance(Kind kind, std::int64_t layer) const {
        const auto h = static_cast<double>(shape().hidden);
        const double share = shape().layers > 40 ? 0.05 : 0.1;
        const double residual = std::pow(1 + share, 2 * static_cast<double>(layer));
        switch (kind) {
        case head:
            return shape().ties_embedding ? 1 : 1 / h;
        case queries:
            return 4 / (of_norm * h);
        case keys:
        case gate:
        case up:
            return 1 / (of_norm * h);
        case values: // the newest value stands out, or none would miss it among thousands
            return value_variance() / (of_norm * h);
        case output:
            return share * residual /
                   (context_variance() * static_cast<double>(shape().query_width()));
        case down: // of SiLU times a number, both normal
            return share * (1 + share) * residual / (0.356 * static_cast<double>(shape().inner));
        default:
            return 1;
        }
    }
    double value_variance() const {
        const auto keys = static_cast<double>(step_.context);
        return step_.is_decoding() ? std::fmax(keys / 4, 1) : 1;
    }
    /// The variance of what heads find: with scores of variance 4, about c / e^4 keys count.
    double context_variance() const {
        constexpr double e4 = 54.6;
        const double keys = static_cast<double>(step_.context) / (step_.is_decoding() ? 1 : 2);
        return std::fmin(1, (step_.is_decoding() ? 1.25 : 1) * e4 / keys);
    }

    LlmStep step_;
    Precision stored_;
    LlmNarrow narrow_;
};

} // namespace assay::model
