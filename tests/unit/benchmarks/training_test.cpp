// SPDX-License-Identifier: Apache-2.0
//
// Training: shapes and work as published, the order of the parameters, and expected gradients against differences.
#include "model/training.hpp"
#include "model/training_stages.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace assay::model::training {
namespace {

TrainingShape sized(Trained model, std::int64_t batch, std::int64_t sequence) {
    TrainingShape shape = shape_of(model);
    shape.batch = batch;
    shape.sequence = sequence;
    return shape;
}

TEST(Training, HasPublishedParameterCounts) {
    EXPECT_EQ(shape_of(Trained::gpt2_124m).parameters(), 124'475'904) << "llm.c, padded";
    EXPECT_NEAR(static_cast<double>(shape_of(Trained::bert_large).parameters()), 335e6, 1e6);
}

TEST(Training, CountsPublishedWork) {
    EXPECT_NEAR(sized(Trained::gpt2_124m, 1, 1024).flops() / 1024, 803e6, 1e6);
    const TrainingShape bert = sized(Trained::bert_large, 1, 512);
    const double head = 6.0 * static_cast<double>((bert.vocabulary + bert.positions) * bert.hidden);
    EXPECT_NEAR(bert.flops() / 512 - head, 1.96e9, 0.01e9);
}

TEST(Training, OrdersMatricesBeforeVectorsWithoutGaps) {
    const TrainingData data{sized(Trained::tiny, 1, 16)};
    std::int64_t next = 0;
    for (const Parameter& each : data.parameters()) {
        EXPECT_EQ(each.first, next) << each.name;
        EXPECT_EQ(each.first < data.shape().matrices(), each.inputs > 1) << each.name;
        const auto last = static_cast<std::uint64_t>(next + each.count() - 1);
        EXPECT_EQ(data.parameter_of(last).name, each.name);
        next += each.count();
    }
    EXPECT_EQ(next, data.shape().parameters());
    EXPECT_EQ(data.weights(1, TrainingData::inner).name, "layer 1, inner");
    EXPECT_EQ(data.bias(0, TrainingData::qkv).name, "layer 0, qkv bias");
    EXPECT_EQ(data.shift(4).name, "norm 4 shift");
}

class Kept final : public Stored {
public:
    explicit Kept(std::vector<float> numbers) : numbers_{std::move(numbers)} {}
    std::size_t size() const override { return numbers_.size(); }
    float element(std::size_t i) const override { return numbers_[i]; }
    std::vector<float> column(std::size_t, std::size_t) const override { return {}; }
    void change(Slice, const std::function<float(float)>&) const override {}
    Output output() const override { return Output{std::span<const float>{numbers_}}; }
    void poison() const override {}
    void look_again() const override {}

private:
    std::vector<float> numbers_;
};

/// Attention of one layer, by its definition.
class Attending {
public:
    explicit Attending(const TrainingShape& shape)
        : shape_{shape}, width_{static_cast<std::size_t>(shape.hidden)},
          length_{static_cast<std::size_t>(shape.sequence)},
          tokens_{static_cast<std::size_t>(shape.tokens())} {}

    std::size_t tokens() const { return tokens_; }
    std::vector<double> results(const std::vector<double>& qkv) {
        std::vector<double> found(tokens_ * width_);
        logarithms.assign(tokens_ * width_ / head_size, 0);
        for (std::size_t token = 0; token < tokens_; ++token)
            for (std::size_t head = 0; head < width_ / head_size; ++head) {
                const std::size_t first = token / length_ * length_;
                const std::size_t end = shape_.is_causal ? token + 1 : first + length_;
                const auto at = [&](std::size_t row, std::size_t which) {
                    return qkv.data() + (3 * row + which) * width_ + head * head_size;
                };
                std::vector<double> weights;
                for (std::size_t j = first; j < end; ++j)
                    weights.push_back(std::exp(
                        std::inner_product(at(token, 0), at(token, 0) + head_size, at(j, 1), 0.0) /
                        8));
                const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
                const std::size_t row = token / length_ * (width_ / head_size) + head;
                logarithms[row * length_ + token % length_] = static_cast<float>(std::log(total));
                for (std::size_t j = first; j < end; ++j)
                    for (std::size_t d = 0; d < head_size; ++d)
                        found[token * width_ + head * head_size + d] +=
                            weights[j - first] / total * at(j, 2)[d];
            }
        return found;
    }
    std::vector<float> logarithms;

private:
    TrainingShape shape_;
    std::size_t width_;
    std::size_t length_;
    std::size_t tokens_;
};

std::vector<float> random_numbers(std::uint64_t seed, std::size_t count) {
    std::vector<float> numbers(count);
    for (std::size_t i = 0; i < count; ++i) numbers[i] = random_uniform<float>(seed, i, -1, 1);
    return numbers;
}
std::vector<float> narrowed(const std::vector<double>& numbers) {
    return {numbers.begin(), numbers.end()};
}

TEST(Training, GradientsOfAttentionAreDifferences) {
    for (const bool is_causal : {true, false}) {
        TrainingShape shape = sized(Trained::tiny, 2, 5);
        shape.is_causal = is_causal;
        Attending attending{shape};
        const auto width = static_cast<std::size_t>(shape.hidden);
        const Kept qkv{random_numbers(1, attending.tokens() * 3 * width)};
        const Kept of{random_numbers(2, attending.tokens() * width)};
        std::vector<double> exact(qkv.size());
        for (std::size_t i = 0; i < exact.size(); ++i) exact[i] = qkv.element(i);
        const Kept results{narrowed(attending.results(exact))};
        const Kept logarithms{attending.logarithms};
        AttentionStages expected{shape, qkv, logarithms, &results, &of};
        std::vector<float> sums(logarithms.size());
        for (std::size_t i = 0; i < sums.size(); ++i) {
            EXPECT_NEAR(expected.logarithm(i).value, logarithms.element(i), 1e-6);
            sums[i] = static_cast<float>(expected.sum_along(i).value);
        }
        const Kept along{sums};
        expected.along = &along;
        const auto loss = [&](const std::vector<double>& numbers) {
            const std::vector<double> found = attending.results(numbers);
            double sum = 0;
            for (std::size_t i = 0; i < found.size(); ++i) sum += found[i] * of.element(i);
            return sum;
        };
        for (std::size_t i = 0; i < exact.size(); i += 37) {
            EXPECT_NEAR(expected.result(i / 3).value, results.element(i / 3), 1e-6);
            constexpr double step = 1e-4;
            std::vector<double> more = exact;
            std::vector<double> less = exact;
            more[i] += step;
            less[i] -= step;
            const double slope = (loss(more) - loss(less)) / (2 * step);
            EXPECT_NEAR(expected.gradient(i).value, slope, 1e-5) << i;
        }
    }
}

TEST(Training, GradientsOfLossAreDifferences) {
    const Kept scores{random_numbers(3, 24)};
    const auto loss = [&](std::size_t at, double more) {
        double total = 0;
        for (std::size_t i = 0; i < scores.size(); ++i)
            total += std::exp(scores.element(i) + (i == at ? more : 0));
        return std::log(total) - scores.element(5) - (at == 5 ? more : 0);
    };
    const double logarithm = expect_logarithm(scores, scores.size(), 0).value;
    for (std::size_t i = 0; i < scores.size(); ++i)
        EXPECT_NEAR(expect_loss_gradient(scores.element(i), logarithm, i == 5, 1).value,
                    (loss(i, 1e-4) - loss(i, -1e-4)) / 2e-4, 1e-7);
}

TEST(Training, AdamWDoesItsTenthStep) {
    const AdamW by;
    const Expected first = expect_first_moment(by, 0.01, 0.02);
    const Expected second = expect_second_moment(by, 0.0004, 0.02);
    EXPECT_NEAR(first.value, 0.011, 1e-8);
    EXPECT_NEAR(second.value, 0.0004, 1e-9);
    const double change =
        (0.011 / (1 - std::pow(0.9, 10))) / (std::sqrt(0.0004 / (1 - std::pow(0.95, 10))) + 1e-8);
    EXPECT_NEAR(expect_master(by, 0.5, first.value, second.value, true).value,
                0.5 * (1 - 6e-4 * 0.1) - 6e-4 * change, 1e-8);
    EXPECT_NEAR(expect_master(by, 0.5, first.value, second.value, false).value, 0.5 - 6e-4 * change,
                1e-8);
}

} // namespace
} // namespace assay::model::training
