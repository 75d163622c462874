// SPDX-License-Identifier: Apache-2.0

#include "onednn.hpp"
#include "samples.hpp"
#include "transformer_data.hpp"

#include <assay/define.hpp>
#include <assay/verify.hpp>

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace assay::workload {
namespace {

/// Descriptions of the primitives. Activations lie token by token, as every framework has them; heads
/// are slices of a token's row, so they are addressed by strides and never moved. Weights are in
/// oneDNN's layout.
struct Plans {
    dnnl::matmul::primitive_desc qkv;
    dnnl::matmul::primitive_desc scores;
    dnnl::softmax_v2_forward::primitive_desc softmax;
    dnnl::matmul::primitive_desc context;
    dnnl::matmul::primitive_desc output;
    dnnl::layer_normalization_forward::primitive_desc norm;
    dnnl::matmul::primitive_desc inner;
    dnnl::matmul::primitive_desc outer;
};

class Planner {
public:
    Planner(const TransformerShape& shape, Precision precision, dnnl::engine engine)
        : s_{shape}, type_{type_of(precision)}, engine_{std::move(engine)} {}

    Plans plans() const {
        const std::int64_t h = s_.hidden;
        return {
            .qkv = dense(h, 3 * h, {}),
            .scores = scores(),
            .softmax = {{dnnl::prop_kind::forward_inference, dnnl::algorithm::softmax_accurate,
                         scores_desc(), scores_desc(), 3},
                        engine_},
            .context = {{scores_desc(), heads(3 * h, false), heads(h, false)}, engine_},
            .output = dense(h, h, adding()),
            .norm = {{dnnl::prop_kind::forward_inference, rows(h), norm_epsilon,
                      dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift},
                     engine_},
            .inner = dense(h, s_.inner(), gelu()),
            .outer = dense(s_.inner(), h, adding())};
    }
    dnnl::memory::desc rows(std::int64_t width) const {
        return {{s_.tokens(), width}, type_, Layout::ab};
    }
    dnnl::memory::desc scores_desc() const {
        return {{s_.batch, s_.heads(), s_.sequence, s_.sequence}, type_, Layout::abcd};
    }
    /// batch x heads x sequence x head, or with the last two swapped, in rows of `width` elements.
    dnnl::memory::desc heads(std::int64_t width, bool swapped) const {
        const std::int64_t per_sequence = s_.sequence * width;
        if (swapped)
            return {{s_.batch, s_.heads(), head_size, s_.sequence},
                    type_,
                    Dimensions{per_sequence, head_size, 1, width}};
        return {{s_.batch, s_.heads(), s_.sequence, head_size},
                type_,
                Dimensions{per_sequence, head_size, width, 1}};
    }

private:
    dnnl::matmul::primitive_desc dense(std::int64_t from, std::int64_t to,
                                       const dnnl::post_ops& after) const {
        dnnl::primitive_attr attributes;
        attributes.set_post_ops(after);
        return {{rows(from),
                 {{from, to}, type_, Layout::any},
                 {{1, to}, Data::f32, Layout::ab},
                 rows(to)},
                attributes,
                engine_};
    }
    dnnl::matmul::primitive_desc scores() const {
        dnnl::primitive_attr attributes;
        attributes.set_output_scales(0, {0.125F}); // 1 / sqrt(head_size)
        return {{heads(3 * s_.hidden, false), heads(3 * s_.hidden, true), scores_desc()},
                attributes,
                engine_};
    }
    static dnnl::post_ops gelu() {
        dnnl::post_ops after;
        after.append_eltwise(1, dnnl::algorithm::eltwise_gelu_erf, 0, 0);
        return after;
    }
    dnnl::post_ops adding() const {
        dnnl::post_ops after;
        after.append_binary(dnnl::algorithm::binary_add, rows(s_.hidden));
        return after;
    }

    TransformerShape s_;
    Data type_;
    dnnl::engine engine_;
};

class TransformerLayer {
public:
    struct Params {
        std::int64_t batch = 1;
        std::int64_t sequence = 128;
        std::int64_t hidden = 768;
        Precision precision = Precision::fp32;
        Symbolic threads = Symbol::all;
    };
    static constexpr Info info{
        .id = "workload.transformer_layer",
        .question = "How many tokens a second pass one encoder layer of a transformer?",
        .method =
            "One layer as in BERT: projection to queries, keys and values, attention with softmax "
            "for every head of 64, output projection, residual, layer norm, perceptron of four "
            "times the width with GELU, residual, layer norm. Nine primitives; bias, GELU and "
            "residuals fused into the matrix products, heads addressed in place. Every stage is "
            "checked: a sample of its results, spread evenly, recomputed in fp64 from what the "
            "stage before has stored, within the rounding of fp32 sums and of storing.",
        .caveats =
            "FLOP are those of the matrix products. Weights of one layer stay in the caches where "
            "they fit; a whole model streams them from memory. bf16: everything between the stages "
            "is bf16, sums are fp32. No padding, no mask. int8 is not offered: what it "
            "would cost depends on where a model quantises.",
        .headline = "flop_rate",
        .ceiling = "peak.fma peak.dot",
    };
    static constexpr std::tuple axes{
        integer("batch", "sequences at a time", "", &Params::batch, {1, 8}, {1, 4096}),
        integer("sequence", "tokens of a sequence", "", &Params::sequence, {128}, {1, 65536}),
        integer("hidden", "width of the layer, a multiple of 64", "", &Params::hidden, {768},
                {64, 32768}),
        choice("precision", "type of weights and activations", &Params::precision,
               {Name{"fp32", Precision::fp32}, Name{"bf16", Precision::bf16}},
               {Precision::fp32, Precision::bf16}),
        symbolic("threads", "cores used", "", &Params::threads, {Symbolic{Symbol::all}}, {1, 4096},
                 {Symbol::one, Symbol::all}),
    };
    static constexpr bool single_call = true; // a call is what a user waits for

    static Fit fit(const Params& p, const Machine& m) {
        if (p.hidden % head_size != 0)
            return Fit::no("hidden must be a multiple of 64, the size of a head");
        const TransformerShape shape{p.batch, p.sequence, p.hidden};
        // The largest weights also exist in fp32 while they are packed.
        const std::int64_t bytes = bytes_of(p.precision) * (shape.activations() + shape.weights()) +
                                   4 * shape.weights() / 3;
        if (Fit room = fits(m, p.threads, bytes); !room) return room;
        return fits_kernels(
            [&](Kernels& kernels) { kernels = names(Planner{shape, p.precision, cpu()}.plans()); });
    }

    TransformerLayer(const Params& p, const Context& context)
        : shape_{p.batch, p.sequence, p.hidden}, precision_{p.precision},
          threads_{use_threads(context.machine(), p.threads)}, engine_{cpu()}, steps_{engine_},
          data_{shape_, precision_}, planner_{shape_, precision_, engine_},
          plans_{planner_.plans()} {
        const std::int64_t h = shape_.hidden;
        input_ = filled(planner_.rows(h), [&](auto i) { return data_.activation(i); });
        for (const Stage& stage : stages())
            *stage.tensor = Tensor{planner_.rows(stage.width), engine_};
        scores_ = Tensor{planner_.scores_desc(), engine_};
        add_steps();
        poison();
        context.setting("implementation", names(plans_).words());
        context.setting("heads", static_cast<double>(shape_.heads()));
        context.setting("threads", threads_);
    }

    void run() noexcept { steps_.run(); }
    Work work() const {
        return {.flops = shape_.flops(), .items = static_cast<double>(shape_.tokens())};
    }

    Check verify() const {
        steps_.check();
        std::array<std::size_t, stage_count + 1> ends{}; // of each stage's share of the samples
        for (std::size_t stage = 0; stage < stage_count; ++stage)
            ends[stage + 1] = ends[stage] + samples(stage).size();
        return check_each(
            ends.back(),
            [&](std::size_t i) {
                std::size_t stage = 0;
                while (i >= ends[stage + 1]) ++stage;
                const std::size_t at = samples(stage)[i - ends[stage]];
                return expected(stage, at).error(stages()[stage].tensor->element(at));
            },
            1,
            "a sample of what each of seven stages stored, recomputed in fp64 from what the stage "
            "before has stored; 1 is several standard deviations of rounding in fp32, and one "
            "rounding where it is stored");
    }
    void poison() {
        for (const Stage& stage : stages()) stage.tensor->poison();
        scores_.poison();
        ++round_;
    }
    /// Results of one stage, as many in a row as surely hold a sample.
    void spoil() {
        const std::uint64_t pick = random_bits(spoil_seed, spoils_++);
        const std::size_t stage = pick % stage_count;
        Tensor& tensor = *stages()[stage].tensor;
        const Slice damage = samples(stage).damage(pick >> 16U);
        for (std::size_t i = damage.first; i < damage.last; ++i)
            tensor.set_element(i, damaged(precision_, tensor.element(i)));
    }

private:
    using Kind = TransformerData::Kind;
    static constexpr std::uint64_t spoil_seed = 51;
    static constexpr std::size_t stage_count = 7;

    /// What is stored, in the order of the stages.
    struct Stage {
        Tensor* tensor;
        std::int64_t width;
        std::size_t samples;
    };
    std::array<Stage, stage_count> stages() const {
        auto* self = const_cast<TransformerLayer*>(this); // NOLINT: the tensors are ours
        const std::int64_t h = shape_.hidden;
        constexpr std::size_t many = 256;
        constexpr std::size_t few = 64; // each reads a whole sequence
        return {{{&self->qkv_, 3 * h, many},
                 {&self->context_, h, few},
                 {&self->attended_, h, many},
                 {&self->middle_, h, many},
                 {&self->inner_, 4 * h, many},
                 {&self->summed_, h, many},
                 {&self->result_, h, many}}};
    }
    Samples samples(std::size_t stage) const {
        const Stage s = stages()[stage];
        return {static_cast<std::size_t>(shape_.tokens() * s.width), s.samples, round_};
    }

    Expected expected(std::size_t stage, std::size_t at) const {
        const auto h = static_cast<std::size_t>(shape_.hidden);
        const auto width = static_cast<std::size_t>(stages()[stage].width);
        const std::size_t token = at / width;
        const std::size_t column = at % width;
        const auto product = [&](const Tensor& in, std::size_t terms, Kind kind) {
            return expect_product(
                terms, [&](auto k) { return in.element(token * terms + k); },
                [&](auto k) { return data_.weight(kind, k * width + column); },
                data_.bias(kind, column));
        };
        const auto norm = [&](const Tensor& in, Kind kind) {
            return expect_norm(
                h, precision_, [&](auto k) { return in.element(token * h + k); }, column,
                data_.scale(kind, column), data_.bias(kind, column));
        };
        switch (stage) {
        case 0:
            return expect_stored(product(input_, h, Kind::qkv), precision_);
        case 1:
            return attention(token, column);
        case 2:
            return expect_stored(product(context_, h, Kind::output), precision_,
                                 input_.element(at));
        case 3:
            return norm(attended_, Kind::norm_one);
        case 4:
            return expect_gelu(product(middle_, h, Kind::inner), precision_);
        case 5:
            return expect_stored(product(inner_, 4 * h, Kind::outer), precision_,
                                 middle_.element(at));
        default:
            return norm(summed_, Kind::norm_two);
        }
    }
    Expected attention(std::size_t token, std::size_t column) const {
        const auto h = static_cast<std::size_t>(shape_.hidden);
        const auto length = static_cast<std::size_t>(shape_.sequence);
        const std::size_t first = token / length * length; // of its sequence
        const std::size_t head = column / head_size * head_size;
        constexpr float scale = 0.125F; // 1 / sqrt(head_size)
        const AttentionReference reference{
            length, head_size,
            [&](auto d) { return scale * qkv_.element(token * 3 * h + head + d); },
            [&](auto j, auto d) { return qkv_.element((first + j) * 3 * h + h + head + d); }};
        return reference.expect(
            precision_, [&](auto j) { return qkv_.element((first + j) * 3 * h + 2 * h + column); });
    }

    template <class Make>
    Tensor filled(const dnnl::memory::desc& desc, Make&& make) {
        Tensor tensor{desc, engine_};
        std::vector<float> values(elements_of(desc));
        assay::detail::fill(std::span{values}, 0, make);
        tensor.fill(values, steps_.stream());
        return tensor;
    }
    template <class Make>
    const Tensor& constant(const dnnl::memory::desc& desc, Make&& make) {
        return constants_.emplace_back(filled(desc, make));
    }
    /// A matrix product with weights and bias of its own.
    void add_product(const dnnl::matmul::primitive_desc& plan, Kind kind, const Tensor& from,
                     const Tensor& to) {
        steps_.add(dnnl::matmul{plan}, {{DNNL_ARG_SRC, from},
                                        {DNNL_ARG_WEIGHTS, weights(plan, kind)},
                                        {DNNL_ARG_BIAS, bias(plan, kind)},
                                        {DNNL_ARG_DST, to}});
    }
    /// The same, and something is added to it.
    void add_product(const dnnl::matmul::primitive_desc& plan, Kind kind, const Tensor& from,
                     const Tensor& to, const Tensor& added) {
        steps_.add(dnnl::matmul{plan}, {{DNNL_ARG_SRC, from},
                                        {DNNL_ARG_WEIGHTS, weights(plan, kind)},
                                        {DNNL_ARG_BIAS, bias(plan, kind)},
                                        {DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, added},
                                        {DNNL_ARG_DST, to}});
    }
    const Tensor& weights(const dnnl::matmul::primitive_desc& plan, Kind kind) {
        return constant(plan.weights_desc(), [&](auto i) { return data_.weight(kind, i); });
    }
    const Tensor& bias(const dnnl::matmul::primitive_desc& plan, Kind kind) {
        return constant(plan.query_md(dnnl::query::weights_md, 1),
                        [&](auto i) { return data_.bias(kind, i); });
    }
    void add_norm(Kind kind, const Tensor& from, const Tensor& to) {
        const dnnl::memory::desc row{{shape_.hidden}, Data::f32, Layout::a};
        steps_.add(dnnl::layer_normalization_forward{plans_.norm},
                   {{DNNL_ARG_SRC, from},
                    {DNNL_ARG_SCALE, constant(row, [&](auto i) { return data_.scale(kind, i); })},
                    {DNNL_ARG_SHIFT, constant(row, [&](auto i) { return data_.bias(kind, i); })},
                    {DNNL_ARG_DST, to}});
    }
    void add_steps() {
        const std::int64_t h = shape_.hidden;
        const auto part = [&](std::int64_t which, bool swapped) {
            return qkv_.part(planner_.heads(3 * h, swapped), which * h);
        };
        queries_ = part(0, false);
        keys_ = part(1, true);
        values_ = part(2, false);
        heads_ = context_.part(planner_.heads(h, false), 0);
        add_product(plans_.qkv, Kind::qkv, input_, qkv_);
        steps_.add(dnnl::matmul{plans_.scores},
                   {{DNNL_ARG_SRC, queries_}, {DNNL_ARG_WEIGHTS, keys_}, {DNNL_ARG_DST, scores_}});
        steps_.add(dnnl::softmax_v2_forward{plans_.softmax},
                   {{DNNL_ARG_SRC, scores_}, {DNNL_ARG_DST, scores_}});
        steps_.add(dnnl::matmul{plans_.context},
                   {{DNNL_ARG_SRC, scores_}, {DNNL_ARG_WEIGHTS, values_}, {DNNL_ARG_DST, heads_}});
        add_product(plans_.output, Kind::output, context_, attended_, input_);
        add_norm(Kind::norm_one, attended_, middle_);
        add_product(plans_.inner, Kind::inner, middle_, inner_);
        add_product(plans_.outer, Kind::outer, inner_, summed_, middle_);
        add_norm(Kind::norm_two, summed_, result_);
    }
    static Kernels names(const Plans& p) {
        Kernels kernels;
        for (const char* name :
             {p.qkv.impl_info_str(), p.scores.impl_info_str(), p.softmax.impl_info_str(),
              p.context.impl_info_str(), p.output.impl_info_str(), p.norm.impl_info_str(),
              p.inner.impl_info_str(), p.outer.impl_info_str(), p.norm.impl_info_str()})
            kernels.add(name);
        return kernels;
    }

    TransformerShape shape_;
    Precision precision_;
    int threads_;
    dnnl::engine engine_;
    Steps steps_;
    TransformerData data_;
    Planner planner_;
    Plans plans_;
    std::deque<Tensor> constants_; // weights, biases, scales
    Tensor input_;
    Tensor qkv_; // queries, keys and values of a token side by side
    Tensor queries_, keys_, values_;
    Tensor scores_;
    Tensor context_; // what the heads found
    Tensor heads_;   // the same, head by head
    Tensor attended_;
    Tensor middle_;
    Tensor inner_;
    Tensor summed_;
    Tensor result_;
    std::uint64_t round_ = 0; // of samples
    std::uint64_t spoils_ = 0;
};

} // namespace

extern constinit const assay_benchmark transformer_layer;
constinit const assay_benchmark transformer_layer = define<TransformerLayer>();

} // namespace assay::workload
