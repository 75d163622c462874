// SPDX-License-Identifier: Apache-2.0
//
// An encoder layer of a transformer (Vaswani et al. 2017): its shape, its numbers, and single results
// of each of its stages, recomputed in fp64 from what the stage before has stored.

#pragma once

#include "gelu.hpp"
#include "precision.hpp"
#include "stages.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <optional>
#include <vector>

namespace assay::workload {

inline constexpr std::int64_t head_size = 64; // of the original, BERT, GPT-2, and most since
inline constexpr float score_scale = 0.125F;  // 1 / sqrt(head_size)

struct TransformerShape {
    std::int64_t batch;
    std::int64_t sequence;
    std::int64_t hidden;

    constexpr std::int64_t tokens() const { return batch * sequence; }
    constexpr std::int64_t heads() const { return hidden / head_size; }
    constexpr std::int64_t inner() const { return 4 * hidden; } ///< of the two-layer perceptron
    constexpr std::int64_t scores() const { return batch * heads() * sequence * sequence; }
    constexpr std::int64_t weights() const { return 12 * hidden * hidden; }
    /// Elements of everything that is stored between the stages, the input included.
    constexpr std::int64_t activations() const { return 13 * tokens() * hidden + scores(); }
    /// Those of the matrix products; normalisation, softmax and GELU are not counted.
    constexpr double flops() const {
        const auto h = static_cast<double>(hidden);
        return static_cast<double>(tokens()) * (24 * h * h + 4 * static_cast<double>(sequence) * h);
    }
    Fit fits() const {
        return Fit::needs(hidden % head_size == 0,
                          "a hidden width that is a multiple of 64, the size of a head");
    }
};

/// The type of stored scores and results, and the largest relative error of a probability when it is multiplied.
struct AttentionRounding {
    Precision scores;
    double probabilities;
    double result = 0; ///< of storing it, beside that of scores
};

/// Differences of the matrix units of devices.
struct MatrixUnits {
    double (*lost)(std::int64_t products); ///< of a sum that they cut off, in units of its size
    double probabilities;                  ///< AttentionRounding's; scores stay in fp32
};

/// Numbers of the layer, each kind with a seed of its own. Weights keep the variance: an output is as
/// large as an input.
///
/// In int8, products with weights are between integers: x ~ step q, w ~ channel_scale k, so that
/// sum(x w) ~ step channel_scale sum(q k). Steps are chosen once from what is known of the numbers
/// (static quantisation), weights have a scale for each output. `stored` says what everything
/// between the products is stored in.
class TransformerData {
public:
    TransformerData(const TransformerShape& shape, Precision precision, Precision stored,
                    std::optional<MatrixUnits> units = {})
        : shape_{shape}, precision_{precision}, stored_{stored}, units_{units} {}

    enum Kind : std::uint8_t { input, qkv, output, inner, outer, norm_one, norm_two };

    const TransformerShape& shape() const { return shape_; }
    Precision stored() const { return stored_; }
    bool is_int8() const { return precision_ == Precision::int8; }

    /// Element i of the input: variance 1.
    float activation(std::uint64_t i) const { return value(activations(), i); }
    /// In int8 an integer.
    float weight(Kind kind, std::uint64_t i) const {
        if (!is_int8()) return value(weights(kind), i);
        return std::floor(random_uniform<float>(seed_of(kind), i, -largest, largest + 1));
    }
    // In fp32 in every precision; on devices what products add is of the type of their results.
    float bias(Kind kind, std::uint64_t i) const {
        const Numbers of = biases(kind);
        const bool is_narrow = units_ && kind != norm_one && kind != norm_two;
        return is_narrow ? value(of, i) : random_uniform<float>(of.seed, i, of.low, of.high);
    }
    float scale(Kind kind, std::uint64_t i) const {
        const Numbers of = scales(kind);
        return random_uniform<float>(of.seed, i, of.low, of.high);
    }
    // The same before they are rounded, for who makes them on a device.
    Numbers activations() const { return {seed_of(input), -root3, root3}; }
    Numbers weights(Kind kind) const {
        const float most = root3 / std::sqrt(terms(kind));
        return {seed_of(kind), -most, most};
    }
    Numbers biases(Kind kind) const { return {seed_of(kind) + 1, -0.1F, 0.1F}; }
    Numbers scales(Kind kind) const { return {seed_of(kind), 0.5F, 1.5F}; }

    /// Error in a sum of so many products, in units of its size.
    double lost(std::int64_t products) const { return units_ ? units_->lost(products) : 0; }
    AttentionRounding attention_rounding() const {
        if (!units_) return {stored_, roundoff_of(stored_)};
        return {Precision::fp32, units_->probabilities, roundoff_of(stored_)};
    }

    /// One step of the 8 bits that this product takes. Inputs are uniform; what heads find is a mean
    /// over about a third of the tokens, because of the scores; norms are normal with a scale of up
    /// to 1.5; GELU passes what is positive. Four deviations and more are saturated, as elsewhere.
    float step(Kind kind) const {
        const auto tokens = static_cast<float>(shape_.sequence);
        const float most = kind == qkv      ? root3
                           : kind == output ? 4 * std::fmin(1.0F, std::sqrt(3 / tokens))
                           : kind == inner  ? 5.0F
                                            : 4.5F;
        return most / largest;
    }
    /// Scale of a product's sum, by output. The scales of neighbours differ, so that one that is missing or
    /// misplaced is noticed.
    float product_scale(Kind kind, std::uint64_t column) const {
        const auto channel = random_uniform<float>(seed_of(kind) + 1000, column, 0.75F, 1.25F);
        return step(kind) * channel * root3 / (std::sqrt(terms(kind)) * largest);
    }

private:
    static constexpr float root3 = std::numbers::sqrt3_v<float>; // a uniform number of variance 1
    static constexpr float largest = 127;
    static std::uint64_t seed_of(Kind kind) { return 100 + 2 * std::uint64_t{kind}; }
    float terms(Kind kind) const {
        const auto hidden = static_cast<float>(shape_.hidden);
        return kind == outer ? 4 * hidden : hidden;
    }
    float value(const Numbers& of, std::uint64_t i) const {
        return random_value(stored_, of.seed, i, of.low, of.high);
    }
    TransformerShape shape_;
    Precision precision_;
    Precision stored_;
    std::optional<MatrixUnits> units_;
};

/// bias + sum of in(k) weight(k): the sum before it is stored. `lost` is
/// what matrix units lose of it, in units of its size.
template <class In, class Weight>
Expected expect_product(std::size_t terms, In&& in, Weight&& weight, double bias, double lost = 0) {
    double sum = bias;
    double squares = bias * bias;
    for (std::size_t k = 0; k < terms; ++k) {
        const double product = double{in(k)} * double{weight(k)};
        sum += product;
        squares += product * product;
    }
    const double size = std::sqrt(squares);
    return {.value = sum,
            .allowed = allowed_error(Precision::fp32, static_cast<double>(terms), size, sum) +
                       lost * std::hypot(size, sum)};
}

/// scale (bias / scale + sum of in(k) weight(k)) of integers. The sum is exact in 32 bits; it is
/// rounded to fp32, the bias is added, and the scale multiplied: eight roundings are more.
template <class In, class Weight>
Expected expect_int8_product(std::size_t terms, In&& in, Weight&& weight, double bias,
                             double scale) {
    double sum = 0;
    for (std::size_t k = 0; k < terms; ++k) sum += double{in(k)} * double{weight(k)};
    return {.value = scale * sum + bias,
            .allowed = 8 * 0x1p-24 * (std::fabs(scale * sum) + std::fabs(bias))};
}

/// The nearest of the steps of 8 bits, the outermost ones for what lies beyond: half a step, and
/// what the number itself and the division may be off.
inline Expected expect_steps(const Expected& number, double step) {
    const double steps = number.value / step;
    return {.value = std::fmin(std::fmax(steps, -128.0), 127.0),
            .allowed = 0.5 + number.allowed / step + 4 * 0x1p-24 * std::fabs(steps)};
}

/// The sum with something added, stored once.
inline Expected expect_stored(const Expected& sum, Precision precision, double residual = 0) {
    const double value = sum.value + residual;
    return {.value = value, .allowed = sum.allowed + roundoff_of(precision) * std::fabs(value)};
}

/// GELU. Its slope is below 1.13; polynomials for erf in fp32 err by less than 16 roundings.
inline Expected expect_gelu(const Expected& sum, Precision precision,
                            GeluForm form = GeluForm::erf) {
    const double x = sum.value;
    const double value = exact_gelu(x, form);
    return {.value = value,
            .allowed = 1.13 * sum.allowed + 16 * 0x1p-24 * (1 + std::fabs(x)) +
                       roundoff_of(precision) * std::fabs(value)};
}

/// Result of one query on keys and values: softmax over its scores q k_j, times v_j. query(d) is scaled already,
/// key(j, d) and value(j) are what has been stored.
class AttentionReference {
public:
    AttentionReference() = default;
    template <class Query, class Key>
    AttentionReference(std::size_t length, std::size_t size, Query&& query, Key&& key)
        : scores_(length), probabilities_(length) {
        for (std::size_t j = 0; j < length; ++j)
            for (std::size_t d = 0; d < size; ++d)
                scores_[j] += double{query(d)} * double{key(j, d)};
        double largest = -std::numeric_limits<double>::infinity();
        for (const double score : scores_) largest = std::fmax(largest, score);
        double total = 0;
        for (std::size_t j = 0; j < length; ++j)
            total += probabilities_[j] = std::exp(scores_[j] - largest);
        for (double& probability : probabilities_) probability /= total;
    }

    /// Scores and probabilities are rounded, so each probability is off by up to
    /// e_j = u_s |s_j| + u_p, and a little more for fp32 sums and the exponential function,
    /// independently. Four times the root of the sum of squares is seven standard deviations;
    /// sums of `length` products come on top (see allowed_error()).
    template <class Value>
    Expected expect(const AttentionRounding& rounding, Value&& value) const {
        constexpr double fp32 = 0x1p-24;
        const double score = roundoff_of(rounding.scores);
        double result = 0;
        for (std::size_t j = 0; j < scores_.size(); ++j)
            result += probabilities_[j] * double{value(j)};
        double errors = 0;
        double products = 0;
        for (std::size_t j = 0; j < scores_.size(); ++j) {
            const double relative =
                score * std::fabs(scores_[j]) + rounding.probabilities + 16 * fp32;
            const double product =
                probabilities_[j] * (std::fabs(double{value(j)}) + std::fabs(result));
            errors += product * product * relative * relative;
            products += product * product;
        }
        return {.value = result,
                .allowed = 4 * std::sqrt(errors) +
                           allowed_error(rounding.scores, static_cast<double>(scores_.size()),
                                         std::sqrt(products), result) +
                           rounding.result * std::fabs(result)};
    }
    /// Everything that is stored is rounded to `precision`.
    template <class Value>
    Expected expect(Precision precision, Value&& value) const {
        return expect(AttentionRounding{precision, roundoff_of(precision)}, value);
    }

private:
    std::vector<double> scores_;
    std::vector<double> probabilities_;
};

inline constexpr float norm_epsilon = 1e-5F;

/// Element i of a normalised row. In fp32 mean and deviation err by a few roundings of the
/// row's size; sixteen are far more.
template <class Row>
Expected expect_norm(std::size_t length, Precision precision, Row&& row, std::size_t i,
                     double scale, double shift) {
    double sum = 0;
    double squares = 0;
    for (std::size_t k = 0; k < length; ++k) sum += double{row(k)};
    const double mean = sum / static_cast<double>(length);
    for (std::size_t k = 0; k < length; ++k) {
        const double off = double{row(k)} - mean;
        squares += off * off;
    }
    const double variance = squares / static_cast<double>(length);
    const double deviation = std::sqrt(variance + norm_epsilon);
    const double normal = (double{row(i)} - mean) / deviation;
    const double value = normal * scale + shift;
    const double size = std::sqrt(variance + mean * mean) / deviation;
    return {.value = value,
            .allowed = 16 * 0x1p-24 * (std::fabs(scale) * (size + std::fabs(normal)) + 1) +
                       roundoff_of(precision) * std::fabs(value)};
}

/// Element i of the gradient of a row that was normalised: normal(k) are its numbers, of(k) the gradients of its
/// results times their scales. Sixteen roundings of what is added and subtracted are far more than fp32 sums make.
template <class Normal, class Of>
Expected expect_norm_gradient(std::size_t length, Precision precision, Normal&& normal, Of&& of,
                              std::size_t i, double deviation) {
    double sum = 0;
    double along = 0;
    double squares = 0;
    for (std::size_t k = 0; k < length; ++k) {
        const double gradient = of(k);
        sum += gradient;
        along += gradient * normal(k);
        squares += gradient * gradient;
    }
    const auto n = static_cast<double>(length);
    const double here = normal(i);
    const double value = (of(i) - sum / n - here * along / n) / deviation;
    const double size = (std::fabs(of(i)) + std::sqrt(squares / n) * (1 + std::fabs(here)) +
                         std::fabs(sum / n) + std::fabs(here * along / n)) /
                        deviation;
    return {.value = value,
            .allowed = 16 * 0x1p-24 * size + roundoff_of(precision) * std::fabs(value)};
}

/// The slope of GELU, Phi(x) + x phi(x), times the gradient of its result.
inline Expected expect_gelu_gradient(double x, double gradient, Precision precision) {
    const double density = std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
    const double slope = (1 + std::erf(x / std::numbers::sqrt2)) / 2 + x * density;
    const double value = gradient * slope;
    return {.value = value,
            .allowed = 16 * 0x1p-24 * std::fabs(gradient) * (1 + std::fabs(x)) +
                       roundoff_of(precision) * std::fabs(value)};
}

/// Element i of the gradient of a row of scores: probability(k) and the gradients of(k) of these.
template <class Probability, class Of>
Expected expect_softmax_gradient(std::size_t length, Precision precision, Probability&& probability,
                                 Of&& of, std::size_t i) {
    double sum = 0;
    double size = 0;
    for (std::size_t k = 0; k < length; ++k) {
        const double product = double{probability(k)} * double{of(k)};
        sum += product;
        size += std::fabs(product);
    }
    const double value = double{probability(i)} * (double{of(i)} - sum);
    const double roundings = 16 + 4 * std::sqrt(static_cast<double>(length));
    return {.value = value,
            .allowed =
                roundings * 0x1p-24 * double{probability(i)} * (std::fabs(double{of(i)}) + size) +
                roundoff_of(precision) * std::fabs(value)};
}

} // namespace assay::workload
