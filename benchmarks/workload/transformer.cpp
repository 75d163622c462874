// SPDX-License-Identifier: Apache-2.0

#include "onednn.hpp"
#include "transformer_backward.hpp"
#include "transformer_plans.hpp"
#include "transformer_stages.hpp"

#include <assay/define.hpp>

#include <deque>
#include <optional>
#include <span>

namespace assay::workload {
namespace {

class TransformerLayer : public LayerStages<Tensor> {
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
    static constexpr auto axes = std::tuple_cat(
        transformer_axes<Params>,
        std::tuple{
            choice("precision", "type of weights and activations", &Params::precision,
                   {Name{"fp32", Precision::fp32}, Name{"bf16", Precision::bf16},
                    Name{"int8", Precision::int8}}),
            threads_axis(&Params::threads, {Symbol::all}),
            // Behind all others: records from before it existed were of this default.
            choice("pass", "forward alone, or training: forward and backward", &Params::pass,
                   {Name{"forward", Pass::forward}, Name{"training", Pass::training}},
                   {Pass::forward}),
        });
    static constexpr bool single_call = true; // a call is what a user waits for

    static Fit fit(const Params& p, const Machine& m) {
        const TransformerShape shape{p.batch, p.sequence, p.hidden};
        if (Fit fit = shape.fits(); !fit) return fit;
        // Without VNNI sums of two products saturate in 16 bits, and results depend on the kernel.
        if (p.precision == Precision::int8 && !m.has("avx512_vnni") && !m.has("avx_vnni") &&
            !m.has("asimddp"))
            return Fit::no("not applicable: needs instructions for int8 dot products: avx512_vnni, "
                           "avx_vnni or asimddp");
        const bool training = p.pass == Pass::training;
        if (training && p.precision == Precision::int8)
            return Fit::no("training is not done in int8: fp32 or bf16");
        // The largest weights also exist in fp32 while they are packed.
        const std::int64_t bytes = bytes_of(stored(p.precision, m)) * shape.activations() +
                                   bytes_of(p.precision) * shape.weights() +
                                   4 * shape.weights() / 3;
        // Training doubles the activations, and adds weights packed for the way back and their gradients in fp32.
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
        : LayerStages{{{p.batch, p.sequence, p.hidden},
                       p.precision,
                       stored(p.precision, context.machine())}},
          threads_{host::use_threads(context.machine(), p.threads)}, engine_{cpu()},
          steps_{engine_}, planner_{data_, p.pass == Pass::training, engine_},
          plans_{planner_.plans()}, training_{p.pass == Pass::training} {
        input_ = filled(planner_.rows(shape_.hidden), [&](auto i) { return data_.activation(i); });
        add_forward(
            training_, [&](auto width) { return Tensor{planner_.rows(width), engine_}; },
            [&](auto width) { return Tensor{planner_.inputs(width), engine_}; });
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
        context.setting("between", data_.stored() == Precision::bf16 ? "bf16" : "fp32");
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
        return LayerStages::verify();
    }
    void poison() {
        LayerStages::poison();
        scores_.poison();
    }

private:
    /// bf16 between the products in int8, where the CPU computes with it.
    static Precision stored(Precision precision, const Machine& machine) {
        if (precision != Precision::int8) return precision;
        return machine.has("avx512_bf16") || machine.has("bf16") ? Precision::bf16
                                                                 : Precision::fp32;
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

    int threads_;
    dnnl::engine engine_;
    Steps steps_;
    Planner planner_;
    Plans plans_;
    bool training_;
    std::deque<Tensor> constants_;   // weights, biases, scales
    Tensor queries_, keys_, values_; // parts of qkv_
    Tensor scores_;
    Tensor heads_;                  // context_, head by head
    std::deque<Tensor> statistics_; // in training: mean and variance of each token, of both norms
    std::optional<Backward> backward_; // in training
};

} // namespace

extern constinit const assay_benchmark transformer_layer = define<TransformerLayer>();

} // namespace assay::workload
