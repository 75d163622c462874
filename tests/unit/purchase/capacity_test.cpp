// SPDX-License-Identifier: Apache-2.0
//
// Published figures: ZeRO (SC20, figure 1), Korthikanti et al. (MLSys 2023), caches of DeepSeek-V3 and others as its
// authors list them (arXiv 2505.09343, table 1).

#include "purchase/capacity.hpp"
#include "support/schema.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace assay::purchase {
namespace {

purchase::Capacity capacity(const Given& given, bool training) {
    static const auto hardware = reference::read_hardware().value();
    return purchase::capacity_of(given, training, hardware).value();
}

TEST(Capacity, OfStatesIsThatOfZero) {
    const std::vector<std::pair<double, double>> published{
        {0, 120e9}, {1, 31.4e9}, {2, 16.6e9}, {3, 1.9e9}};
    for (const auto& [zero, bytes] : published) {
        const auto found = capacity({{"parameters", 7.5e9}, {"data", 64}, {"zero", zero}}, true);
        double sum = 0;
        for (const auto* part : {"weights", "gradients", "optimiser"})
            sum += found.lines.of(part)->value;
        EXPECT_NEAR(sum, bytes, 0.05e9) << zero;
        EXPECT_FALSE(found.lines.of("device_bytes")) << "activations are not known";
        EXPECT_TRUE(found.holders.empty());
        EXPECT_EQ(test::broken(to_json(found), "capacity"), "");
    }
}

/// 5 a s / h is 80 for GPT-3 and 64 for the model of 530e9 parameters; attention alone recomputed leaves 34 of 34 + 80.
TEST(Capacity, OfActivationsIsThatOfKorthikanti) {
    const Given gpt3{{"parameters", 175e9}, {"layers", 96},     {"hidden", 12288},
                     {"heads", 96},         {"sequence", 2048}, {"tensor", 8}};
    const double unit = 2048.0 * 12288 * 96 / 8;
    const auto with = [&](Given given, double recompute) {
        given["recompute"] = recompute;
        return capacity(given, true).lines.of("activations")->value;
    };
    EXPECT_DOUBLE_EQ(with(gpt3, 0), 114 * unit);
    EXPECT_DOUBLE_EQ(with(gpt3, 1), 34 * unit);
    EXPECT_DOUBLE_EQ(with(gpt3, 2), 2 * unit);
    const Given larger{{"layers", 105}, {"hidden", 20480}, {"heads", 128}, {"sequence", 2048}};
    EXPECT_DOUBLE_EQ(with(larger, 0), (34 + 64) * 2048.0 * 20480 * 105);
}

TEST(Capacity, OfTheCacheIsThatOfTheModelsListed) {
    const std::vector<std::pair<Given, double>> models{
        {{{"kv_rank", 512}, {"rope_size", 64}, {"layers", 61}},
         70'272}, // DeepSeek-V3, latent attention
        {{{"layers", 80}, {"kv_heads", 8}, {"head_size", 128}}, 327'680},  // Qwen2.5 72B
        {{{"layers", 126}, {"kv_heads", 8}, {"head_size", 128}}, 516'096}, // Llama 3.1 405B
        {{{"layers", 32}, {"kv_heads", 32}, {"head_size", 128}},
         524'288}}; // Llama 2 7B, every head its own
    for (const auto& [given, bytes] : models)
        EXPECT_DOUBLE_EQ(capacity(given, false).lines.of("kv_token")->value, bytes);
}

/// Published totals: model cards of meta-llama, mistralai and Qwen; DeepSeek-V3, arXiv 2412.19437 (671B).
TEST(Capacity, KnowsPublishedModels) {
    struct Known {
        const char* name;
        double parameters;
        double kv_token;
    };
    static const auto hardware = reference::read_hardware().value();
    for (const auto& [name, parameters, kv_token] :
         {Known{"llama-3-8b", 8.03e9, 131'072}, Known{"llama-3.3-70b", 70.6e9, 327'680},
          Known{"llama-3.1-405b", 405.9e9, 516'096}, Known{"qwen3-0.6b", 0.6e9, 114'688},
          Known{"qwen3-8b", 8.19e9, 147'456}, Known{"qwen3-14b", 14.8e9, 163'840},
          Known{"qwen3-32b", 32.8e9, 262'144}, Known{"qwen3-30b-a3b", 30.5e9, 98'304},
          Known{"Qwen3-235B-A22B", 235.1e9, 192'512}, Known{"mixtral-8x7b", 46.7e9, 131'072},
          Known{"mixtral-8x22b", 140.6e9, 229'376}, Known{"deepseek-r1", 671e9, 70'272}}) {
        const auto model = purchase::model_named(name);
        ASSERT_TRUE(model) << model.error().message;
        const auto found =
            purchase::capacity_of({{"sequence", 1024}}, false, hardware, {}, *model).value();
        EXPECT_NEAR(found.lines.of("parameters")->value, parameters, 0.01 * parameters) << name;
        EXPECT_DOUBLE_EQ(found.lines.of("kv_token")->value, kv_token) << name;
        EXPECT_TRUE(found.lines.of("device_bytes")) << name;
        EXPECT_NE(found.lines.find("layers")->source.find("config.json"), std::string::npos);
    }
    const auto unknown = purchase::model_named("gpt-2");
    ASSERT_FALSE(unknown);
    EXPECT_NE(unknown.error().message.find("mixtral-8x22b"), std::string::npos);
    // Experts have no dense activations; what is given wins over what is published.
    const auto sparse = purchase::model_named("deepseek-v3").value();
    EXPECT_FALSE(purchase::capacity_of({}, true, hardware, {}, sparse));
    EXPECT_DOUBLE_EQ(purchase::capacity_of({{"kv_bits", 8}}, false, hardware, {}, sparse)
                         .value()
                         .lines.of("kv_token")
                         ->value,
                     35'136);
}

/// Heads that share keys and values, and their size, are told or the cache is not known.
TEST(Capacity, AssumesNoHeads) {
    const Given dense{{"parameters", 7e9}, {"layers", 32},     {"hidden", 4096},
                      {"heads", 32},       {"sequence", 4096}, {"head_size", 128}};
    const auto found = capacity(dense, false);
    EXPECT_FALSE(found.lines.of("device_bytes"));
    EXPECT_EQ(found.lines.find("device_bytes")->missing, "kv_heads");
    EXPECT_FALSE(capacity({{"kv_rank", 512}, {"layers", 61}}, false).lines.of("kv_token"))
        << "the part of the position is not nothing";
}

/// 70e9 x 2 B and 327,680 B x 8192 x 16, over four devices: 45.7 GB. 8 bits halve the weights.
TEST(Capacity, SaysWhichDevicesHoldIt) {
    Given given{{"parameters", 70e9}, {"layers", 80}, {"kv_heads", 8}, {"head_size", 128},
                {"sequence", 8192},   {"batch", 16},  {"tensor", 4}};
    auto found = capacity(given, false);
    const double bytes = (140e9 + 327'680.0 * 8192 * 16) / 4;
    EXPECT_DOUBLE_EQ(found.lines.of("device_bytes")->value, bytes);
    const auto of = [&](const char* name) {
        for (const auto& holder : found.holders)
            if (holder.device == name) return holder;
        return purchase::Holder{};
    };
    EXPECT_DOUBLE_EQ(of("NVIDIA H100 SXM5 80GB").share, bytes / (0.9 * 85520809984));
    EXPECT_EQ(of("NVIDIA H100 SXM5 80GB").least_devices, 3); // 182.9 GB in parts of 77.0
    EXPECT_EQ(found.holders.front().share > 1, true);
    EXPECT_EQ(test::broken(to_json(found), "capacity"), "");
    given["weight_bits"] = 8;
    found = capacity(given, false);
    EXPECT_DOUBLE_EQ(found.lines.of("weights")->value, 17.5e9);
}

/// 182.9 GB of one copy: three H100 of 77.0 GB, so one node of eight; two A100 of 38 GB do not hold it on one of two.
TEST(Capacity, SaysWhichInstancesHoldIt) {
    const auto hardware = reference::read_hardware().value();
    const Given given{{"parameters", 70e9}, {"layers", 80},     {"kv_heads", 8},
                      {"head_size", 128},   {"sequence", 8192}, {"batch", 16}};
    const auto nodes = [&](const Given& how, const char* name) {
        const auto entry = reference::entry_named(hardware, name).value();
        const auto found = purchase::capacity_of(how, false, hardware, {entry}).value();
        EXPECT_TRUE(found.holders.empty());
        EXPECT_EQ(found.instances.size(), 1U) << name;
        return found.instances.empty() ? purchase::InstanceHolder{} : found.instances.front();
    };
    const double copy = 140e9 + 327'680.0 * 8192 * 16;
    EXPECT_EQ(nodes(given, "p5.48xlarge").nodes, 1);
    EXPECT_DOUBLE_EQ(nodes(given, "p5.48xlarge").share, copy / (8 * 0.9 * 85520809984));
    EXPECT_EQ(nodes(given, "a2-highgpu-2g").nodes,
              std::ceil(std::ceil(copy / (0.9 * 42949672960)) / 2));
    auto divided = given;
    divided["tensor"] = 8;
    divided["pipeline"] = 2; // 16 devices, each of which holds its part
    EXPECT_EQ(nodes(divided, "p5.48xlarge").nodes, 2);
    const auto all = purchase::capacity_of(given, false, hardware).value().instances;
    ASSERT_GT(all.size(), 100U);
    for (std::size_t i = 1; i < all.size(); ++i) {
        EXPECT_LE(all[i - 1].nodes, all[i].nodes);
        EXPECT_LE(all[i].share, 1);
    }
}

TEST(Capacity, RefusesHalfADevice) {
    EXPECT_FALSE(purchase::capacity_of({{"tensor", 1.5}}, false, {}));
}

} // namespace
} // namespace assay::purchase
