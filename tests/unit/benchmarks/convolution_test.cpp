// SPDX-License-Identifier: Apache-2.0
#include "gemm/device_precision.hpp"
#include "workload/convolution_data.hpp"
#include "workload/resnet50.hpp"
#include "workload/samples.hpp"
#include "workload/unet3d.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string_view>

namespace assay::workload {
namespace {

const Layer& named(std::string_view name) {
    return *std::ranges::find_if(resnet50, [&](const Layer& l) { return l.name == name; });
}

// torchvision's page of ResNet-50: 4.09 GFLOPS (of multiply-adds) and 25,557,032 parameters, of which
// 2,049,000 are the classifier's and 53,120 those of normalisation.
TEST(ResNet50, HasTheConvolutionsThatItIsKnownFor) {
    std::int64_t count = 0;
    std::int64_t weights = 0;
    double products = 0;
    double real = 0;
    for (const Layer& layer : resnet50) {
        count += layer.count;
        weights += layer.count * layer.weights();
        products += static_cast<double>(layer.count * layer.nominal_products());
        real += static_cast<double>(layer.count * layer.products());
    }
    EXPECT_EQ(count, 53);
    EXPECT_EQ(weights, 25'557'032 - 2'049'000 - 53'120);
    EXPECT_NEAR(products * 1e-9, 4.09, 0.005);
    EXPECT_LT(real, products);
    EXPECT_GT(real, 0.9 * products);
}

TEST(ResNet50, SizesFitTogether) {
    EXPECT_EQ(named("conv1").output_size(), 112);
    EXPECT_EQ(named("res3a_3x3").output_size(), 28);
    EXPECT_EQ(named("res5a_shortcut").output_size(), 7);
    for (const Layer& layer : resnet50) EXPECT_EQ(layer.output_size(), layer.size / layer.stride);
}

TEST(ResNet50, ProductsWithThePaddingAreNotCounted) {
    const Layer& layer = named("res5_3x3"); // 7 x 7: the outer two of three places once each
    EXPECT_EQ(layer.products(), 19 * 19 * 512 * 512);
    EXPECT_EQ(layer.nominal_products(), 21 * 21 * 512 * 512);
}

TEST(Convolution, OneOutputByHand) {
    const Layer layer{"tiny", 1, 1, 1, 2, 3, 1}; // the whole image is under the kernel's centre
    const ConvolutionData data{layer, Precision::int8, 7};
    double expected = data.bias(0);
    for (std::uint64_t y = 0; y < 2; ++y)
        for (std::uint64_t x = 0; x < 2; ++x)
            expected += double{data.source(2 * y + x)} * data.weight(3 * (y + 1) + x + 1);
    EXPECT_EQ(data.sum({}), expected);
}

struct OfDevice {
    Precision precision;
    gemm::DevicePrecision as;
    gemm::Storage storage;
};
constexpr OfDevice of_devices[]{
    {Precision::tf32, gemm::DevicePrecision::tf32, gemm::Storage::tf32},
    {Precision::fp16, gemm::DevicePrecision::fp16, gemm::Storage::fp16},
    {Precision::bf16, gemm::DevicePrecision::bf16, gemm::Storage::bf16},
};

// A device makes its numbers by itself, rounding once when it stores them; the check makes them again.
TEST(Convolution, NumbersOfDevicesAreWhatIsStoredThere) {
    for (const auto& [precision, as, storage] : of_devices) {
        const ConvolutionData data{named("res2_3x3"), precision, 5, OnDevice{}};
        const auto stored = [&, kind = storage](const Numbers& of, std::uint64_t i) {
            std::uint32_t bits = 0;
            const gemm::Operand one{kind, &bits, nullptr, 1, 1};
            gemm::store(one, 0, double{random_uniform<float>(of.seed, i, of.low, of.high)});
            return static_cast<float>(gemm::load(one, 0, 0));
        };
        for (std::uint64_t i = 0; i < 100'000; ++i) {
            ASSERT_EQ(data.source(i), stored(data.sources(), i)) << i;
            ASSERT_EQ(data.weight(i), stored(data.weights(), i)) << i;
            ASSERT_EQ(data.bias(i), stored(data.biases(), i)) << i;
        }
    }
}

TEST(Convolution, DamageIsSeenWhateverMatrixUnitsMayLose) {
    const auto expect_seen = [](const Layer& layer) {
        for (const auto& [precision, as, storage] : of_devices) {
            const double lost =
                gemm::tolerance_of(as, gemm::Accumulation::exact, layer.terms()).absolute;
            const ConvolutionData data{layer, precision, 3, OnDevice{.lost = lost}};
            const double expected = data.output({});
            const double size = std::hypot(data.sum_scale(), expected);
            EXPECT_LE(std::fabs(data.error({}, expected + lost * size)), 1) << layer.name;
            EXPECT_GT(data.error({}, data.damaged(static_cast<float>(expected))), 1) << layer.name;
        }
    };
    for (const Layer& layer : resnet50) expect_seen(layer);
    for (const Layer& layer : unet3d(128)) expect_seen(layer);
}

// nnU-Net's network for volumes is known for 31.2 million parameters; 1.8 of them are in five transposed convolutions of
// 2x2x2, which are not among these layers.
TEST(UNet3d, HasTheWeightsThatItIsKnownFor) {
    std::int64_t weights = 0;
    std::int64_t count = 0;
    for (const Layer& layer : unet3d(128)) {
        count += layer.count;
        weights += layer.count * layer.weights();
        EXPECT_EQ(layer.output_size(), layer.size / layer.stride);
    }
    EXPECT_EQ(count, 23);
    EXPECT_NEAR(static_cast<double>(weights) * 1e-6, 31.2 - 1.8, 0.05);
}

TEST(UNet3d, OneOutputByHand) {
    const Layer layer{"tiny", 1, 1, 1, 2, 3, 1, 3};
    EXPECT_EQ(layer.source_elements(), 8);
    EXPECT_EQ(layer.terms(), 27);
    EXPECT_EQ(layer.products(), 4 * 4 * 4);
    const ConvolutionData data{layer, Precision::int8, 7};
    double expected = data.bias(0); // of the last corner: the kernel's centre is at its last voxel
    for (std::uint64_t z = 0; z < 2; ++z)
        for (std::uint64_t y = 0; y < 2; ++y)
            for (std::uint64_t x = 0; x < 2; ++x)
                expected += double{data.source(4 * z + 2 * y + x)} * data.weight(9 * z + 3 * y + x);
    EXPECT_EQ(data.sum({0, 0, 1, 1, 1}), expected);
    EXPECT_EQ(place_of(7, layer), (Place{0, 0, 1, 1, 1}));
    EXPECT_EQ(place_of(8, layer), (Place{1, 0, 0, 0, 0}));
}

/// The output as a kernel computes it, in fp32 one product after the other, from inputs of so many bits.
float in_fp32(const ConvolutionData& data, const Layer& layer, const Place& place, int digits) {
    float total = data.bias(static_cast<std::uint64_t>(place[1]));
    for (std::int64_t c = 0; c < layer.inputs; ++c) {
        const auto from = (c * layer.size + place[3]) * layer.size + place[4];
        const auto with = place[1] * layer.inputs + c;
        total = std::fma(gemm::round_to_bits(data.source(static_cast<std::uint64_t>(from)), digits),
                         gemm::round_to_bits(data.weight(static_cast<std::uint64_t>(with)), digits),
                         total);
    }
    return std::fmax(total, 0.0F);
}

TEST(Convolution, TheBoundAcceptsFp32AndNotInputsOfBf16) {
    const Layer& layer = named("res5_reduce"); // 2048 products
    const ConvolutionData data{layer, Precision::fp32, 0};
    int positive = 0;
    int seen = 0;
    for (std::size_t i = 0; i < 400; ++i) {
        const Place place = place_of(i * 61, layer);
        const float whole = in_fp32(data, layer, place, 24);
        EXPECT_LE(std::fabs(data.error(place, whole)), data.bound());
        EXPECT_GT(std::fabs(data.error(place, data.damaged(whole))), data.bound());
        if (whole == 0) continue;
        ++positive;
        seen += std::fabs(data.error(place, in_fp32(data, layer, place, 8))) > data.bound() ? 1 : 0;
    }
    EXPECT_GT(positive, 100);
    EXPECT_GT(seen, positive * 8 / 10);
}

TEST(Convolution, Bf16OutputsAreRoundedOnce) {
    const Layer& layer = named("res4_expand");
    const ConvolutionData data{layer, Precision::bf16, 0};
    for (std::size_t i = 0; i < 100; ++i) {
        const Place place = place_of(i * 977, layer);
        const float stored = gemm::to_bfloat16(in_fp32(data, layer, place, 24));
        EXPECT_LE(std::fabs(data.error(place, stored)), data.bound());
        const float cut = gemm::to_bfloat16(data.damaged(stored));
        EXPECT_GT(std::fabs(data.error(place, cut)), data.bound());
    }
}

TEST(Convolution, Int8IsExact) {
    const Layer& layer = named("res4_expand");
    const ConvolutionData data{layer, Precision::int8, 0};
    int inside = 0;
    for (std::size_t i = 0; i < 400; ++i) {
        const Place place = place_of(i * 977, layer);
        const double value = data.output(place);
        EXPECT_EQ(data.error(place, value), 0);
        EXPECT_EQ(std::fabs(data.error(place, data.damaged(static_cast<float>(value)))), 1);
        inside += value > 0 && value < 255 ? 1 : 0;
    }
    EXPECT_GT(inside, 100) << "most outputs are cut off, which would hide errors";
}

TEST(Samples, DamageHoldsASampleWhereverItIs) {
    for (const std::size_t total : {1UL, 5UL, 64UL, 1000UL, 25'088UL})
        for (std::uint64_t round = 0; round < 20; ++round) {
            const Samples samples{total, 64, round};
            const Slice damage = samples.damage(random_bits(1, round));
            ASSERT_LE(damage.last, total);
            bool held = false;
            for (std::size_t i = 0; i < samples.size(); ++i) {
                ASSERT_LT(samples[i], total);
                held = held || (damage.first <= samples[i] && samples[i] < damage.last);
            }
            EXPECT_TRUE(held) << total << " round " << round;
        }
}

} // namespace
} // namespace assay::workload
