// SPDX-License-Identifier: Apache-2.0

#include "onednn.hpp"
#include "samples.hpp"
#include "transformer_backward.hpp"
#include "transformer_data.hpp"
#include "transformer_plans.hpp"

#include <assay/define.hpp>

#include <deque>
#include <functional>
#include <optional>
#include <span>

namespace assay::workload {
namespace {

enum class Pass : std::uint8_t { forward, training };

class TransformerLayer {
public:
    struct Params {
        std::int64_t batch = 1;
        std::int64_t sequence = 128;
        std::int64_t hidden = 768;
        Precision precision = Precision::fp32;
        Symbolic threads = Symbol::all;
        Pass pass = Pass::forward;
    };
    static constexpr Info info{
        .id = "workload.transformer_layer",
        .question = "What is the token rate of one encoder layer of a transformer?",
        .method = "One layer as in BERT: QKV projection, attention with softmax for every head of "
                  "64, output projection, residual, layer norm, MLP of four times the width with "
                  "GELU, residual, layer norm. Nine primitives; bias, GELU and residuals are fused "
                  "into the matrix products, heads are addressed in place. Every stage is checked: "
                  "a sample of its results, spread evenly, is recomputed in fp64 from what the "
                  "previous stage stored, within the rounding of fp32 sums and of storing. "
                  "Training: the same with what the backward pass needs, and that pass: gradients "
                  "of the input, of weights, biases and norms (in fp32), stage by stage.",
        .caveats =
            "FLOP are those of the matrix products; the backward pass counts twice the forward "
            "one, as the field does. Weights of one layer stay in the caches where "
            "they fit; a whole model streams them from memory. bf16: activations in bf16, sums in "
            "fp32. int8: the four products with weights, static scales per output; quantising "
            "their inputs is timed; attention, residuals and norms are in bf16 where the CPU has "
            "it, else fp32 (setting `between`), and not counted. No padding, no mask.",
        .headline = "flop_rate",
        .ceiling = "peak.fma peak.dot",
        .noise = Noise::workload,
        .items = "tokens",
        .reproducible = true,
    };
    static constexpr std::tuple axes{
        integer("batch", "sequences at a time", "", &Params::batch, {1, 8}, {1, 4096}),
        integer("sequence", "tokens of a sequence", "", &Params::sequence, {128}, {1, 65536}),
        integer("hidden", "width of the layer, a multiple of 64", "", &Params::hidden, {768},
                {64, 32768}),
        choice("precision", "type of weights and activations", &Params::precision,
               {Name{"fp32", Precision::fp32}, Name{"bf16", Precision::bf16},
                Name{"int8", Precision::int8}}),
        threads_axis(&Params::threads, {Symbol::all}),
        // Behind all others: records from before it existed were of this default.
        choice("pass", "forward alone, or training: forward and backward", &Params::pass,
               {Name{"forward", Pass::forward}, Name{"training", Pass::training}}, {Pass::forward}),
    };
    static constexpr bool single_call = true; // a call is what a user waits for

    static Fit fit(const Params& p, const Machine& m) {
        if (p.hidden % head_size != 0)
            return Fit::no("hidden must be a multiple of 64, the size of a head");
        // Without VNNI sums of two products saturate in 16 bits, and results depend on the kernel.
        if (p.precision == Precision::int8 && !m.has("avx512_vnni") && !m.has("avx_vnni") &&
            !m.has("asimddp"))
            return Fit::no(
                "needs instructions for int8 dot products: avx512_vnni, avx_vnni or asimddp");
        const bool training = p.pass == Pass::training;
        if (training && p.precision == Precision::int8)
            return Fit::no("training is not done in int8: fp32 or bf16");
        const TransformerShape shape{p.batch, p.sequence, p.hidden};
        // The largest weights also exist in fp32 while they are packed.
        const std::int64_t bytes = bytes_of(stored(p.precision, m)) * shape.activations() +
                                   bytes_of(p.precision) * shape.weights() +
                                   4 * shape.weights() / 3;
        // As much again of activations, and weights packed for the way back and their gradients in fp32.
        const std::int64_t more = training ? 2 * bytes_of(p.precision) * shape.activations() +
                                                 (bytes_of(p.precision) + 4) * shape.weights()
                                           : 0;
        if (Fit room = host::fits(p.threads, bytes + more, m); !room) return room;
        return fits_kernels([&](Kernels& kernels) {
            const TransformerData data{shape, p.precision, stored(p.precision, m)};
            const Planner planner{data, training, cpu()};
            kernels = planner.plans().names();
            if (training) BackwardPlanner{shape, planner, cpu()}.name(kernels);
        });
    }

    TransformerLayer(const Params& p, const Context& context)
        : shape_{p.batch, p.sequence, p.hidden}, stored_{stored(p.precision, context.machine())},
          threads_{host::use_threads(context.machine(), p.threads)}, engine_{cpu()},
          steps_{engine_}, data_{shape_, p.precision, stored_},
          planner_{data_, p.pass == Pass::training, engine_}, plans_{planner_.plans()},
          training_{p.pass == Pass::training} {
        input_ = filled(planner_.rows(shape_.hidden), [&](auto i) { return data_.activation(i); });
        add_stages();
        scores_ = Tensor{planner_.scores_desc(), engine_};
        add_steps();
        Kernels kernels = plans_.names();
        if (training_) {
            backward_.emplace(Forward{input_, qkv_, scores_, context_, attended_, middle_,
                                      before_gelu_, inner_, summed_, statistics_[0], statistics_[1],
                                      statistics_[2], statistics_[3]},
                              data_, planner_, engine_, steps_, stages_);
            BackwardPlanner{shape_, planner_, engine_}.name(kernels);
        }
        poison();
        context.setting("implementation", kernels.words());
        context.setting("between", stored_ == Precision::bf16 ? "bf16" : "fp32");
        context.setting("heads", shape_.heads());
        context.setting("threads", threads_);
    }

    void run() noexcept { steps_.run(); }
    Work work() const {
        const auto tokens = static_cast<double>(shape_.tokens());
        const double products = 2 * tokens * static_cast<double>(shape_.weights());
        if (data_.is_int8()) return {.operations = products, .items = tokens};
        return {.flops = (training_ ? 3 : 1) * shape_.flops(), .items = tokens};
    }

    Check verify() const {
        steps_.check();
        std::vector<std::size_t> ends{0}; // of each stage's share of the samples
        for (const Stage& stage : stages_) ends.push_back(ends.back() + samples(stage).size());
        return check_each(
            ends.back(),
            [&](std::size_t i) {
                std::size_t number = 0;
                while (i >= ends[number + 1]) ++number;
                const Stage& stage = stages_[number];
                const std::size_t at = samples(stage)[i - ends[number]];
                return stage.expect(at).error(stage.tensor->element(at));
            },
            1,
            "a sample of what each stage stored, recomputed in fp64 from what the stage before has "
            "stored; 1 is several standard deviations of rounding in fp32, and one rounding where "
            "it is stored, half a step in int8");
    }
    /// Of every stage: a stage that is wrong may be hidden by the next.
    Outputs outputs() const {
        Outputs all;
        for (const Stage& stage : stages_) all.push_back(stage.tensor->output());
        return all;
    }
    void poison() {
        for (const Stage& stage : stages_) stage.tensor->poison();
        scores_.poison();
        ++round_;
    }
    /// Results of one stage, as many in a row as surely hold a sample.
    void spoil() {
        const std::uint64_t pick = spoils_.next();
        const Stage& stage = stages_[pick % stages_.size()];
        const Slice damage = samples(stage).damage(pick >> 16U);
        for (std::size_t i = damage.first; i < damage.last; ++i)
            stage.tensor->set_element(
                i, stage.size * damaged(stage.precision, stage.tensor->element(i) / stage.size));
    }

private:
    using Kind = TransformerData::Kind;
    static constexpr std::size_t many = many_samples;
    static constexpr std::size_t few = few_samples;

    /// bf16 between the products in int8, where the CPU computes with it.
    static Precision stored(Precision precision, const Machine& machine) {
        if (precision != Precision::int8) return precision;
        return machine.has("avx512_bf16") || machine.has("bf16") ? Precision::bf16
                                                                 : Precision::fp32;
    }
    Samples samples(const Stage& stage) const { return {stage.elements, stage.samples, round_}; }

    void add_stage(Tensor& tensor, std::int64_t width, std::size_t samples,
                   std::function<Expected(std::size_t at)> expect) {
        tensor = Tensor{planner_.rows(width), engine_};
        stages_.push_back({&tensor, static_cast<std::size_t>(shape_.tokens() * width), samples,
                           stored_, 1, std::move(expect)});
    }
    void add_int8_stage(Tensor& tensor, std::int64_t width,
                        std::function<Expected(std::size_t at)> expect) {
        tensor = Tensor{planner_.inputs(width), engine_};
        stages_.push_back({&tensor, static_cast<std::size_t>(shape_.tokens() * width), many,
                           Precision::int8, 1, std::move(expect)});
    }
    /// What a product takes is what was stored, or in int8 a copy of it in steps.
    const Tensor& quantised(const Tensor& from, Tensor& to, Kind kind) {
        if (!data_.is_int8()) return from;
        add_int8_stage(to, shape_.hidden, [this, &from, kind](std::size_t at) {
            return expect_steps({.value = from.element(at), .allowed = 0}, data_.step(kind));
        });
        return to;
    }
    /// Result `at` of a product with weights, before it is stored.
    Expected product(const Tensor& in, std::int64_t from, std::int64_t to, Kind kind,
                     std::size_t at) const {
        const auto terms = static_cast<std::size_t>(from);
        const auto width = static_cast<std::size_t>(to);
        const std::size_t token = at / width;
        const std::size_t column = at % width;
        const auto input = [&](auto k) { return in.element(token * terms + k); };
        const auto weight = [&](auto k) { return data_.weight(kind, k * width + column); };
        const float bias = data_.bias(kind, column);
        if (data_.is_int8())
            return expect_int8_product(terms, input, weight, bias,
                                       data_.product_scale(kind, column));
        return expect_product(terms, input, weight, bias);
    }
    Expected norm(const Tensor& in, Kind kind, std::size_t at) const {
        const auto h = static_cast<std::size_t>(shape_.hidden);
        const std::size_t first = at / h * h;
        const std::size_t column = at % h;
        return expect_norm(
            h, stored_, [&](auto k) { return in.element(first + k); }, column,
            data_.scale(kind, column), data_.bias(kind, column));
    }
    void add_stages() {
        const std::int64_t h = shape_.hidden;
        const Tensor& input = quantised(input_, input8_, Kind::qkv);
        add_stage(qkv_, 3 * h, many, [this, &input, h](std::size_t at) {
            return expect_stored(product(input, h, 3 * h, Kind::qkv, at), stored_);
        });
        add_stage(context_, h, few, [this, h](std::size_t at) {
            const auto width = static_cast<std::size_t>(h);
            return attention(at / width, at % width);
        });
        const Tensor& context = quantised(context_, context8_, Kind::output);
        add_stage(attended_, h, many, [this, &context, h](std::size_t at) {
            return expect_stored(product(context, h, h, Kind::output, at), stored_,
                                 input_.element(at));
        });
        add_stage(middle_, h, many,
                  [this](std::size_t at) { return norm(attended_, Kind::norm_one, at); });
        const Tensor& middle = quantised(middle_, middle8_, Kind::inner);
        const auto gelu = [this, &middle, h](std::size_t at) {
            return expect_gelu(product(middle, h, 4 * h, Kind::inner, at), Precision::fp32);
        };
        if (data_.is_int8())
            add_int8_stage(inner_, 4 * h, [this, gelu](std::size_t at) {
                return expect_steps(gelu(at), data_.step(Kind::outer));
            });
        else if (training_)
            add_training_gelu();
        else
            add_stage(inner_, 4 * h, many, [this, &middle, h](std::size_t at) {
                return expect_gelu(product(middle, h, 4 * h, Kind::inner, at), stored_);
            });
        add_stage(summed_, h, many, [this, h](std::size_t at) {
            return expect_stored(product(inner_, 4 * h, h, Kind::outer, at), stored_,
                                 middle_.element(at));
        });
        add_stage(result_, h, many,
                  [this](std::size_t at) { return norm(summed_, Kind::norm_two, at); });
    }
    void add_training_gelu() {
        const std::int64_t h = shape_.hidden;
        add_stage(before_gelu_, 4 * h, many, [this, h](std::size_t at) {
            return expect_stored(product(middle_, h, 4 * h, Kind::inner, at), stored_);
        });
        add_stage(inner_, 4 * h, many, [this](std::size_t at) {
            return expect_gelu({.value = before_gelu_.element(at), .allowed = 0}, stored_);
        });
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
            stored_, [&](auto j) { return qkv_.element((first + j) * 3 * h + 2 * h + column); });
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
        // oneDNN adds it to the sum of integers, before the scale.
        return constant(plan.query_md(dnnl::query::weights_md, 1), [&](auto i) {
            const float value = data_.bias(kind, i);
            return data_.is_int8() ? value / data_.product_scale(kind, i) : value;
        });
    }
    void add_norm(Kind kind, const Tensor& from, const Tensor& to) {
        const dnnl::memory::desc row{{shape_.hidden}, Data::f32, Layout::a};
        if (training_) {
            const dnnl::memory::desc each{{shape_.tokens()}, Data::f32, Layout::a};
            const Tensor& mean = statistics_.emplace_back(each, engine_);
            const Tensor& variance = statistics_.emplace_back(each, engine_);
            steps_.add(
                dnnl::layer_normalization_forward{plans_.norm},
                {{DNNL_ARG_SRC, from},
                 {DNNL_ARG_SCALE, constant(row, [&](auto i) { return data_.scale(kind, i); })},
                 {DNNL_ARG_SHIFT, constant(row, [&](auto i) { return data_.bias(kind, i); })},
                 {DNNL_ARG_MEAN, mean},
                 {DNNL_ARG_VARIANCE, variance},
                 {DNNL_ARG_DST, to}});
            return;
        }
        steps_.add(dnnl::layer_normalization_forward{plans_.norm},
                   {{DNNL_ARG_SRC, from},
                    {DNNL_ARG_SCALE, constant(row, [&](auto i) { return data_.scale(kind, i); })},
                    {DNNL_ARG_SHIFT, constant(row, [&](auto i) { return data_.bias(kind, i); })},
                    {DNNL_ARG_DST, to}});
    }
    /// The product's input: from itself, or in 8 bits by a step before.
    const Tensor& quantise(const std::optional<dnnl::reorder::primitive_desc>& plan,
                           const Tensor& from, const Tensor& to) {
        if (!plan) return from;
        steps_.add(dnnl::reorder{*plan}, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
        return to;
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
        add_product(plans_.qkv, Kind::qkv, quantise(plans_.input_to_int8, input_, input8_), qkv_);
        steps_.add(dnnl::matmul{plans_.scores},
                   {{DNNL_ARG_SRC, queries_}, {DNNL_ARG_WEIGHTS, keys_}, {DNNL_ARG_DST, scores_}});
        steps_.add(dnnl::softmax_v2_forward{plans_.softmax},
                   {{DNNL_ARG_SRC, scores_}, {DNNL_ARG_DST, scores_}});
        steps_.add(dnnl::matmul{plans_.context},
                   {{DNNL_ARG_SRC, scores_}, {DNNL_ARG_WEIGHTS, values_}, {DNNL_ARG_DST, heads_}});
        add_product(plans_.output, Kind::output,
                    quantise(plans_.context_to_int8, context_, context8_), attended_, input_);
        add_norm(Kind::norm_one, attended_, middle_);
        add_product(plans_.inner, Kind::inner, quantise(plans_.middle_to_int8, middle_, middle8_),
                    training_ ? before_gelu_ : inner_);
        if (training_)
            steps_.add(dnnl::eltwise_forward{planner_.apart_gelu()},
                       {{DNNL_ARG_SRC, before_gelu_}, {DNNL_ARG_DST, inner_}});
        add_product(plans_.outer, Kind::outer, inner_, summed_, middle_);
        add_norm(Kind::norm_two, summed_, result_);
    }
    TransformerShape shape_;
    Precision stored_; // between the products
    int threads_;
    dnnl::engine engine_;
    Steps steps_;
    TransformerData data_;
    Planner planner_;
    Plans plans_;
    bool training_;
    std::deque<Tensor> constants_; // weights, biases, scales
    std::vector<Stage> stages_;
    Tensor input_;
    Tensor input8_, context8_, middle8_; // what products in int8 take
    Tensor qkv_;                         // queries, keys and values of a token side by side
    Tensor queries_, keys_, values_;
    Tensor scores_;
    Tensor context_; // what the heads found
    Tensor heads_;   // the same, head by head
    Tensor attended_;
    Tensor middle_;
    Tensor before_gelu_; // in training
    Tensor inner_;
    Tensor summed_;
    Tensor result_;
    std::deque<Tensor> statistics_; // in training: mean and variance of each token, of both norms
    std::optional<Backward> backward_; // in training
    std::uint64_t round_ = 0;          // of samples
    Picks spoils_{51};
};

} // namespace

extern constinit const assay_benchmark transformer_layer = define<TransformerLayer>();

} // namespace assay::workload
