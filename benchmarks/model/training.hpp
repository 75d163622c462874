// SPDX-License-Identifier: Apache-2.0
//
// Models to train: shapes, the order of their parameters, the work of a step, and random numbers by (parameter, index).
// GPT-2 (Radford et al. 2019, 124M) normalises before each block, BERT-large (Devlin et al. 2018) behind it.

#pragma once

#include "../workload/transformer_data.hpp"

#include <assay/define.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace assay::model {

using workload::Numbers;
using workload::Precision;

enum class Trained : std::uint8_t { tiny, gpt2_124m, bert_large };

/// Blocks are attention and perceptron in turn, with a norm before each and one behind the last. Block b takes norm b
/// and gives sum b + 1, with the residual.
struct TrainingShape {
    std::int64_t layers;
    std::int64_t hidden;
    std::int64_t vocabulary; ///< padded: every row is a class
    std::int64_t positions;
    bool is_causal;
    bool adds_normed; ///< the residual is what the norm gave (BERT), not what it took (GPT-2)
    std::int64_t batch = 1;
    std::int64_t sequence = 1;

    constexpr std::int64_t tokens() const { return batch * sequence; }
    constexpr std::int64_t heads() const { return hidden / workload::head_size; }
    constexpr std::int64_t inner() const { return 4 * hidden; } ///< of the perceptron
    constexpr std::int64_t norms() const { return 2 * layers + 1; }
    constexpr std::int64_t matrices() const { ///< numbers in them
        return (vocabulary + positions) * hidden + 12 * layers * hidden * hidden;
    }
    constexpr std::int64_t parameters() const {
        return matrices() + layers * 9 * hidden + norms() * 2 * hidden;
    }
    /// 6 for each parameter and token; in attention 12 for each layer, number of a token and key, and half of it with a
    /// causal mask (Chowdhery et al. 2022, appendix B).
    constexpr double flops() const {
        const double scores = (is_causal ? 6.0 : 12.0) * static_cast<double>(layers * hidden) *
                              static_cast<double>(sequence);
        return static_cast<double>(tokens()) * (6 * static_cast<double>(parameters()) + scores);
    }
    /// Memory: parameters in fp32 with two moments and in bf16, twice; gradients; what the stages store.
    constexpr std::int64_t bytes() const {
        const std::int64_t layer = 32 * 2 * hidden + 2 * 4 * heads() + 2 * 2 * 4;
        const std::int64_t token =
            layers * layer + 4 * 2 * hidden + 2 * 2 * vocabulary + 7 * 4 + partial_bytes();
        return 32 * parameters() + tokens() * token;
    }

private:
    /// Sums of columns over 64 rows each.
    constexpr std::int64_t partial_bytes() const { return 4 * 4 * hidden / 64 + 1; }
};

constexpr TrainingShape shape_of(Trained model) {
    switch (model) {
    case Trained::tiny: // for the device that is a CPU
        return {2, 128, 512, 1024, true, false};
    case Trained::gpt2_124m:
        return {12, 768, 50304, 1024, true, false};
    case Trained::bert_large:
        return {24, 1024, 30528, 512, false, true};
    }
    return {};
}

/// AdamW (Loshchilov, Hutter 2019) with the values of GPT-3. The step is an early one, so that the corrections of both
/// moments count.
struct AdamW {
    float rate = 6e-4F;
    float decay = 0.1F; ///< of matrices alone
    float first = 0.9F;
    float second = 0.95F;
    float epsilon = 1e-8F;
    float most_norm = 1; ///< of the gradient
    int step = 10;

    float first_correction() const {
        return static_cast<float>(1 / (1 - std::pow(double{first}, step)));
    }
    float second_correction() const {
        return static_cast<float>(1 / (1 - std::pow(double{second}, step)));
    }
};

/// A matrix or vector among the parameters, with what it is filled with.
struct Parameter {
    std::string name;
    std::int64_t first; ///< in the array of all
    std::int64_t outputs;
    std::int64_t inputs; ///< 1: a vector; a matrix has a row of them for each output
    Numbers numbers;
    std::int64_t count() const { return outputs * inputs; }
};

struct RandomTokens {
    std::uint64_t seed;
    std::uint64_t vocabulary;
    ASSAY_HOST_DEVICE std::int32_t operator()(std::uint64_t at) const {
        return static_cast<std::int32_t>(random_bits(seed, at) % vocabulary);
    }
};

class TrainingData {
public:
    explicit TrainingData(const TrainingShape& shape) : shape_{shape} {
        const std::int64_t h = shape.hidden;
        // Scores of the head have variance 1.5.
        const double embedded = 1.5 / (of_norm * static_cast<double>(h));
        add("token embedding", shape.vocabulary, h, embedded);
        add("position embedding", shape.positions, h, embedded);
        for (std::int64_t layer = 0; layer < shape.layers; ++layer)
            for (const Kind kind : {qkv, output, inner, outer})
                add(name(layer, kind), to(kind), from(kind), variance(layer, kind));
        for (std::int64_t layer = 0; layer < shape.layers; ++layer)
            for (const Kind kind : {qkv, output, inner, outer}) {
                const auto most =
                    static_cast<float>(0.2 * std::sqrt(variance_of_result(layer, kind)));
                add(name(layer, kind) + " bias", to(kind), 1, {0, -most, most});
            }
        for (std::int64_t norm = 0; norm < shape.norms(); ++norm) {
            add(joined("norm ", norm, " scale"), h, 1, {0, 0.5F, 1.5F});
            add(joined("norm ", norm, " shift"), h, 1, {0, -0.1F, 0.1F});
        }
    }

    enum Kind : std::uint8_t { qkv, output, inner, outer };
    static constexpr std::size_t kinds = 4;

    const TrainingShape& shape() const { return shape_; }
    const std::vector<Parameter>& parameters() const { return parameters_; }
    const Parameter& token_embedding() const { return parameters_[0]; }
    const Parameter& position_embedding() const { return parameters_[1]; }
    const Parameter& weights(std::size_t layer, Kind kind) const {
        return parameters_[2 + kinds * layer + kind];
    }
    const Parameter& bias(std::size_t layer, Kind kind) const {
        return parameters_[2 + kinds * (layers() + layer) + kind];
    }
    const Parameter& scale(std::size_t norm) const {
        return parameters_[2 + 2 * kinds * layers() + 2 * norm];
    }
    const Parameter& shift(std::size_t norm) const {
        return parameters_[3 + 2 * kinds * layers() + 2 * norm];
    }
    std::int64_t from(Kind kind) const { return kind == outer ? shape_.inner() : shape_.hidden; }
    std::int64_t to(Kind kind) const {
        return kind == qkv ? 3 * shape_.hidden : kind == inner ? shape_.inner() : shape_.hidden;
    }
    std::string name(std::int64_t layer, Kind kind) const {
        constexpr const char* names[] = {"qkv", "output", "inner", "outer"};
        return joined("layer ", layer, ", ", names[kind]);
    }

    /// Parameter i before the step, as products take it.
    static float weight(const Parameter& of, std::uint64_t i) {
        return workload::random_value(Precision::bf16, of.numbers.seed, i, of.numbers.low,
                                      of.numbers.high);
    }
    /// The one that number `i` of all belongs to.
    const Parameter& parameter_of(std::uint64_t i) const {
        return *std::prev(std::ranges::upper_bound(parameters_, static_cast<std::int64_t>(i), {},
                                                   &Parameter::first));
    }
    // Moments before the step, by the place among all: as large as a gradient of norm 1.
    Numbers first_moment() const { return {seed + 1, -moment(), moment()}; }
    Numbers second_moment() const {
        const float square = moment() * moment();
        return {seed + 2, square / 2, 3 * square / 2};
    }
    RandomTokens tokens() const {
        return {seed + 3, static_cast<std::uint64_t>(shape_.vocabulary)};
    }
    RandomTokens targets() const {
        return {seed + 4, static_cast<std::uint64_t>(shape_.vocabulary)};
    }

private:
    static constexpr std::uint64_t seed = 70'000;
    static constexpr double of_norm = 3.25 / 3; // mean square of what norms give
    std::size_t layers() const { return static_cast<std::size_t>(shape_.layers); }
    void add(std::string name, std::int64_t outputs, std::int64_t inputs, Numbers numbers) {
        const std::int64_t first =
            parameters_.empty() ? 0 : parameters_.back().first + parameters_.back().count();
        numbers.seed = seed + 8 + parameters_.size();
        parameters_.push_back({std::move(name), first, outputs, inputs, numbers});
    }
    void add(std::string name, std::int64_t outputs, std::int64_t inputs, double variance) {
        const auto most = static_cast<float>(std::sqrt(3 * variance));
        add(std::move(name), outputs, inputs, Numbers{0, -most, most});
    }
    float moment() const {
        return static_cast<float>(1 / std::sqrt(static_cast<double>(shape_.parameters())));
    }
    /// Scores have a standard deviation of two, so that single keys matter, and each block a tenth of the residual's
    /// variance, so that the residual's rounding hides no error of it; half where residuals are normalised.
    double variance_of_result(std::int64_t layer, Kind kind) const {
        if (kind == qkv) return 2;
        if (kind == inner) return 1;
        if (shape_.adds_normed) return of_norm / 2;
        constexpr double share = 0.1;
        const double embedded = 2 * 1.5 / (of_norm * static_cast<double>(shape_.hidden));
        const auto before = static_cast<double>(2 * layer + (kind == outer ? 1 : 0));
        return share * embedded * std::pow(1 + share, before);
    }
    double variance(std::int64_t layer, Kind kind) const {
        // About one in e^4 keys counts; the mean square of GELU of a normal number is 0.425.
        const double keys = static_cast<double>(shape_.sequence) / (shape_.is_causal ? 2 : 1);
        const double taken = kind == output  ? 2 * std::fmin(1, 54.6 / keys)
                             : kind == outer ? 0.425
                                             : of_norm;
        return variance_of_result(layer, kind) / (taken * static_cast<double>(from(kind)));
    }

    TrainingShape shape_;
    std::vector<Parameter> parameters_;
};

} // namespace assay::model
