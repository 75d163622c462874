// SPDX-License-Identifier: Apache-2.0
//
// One step of training on a device: forward pass, loss, backward pass, AdamW. Each step is added with the stages that it
// stores. For .cu files.

#pragma once

#include "model/training_attention.cuh"
#include "model/training_tensors.cuh"

#include <array>

namespace assay::model::training {

inline std::size_t size(std::int64_t count) { return static_cast<std::size_t>(count); }
inline std::uint32_t word(std::size_t count) { return static_cast<std::uint32_t>(count); }

class Training : public Steps {
public:
    Training(const TrainingShape& shape, device::Place& place, const Context& context)
        : Steps{place, shape.tokens()}, data_{shape}, shape_{data_.shape()},
          tokens_{size(shape.tokens())}, hidden_{size(shape.hidden)}, inner_{size(shape.inner())},
          classes_{size(shape.vocabulary)}, groups_{(tokens_ + rows_of_group - 1) / rows_of_group},
          from_{shape.parameters(), columns_}, to_{shape.parameters(), columns_},
          gradients_{wide(size(shape.parameters()))}, partial_{groups_ * inner_}, taken_{tokens_},
          targets_{tokens_} {
        for (const Parameter& each : data_.parameters()) {
            const std::size_t count = size(each.count());
            fill(from_.masters.data() + each.first, count, uniform(each.numbers));
            fill(from_.weights.data() + each.first, count,
                 workload::Rounded<Half>{uniform(each.numbers)});
            pieces_.emplace_back(gradients_, each.first, each.count());
        }
        fill(from_.first.data(), from_.first.size(), uniform(data_.first_moment()));
        fill(from_.second.data(), from_.second.size(), uniform(data_.second_moment()));
        fill(taken_.data(), tokens_, data_.tokens());
        fill(targets_.data(), tokens_, data_.targets());
        add_forward();
        add_backward();
        add_optimizer();
        context.setting("parameters", shape_.parameters());
        prepare(context);
    }
    Work work() const { return {.flops = shape_.flops(), .items = static_cast<double>(tokens_)}; }

private:
    using Kind = TrainingData::Kind;
    struct Layer {
        Narrow *qkv, *context, *before_gelu, *inner;
        Wide* logarithms;
    };
    struct NormState {
        const Narrow* from;
        Narrow* to;
        Wide* statistics;
    };
    const Half* weights(const Parameter& of) const { return from_.weights.data() + of.first; }
    Wide& gradient(const Parameter& of) { return pieces_[size(&of - data_.parameters().data())]; }
    static const Half* data_of(const Narrow* numbers) {
        return numbers == nullptr ? nullptr : numbers->data();
    }

    // --- products --------------------------------------------------------------------------------------

    void multiply(const std::string& kind, const Parameter& by, const Parameter* bias,
                  const Narrow& from, Narrow& to, const Narrow* residual) {
        add_product(kind, {.a = operand(weights(by), by.outputs, by.inputs),
                           .b = operand(from.data(), shape_.tokens(), by.inputs),
                           .c = operand(to.data(), shape_.tokens(), by.outputs),
                           .bias = bias != nullptr ? weights(*bias) : nullptr,
                           .added = data_of(residual)});
        stage(to, some_samples, by.name, [=, &by, &from](std::size_t at) {
            const std::size_t token = at / size(by.outputs);
            const std::size_t row = at % size(by.outputs);
            const std::size_t terms = size(by.inputs);
            return expect_sum(
                terms, [&](auto k) { return from.element(token * terms + k); },
                [&](auto k) { return TrainingData::weight(by, row * terms + k); },
                bias != nullptr ? TrainingData::weight(*bias, row) : 0,
                residual != nullptr ? residual->element(at) : 0);
        });
    }
    /// Gradients of what a product took, and of its weights, from that of what it gave.
    void multiply_back(const std::string& kind, const Parameter& by, const Narrow& of,
                       const Narrow& from, Narrow& to, const Narrow* residual) {
        const std::int64_t tokens = shape_.tokens();
        add_product(kind + ", gradient", {.a = operand(weights(by), by.outputs, by.inputs),
                                          .b = operand(of.data(), tokens, by.outputs),
                                          .c = operand(to.data(), tokens, by.inputs),
                                          .added = data_of(residual),
                                          .a_by_steps = true});
        stage(to, some_samples, by.name + ", gradient of input", [=, &by, &of](std::size_t at) {
            const std::size_t width = size(by.inputs);
            const std::size_t terms = size(by.outputs);
            return expect_sum(
                terms, [&](auto k) { return of.element(at / width * terms + k); },
                [&](auto k) { return TrainingData::weight(by, k * width + at % width); }, 0,
                residual != nullptr ? residual->element(at) : 0);
        });
        add_product(kind + ", weights", {.a = operand(from.data(), tokens, by.inputs),
                                         .b = operand(of.data(), tokens, by.outputs),
                                         .c = operand(gradient(by).data(), by.outputs, by.inputs),
                                         .a_by_steps = true,
                                         .b_by_steps = true});
        if (&by == &data_.token_embedding()) return; // more is added to it
        stage(gradient(by), few_samples, by.name + ", gradient",
              [=, &by, &of, &from](std::size_t at) { return of_weights(by, of, from, at); });
    }
    static Expected of_weights(const Parameter& by, const Narrow& of, const Narrow& from,
                               std::size_t at) {
        const auto gradients = of.column(at / size(by.inputs), size(by.outputs));
        return expect_over_tokens(gradients, from.column(at % size(by.inputs), size(by.inputs)),
                                  lost(gradients.size()));
    }
    void multiply_layer(std::size_t layer, Kind kind, const Narrow& from, Narrow& to,
                        const Narrow* residual) {
        multiply(joined(int{kind}), data_.weights(layer, kind), &data_.bias(layer, kind), from, to,
                 residual);
    }

    // --- forward ---------------------------------------------------------------------------------------

    void add_forward() {
        const Parameter& table = data_.token_embedding();
        const Parameter& positions = data_.position_embedding();
        const std::size_t width = hidden_;
        const std::size_t length = size(shape_.sequence);
        Narrow* sum = &narrow(tokens_ * hidden_);
        add_each(sum->size() / 8, Embed<Half>{taken_.data(), weights(table), weights(positions),
                                              sum->data(), hidden_ / 8, length});
        stage(*sum, some_samples, "embedding", [=, this, &table, &positions](std::size_t at) {
            const std::size_t token = size(data_.tokens()(at / width));
            const std::size_t position = at / width % length;
            return with_room(workload::expect_stored(
                {double{TrainingData::weight(table, token * width + at % width)}, 0},
                Precision::bf16, TrainingData::weight(positions, position * width + at % width)));
        });
        for (std::size_t layer = 0; layer < size(shape_.layers); ++layer) {
            const Narrow& residual = add_norm(*sum);
            Layer& of = layers_.emplace_back();
            of.qkv = &narrow(tokens_ * 3 * hidden_);
            multiply_layer(layer, Kind::qkv, *norms_.back().to, *of.qkv, nullptr);
            add_attention(of, joined("layer ", layer));
            sum = &narrow(tokens_ * hidden_);
            multiply_layer(layer, Kind::output, *of.context, *sum, &residual);

            const Narrow& second_residual = add_norm(*sum);
            const Narrow& before = *(of.before_gelu = &narrow(tokens_ * inner_));
            of.inner = &narrow(tokens_ * inner_);
            multiply_layer(layer, Kind::inner, *norms_.back().to, *of.before_gelu, nullptr);
            add_each(before.size() / 8, Gelu<Half>{before.data(), of.inner->data()});
            stage(*of.inner, some_samples, joined("layer ", layer, ", GELU"),
                  [&before](std::size_t at) {
                      return with_room(
                          workload::expect_gelu({before.element(at), 0}, Precision::bf16));
                  });
            sum = &narrow(tokens_ * hidden_);
            multiply_layer(layer, Kind::outer, *of.inner, *sum, &second_residual);
        }
        add_norm(*sum);
        scores_ = &narrow(tokens_ * classes_);
        multiply("head", table, nullptr, *norms_.back().to, *scores_, nullptr);
        add_loss();
    }
    /// The residual of the block behind it.
    const Narrow& add_norm(const Narrow& from) {
        const std::size_t norm = norms_.size();
        const std::size_t width = hidden_;
        const std::size_t tokens = tokens_;
        const Parameter& scale = data_.scale(norm);
        const Parameter& shift = data_.shift(norm);
        Narrow& to = narrow(tokens * width);
        Wide& statistics = wide(2 * tokens);
        norms_.push_back({&from, &to, &statistics});
        with_packs([&](auto packs) {
            add_kernel(&normalise<Half, decltype(packs)::value>,
                       {word((tokens + norm_warps - 1) / norm_warps)}, norm_warps,
                       Norm<Half>{from.data(), weights(scale), weights(shift), to.data(),
                                  statistics.data(), word(tokens), word(width)});
        });
        stage(statistics, some_samples, joined("norm ", norm, ", mean and deviation"),
              [=, &from](std::size_t at) {
                  return expect_statistic(from, width, at % tokens, at < tokens);
              });
        stage(to, some_samples, joined("norm ", norm), [=, &from, &scale, &shift](std::size_t at) {
            const std::size_t column = at % width;
            return workload::expect_norm(
                width, Precision::bf16, [&](auto k) { return from.element(at - column + k); },
                column, TrainingData::weight(scale, column), TrainingData::weight(shift, column));
        });
        return shape_.adds_normed ? to : from;
    }
    /// use(packs of a lane, as a constant)
    template <class Use>
    void with_packs(const Use& use) const {
        const std::size_t packs = (hidden_ + 8 * warp_lanes - 1) / (8 * warp_lanes);
        if (packs == 1) return use(std::integral_constant<unsigned, 1>{});
        if (packs == 3) return use(std::integral_constant<unsigned, 3>{});
        use(std::integral_constant<unsigned, 4>{});
    }
    void add_attention(Layer& of, const std::string& name) {
        of.context = &narrow(tokens_ * hidden_);
        of.logarithms = &wide(tokens_ * size(shape_.heads()));
        const Attention<Half> attention = attention_of(of);
        add_kernel(shape_.is_causal ? &attend_forward<Half, true> : &attend_forward<Half, false>,
                   {attention_blocks()}, attend_warps, attention);
        const AttentionStages expected{shape_, *of.qkv, *of.logarithms};
        stage(*of.context, few_samples, name + ", attention",
              [expected](std::size_t at) { return expected.result(at); });
        stage(*of.logarithms, few_samples, name + ", logarithms of sums",
              [expected](std::size_t at) { return expected.logarithm(at); });
    }
    Attention<Half> attention_of(const Layer& of) const {
        return {of.qkv->data(), of.context->data(), of.logarithms->data(),
                word(size(shape_.sequence)), word(size(shape_.heads()))};
    }
    unsigned attention_blocks() const {
        const std::int64_t of_head = (shape_.sequence / tile + attend_warps - 1) / attend_warps;
        return word(size(shape_.batch * shape_.heads() * of_head));
    }
    void add_loss() {
        const std::size_t classes = classes_;
        const auto tokens = static_cast<double>(tokens_);
        Wide& losses = wide(tokens_);
        Wide& logarithms = wide(tokens_);
        score_gradients_ = &narrow(tokens_ * classes);
        const std::size_t warps =
            std::min<std::size_t>((classes / 8 + warp_lanes - 1) / warp_lanes, most_loss_warps);
        add_kernel(&cross_entropy<Half>, {word(tokens_)}, word(warps),
                   Loss<Half>{scores_->data(), targets_.data(), losses.data(), logarithms.data(),
                              score_gradients_->data(), word(classes),
                              static_cast<float>(1 / tokens)});
        const auto target = [this](std::size_t token) { return size(data_.targets()(token)); };
        stage(logarithms, few_samples, "logarithms of the loss",
              [=, this](std::size_t at) { return expect_logarithm(*scores_, classes, at); });
        stage(losses, some_samples, "loss", [=, this, &logarithms](std::size_t at) {
            const double score = scores_->element(at * classes + target(at));
            const double logarithm = logarithms.element(at);
            return Expected{logarithm - score,
                            0x1p-22 * (1 + std::fabs(logarithm) + std::fabs(score))};
        });
        stage(*score_gradients_, many_samples, "gradient of scores",
              [=, this, &logarithms](std::size_t at) {
                  const std::size_t token = at / classes;
                  return expect_loss_gradient(scores_->element(at), logarithms.element(token),
                                              at % classes == target(token), tokens);
              });
    }

    // --- backward --------------------------------------------------------------------------------------

    void add_backward() {
        Narrow* of_normed = &narrow(tokens_ * hidden_);
        multiply_back("head", data_.token_embedding(), *score_gradients_, *norms_.back().to,
                      *of_normed, nullptr);
        const Narrow* of_sum = nullptr;
        for (std::size_t norm = norms_.size() - 1; norm > 0; --norm) {
            const std::size_t layer = (norm - 1) / 2;
            const bool is_attention = norm % 2 == 1;
            of_sum =
                &add_norm_gradient(norm, *of_normed, of_sum,
                                   &data_.bias(layer, is_attention ? Kind::output : Kind::outer));
            of_normed = &narrow(tokens_ * hidden_);
            if (is_attention)
                add_attention_gradient(layer, *of_sum, *of_normed);
            else
                add_perceptron_gradient(layer, *of_sum, *of_normed);
        }
        add_embedding_gradient(add_norm_gradient(0, *of_normed, of_sum, nullptr));
    }
    void multiply_layer_back(std::size_t layer, Kind kind, const Narrow& of, const Narrow& from,
                             Narrow& to, const Narrow* residual) {
        multiply_back(joined(int{kind}), data_.weights(layer, kind), of, from, to,
                      shape_.adds_normed ? residual : nullptr);
    }
    /// The gradient of a sum, from that of its norm and, where the sum is the residual, of the next sum.
    const Narrow& add_norm_gradient(std::size_t norm, const Narrow& of, const Narrow* next,
                                    const Parameter* bias) {
        const Narrow* const added = shape_.adds_normed ? nullptr : next;
        const Narrow& from = *norms_[norm].from;
        const Wide& statistics = *norms_[norm].statistics;
        const Parameter& scale = data_.scale(norm);
        const std::size_t width = hidden_;
        const std::size_t tokens = tokens_;
        Narrow& to = narrow(tokens * width);
        with_packs([&](auto packs) {
            add_kernel(&norm_gradient<Half, decltype(packs)::value>, {word(groups_)}, norm_warps,
                       NormGradient<Half>{of.data(), from.data(), weights(scale), data_of(added),
                                          statistics.data(), to.data(), partial_.data(),
                                          word(tokens), word(width)});
        });
        Wide& of_scale = gradient(scale);
        Wide& of_shift = gradient(data_.shift(norm));
        add_sums(width, 3, {&of_scale, &of_shift, bias != nullptr ? &gradient(*bias) : nullptr});
        const auto normal = [=, &statistics](std::size_t token, double x) {
            return (x - statistics.element(token)) * double{statistics.element(tokens + token)};
        };
        stage(
            to, some_samples, joined("norm ", norm, ", gradient"),
            [=, &from, &statistics, &of, &scale](std::size_t at) {
                const std::size_t first = at / width * width;
                const auto gradient = [&](auto k) {
                    return double{of.element(first + k)} * TrainingData::weight(scale, k);
                };
                return with_room(workload::expect_stored(
                    workload::expect_norm_gradient(
                        width, Precision::fp32,
                        [&](auto k) { return normal(at / width, from.element(first + k)); },
                        gradient, at % width, 1 / double{statistics.element(tokens + at / width)}),
                    Precision::bf16, added != nullptr ? added->element(at) : 0));
            });
        stage(of_scale, few_samples, scale.name + ", gradient", [=, &from, &of](std::size_t at) {
            std::vector<float> normals = from.column(at, width);
            for (std::size_t i = 0; i < tokens; ++i)
                normals[i] = static_cast<float>(normal(i, normals[i]));
            Expected sum = expect_over_tokens(of.column(at, width), normals, 0);
            sum.allowed *= 2; // a normalised number is three roundings
            return sum;
        });
        add_column_stage(data_.shift(norm), of);
        if (bias != nullptr) add_column_stage(*bias, to);
        return to;
    }
    void add_column_stage(const Parameter& to, const Narrow& of) {
        stage(gradient(to), few_samples, to.name + ", gradient",
              [&of, width = gradient(to).size()](std::size_t at) {
                  return expect_over_tokens(of.column(at, width), {}, 0);
              });
    }
    /// Adds up what groups of rows have left: `of` times `width` sums each, the last ones maybe not wanted.
    void add_sums(std::size_t width, std::size_t of, const std::array<const Wide*, 3>& to) {
        ColumnSums sums{partial_.data(), word(groups_), word(width), word(of * width), 0, {}};
        for (const Wide* each : to)
            if (each != nullptr) sums.to[sums.wanted++] = each->data();
        add_kernel(&add_groups<ColumnSums>,
                   {word((sums.wanted * width + warp_lanes - 1) / warp_lanes)}, adders, sums);
    }
    /// The gradient of a bias, with that of GELU on the way.
    template <bool has_gelu>
    void add_bias_gradient(const Parameter& bias, const Narrow& of, const Narrow* before,
                           const Narrow* to) {
        const std::size_t width = size(bias.outputs);
        constexpr unsigned of_block = 8 * strip_warps * warp_lanes;
        add_kernel(&sum_columns<Half, has_gelu>,
                   {word((width + of_block - 1) / of_block), word(groups_)}, strip_warps, of.data(),
                   data_of(before), to != nullptr ? to->data() : nullptr, partial_.data(),
                   word(tokens_), word(width));
        add_sums(width, 1, {&gradient(bias)});
        add_column_stage(bias, to != nullptr ? *to : of);
    }
    void add_perceptron_gradient(std::size_t layer, const Narrow& of, Narrow& to) {
        const Layer& from = layers_[layer];
        Narrow& of_inner = narrow(tokens_ * inner_);
        Narrow& of_before = narrow(tokens_ * inner_);
        multiply_layer_back(layer, Kind::outer, of, *from.inner, of_inner, nullptr);
        stage(of_before, some_samples, joined("layer ", layer, ", gradient of GELU"),
              [&before = *from.before_gelu, &of_inner](std::size_t at) {
                  return with_room(workload::expect_gelu_gradient(
                      before.element(at), of_inner.element(at), Precision::bf16));
              });
        add_bias_gradient<true>(data_.bias(layer, Kind::inner), of_inner, from.before_gelu,
                                &of_before);
        multiply_layer_back(layer, Kind::inner, of_before, *norms_[2 * layer + 1].to, to, &of);
    }
    void add_attention_gradient(std::size_t layer, const Narrow& of, Narrow& to) {
        const Layer& from = layers_[layer];
        Narrow& of_context = narrow(tokens_ * hidden_);
        Narrow& of_qkv = narrow(tokens_ * 3 * hidden_);
        Wide& along = wide(from.logarithms->size());
        multiply_layer_back(layer, Kind::output, of, *from.context, of_context, nullptr);
        const AttentionGradient<Half> gradient{attention_of(from), of_context.data(), along.data(),
                                               of_qkv.data()};
        const bool causal = shape_.is_causal;
        add_kernel(causal ? &attend_backward<Half, false, true>
                          : &attend_backward<Half, false, false>,
                   {attention_blocks()}, attend_warps, gradient);
        add_kernel(causal ? &attend_backward<Half, true, true>
                          : &attend_backward<Half, true, false>,
                   {attention_blocks()}, attend_warps, gradient);
        const AttentionStages expected{shape_,       *from.qkv,   *from.logarithms,
                                       from.context, &of_context, &along};
        stage(along, some_samples, joined("layer ", layer, ", results times gradients"),
              [expected](std::size_t at) { return expected.sum_along(at); });
        // A sample reads a sequence: many short ones, or few long ones.
        const std::size_t samples = std::max(few_samples, 8192 / size(shape_.sequence));
        stage(of_qkv, samples, joined("layer ", layer, ", gradient of attention"),
              [expected](std::size_t at) { return expected.gradient(at); });
        add_bias_gradient<false>(data_.bias(layer, Kind::qkv), of_qkv, nullptr, nullptr);
        multiply_layer_back(layer, Kind::qkv, of_qkv, *norms_[2 * layer].to, to, &of);
    }
    void add_embedding_gradient(const Narrow& of) {
        const Parameter& table = data_.token_embedding();
        const Parameter& positions = data_.position_embedding();
        const std::size_t width = hidden_;
        const std::size_t length = size(shape_.sequence);
        constexpr unsigned of_block = scan_warps * rows_of_warp;
        add_kernel(&embed_gradient<Half>, {word((classes_ + of_block - 1) / of_block)}, scan_warps,
                   taken_.data(), of.data(), gradient(table).data(), word(tokens_), word(width),
                   word(classes_));
        stage(gradient(table), 2 * some_samples, table.name + ", gradient",
              [=, this, &table, &of](std::size_t at) {
                  Expected sum = of_weights(table, *score_gradients_, *norms_.back().to, at);
                  for (std::size_t token = 0; token < tokens_; ++token) {
                      if (size(data_.tokens()(token)) != at / width) continue;
                      const double more = of.element(token * width + at % width);
                      sum.value += more;
                      sum.allowed += 16 * 0x1p-24 * (std::fabs(more) + std::fabs(sum.value));
                  }
                  return sum;
              });
        Wide& of_positions = gradient(positions);
        add_each(of_positions.size() / 8,
                 EmbedPositionGradient<Half>{of.data(), of_positions.data(), width / 8, length,
                                             size(shape_.batch)});
        stage(of_positions, some_samples, positions.name + ", gradient", [=, &of](std::size_t at) {
            if (at / width >= length) return with_room({0, 0});
            return expect_over_tokens(of.column(at, length * width), {}, 0);
        });
    }

    // --- AdamW -----------------------------------------------------------------------------------------

    void add_optimizer() {
        const Wide& all = gradients_;
        Wide& parts = wide(norm_parts);
        Wide& norm = wide(1);
        const std::size_t count = all.size();
        const std::size_t part = (count / 4 + norm_parts - 1) / norm_parts * 4;
        add_kernel(&add_squares<float, false>, {norm_parts}, square_warps, all.data(), parts.data(),
                   count, part);
        add_kernel(&add_squares<float, true>, {1}, square_warps, parts.data(), norm.data(),
                   parts.size(), parts.size());
        stage(parts, few_samples, "squares of gradients", [=, &all](std::size_t at) {
            double sum = 0;
            for (std::size_t i = at * part; i < std::min((at + 1) * part, count); ++i)
                sum += std::pow(double{all.element(i)}, 2);
            return with_room({sum, 1e-5 * sum});
        });
        stage(norm, 1, "norm of the gradient", [&parts](std::size_t) {
            double sum = 0;
            for (std::size_t i = 0; i < norm_parts; ++i) sum += double{parts.element(i)};
            return Expected{std::sqrt(sum), 1e-6 * std::sqrt(sum)};
        });
        const AdamW by;
        const std::size_t matrices = size(shape_.matrices());
        add_each(count / 4,
                 Adam<Half>{from_.masters.data(), from_.first.data(), from_.second.data(),
                            to_.masters.data(), to_.first.data(), to_.second.data(),
                            to_.weights.data(), all.data(), norm.data(), by, by.first_correction(),
                            by.second_correction(), matrices / 4});
        const auto clipped = [=, &norm, &all](std::size_t at) {
            const double most = double{by.most_norm} / (double{norm.element(0)} + 1e-6);
            return std::fmin(most, 1) * all.element(at);
        };
        const auto before = [](const Numbers& of, std::size_t at) {
            return double{random_uniform<float>(of.seed, at, of.low, of.high)};
        };
        stage(to_.first, many_samples, "first moments", [=, this](std::size_t at) {
            return expect_first_moment(by, before(data_.first_moment(), at), clipped(at));
        });
        stage(to_.second, many_samples, "second moments", [=, this](std::size_t at) {
            return expect_second_moment(by, before(data_.second_moment(), at), clipped(at));
        });
        stage(to_.masters, many_samples, "parameters", [=, this](std::size_t at) {
            const Parameter& of = data_.parameter_of(at);
            return expect_master(by, before(of.numbers, at - size(of.first)), to_.first.element(at),
                                 to_.second.element(at), at < matrices);
        });
        stage(to_.weights, many_samples, "weights", [this](std::size_t at) {
            return workload::expect_stored({to_.masters.element(at), 0}, Precision::bf16);
        });
    }

    TrainingData data_;
    const TrainingShape& shape_;
    std::size_t tokens_;
    std::size_t hidden_;
    std::size_t inner_;
    std::size_t classes_;
    std::size_t groups_; // of rows, whose sums are made apart
    State from_;
    State to_;
    Wide& gradients_;
    std::deque<Wide> pieces_; // of the gradients, by parameter
    device::Buffer<float> partial_;
    device::Buffer<std::int32_t> taken_; // tokens
    device::Buffer<std::int32_t> targets_;
    std::deque<Layer> layers_;
    std::vector<NormState> norms_;
    Narrow* scores_ = nullptr;
    Narrow* score_gradients_ = nullptr;
};

} // namespace assay::model::training
