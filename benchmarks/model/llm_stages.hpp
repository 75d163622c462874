// SPDX-License-Identifier: Apache-2.0
//
// What a step of a language model stores in each layer, and what every number must be, whatever library computes it.

#pragma once

#include "../workload/stages.hpp"
#include "../workload/transformer_data.hpp"
#include "llm.hpp"

#include <assay/text.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

namespace assay::model {

using workload::Expected;

/// What the arithmetic loses, beside the rounding of fp32 sums and of what is stored.
struct LlmRounding {
    workload::AttentionRounding attention;
    double (*lost)(std::int64_t products); ///< of a sum in matrix units, in units of its size
    double (*lost_in_fp8)(std::int64_t products) = nullptr;
};

/// A number that is stored in fp8 times a power of two: half a step more.
inline Expected expect_in_fp8(const Expected& number, double scale) {
    constexpr double most = 448;
    constexpr double half_least_step = 0x1p-10;
    const double half_step = std::fmax(0x1p-4 * std::fabs(number.value), half_least_step / scale);
    return {.value = std::clamp(number.value, -most / scale, most / scale),
            .allowed = 1.0625 * number.allowed + half_step};
}

/// x / sqrt(mean of squares + epsilon) scale (Zhang, Sennrich 2019).
template <class Row>
Expected expect_rms_norm(std::size_t length, Precision stored, Row&& row, std::size_t i,
                         double scale) {
    double squares = 0;
    for (std::size_t k = 0; k < length; ++k) squares += double{row(k)} * double{row(k)};
    const double size = std::sqrt(squares / static_cast<double>(length) + workload::norm_epsilon);
    const double value = double{row(i)} / size * scale;
    return {.value = value,
            .allowed = (16 * 0x1p-24 + workload::roundoff_of(stored)) * std::fabs(value) + 1e-30};
}

/// The numbers of a layer. Rows are tokens, sequence by sequence. `keys` and `values` are [sequence][head][position].
template <class Tensor>
struct LlmLayer {
    Tensor normed_one;
    Tensor qkv;     ///< of a token: queries, keys, values, head by head
    Tensor queries; ///< turned, and scaled for the scores
    Tensor keys;
    Tensor values;
    Tensor context;  ///< what heads found
    Tensor attended; ///< with the residual
    Tensor normed_two;
    Tensor gate_up; ///< of a token: gates, then what they pass
    Tensor inner;
    Tensor result; ///< with the residual
    // What the products take where they are in fp8: the same, rounded once more.
    Tensor normed_one_fp8;
    Tensor context_fp8;
    Tensor normed_two_fp8;
    Tensor inner_fp8;
};

template <class Tensor>
class LlmStages : public workload::Stages<Tensor> {
public:
    /// The stages, and each sequence's token: the greatest score.
    Check verify() const {
        Check check = workload::Stages<Tensor>::verify();
        if (!check.passed) return check;
        const auto vocabulary = static_cast<std::size_t>(shape_.vocabulary);
        for (std::size_t row = 0; row < static_cast<std::size_t>(step_.batch); ++row) {
            const std::int64_t chosen = chosen_(row);
            const bool is_token = chosen >= 0 && chosen < shape_.vocabulary;
            const auto score = [&](std::size_t i) { return scores_.element(row * vocabulary + i); };
            std::size_t best = 0;
            for (std::size_t i = 1; i < vocabulary; ++i)
                if (score(i) > score(best)) best = i;
            if (is_token && score(static_cast<std::size_t>(chosen)) == score(best)) continue;
            check.passed = false;
            check.error = 2;
            check.detail = joined("sequence ", row, ": token ", chosen, " was chosen, token ", best,
                                  " has the greatest score");
            return check;
        }
        return check;
    }

protected:
    using Kind = LlmData::Kind;
    /// The token chosen for a sequence.
    using Chosen = std::function<std::int64_t(std::size_t row)>;
    /// Overwrites the new rows of a cache with NaN.
    using PoisonRows = std::function<void(Tensor& cache)>;

    LlmStages(const LlmStep& step, Precision stored, const LlmRounding& rounding,
              LlmNarrow narrow = {})
        : data_{step, stored, narrow}, step_{step}, shape_{step.shape}, rounding_{rounding} {}

    /// make(rows, width) is a tensor of so many numbers; make(rows, width, scale) one in fp8. Caches are whole: new rows
    /// are written there.
    template <class Make>
    void add_stages(const Make& make, Chosen chosen, PoisonRows poison_rows) {
        chosen_ = std::move(chosen);
        poison_rows_ = std::move(poison_rows);
        const std::int64_t tokens = step_.tokens();
        embedded_ = make(tokens, shape_.hidden);
        add("embedding", embedded_, tokens * shape_.hidden, few, [this](std::size_t at) {
            const auto width = static_cast<std::size_t>(shape_.hidden);
            const auto token = static_cast<std::uint64_t>(data_.token(at / width));
            return exactly(data_.number(Kind::embedding, 0, token * width + at % width));
        });
        for (std::int64_t layer = 0; layer < shape_.layers; ++layer)
            add_layer(layer, layer == 0 ? embedded_ : layers_.back().result, make);
        last_ = make(step_.batch, shape_.hidden);
        scores_ = make(step_.batch, shape_.vocabulary);
        const Tensor& residual = layers_.back().result;
        add("last norm", last_, step_.batch * shape_.hidden, few, [this, &residual](auto at) {
            const auto width = static_cast<std::size_t>(shape_.hidden);
            const auto length = static_cast<std::size_t>(step_.queries);
            const std::size_t token = (at / width + 1) * length - 1;
            return norm(residual, Kind::norm_last, 0, token, at % width);
        });
        add("head", scores_, step_.batch * shape_.vocabulary, many, [this](std::size_t at) {
            const auto width = static_cast<std::size_t>(shape_.vocabulary);
            return stored(product(last_, shape_.hidden, at / width, Kind::head, 0, at % width));
        });
    }

    /// What a product takes.
    const Tensor& entering(const Tensor& wide, const Tensor& narrow) const {
        return data_.narrow().products ? narrow : wide;
    }

    LlmData data_;
    LlmStep step_;
    LlmShape shape_;
    Tensor embedded_;
    std::deque<LlmLayer<Tensor>> layers_;
    Tensor last_;
    Tensor scores_;

private:
    static constexpr std::size_t few = 16;
    static constexpr std::size_t many = 64;

    static Expected exactly(double value) { return {.value = value, .allowed = 1e-30}; }
    void add(std::string name, Tensor& tensor, std::int64_t elements, std::size_t samples,
             std::function<Expected(std::size_t)> expect) {
        this->stages_.push_back({&tensor, static_cast<std::size_t>(elements), samples,
                                 data_.stored(), 1, std::move(expect), std::move(name)});
    }
    Expected stored(const Expected& sum, double residual = 0) const {
        return workload::expect_stored(sum, data_.stored(), residual);
    }

    template <class Make>
    static Tensor make_fp8(const Make& make, std::int64_t rows, std::int64_t width, float scale) {
        if constexpr (std::is_invocable_v<Make, std::int64_t, std::int64_t, float>)
            return make(rows, width, scale);
        else
            return make(rows, width); // never in fp8
    }
    /// The numbers of a stage in fp8, where products take these.
    template <class Make>
    void add_fp8(const char* name, std::int64_t layer, const Tensor& wide, Tensor& tensor,
                 std::int64_t width, float scale, const Make& make) {
        if (!data_.narrow().products) return;
        tensor = make_fp8(make, step_.tokens(), width, scale);
        add(joined("layer ", layer + 1, ", ", name, " in fp8"), tensor, step_.tokens() * width, few,
            [&wide, scale](auto at) {
                return exactly(workload::round_to_e4m3(scale * wide.element(at)) / scale);
            });
        this->stages_.back().precision = Precision::fp8;
    }
    template <class Make>
    void add_layer(std::int64_t layer, const Tensor& residual, const Make& make) {
        LlmLayer<Tensor>& l = layers_.emplace_back();
        const std::int64_t tokens = step_.tokens();
        const std::int64_t h = shape_.hidden;
        const auto stage = [&](const char* name, Tensor& tensor, std::int64_t width,
                               std::size_t samples, auto expect) {
            tensor = make(tokens, width);
            add(joined("layer ", layer + 1, ", ", name), tensor, tokens * width, samples,
                [expect, width](std::size_t at) {
                    const auto row = static_cast<std::size_t>(width);
                    return expect(at / row, at % row);
                });
        };
        stage("first norm", l.normed_one, h, few, [this, &residual, layer](auto token, auto i) {
            return norm(residual, Kind::norm_one, layer, token, i);
        });
        add_fp8("first norm", layer, l.normed_one, l.normed_one_fp8, h, data_.norm_scale(), make);
        stage("projection", l.qkv, shape_.qkv_width(), many, [this, &l, layer](auto token, auto i) {
            return stored(projected(l, layer, token, i));
        });
        stage("queries", l.queries, shape_.query_width(), few,
              [this, &l, layer](auto token, auto i) {
                  return turned(l, layer, Kind::norm_queries, token, i, i, data_.score_scale());
              });
        add_rows("keys", l.keys, layer, data_.key_scale(), make,
                 [this, &l, layer](auto token, auto i) {
                     const auto first = static_cast<std::size_t>(shape_.query_width());
                     return turned(l, layer, Kind::norm_keys, token, first + i, i, 1);
                 });
        add_rows("values", l.values, layer, data_.value_scale(), make,
                 [this, &l](auto token, auto i) {
                     const auto first = width(shape_.query_width() + shape_.key_width());
                     return exactly(l.qkv.element(token * width(shape_.qkv_width()) + first + i));
                 });
        stage("attention", l.context, shape_.query_width(), few,
              [this, &l](auto token, auto i) { return attention(l, token, i); });
        add_fp8("attention", layer, l.context, l.context_fp8, shape_.query_width(),
                data_.context_scale(), make);
        stage("output", l.attended, h, many, [this, &l, &residual, layer](auto token, auto i) {
            return stored(product(entering(l.context, l.context_fp8), shape_.query_width(), token,
                                  Kind::output, layer, i),
                          residual.element(token * width(shape_.hidden) + i));
        });
        stage("second norm", l.normed_two, h, few, [this, &l, layer](auto token, auto i) {
            return norm(l.attended, Kind::norm_two, layer, token, i);
        });
        add_fp8("second norm", layer, l.normed_two, l.normed_two_fp8, h, data_.norm_scale(), make);
        stage("gates", l.gate_up, 2 * shape_.inner, many, [this, &l, layer](auto token, auto i) {
            const bool is_gate = i < width(shape_.inner);
            return stored(product(entering(l.normed_two, l.normed_two_fp8), shape_.hidden, token,
                                  is_gate ? Kind::gate : Kind::up, layer,
                                  is_gate ? i : i - width(shape_.inner)));
        });
        stage("SiLU", l.inner, shape_.inner, few, [this, &l](auto token, auto i) {
            const std::size_t first = token * width(2 * shape_.inner) + i;
            return gated(l.gate_up.element(first), l.gate_up.element(first + width(shape_.inner)));
        });
        add_fp8("SiLU", layer, l.inner, l.inner_fp8, shape_.inner, data_.gated_scale(), make);
        stage("down", l.result, h, many, [this, &l, layer](auto token, auto i) {
            return stored(
                product(entering(l.inner, l.inner_fp8), shape_.inner, token, Kind::down, layer, i),
                l.attended.element(token * width(shape_.hidden) + i));
        });
    }
    static std::size_t width(std::int64_t numbers) { return static_cast<std::size_t>(numbers); }

    /// New rows of a cache, counted [token][head][number].
    template <class Make, class Expect>
    void add_rows(const char* name, Tensor& cache, std::int64_t layer, float scale,
                  const Make& make, const Expect& expect) {
        const std::int64_t rows = step_.batch * step_.context;
        const bool is_fp8 = data_.narrow().cache;
        cache = is_fp8 ? make_fp8(make, rows, shape_.key_width(), scale)
                       : make(rows, shape_.key_width());
        const std::size_t row = width(shape_.key_width());
        add(joined("layer ", layer + 1, ", ", name), cache, step_.tokens() * shape_.key_width(),
            few, [expect, row, scale, is_fp8](std::size_t at) {
                const Expected number = expect(at / row, at % row);
                return is_fp8 ? expect_in_fp8(number, scale) : number;
            });
        if (is_fp8) this->stages_.back().precision = Precision::fp8;
        this->stages_.back().lies_at = [this, row](std::size_t at) {
            return cached_at(at / row, at % row);
        };
        this->stages_.back().poison = [this, &cache] { poison_rows_(cache); };
    }
    /// Where a new token's number of all key heads lies in a cache.
    std::size_t cached_at(std::size_t token, std::size_t i) const {
        const std::size_t sequence = token / width(step_.queries);
        const std::size_t position = width(step_.cached()) + token % width(step_.queries);
        return row_at(sequence, i / width(shape_.head_size), position) +
               i % width(shape_.head_size);
    }
    std::size_t row_at(std::size_t sequence, std::size_t head, std::size_t position) const {
        return ((sequence * width(shape_.key_heads) + head) * width(step_.context) + position) *
               width(shape_.head_size);
    }

    Expected norm(const Tensor& in, Kind kind, std::int64_t layer, std::size_t token,
                  std::size_t i) const {
        const std::size_t h = width(shape_.hidden);
        return expect_rms_norm(
            h, data_.stored(), [&](auto k) { return in.element(token * h + k); }, i,
            data_.scale(kind, layer, i));
    }
    Expected product(const Tensor& in, std::int64_t terms, std::size_t token, Kind kind,
                     std::int64_t layer, std::size_t output) const {
        const std::size_t count = width(terms);
        const LlmData::Stored weight = data_.stored(kind, layer);
        const bool is_fp8 = weight.precision == Precision::fp8;
        return workload::expect_product(
            count, [&](auto k) { return in.element(token * count + k); },
            [&](auto k) { return weight(output * count + k); }, 0,
            (is_fp8 ? rounding_.lost_in_fp8 : rounding_.lost)(terms));
    }
    Expected projected(const LlmLayer<Tensor>& l, std::int64_t layer, std::size_t token,
                       std::size_t i) const {
        const std::size_t queries = width(shape_.query_width());
        const std::size_t keys = width(shape_.key_width());
        const auto of = [&](Kind kind, std::size_t output) {
            return product(entering(l.normed_one, l.normed_one_fp8), shape_.hidden, token, kind,
                           layer, output);
        };
        if (i < queries) return of(Kind::queries, i);
        return i < queries + keys ? of(Kind::keys, i - queries)
                                  : of(Kind::values, i - queries - keys);
    }
    /// Number i of a token's projection, normalised where the model does, and turned with its partner half a head away.
    Expected turned(const LlmLayer<Tensor>& l, std::int64_t layer, Kind scales, std::size_t token,
                    std::size_t i, std::size_t of_kind, double scale) const {
        const std::size_t size = width(shape_.head_size);
        const std::size_t half = size / 2;
        const std::size_t within = of_kind % size;
        const std::size_t head = token * width(shape_.qkv_width()) + i - within;
        double norm = 1;
        if (shape_.norms_heads) {
            double squares = 0;
            for (std::size_t k = 0; k < size; ++k)
                squares += double{l.qkv.element(head + k)} * double{l.qkv.element(head + k)};
            norm = std::sqrt(squares / static_cast<double>(size) + workload::norm_epsilon);
        }
        const auto number = [&](std::size_t k) {
            const double factor = shape_.norms_heads ? data_.scale(scales, layer, k) / norm : 1;
            return double{l.qkv.element(head + k)} * factor;
        };
        const std::size_t pair = within % half;
        const auto position =
            step_.cached() + static_cast<std::int64_t>(token % width(step_.queries));
        const double angle = data_.angle(position, static_cast<std::int64_t>(pair));
        const double low = number(pair);
        const double high = number(pair + half);
        const double value = within < half ? low * std::cos(angle) - high * std::sin(angle)
                                           : high * std::cos(angle) + low * std::sin(angle);
        return {.value = scale * value,
                .allowed = scale * (16 * 0x1p-24 * (std::fabs(low) + std::fabs(high)) +
                                    workload::roundoff_of(data_.stored()) * std::fabs(value)) +
                           1e-30};
    }
    Expected attention(const LlmLayer<Tensor>& l, std::size_t token, std::size_t i) const {
        const std::size_t size = width(shape_.head_size);
        const std::size_t sequence = token / width(step_.queries);
        const std::size_t keys = width(step_.cached()) + token % width(step_.queries) + 1;
        const std::size_t head = i / size;
        const std::size_t first = row_at(sequence, head / width(shape_.group()), 0);
        const workload::AttentionReference reference{
            keys, size,
            [&](auto d) {
                return l.queries.element(token * width(shape_.query_width()) + head * size + d);
            },
            [&](auto j, auto d) { return l.keys.element(first + j * size + d); }};
        return reference.expect(rounding_.attention, [&](auto j) {
            return l.values.element(first + j * size + i % size);
        });
    }
    Expected gated(double gate, double up) const {
        const double value = gate / (1 + std::exp(-gate)) * up;
        return {.value = value,
                .allowed =
                    (32 * 0x1p-24 + workload::roundoff_of(data_.stored())) * std::fabs(value) +
                    1e-30};
    }

    LlmRounding rounding_;
    Chosen chosen_;
    PoisonRows poison_rows_;
};

} // namespace assay::model
