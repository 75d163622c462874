// SPDX-License-Identifier: Apache-2.0
//
// ResNet-50 as published, and a small one computed by plain loops: sound, and with planted errors.
#include "gemm/bfloat16.hpp"
#include "model/resnet.hpp"
#include "model/resnet_stages.hpp"
#include "workload/resnet50.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace assay::model {
namespace {

using Shape = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
Shape shape_of(const Layer& l) { return {l.inputs, l.outputs, l.size, l.kernel, l.stride}; }

TEST(ResNet, HasTheConvolutionsOfTheTable) {
    std::map<Shape, std::int64_t> expected;
    for (const Layer& layer : workload::resnet50) expected[shape_of(layer)] += layer.count;
    std::map<Shape, std::int64_t> found;
    const ResNet net{ResNetSize::resnet50};
    for (const ResNetNode& n : net.nodes())
        if (n.kind == ResNetNode::Kind::convolution) ++found[shape_of(n.layer)];
    EXPECT_EQ(found, expected);
}

// torchvision: 4.09 GFLOPS (of multiply-adds), 25,557,032 parameters, 53,120 of which are those of normalisation.
TEST(ResNet, HasPublishedWorkAndWeights) {
    const ResNet net{ResNetSize::resnet50};
    EXPECT_NEAR(static_cast<double>(net.products()) * 1e-9, 4.09, 0.005);
    EXPECT_EQ(net.weights() + resnet_classes, 25'557'032 - 53'120);
    EXPECT_EQ(net.nodes().size(), 56U) << "53 convolutions, two poolings, the classifier";
    EXPECT_NEAR(static_cast<double>(net.moved()) * 1e-6, 28, 2);
}

TEST(ResNet, AddsTheBlocksInputOrItsProjection) {
    const ResNet net{ResNetSize::resnet50};
    int projections = 0;
    int identities = 0;
    for (const ResNetNode& n : net.nodes()) {
        if (!n.adds()) continue;
        const ResNetNode& shortcut = net.nodes()[static_cast<std::size_t>(n.shortcut)];
        EXPECT_EQ(shortcut.results(), n.results()) << n.name;
        ++(shortcut.adds() ? identities : projections);
    }
    EXPECT_EQ(projections, 4);
    EXPECT_EQ(identities, 12);
}

/// Numbers, as stages want them.
struct Plain {
    std::vector<float> numbers;

    float element(std::size_t i) const { return numbers[i]; }
    template <class Change>
    void change(Slice elements, const Change& change) {
        for (std::size_t i = elements.first; i < elements.last; ++i)
            numbers[i] = static_cast<float>(change(numbers[i]));
    }
    Output output() const { return Output{numbers}; }
    void poison() { std::ranges::fill(numbers, std::nanf("")); }
};

enum class Fault : std::uint8_t {
    none,
    no_residual,
    lost_slice,
    swapped_inputs,
    swapped_outputs,
    other_image,
    shifted,
    no_bias,
    no_relu,
    lost_place
};

class PlainResNet : public ResNetStages<Plain> {
public:
    explicit PlainResNet(Precision precision)
        : ResNetStages{{ResNetSize::tiny, precision, false}, 2, {.scores = precision}} {
        images_.numbers.resize(2 *
                               static_cast<std::size_t>(net().nodes()[0].layer.source_elements()));
        for (std::size_t i = 0; i < images_.numbers.size(); ++i)
            images_.numbers[i] = stored(data_.pixel(i));
        classes_.numbers.resize(2);
        add_stages([&](std::size_t i) {
            return Plain{
                std::vector<float>(2 * static_cast<std::size_t>(net().nodes()[i].results()))};
        });
        for (std::size_t i = 0; i < net().nodes().size(); ++i)
            for (std::int64_t w = 0;
                 net().nodes()[i].has_weights() && w < net().nodes()[i].layer.weights(); ++w)
                weights_[i].push_back(data_.weight(i, static_cast<std::uint64_t>(w)));
    }
    void run() {
        for (std::size_t i = 0; i < net().nodes().size(); ++i) step(i, Fault::none);
        choose(0);
    }
    /// Once more, so that all before is sound.
    void repeat(const std::string& name, Fault fault) {
        for (std::size_t i = 0; i < net().nodes().size(); ++i)
            if (net().nodes()[i].name == name) step(i, fault);
    }
    void choose(std::ptrdiff_t wrong_by) {
        for (std::ptrdiff_t image = 0; image < 2; ++image) {
            const auto first = results_.back().numbers.begin() + image * resnet_classes;
            const auto best = std::max_element(first, first + resnet_classes) - first;
            classes_.numbers[static_cast<std::size_t>(image)] = static_cast<float>(best + wrong_by);
        }
    }
    std::vector<std::string> names() const {
        std::vector<std::string> all;
        for (const ResNetNode& n : net().nodes()) all.push_back(n.name);
        return all;
    }

private:
    float stored(float value) const {
        return data_.precision() == Precision::bf16 ? float{gemm::to_bfloat16(value)} : value;
    }
    void step(std::size_t i, Fault fault) {
        const ResNetNode& n = net().nodes()[i];
        const Layer& l = n.layer;
        const bool is_mean = n.kind == ResNetNode::Kind::mean;
        const std::int64_t padding =
            (is_mean ? 0 : l.padding()) - (fault == Fault::shifted ? 1 : 0);
        const float* const in = source_of(n).numbers.data();
        const float* const weights = weights_[i].data();
        std::size_t at = 0;
        for (std::int64_t image = 0; image < 2; ++image)
            for (std::int64_t row = 0; row < n.edge(); ++row)
                for (std::int64_t column = 0; column < n.edge(); ++column)
                    for (std::int64_t k = 0; k < l.outputs; ++k, ++at) {
                        const std::int64_t output = fault == Fault::swapped_outputs ? k ^ 1 : k;
                        float sum = fault == Fault::no_bias || !n.has_weights()
                                        ? 0
                                        : data_.bias(i, static_cast<std::size_t>(output));
                        float most = -INFINITY;
                        float count = 0;
                        for (std::int64_t tap = fault == Fault::lost_place ? 1 : 0;
                             tap < l.kernel * l.kernel; ++tap) {
                            const std::int64_t y = row * l.stride + tap / l.kernel - padding;
                            const std::int64_t x = column * l.stride + tap % l.kernel - padding;
                            if (y < 0 || y >= l.size || x < 0 || x >= l.size) continue;
                            const std::int64_t from =
                                fault == Fault::other_image ? 1 - image : image;
                            const auto first = static_cast<std::size_t>(
                                ((from * l.size + y) * l.size + x) * l.inputs);
                            most =
                                std::fmax(most, in[first + static_cast<std::size_t>(k) %
                                                               static_cast<std::size_t>(l.inputs)]);
                            ++count;
                            if (is_mean) sum += in[first + static_cast<std::size_t>(k)];
                            if (!n.has_weights()) continue;
                            const auto row_of =
                                static_cast<std::size_t>(output * l.terms() + tap * l.inputs);
                            const auto inputs = static_cast<std::size_t>(l.inputs);
                            const std::size_t lost =
                                fault == Fault::lost_slice ? (inputs + 3) / 4 : 0;
                            const std::size_t swap = fault == Fault::swapped_inputs ? 1 : 0;
                            for (std::size_t c = lost; c < inputs; ++c)
                                sum += in[first + (c ^ swap)] * weights[row_of + c];
                        }
                        if (is_mean) sum /= count;
                        if (n.kind == ResNetNode::Kind::max_pool) sum = most;
                        if (n.adds() && fault != Fault::no_residual)
                            sum += result_of(n.shortcut).numbers[at];
                        if (n.has_relu && fault != Fault::no_relu) sum = std::fmax(sum, 0.0F);
                        results_[i].numbers[at] = stored(sum);
                    }
    }

    std::map<std::size_t, std::vector<float>> weights_;
};

class ResNetFaults : public testing::TestWithParam<Precision> {};

TEST_P(ResNetFaults, AreNoticedInEveryStep) {
    PlainResNet net{GetParam()};
    for (int round = 0; round < 2; ++round) {
        net.poison();
        net.run();
        const Check check = net.verify();
        EXPECT_TRUE(check.passed) << check.detail;
    }
    const auto expect_noticed = [&](Fault fault, const std::string& name) {
        net.repeat(name, fault);
        const Check check = net.verify();
        EXPECT_FALSE(check.passed) << name << ", fault " << static_cast<int>(fault);
        EXPECT_EQ(check.detail.find(name), 0U) << check.detail;
        net.repeat(name, Fault::none);
    };
    for (const std::string& name : net.names()) {
        if (GetParam() == Precision::bf16) break; // takes as long again
        const bool is_pool = name == "max pool" || name == "mean";
        expect_noticed(Fault::other_image, name);
        expect_noticed(is_pool ? Fault::lost_place : Fault::lost_slice, name);
    }
    for (const char* name : {"convolution 1", "max pool", "block 2, 3x3", "block 4, 3x3"})
        expect_noticed(Fault::shifted, name);
    for (const char* name :
         {"block 1, shortcut", "block 2, reduce", "block 3, 3x3", "classifier"}) {
        expect_noticed(Fault::swapped_inputs, name);
        expect_noticed(Fault::swapped_outputs, name);
        expect_noticed(Fault::no_bias, name);
    }
    for (const char* name : {"block 1, expand", "block 4, expand"}) {
        expect_noticed(Fault::no_residual, name);
        expect_noticed(Fault::no_relu, name);
    }
    net.choose(1);
    EXPECT_NE(net.verify().detail.find("has the greatest score"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Stored, ResNetFaults, testing::Values(Precision::fp32, Precision::bf16));

TEST(ResNet, NoticesDamageInAnyStep) {
    PlainResNet net{Precision::bf16};
    net.run();
    for (int i = 0; i < 20; ++i) {
        net.spoil();
        const Check check = net.verify();
        EXPECT_FALSE(check.passed);
        net.repeat(check.detail.substr(0, check.detail.find(", element")), Fault::none);
        net.choose(0);
    }
}

} // namespace
} // namespace assay::model
