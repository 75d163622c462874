// SPDX-License-Identifier: Apache-2.0
//
// ResNet-50 for images of 224 x 224 (He, Zhang, Ren, Sun 2016; v1.5: the 3 x 3 convolution of a stage's first block
// has the stride of two), batch norms folded into weights and biases, and random numbers for it.

#pragma once

#include "../workload/layer.hpp"
#include "../workload/precision.hpp"

#include <assay/random.hpp>
#include <assay/text.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace assay::model {

using workload::Layer;
using workload::Numbers;
using workload::Precision;

/// tiny has one block per stage, a quarter of the channels, and images of 64 x 64: for tests.
enum class ResNetSize : std::uint8_t { resnet50, tiny };

inline constexpr std::int64_t resnet_classes = 1000;
inline constexpr std::int64_t image_channels = 3;

/// A step of the network. Its results are the input of others.
struct ResNetNode {
    enum class Kind : std::uint8_t { convolution, max_pool, mean, classifier };
    static constexpr int images = -1; ///< as source
    static constexpr int none = -1;   ///< as shortcut

    std::string name; ///< "block 3, 3x3"
    Kind kind = Kind::convolution;
    Layer layer{};
    int source = images; ///< the node whose results it takes
    int shortcut = none; ///< the node whose results are added before ReLU
    bool has_relu = true;
    double gain = 2;  ///< variance of its weights, times the terms of a sum
    double size = 1;  ///< root mean square of its results, about
    double unit = 45; ///< steps of 8 bits that are one, in int8

    bool adds() const { return shortcut != none; }
    bool has_weights() const { return kind == Kind::convolution || kind == Kind::classifier; }
    std::int64_t edge() const { return kind == Kind::mean ? 1 : layer.output_size(); }
    /// Numbers for one image.
    std::int64_t results() const { return layer.outputs * edge() * edge(); }
};

/// The network in the order of execution. ReLU halves the mean square of symmetric numbers; the gains make up for it,
/// so that numbers stay near one. A block's last convolution has half the variance of its input, so that the residual
/// dominates; the first block of a stage starts at one again.
class ResNet {
public:
    explicit ResNet(ResNetSize which) {
        const bool is_whole = which == ResNetSize::resnet50;
        const std::array<int, 4> blocks =
            is_whole ? std::array{3, 4, 6, 3} : std::array{1, 1, 1, 1};
        std::int64_t width = is_whole ? 64 : 16;
        constexpr double growth_by_pool = 1.9; // largest of nine
        convolve("convolution 1", ResNetNode::images,
                 {"conv1", 1, image_channels, width, is_whole ? 224 : 64, 7, 2});
        int last = add({.name = "max pool",
                        .kind = ResNetNode::Kind::max_pool,
                        .layer = {"max_pool", 1, width, width, nodes_.back().edge(), 3, 2},
                        .source = 0,
                        .size = growth_by_pool});
        for (const int count : blocks) {
            for (int block = 0; block < count; ++block)
                last = add_block(last, width, block == 0, last > 1 && block == 0 ? 2 : 1);
            width *= 2;
        }
        const ResNetNode& features = nodes_.back();
        const std::int64_t channels = features.layer.outputs;
        constexpr double of_mean = 0.9; // places resemble each other
        const double size = of_mean * features.size;
        last = add({.name = "mean",
                    .kind = ResNetNode::Kind::mean,
                    .layer = {"mean", 1, channels, channels, features.edge(), features.edge(), 1},
                    .source = last,
                    .size = size,
                    .unit = unit_of_block});
        add({.name = "classifier",
             .kind = ResNetNode::Kind::classifier,
             .layer = {"classifier", 1, channels, resnet_classes, 1, 1, 1},
             .source = last,
             .has_relu = false,
             .gain = 1 / (size * size),
             .unit = 1}); // not in steps
    }

    const std::vector<ResNetNode>& nodes() const { return nodes_; }
    std::int64_t image_edge() const { return nodes_.front().layer.size; }
    /// Multiplications for one image, those with padding included, as the literature counts them: 4.09e9.
    std::int64_t products() const {
        return sum(
            [](const ResNetNode& n) { return n.has_weights() ? n.layer.nominal_products() : 0; });
    }
    std::int64_t weights() const {
        return sum([](const ResNetNode& n) { return n.has_weights() ? n.layer.weights() : 0; });
    }
    /// Numbers of one image that are stored, the image included.
    std::int64_t activations() const {
        return nodes_.front().layer.source_elements() +
               sum([](const ResNetNode& n) { return n.results(); });
    }
    /// Numbers of one image that steps read and write.
    std::int64_t moved() const {
        return sum([](const ResNetNode& n) {
            const std::int64_t added = n.adds() ? n.results() : 0;
            return n.layer.source_elements() + added + n.results();
        });
    }

private:
    template <class Count>
    std::int64_t sum(const Count& count) const {
        return std::accumulate(
            nodes_.begin(), nodes_.end(), std::int64_t{0},
            [&](std::int64_t total, const ResNetNode& node) { return total + count(node); });
    }
    int add(ResNetNode node) {
        nodes_.push_back(std::move(node));
        return static_cast<int>(nodes_.size()) - 1;
    }
    /// With ReLU, results of size one.
    int convolve(std::string name, int source, const Layer& layer) {
        const double size = source < 0 ? 1 : nodes_[static_cast<std::size_t>(source)].size;
        return add(
            {.name = std::move(name), .layer = layer, .source = source, .gain = 2 / (size * size)});
    }
    int add_block(int input, std::int64_t width, bool is_first, std::int64_t stride) {
        const ResNetNode& from = nodes_[static_cast<std::size_t>(input)];
        const std::int64_t channels = from.layer.outputs;
        const std::int64_t edge = from.edge();
        const double size = from.size;
        const std::string block = joined("block ", ++blocks_, ", ");
        int shortcut = input;
        if (is_first) // three quarters of the variance; the rest is the branch's
            shortcut = add({.name = block + "shortcut",
                            .layer = {"shortcut", 1, channels, 4 * width, edge, 1, stride},
                            .source = input,
                            .has_relu = false,
                            .gain = 1.5 / (size * size),
                            .size = std::sqrt(1.5),
                            .unit = unit_of_block});
        const int reduced =
            convolve(block + "reduce", input, {"reduce", 1, channels, width, edge, 1, 1});
        const int middle =
            convolve(block + "3x3", reduced, {"3x3", 1, width, width, edge, 3, stride});
        constexpr double growth = 1.17; // of a number that is positive already
        return add({.name = block + "expand",
                    .layer = {"expand", 1, width, 4 * width, edge / stride, 1, 1},
                    .source = middle,
                    .shortcut = shortcut,
                    .gain = is_first ? 0.5 : 0.5 * size * size,
                    .size = is_first ? 1 : growth * size,
                    .unit = unit_of_block});
    }
    static constexpr double unit_of_block = 20; // results grow in a stage to twice its first

    std::vector<ResNetNode> nodes_;
    int blocks_ = 0;
};

/// Numbers of images of variance 1, counted as image, row, column, channel: noise on a colour of each, since features of
/// noise alone would be alike.
struct Pixels {
    static constexpr std::uint64_t seed = 900;
    std::uint64_t of_image;

    ASSAY_HOST_DEVICE std::uint64_t color(std::uint64_t i) const {
        constexpr auto channels = static_cast<std::uint64_t>(image_channels);
        return i / of_image * channels + i % channels;
    }
    ASSAY_HOST_DEVICE float operator()(std::uint64_t i) const {
        constexpr float most = 1.2247449F; // sqrt(3/2): half of the variance
        return random_uniform<float>(seed, i, -most, most) +
               random_uniform<float>(seed + 1, color(i), -most, most);
    }
};

/// Numbers of rows of `stored` channels, the first `channels` of which make() knows; the others are zero.
template <class T, class Make>
struct Padded {
    Make make;
    std::uint64_t stored;
    std::uint64_t channels;

    ASSAY_HOST_DEVICE T operator()(std::uint64_t i) const {
        const std::uint64_t channel = i % stored;
        return static_cast<T>(channel < channels ? make(i / stored * channels + channel) : 0.0F);
    }
};

/// Numbers of the network. In int8 they are integers: a stored number counts steps, `unit` of which are one, and each
/// channel's sums have a scale. Weights stay below 64: instructions before VNNI add pairs of products in 16 bits.
class ResNetData {
public:
    /// `has_narrow_bias`: the bias is of the type of the data, as on devices.
    ResNetData(ResNetSize size, Precision precision, bool has_narrow_bias)
        : net_{size}, precision_{precision}, has_narrow_bias_{has_narrow_bias} {}

    const ResNet& net() const { return net_; }
    const ResNetNode& node(std::size_t node) const { return net_.nodes()[node]; }
    Precision precision() const { return precision_; }
    bool is_int8() const { return precision_ == Precision::int8; }

    /// Number i of the images; int8: unsigned.
    float pixel(std::uint64_t i) const {
        const Pixels pixels = this->pixels();
        if (!is_int8()) return pixels(i);
        return random_integer<float>(Pixels::seed, i, 0, 127) +
               random_integer<float>(Pixels::seed + 1, pixels.color(i), 0, 128);
    }
    Pixels pixels() const {
        return {static_cast<std::uint64_t>(net_.nodes().front().layer.source_elements())};
    }
    /// Number i of the weights: output, row, column, input.
    float weight(std::size_t node, std::uint64_t i) const {
        return is_int8() ? random_integer<float>(seed_of(node), i, -most_int8, most_int8)
                         : value(weights(node), i);
    }
    /// Added to the sum; in int8, in steps.
    float bias(std::size_t node, std::uint64_t channel) const {
        const Numbers of = biases(node);
        if (has_narrow_bias_) return value(of, channel);
        const auto unit = is_int8() ? static_cast<float>(this->node(node).unit) : 1.0F;
        return unit * random_uniform<float>(of.seed, channel, of.low, of.high);
    }
    // Before rounding, for kernels that make them on a device.
    Numbers weights(std::size_t node) const {
        const auto most = root3 * static_cast<float>(deviation(node));
        return {seed_of(node), -most, most};
    }
    static Numbers biases(std::size_t node) { return {seed_of(node) + 1, -0.1F, 0.1F}; }

    /// Factor of a channel's sum of integers. Neighbours differ, so that a missing or misplaced scale is noticed.
    float scale(std::size_t node, std::uint64_t channel) const {
        const ResNetNode& n = this->node(node);
        const double from = n.source == ResNetNode::images
                                ? 255 / std::numbers::sqrt3
                                : this->node(static_cast<std::size_t>(n.source)).unit;
        const double of_one = most_int8 / std::numbers::sqrt3; // the deviation of the integers
        const auto each = random_uniform<float>(seed_of(node) + 2, channel, 0.75F, 1.25F);
        return each * static_cast<float>(n.unit / from * deviation(node) / of_one);
    }

private:
    static constexpr float root3 = std::numbers::sqrt3_v<float>; // a uniform number of variance 1
    static constexpr int most_int8 = 63;
    static std::uint64_t seed_of(std::size_t node) { return 1000 + 4 * node; }
    /// The standard deviation of the weights.
    double deviation(std::size_t node) const {
        const ResNetNode& n = this->node(node);
        return std::sqrt(n.gain / static_cast<double>(n.layer.terms()));
    }
    float value(const Numbers& of, std::uint64_t i) const {
        return workload::random_value(precision_, of.seed, i, of.low, of.high);
    }

    ResNet net_;
    Precision precision_;
    bool has_narrow_bias_;
};

} // namespace assay::model
