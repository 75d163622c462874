// SPDX-License-Identifier: Apache-2.0
//
// Language models: their shapes and work as published, and a small model computed stage by stage from the expected
// values, sound and with planted errors.
#include "device/narrow_float.hpp"
#include "model/llm.hpp"
#include "model/llm_stages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::model {
namespace {

double giga(double value) { return value / 1e9; }

TEST(Llm, HasPublishedParameterCounts) {
    EXPECT_EQ(shape_of(Llm::llama3_1b).parameters(), 1'235'814'400);
    EXPECT_EQ(shape_of(Llm::llama3_8b).parameters(), 8'030'261'248);
    EXPECT_EQ(shape_of(Llm::llama3_70b).parameters(), 70'553'706'496);
    EXPECT_EQ(shape_of(Llm::qwen3_32b).parameters(), 32'762'123'264);
}

TEST(Llm, CountsWeightsThatATokenPasses) {
    const auto weights = [](const LlmShape& shape) {
        return giga(static_cast<double>(shape.weights()));
    };
    EXPECT_NEAR(weights(shape_of(Llm::llama3_1b)), 1.236, 0.0005);
    EXPECT_NEAR(weights(shape_of(Llm::llama3_8b)), 7.505, 0.0005);
    EXPECT_NEAR(weights(shape_of(Llm::llama3_70b)), 69.50, 0.005);
    EXPECT_NEAR(weights(shape_of(Llm::llama3_70b).shard(8)), 8.69, 0.005);
    EXPECT_NEAR(weights(shape_of(Llm::qwen3_32b)), 31.98, 0.005);
    EXPECT_EQ(2 * shape_of(Llm::llama3_8b).cached(), 131'072) << "bytes of a token in bf16";
    EXPECT_EQ(2 * shape_of(Llm::qwen3_32b).cached(), 262'144);
}

TEST(Llm, DecodingReadsWeightsAndCacheOnce) {
    const auto bytes = [](const LlmShape& shape, std::int64_t batch) {
        return giga(LlmStep{shape, batch, 1536, 1}.bytes(2));
    };
    EXPECT_NEAR(bytes(shape_of(Llm::llama3_1b), 1), 2.52, 0.005);
    EXPECT_NEAR(bytes(shape_of(Llm::llama3_8b), 1), 15.2, 0.05);
    EXPECT_NEAR(bytes(shape_of(Llm::llama3_8b), 16), 18.2, 0.05);
    EXPECT_NEAR(bytes(shape_of(Llm::llama3_8b), 64), 27.9, 0.05);
    EXPECT_NEAR(bytes(shape_of(Llm::qwen3_32b), 16), 70.4, 0.05);
    EXPECT_NEAR(bytes(shape_of(Llm::llama3_70b).shard(8), 64), 21.4, 0.05);
    const LlmStep step{shape_of(Llm::llama3_8b), 1, 1536, 1};
    EXPECT_NEAR(step.flops(), 15.01e9 + 524'288.0 * 1536, 0.01e9);
}

TEST(Llm, CountsOneByteOfFp8) {
    const LlmStep step{shape_of(Llm::llama3_8b), 1, 1536, 1};
    EXPECT_NEAR(giga(step.bytes({1, 2, 2})), 8.2, 0.05);
    EXPECT_NEAR(step.bytes({1, 2, 2}) - step.bytes({1, 1, 2}), 1536 * 65'536.0, 1);
    EXPECT_LT(step.needed_bytes({1, 1, 2}), step.needed_bytes(2));
}

TEST(Llm, RoundsToTheNearestE4m3Number) {
    std::vector<float> numbers;
    for (std::uint32_t code = 0; code <= device::e4m3_format().largest; ++code)
        numbers.push_back(static_cast<float>(device::decode(device::e4m3_format(), code)));
    for (std::size_t i = 0; i + 1 < numbers.size(); ++i) {
        const float middle = (numbers[i] + numbers[i + 1]) / 2;
        for (const float sign : {-1.0F, 1.0F}) {
            EXPECT_EQ(workload::round_to_e4m3(sign * numbers[i]), sign * numbers[i]);
            EXPECT_EQ(workload::round_to_e4m3(sign * std::nextafter(middle, 0.0F)),
                      sign * numbers[i]);
            EXPECT_EQ(workload::round_to_e4m3(sign * middle), sign * numbers[i + i % 2]) << middle;
            EXPECT_EQ(workload::round_to_e4m3(sign * std::nextafter(middle, 500.0F)),
                      sign * numbers[i + 1]);
        }
    }
    EXPECT_EQ(workload::round_to_e4m3(1e9F), 448);
    EXPECT_EQ(workload::round_to_e4m3(-470), -448);
}

TEST(Llm, StoresWeightsInFp8WithTheVarianceOfTheModel) {
    const LlmData data{{shape_of(Llm::llama3_8b), 1, 1536, 1}, Precision::bf16, {true, true}};
    for (const LlmData::Kind kind : {LlmData::queries, LlmData::keys, LlmData::values,
                                     LlmData::output, LlmData::down, LlmData::cached_values}) {
        const LlmData::Stored stored = data.stored(kind, 3);
        ASSERT_EQ(stored.precision, Precision::fp8);
        EXPECT_EQ(std::exp2(std::round(std::log2(stored.scale))), stored.scale);
        double squares = 0;
        constexpr int count = 20'000;
        for (std::uint64_t i = 0; i < count; ++i) {
            const float value = stored(i);
            EXPECT_EQ(workload::round_to_e4m3(stored.scale * value), stored.scale * value);
            squares += double{value} * double{value};
        }
        const double variance = double{stored.of.high} * double{stored.of.high} / 3;
        EXPECT_NEAR(squares / count / variance, 1, 0.03);
    }
    EXPECT_EQ(data.stored(LlmData::head, 0).precision, Precision::bf16);
    EXPECT_EQ(data.stored(LlmData::embedding, 0).precision, Precision::bf16);
}

TEST(Llm, ExpectsHalfAStepOfFp8) {
    for (int i = 0; i < 2000; ++i) {
        const float value = random_uniform<float>(7, static_cast<std::uint64_t>(i), -15, 15) *
                            std::exp2(static_cast<float>(-(i % 20)));
        const Expected expected = expect_in_fp8({.value = value, .allowed = 1e-30}, 32);
        const float stored = workload::round_to_e4m3(32 * value) / 32;
        EXPECT_LE(std::fabs(expected.error(stored)), 1) << value;
        EXPECT_GT(std::fabs(expected.error(workload::damaged(Precision::fp8, stored))), 1) << value;
    }
}

TEST(Llm, PromptsCostTwoForEachWeightAndTokenAndAttentionToTokensBefore) {
    const auto tera = [](Llm model, std::int64_t tokens) {
        return LlmStep{shape_of(model), 1, tokens, tokens}.flops() / 1e12;
    };
    EXPECT_NEAR(tera(Llm::llama3_8b, 512), 7.2, 0.05);
    EXPECT_NEAR(tera(Llm::llama3_8b, 2048), 29.7, 0.05);
    EXPECT_NEAR(tera(Llm::llama3_8b, 8192), 132, 0.5);
    EXPECT_NEAR(tera(Llm::llama3_1b, 2048), 4.26, 0.005);
}

TEST(Llm, RejectsContextBeyondPositions) {
    EXPECT_TRUE(fits_positions({shape_of(Llm::qwen3_32b), 1, 40960, 1}));
    const Fit fit = fits_positions({shape_of(Llm::qwen3_32b), 1, 40961, 1});
    EXPECT_FALSE(fit);
    EXPECT_NE(fit.why().find("40960"), std::string::npos) << fit.why();
    EXPECT_FALSE(fits_positions({shape_of(Llm::tiny).shard(16), 1, 64, 1}))
        << "no key head is left";
}

/// Numbers, as stages want them.
struct Plain {
    std::vector<float> numbers;
    float scale = 1;

    float element(std::size_t i) const { return numbers[i]; }
    template <class Change>
    void change(Slice slice, const Change& change) {
        for (std::size_t i = slice.first; i < slice.last; ++i) numbers[i] = change(numbers[i]);
    }
    void poison() { std::ranges::fill(numbers, std::numeric_limits<float>::quiet_NaN()); }
    Output output() const { return Output{std::span<const float>{numbers}}; }
};

double nothing_lost(std::int64_t /*products*/) { return 0; }

/// Each number is the expected one, rounded.
class Model : public LlmStages<Plain> {
public:
    explicit Model(const LlmStep& step, Precision stored = Precision::bf16, LlmNarrow narrow = {})
        : LlmStages{step,
                    stored,
                    {.attention = {.scores = Precision::fp32,
                                   .probabilities = 0x1p-24,
                                   .result = workload::roundoff_of(stored)},
                     .lost = nothing_lost,
                     .lost_in_fp8 = nothing_lost},
                    narrow},
          chosen(static_cast<std::size_t>(step.batch)) {
        add_stages(
            [](std::int64_t rows, std::int64_t width, float scale = 1) {
                return Plain{std::vector<float>(static_cast<std::size_t>(rows * width)), scale};
            },
            [this](std::size_t row) { return chosen[row]; }, [](Plain& cache) { cache.poison(); });
        for (std::size_t i = 0; i < layers_.size(); ++i) {
            fill(layers_[i].keys, LlmData::cached_keys, i);
            fill(layers_[i].values, LlmData::cached_values, i);
        }
    }

    void run(std::string_view from = "embedding") {
        bool is_behind = false;
        for (const auto& stage : stages_) {
            is_behind = is_behind || stage.name == from;
            if (is_behind) compute(stage);
        }
        const auto width = static_cast<std::size_t>(shape_.vocabulary);
        for (std::size_t row = 0; row < chosen.size(); ++row) {
            const float* const scores = scores_.numbers.data() + row * width;
            chosen[row] = std::max_element(scores, scores + width) - scores;
        }
    }
    /// Computes a stage from what damage() leaves of its inputs, and all later ones from sound ones and from that.
    template <class Damage>
    void run_with_damage(std::size_t stage, Plain& input, const Damage& damage) {
        const Plain sound = input;
        damage(input.numbers);
        compute(stages_[stage]);
        input = sound;
        if (stage + 1 < stages_.size()) run(stages_[stage + 1].name);
    }
    std::size_t find(std::string_view name) const {
        return static_cast<std::size_t>(
            std::ranges::find(stages_, name, &workload::Stage<Plain>::name) - stages_.begin());
    }
    LlmLayer<Plain>& layer(std::size_t i) { return layers_[i]; }
    const LlmLayer<Plain>& layer(std::size_t i) const { return layers_[i]; }

    std::vector<std::int64_t> chosen;

private:
    void compute(const workload::Stage<Plain>& stage) {
        for (std::size_t i = 0; i < stage.elements; ++i) {
            const auto value = static_cast<float>(stage.expect(i).value);
            stage.tensor->numbers[stage.place(i)] =
                rounded(stage.precision, value, stage.tensor->scale);
        }
    }
    static float rounded(Precision precision, float value, float scale) {
        if (precision == Precision::fp8) return workload::round_to_e4m3(scale * value) / scale;
        return precision == Precision::bf16 ? gemm::round_to_bits(value, 8) : value;
    }
    void fill(Plain& cache, LlmData::Kind kind, std::size_t layer) {
        for (std::size_t i = 0; i < cache.numbers.size(); ++i)
            cache.numbers[i] = data_.number(kind, static_cast<std::int64_t>(layer), i);
    }
};

constexpr LlmShape small{1, 64, 4, 2, 16, 1024, 96, 4096};

testing::AssertionResult notices(const Model& model, std::string_view stage) {
    const Check check = model.verify();
    if (check.passed) return testing::AssertionFailure() << "passed, error " << check.error;
    if (!check.detail.starts_with(stage)) return testing::AssertionFailure() << check.detail;
    return testing::AssertionSuccess();
}

TEST(LlmStages, AcceptSoundModels) {
    LlmShape normed = small;
    normed.norms_heads = true;
    LlmShape tied = small;
    tied.ties_embedding = true;
    tied.layers = 2;
    for (const Precision stored : {Precision::bf16, Precision::fp32})
        for (const LlmStep& step : {LlmStep{small, 2, 256, 1}, LlmStep{normed, 1, 64, 1},
                                    LlmStep{normed, 2, 8, 8}, LlmStep{tied, 1, 5, 5}}) {
            Model model{step, stored};
            model.run();
            const Check check = model.verify();
            EXPECT_TRUE(check.passed) << check.detail;
            model.poison();
            EXPECT_FALSE(model.verify().passed);
        }
}

TEST(LlmStages, NoticeInjectedDamage) {
    Model model{{small, 2, 64, 1}};
    for (int i = 0; i < 12; ++i) {
        model.run();
        EXPECT_TRUE(model.verify().passed);
        model.spoil();
        EXPECT_FALSE(model.verify().passed);
    }
}

TEST(LlmStages, NoticeInjectedDamageInFp8) {
    for (const LlmNarrow& narrow : {LlmNarrow{true, false}, {false, true}, {true, true}}) {
        Model model{{small, 1, 64, 1}, Precision::bf16, narrow};
        for (int i = 0; i < 20; ++i) {
            model.run();
            const Check check = model.verify();
            EXPECT_TRUE(check.passed) << check.detail;
            model.spoil();
            EXPECT_FALSE(model.verify().passed);
        }
    }
}

TEST(LlmStages, NoticeNeighbourInFp8) {
    Model model{{small, 1, 64, 1}, Precision::bf16, {true, false}};
    model.run();
    for (float& number : model.layer(0).context_fp8.numbers) number *= 1.125F; // a step or two
    EXPECT_TRUE(notices(model, "layer 1, attention in fp8"));
}

TEST(LlmStages, NoticeLostSliceOfSumInFp8) {
    Model model{{small, 2, 64, 1}, Precision::bf16, {true, true}};
    model.run();
    model.run_with_damage(model.find("layer 1, down"), model.layer(0).inner_fp8, [](auto& inner) {
        for (std::size_t row = 0; row < 2; ++row)
            std::fill_n(inner.begin() + static_cast<std::ptrdiff_t>(row * 1024 + 512), 16, 0.0F);
    });
    EXPECT_TRUE(notices(model, "layer 1, down"));
}

TEST(LlmStages, NoticeWrongKeyInFp8) {
    Model model{{small, 1, 1536, 1}, Precision::bf16, {true, true}};
    model.run();
    model.run_with_damage(model.find("layer 1, attention"), model.layer(0).keys, [](auto& keys) {
        std::copy_n(keys.begin() + 1534 * 16, 16, keys.begin() + 1535 * 16);
    });
    EXPECT_TRUE(notices(model, "layer 1, attention"));
}

TEST(LlmStages, NoticeWrongKey) {
    Model model{{small, 1, 1536, 1}};
    model.run();
    const std::size_t attention = model.find("layer 1, attention");
    // The newest key of a head is taken for the one before.
    model.run_with_damage(attention, model.layer(0).keys, [](auto& keys) {
        std::copy_n(keys.begin() + 1534 * 16, 16, keys.begin() + 1535 * 16);
    });
    EXPECT_TRUE(notices(model, "layer 1, attention"));
}

TEST(LlmStages, NoticeSkippedPartOfKeys) {
    Model model{{small, 1, 1536, 1}};
    model.run();
    model.run_with_damage(
        model.find("layer 1, attention"), model.layer(0).values, [](auto& values) {
            std::fill_n(values.begin() + 64 * 16, 64 * 16, 0.0F); // one of 24 parts of a head
        });
    EXPECT_TRUE(notices(model, "layer 1, attention"));
}

TEST(LlmStages, NoticeLostSliceOfSum) {
    Model model{{small, 2, 64, 1}};
    model.run();
    model.run_with_damage(model.find("layer 1, down"), model.layer(0).inner, [](auto& inner) {
        for (std::size_t row = 0; row < 2; ++row)
            std::fill_n(inner.begin() + static_cast<std::ptrdiff_t>(row * 1024 + 512), 16, 0.0F);
    });
    EXPECT_TRUE(notices(model, "layer 1, down"));
}

TEST(LlmStages, NoticeSwappedHead) {
    Model model{{small, 1, 256, 1}};
    model.run();
    model.run_with_damage(
        model.find("layer 1, attention"), model.layer(0).queries, [](auto& queries) {
            std::swap_ranges(queries.begin(), queries.begin() + 16, queries.begin() + 16);
        });
    EXPECT_TRUE(notices(model, "layer 1, attention"));
}

TEST(LlmStages, NoticeStaleCacheRow) {
    Model model{{small, 1, 256, 1}};
    model.run();
    // The row of the new token is still what was there before.
    const Model before{{small, 1, 256, 1}};
    std::copy_n(before.layer(0).keys.numbers.begin() + 255 * 16, 16,
                model.layer(0).keys.numbers.begin() + 255 * 16);
    model.run("layer 1, attention");
    EXPECT_TRUE(notices(model, "layer 1, keys"));
}

TEST(LlmStages, NoticeResidualAddedTwice) {
    Model model{{small, 1, 64, 1}};
    model.run();
    auto& attended = model.layer(0).attended.numbers;
    for (float& number : attended) number = gemm::round_to_bits(1.5F * number, 8);
    model.run("layer 1, second norm");
    EXPECT_TRUE(notices(model, "layer 1, output"));
}

TEST(LlmStages, NoticeTokenThatHasNotTheGreatestScore) {
    Model model{{small, 2, 64, 1}};
    model.run();
    model.chosen[1] = (model.chosen[1] + 1) % small.vocabulary;
    EXPECT_TRUE(notices(model, "sequence 1"));
    model.chosen[1] = -1;
    EXPECT_TRUE(notices(model, "sequence 1"));
}

} // namespace
} // namespace assay::model
