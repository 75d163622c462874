// SPDX-License-Identifier: Apache-2.0
//
// The backward pass of an encoder layer: gradients of its input, weights, biases and norms, from that of its result.
// Every stage is recomputed from what the stage before has stored, as in the forward pass.

#pragma once

#include "transformer_plans.hpp"
#include "transformer_stages.hpp"

#include <cmath>
#include <cstddef>
#include <deque>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace assay::workload {

/// Tensors that the forward pass has left.
struct Forward {
    const Tensor& input;
    Tensor& qkv;
    Tensor& probabilities;
    const Tensor& context;
    const Tensor& attended;
    const Tensor& middle;
    const Tensor& before_gelu;
    const Tensor& inner;
    const Tensor& summed;
    const Tensor& mean_one;
    const Tensor& variance_one;
    const Tensor& mean_two;
    const Tensor& variance_two;
};

/// Descriptions of the primitives. Weights are packed for this pass as well.
class BackwardPlanner {
public:
    using Product = dnnl::matmul::primitive_desc;

    BackwardPlanner(const TransformerShape& shape, const Planner& forward, dnnl::engine engine)
        : s_{shape}, forward_{forward}, type_{forward.rows(1).data_type()},
          engine_{std::move(engine)} {}

    /// The gradient of a product's input: that of its result, times the weights; with what comes by the residual.
    Product input(std::int64_t from, std::int64_t to, bool adds) const {
        dnnl::primitive_attr attributes;
        if (adds) attributes.set_post_ops(forward_.adding());
        return {{forward_.rows(to), {{to, from}, type_, Layout::any}, forward_.rows(from)},
                attributes,
                engine_};
    }
    Product weights(std::int64_t from, std::int64_t to) const {
        return {{{{from, s_.tokens()}, type_, Dimensions{1, from}},
                 forward_.rows(to),
                 {{from, to}, Data::f32, Layout::ab}},
                engine_};
    }
    /// Sums over tokens as a product with ones: oneDNN's reduction has a kernel for other layouts only.
    Product bias(std::int64_t to) const {
        return {{ones(), forward_.rows(to), {{1, to}, Data::f32, Layout::ab}}, engine_};
    }
    dnnl::memory::desc ones() const { return {{1, s_.tokens()}, type_, Layout::ab}; }
    dnnl::layer_normalization_backward::primitive_desc norm() const {
        return {{dnnl::prop_kind::backward, forward_.rows(s_.hidden), forward_.rows(s_.hidden),
                 norm_epsilon,
                 dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift},
                engine_,
                forward_.norm()};
    }
    dnnl::eltwise_backward::primitive_desc gelu() const {
        const auto rows = forward_.rows(s_.inner());
        return {{dnnl::algorithm::eltwise_gelu_erf, rows, rows}, engine_, forward_.apart_gelu()};
    }
    dnnl::softmax_v2_backward::primitive_desc softmax() const {
        const auto scores = forward_.scores_desc();
        return {{dnnl::algorithm::softmax_accurate, scores, scores, scores, 3},
                engine_,
                forward_.softmax()};
    }
    /// Product of queries and keys, scaled as scores are.
    Product attention(const dnnl::memory::desc& a, const dnnl::memory::desc& b,
                      const dnnl::memory::desc& to, float scale) const {
        dnnl::primitive_attr attributes;
        if (scale != 1) attributes.set_output_scales(0, {scale});
        return {{a, b, to}, attributes, engine_};
    }
    /// A row of scores for each key.
    dnnl::memory::desc swapped_scores() const {
        const std::int64_t of_head = s_.sequence * s_.sequence;
        return {{s_.batch, s_.heads(), s_.sequence, s_.sequence},
                type_,
                Dimensions{s_.heads() * of_head, of_head, 1, s_.sequence}};
    }
    /// Names every kind of primitive.
    void name(Kernels& kernels) const {
        const std::int64_t h = s_.hidden;
        const auto heads = forward_.heads(3 * h, false);
        for (const auto& [from, to] : {std::pair{h, 3 * h}, {h, h}, {h, 4 * h}, {4 * h, h}}) {
            kernels.add(input(from, to, from == h && to != h).impl_info_str());
            kernels.add(weights(from, to).impl_info_str());
            kernels.add(bias(to).impl_info_str());
        }
        for (int i = 0; i < 2; ++i) kernels.add(norm().impl_info_str());
        kernels.add(gelu().impl_info_str());
        kernels.add(softmax().impl_info_str());
        const auto scores = forward_.scores_desc();
        for (const auto& a : {scores, swapped_scores(), swapped_scores()})
            kernels.add(attention(a, heads, heads, 1).impl_info_str());
        kernels.add(attention(forward_.heads(h, false), forward_.heads(3 * h, true), scores, 1)
                        .impl_info_str());
    }

private:
    TransformerShape s_;
    const Planner& forward_;
    Data type_;
    dnnl::engine engine_;
};

/// Adds its primitives to the steps, and what they store to the stages. Stays where it is.
class Backward {
public:
    Backward(const Forward& forward, const TransformerData& data, const Planner& planner,
             const dnnl::engine& engine, Steps& steps, std::vector<Stage<Tensor>>& stages)
        : f_{forward}, data_{data}, s_{data.shape()}, planner_{planner},
          plans_{s_, planner, engine}, engine_{engine}, steps_{steps}, stages_{stages} {
        const std::int64_t h = s_.hidden;
        // Numbers of the input's kind, far from those that it takes.
        constexpr std::uint64_t far = std::uint64_t{1} << 40U;
        const Tensor& result =
            constant(planner_.rows(h), [&](auto i) { return data_.activation(far + i); });
        ones_ = &constant(plans_.ones(), [](auto) { return 1.0F; });
        norm(Kind::norm_two, result, f_.summed, f_.mean_two, f_.variance_two, summed_);
        dense(Kind::outer, 4 * h, h, f_.inner, summed_, inner_, nullptr);
        gelu();
        dense(Kind::inner, h, 4 * h, f_.middle, before_gelu_, middle_, &summed_);
        norm(Kind::norm_one, middle_, f_.attended, f_.mean_one, f_.variance_one, attended_);
        dense(Kind::output, h, h, f_.context, attended_, context_, nullptr);
        attention();
        dense(Kind::qkv, h, 3 * h, f_.input, qkv_, input_, &attended_);
    }
    Backward(const Backward&) = delete;
    Backward(Backward&&) = delete;
    Backward& operator=(const Backward&) = delete;
    Backward& operator=(Backward&&) = delete;
    ~Backward() = default;

private:
    using Kind = TransformerData::Kind;
    using Expect = std::function<Expected(std::size_t at)>;

    std::size_t tokens() const { return static_cast<std::size_t>(s_.tokens()); }

    template <class Make>
    const Tensor& constant(const dnnl::memory::desc& desc, Make&& make) {
        Tensor& tensor = constants_.emplace_back(desc, engine_);
        std::vector<float> values(elements_of(desc));
        assay::detail::fill(std::span{values}, 0, make);
        tensor.fill(values, steps_.stream());
        return tensor;
    }
    void stage(Tensor& tensor, const dnnl::memory::desc& desc, float size, Expect expect) {
        tensor = Tensor{desc, engine_};
        const bool is_fp32 = desc.data_type() == Data::f32;
        stages_.push_back({&tensor, elements_of(desc), many_samples,
                           is_fp32 ? Precision::fp32 : Precision::bf16, size, std::move(expect)});
    }
    /// Gradients of weights: sums over all tokens, in fp32.
    Tensor& sums(const dnnl::memory::desc& desc, Expect expect) {
        Tensor& tensor = sums_.emplace_back();
        stage(tensor, desc, std::sqrt(static_cast<float>(s_.tokens())), std::move(expect));
        return tensor;
    }

    /// A product of `in` with weights, whose result has the gradient `of`.
    void dense(Kind kind, std::int64_t from, std::int64_t to, const Tensor& in, const Tensor& of,
               Tensor& gradient, const Tensor* residual) {
        const auto width = static_cast<std::size_t>(from);
        const auto results = static_cast<std::size_t>(to);
        stage(gradient, planner_.rows(from), 1, [=, this, &of](std::size_t at) {
            const std::size_t token = at / width;
            const std::size_t column = at % width;
            return expect_stored(
                expect_product(
                    results, [&](auto k) { return of.element(token * results + k); },
                    [&](auto k) { return data_.weight(kind, column * results + k); }, 0),
                data_.stored(), residual != nullptr ? residual->element(at) : 0.0);
        });
        const auto plan = plans_.input(from, to, residual != nullptr);
        const Tensor& weights = constant(plan.weights_desc(), [=, this](auto i) {
            return data_.weight(kind, i % width * results + i / width);
        });
        if (residual != nullptr)
            steps_.add(dnnl::matmul{plan},
                       {{DNNL_ARG_SRC, of},
                        {DNNL_ARG_WEIGHTS, weights},
                        {DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, *residual},
                        {DNNL_ARG_DST, gradient}});
        else
            steps_.add(dnnl::matmul{plan},
                       {{DNNL_ARG_SRC, of}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, gradient}});
        const auto of_result = [=, &of](std::size_t column) {
            return [=, &of](auto t) { return of.element(t * results + column); };
        };
        const auto of_weights = plans_.weights(from, to);
        const Tensor& weight_sums = sums(of_weights.dst_desc(), [=, this, &in](std::size_t at) {
            return expect_product(
                tokens(), [&](auto t) { return in.element(t * width + at / results); },
                of_result(at % results), 0);
        });
        steps_.add(dnnl::matmul{of_weights},
                   {{DNNL_ARG_SRC, in}, {DNNL_ARG_WEIGHTS, of}, {DNNL_ARG_DST, weight_sums}});
        const auto of_bias = plans_.bias(to);
        const Tensor& bias_sums = sums(of_bias.dst_desc(), [=, this](std::size_t at) {
            return expect_product(tokens(), [](auto) { return 1.0F; }, of_result(at), 0);
        });
        steps_.add(dnnl::matmul{of_bias},
                   {{DNNL_ARG_SRC, *ones_}, {DNNL_ARG_WEIGHTS, of}, {DNNL_ARG_DST, bias_sums}});
    }

    void norm(Kind kind, const Tensor& of, const Tensor& in, const Tensor& mean,
              const Tensor& variance, Tensor& gradient) {
        const auto h = static_cast<std::size_t>(s_.hidden);
        const auto normal = [=, &in, &mean, &variance](std::size_t at) {
            const double deviation = std::sqrt(double{variance.element(at / h)} + norm_epsilon);
            return (double{in.element(at)} - mean.element(at / h)) / deviation;
        };
        stage(gradient, planner_.rows(s_.hidden), 1, [=, this, &of, &variance](std::size_t at) {
            const std::size_t first = at / h * h;
            return expect_norm_gradient(
                h, data_.stored(), [&](auto k) { return normal(first + k); },
                [&](auto k) { return double{of.element(first + k)} * data_.scale(kind, k); },
                at % h, std::sqrt(double{variance.element(at / h)} + norm_epsilon));
        });
        const dnnl::memory::desc row{{s_.hidden}, Data::f32, Layout::a};
        const auto over_tokens = [=, this, &of](bool of_scale) {
            return [=, this, &of](std::size_t at) {
                Expected sum = expect_product(
                    tokens(), [&](auto t) { return of_scale ? normal(t * h + at) : 1.0; },
                    [&](auto t) { return of.element(t * h + at); }, 0);
                sum.allowed *= 2; // a normalised number is three roundings
                return sum;
            };
        };
        const Tensor& scales = sums(row, over_tokens(true));
        const Tensor& shifts = sums(row, over_tokens(false));
        steps_.add(
            dnnl::layer_normalization_backward{plans_.norm()},
            {{DNNL_ARG_SRC, in},
             {DNNL_ARG_MEAN, mean},
             {DNNL_ARG_VARIANCE, variance},
             {DNNL_ARG_SCALE, constant(row, [=, this](auto i) { return data_.scale(kind, i); })},
             // Shifts change nothing here, but oneDNN 2 counts them among the inputs.
             {DNNL_ARG_SHIFT, constant(row, [=, this](auto i) { return data_.bias(kind, i); })},
             {DNNL_ARG_DIFF_DST, of},
             {DNNL_ARG_DIFF_SRC, gradient},
             {DNNL_ARG_DIFF_SCALE, scales},
             {DNNL_ARG_DIFF_SHIFT, shifts}});
    }

    void gelu() {
        stage(before_gelu_, planner_.rows(s_.inner()), 1, [this](std::size_t at) {
            return expect_gelu_gradient(f_.before_gelu.element(at), inner_.element(at),
                                        data_.stored());
        });
        steps_.add(dnnl::eltwise_backward{plans_.gelu()}, {{DNNL_ARG_SRC, f_.before_gelu},
                                                           {DNNL_ARG_DIFF_DST, inner_},
                                                           {DNNL_ARG_DIFF_SRC, before_gelu_}});
    }

    /// The places of one element of the scores.
    struct Score {
        std::size_t row;         // of scores
        std::size_t query;       // tokens
        std::size_t first_token; // of the sequence
        std::size_t column;      // of the head, in a row of `hidden`
    };
    Score score(std::size_t at) const {
        const auto length = static_cast<std::size_t>(s_.sequence);
        const auto heads = static_cast<std::size_t>(s_.heads());
        const std::size_t row = at / length;
        const std::size_t first = row / length / heads * length;
        return {row, first + row % length, first, row / length % heads * head_size};
    }
    void attention() {
        const std::int64_t h = s_.hidden;
        const auto width = static_cast<std::size_t>(h);
        const auto length = static_cast<std::size_t>(s_.sequence);
        stage(probabilities_, planner_.scores_desc(), 1, [=, this](std::size_t at) {
            const Score of = score(at);
            const std::size_t key = of.first_token + at % length;
            return expect_stored(
                expect_product(
                    head_size,
                    [&](auto d) { return context_.element(of.query * width + of.column + d); },
                    [&](auto d) {
                        return f_.qkv.element(key * 3 * width + 2 * width + of.column + d);
                    },
                    0),
                data_.stored());
        });
        stage(scores_, planner_.scores_desc(), 1, [=, this](std::size_t at) {
            const std::size_t first = at / length * length;
            return expect_softmax_gradient(
                length, data_.stored(), [&](auto j) { return f_.probabilities.element(first + j); },
                [&](auto j) { return probabilities_.element(first + j); }, at % length);
        });
        stage(qkv_, planner_.rows(3 * h), 1, [=, this](std::size_t at) { return of_heads(at); });
        const auto part = [&](Tensor& tensor, std::int64_t which, bool swapped) -> Tensor& {
            return views_.emplace_back(tensor.part(planner_.heads(3 * h, swapped), which * h));
        };
        const auto turned = [&](Tensor& tensor) -> Tensor& {
            return views_.emplace_back(tensor.part(plans_.swapped_scores(), 0));
        };
        const auto multiply = [&](const Tensor& a, const Tensor& b, const Tensor& to, float scale) {
            const auto desc = [](const Tensor& tensor) { return tensor.memory().get_desc(); };
            steps_.add(dnnl::matmul{plans_.attention(desc(a), desc(b), desc(to), scale)},
                       {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, to}});
        };
        const Tensor& heads = views_.emplace_back(context_.part(planner_.heads(h, false), 0));
        multiply(turned(f_.probabilities), heads, part(qkv_, 2, false), 1);
        multiply(heads, part(f_.qkv, 2, true), probabilities_, 1);
        steps_.add(dnnl::softmax_v2_backward{plans_.softmax()},
                   {{DNNL_ARG_DST, f_.probabilities},
                    {DNNL_ARG_DIFF_DST, probabilities_},
                    {DNNL_ARG_DIFF_SRC, scores_}});
        multiply(scores_, part(f_.qkv, 1, false), part(qkv_, 0, false), score_scale);
        multiply(turned(scores_), part(f_.qkv, 0, false), part(qkv_, 1, false), score_scale);
    }
    /// A gradient of a query, a key or a value.
    Expected of_heads(std::size_t at) const {
        const auto h = static_cast<std::size_t>(s_.hidden);
        const auto length = static_cast<std::size_t>(s_.sequence);
        const std::size_t token = at / (3 * h);
        const std::size_t which = at % (3 * h) / h;
        const std::size_t column = at % h;
        const std::size_t first = token / length * length;
        const std::size_t head =
            token / length * static_cast<std::size_t>(s_.heads()) + column / head_size;
        const Tensor& scores = which == 2 ? f_.probabilities : scores_;
        const double scale = which == 2 ? 1 : score_scale;
        const auto score = [&](auto j) {
            const std::size_t query = which == 0 ? token - first : j;
            const std::size_t key = which == 0 ? j : token - first;
            return scale * scores.element((head * length + query) * length + key);
        };
        const auto with = [&](auto j) {
            if (which == 2) return context_.element((first + j) * h + column);
            return f_.qkv.element((first + j) * 3 * h + (which == 0 ? h : 0) + column);
        };
        return expect_stored(expect_product(length, score, with, 0), data_.stored());
    }

    Forward f_;
    const TransformerData& data_;
    TransformerShape s_;
    const Planner& planner_;
    BackwardPlanner plans_;
    dnnl::engine engine_;
    Steps& steps_;
    std::vector<Stage<Tensor>>& stages_;
    std::deque<Tensor> constants_;
    std::deque<Tensor> sums_;  // of weights, biases, scales and shifts
    std::deque<Tensor> views_; // heads
    const Tensor* ones_ = nullptr;
    // Gradients of what the forward pass calls so.
    Tensor summed_, inner_, before_gelu_, middle_, attended_, context_;
    Tensor probabilities_, scores_, qkv_, input_;
};

} // namespace assay::workload
