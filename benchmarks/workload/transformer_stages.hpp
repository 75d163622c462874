// SPDX-License-Identifier: Apache-2.0
//
// What an encoder layer stores, stage by stage, and what each number must be, whatever library computes it.

#pragma once

#include "stages.hpp"
#include "transformer_data.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

namespace assay::workload {

enum class Pass : std::uint8_t { forward, training };

template <class Params>
inline constexpr std::tuple transformer_axes{
    integer("batch", "sequences at a time", "", &Params::batch, {1, 8}, {1, 4096}),
    integer("sequence", "tokens of a sequence", "", &Params::sequence, {128}, {1, 65536}),
    integer("hidden", "width of the layer, a multiple of 64", "", &Params::hidden, {768},
            {64, 32768}),
};

inline constexpr std::size_t many_samples = 256;
inline constexpr std::size_t few_samples = 64; // each reads a whole sequence

template <class Tensor>
class LayerStages : public Stages<Tensor> {
protected:
    using Kind = TransformerData::Kind;

    explicit LayerStages(const TransformerData& data) : data_{data}, shape_{data.shape()} {}

    /// make(width) is a row of so many numbers for each token, of what is stored between the products; make_int8(width)
    /// of what products in int8 take.
    template <class Make, class MakeInt8>
    void add_forward(bool has_gelu_apart, const Make& make, const MakeInt8& make_int8,
                     GeluForm form = GeluForm::erf) {
        const std::int64_t h = shape_.hidden;
        const Precision stored = data_.stored();
        const auto add = [&](Tensor& tensor, std::int64_t width, auto expect,
                             std::size_t count = many_samples) {
            tensor = make(width);
            add_stage(tensor, width, count, stored, std::move(expect));
        };
        const auto add_int8 = [&](Tensor& tensor, std::int64_t width, auto expect) {
            tensor = make_int8(width);
            add_stage(tensor, width, many_samples, Precision::int8, std::move(expect));
        };
        // A product takes the stored values, or in int8 a copy of them in steps.
        const auto taken = [&](const Tensor& from, Tensor& to, Kind kind) -> const Tensor& {
            if (!data_.is_int8()) return from;
            add_int8(to, h, [this, &from, kind](std::size_t at) {
                return expect_steps({.value = from.element(at), .allowed = 0}, data_.step(kind));
            });
            return to;
        };
        const Tensor& input = taken(input_, input8_, Kind::qkv);
        add(qkv_, 3 * h, [this, &input, h, stored](std::size_t at) {
            return expect_stored(product(input, h, 3 * h, Kind::qkv, at), stored);
        });
        add(
            context_, h,
            [this, h](std::size_t at) {
                const auto width = static_cast<std::size_t>(h);
                return attention(at / width, at % width);
            },
            few_samples);
        const Tensor& context = taken(context_, context8_, Kind::output);
        add(attended_, h, [this, &context, h, stored](std::size_t at) {
            return expect_stored(product(context, h, h, Kind::output, at), stored,
                                 input_.element(at));
        });
        add(middle_, h, [this](std::size_t at) { return norm(attended_, Kind::norm_one, at); });
        const Tensor& middle = taken(middle_, middle8_, Kind::inner);
        const auto inner = [this, &middle, h](std::size_t at) {
            return product(middle, h, 4 * h, Kind::inner, at);
        };
        if (has_gelu_apart) {
            add(before_gelu_, 4 * h,
                [inner, stored](std::size_t at) { return expect_stored(inner(at), stored); });
            add(inner_, 4 * h, [this, stored, form](std::size_t at) {
                return expect_gelu({.value = before_gelu_.element(at), .allowed = 0}, stored, form);
            });
        } else if (data_.is_int8()) {
            add_int8(inner_, 4 * h, [this, inner](std::size_t at) {
                return expect_steps(expect_gelu(inner(at), Precision::fp32),
                                    data_.step(Kind::outer));
            });
        } else {
            add(inner_, 4 * h, [inner, stored, form](std::size_t at) {
                return expect_gelu(inner(at), stored, form);
            });
        }
        add(summed_, h, [this, h, stored](std::size_t at) {
            return expect_stored(product(inner_, 4 * h, h, Kind::outer, at), stored,
                                 middle_.element(at));
        });
        add(result_, h, [this](std::size_t at) { return norm(summed_, Kind::norm_two, at); });
    }

    TransformerData data_;
    TransformerShape shape_;
    using Stages<Tensor>::stages_;
    Tensor input_;
    Tensor input8_, context8_, middle8_; // what products in int8 take
    Tensor qkv_;                         // queries, keys and values of a token side by side
    Tensor context_;                     // what the heads found
    Tensor attended_;
    Tensor middle_;
    Tensor before_gelu_; // where GELU is a step of its own
    Tensor inner_;
    Tensor summed_;
    Tensor result_;

private:
    void add_stage(Tensor& tensor, std::int64_t width, std::size_t count, Precision precision,
                   std::function<Expected(std::size_t at)> expect) {
        stages_.push_back({&tensor, static_cast<std::size_t>(shape_.tokens() * width), count,
                           precision, 1, std::move(expect)});
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
        return expect_product(terms, input, weight, bias, data_.lost(from));
    }
    Expected norm(const Tensor& in, Kind kind, std::size_t at) const {
        const auto h = static_cast<std::size_t>(shape_.hidden);
        const std::size_t first = at / h * h;
        const std::size_t column = at % h;
        return expect_norm(
            h, data_.stored(), [&](auto k) { return in.element(first + k); }, column,
            data_.scale(kind, column), data_.bias(kind, column));
    }
    Expected attention(std::size_t token, std::size_t column) const {
        const auto h = static_cast<std::size_t>(shape_.hidden);
        const auto length = static_cast<std::size_t>(shape_.sequence);
        const std::size_t first = token / length * length; // of its sequence
        const std::size_t head = column / head_size * head_size;
        const AttentionReference reference{
            length, head_size,
            [&](auto d) { return score_scale * qkv_.element(token * 3 * h + head + d); },
            [&](auto j, auto d) { return qkv_.element((first + j) * 3 * h + h + head + d); }};
        return reference.expect(data_.attention_rounding(), [&](auto j) {
            return qkv_.element((first + j) * 3 * h + 2 * h + column);
        });
    }
};

} // namespace assay::workload
