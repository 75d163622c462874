// SPDX-License-Identifier: Apache-2.0
//
// What a pass of images through ResNet-50 stores, step by step, and what every number must be, whatever library
// computes it. Channels lie last: image, row, column, channel.

#pragma once

#include "../workload/stages.hpp"
#include "../workload/transformer_data.hpp"
#include "resnet.hpp"

#include <assay/axes.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

namespace assay::model {

using workload::Expected;

/// Differences between libraries.
struct ResNetStorage {
    std::int64_t image_channels = model::image_channels; ///< as images are stored; zeros fill them
    Precision scores = Precision::fp32;
    double (*lost)(std::int64_t products) =
        nullptr; ///< error of sums in matrix units, in their size
};

template <class Params>
inline constexpr std::tuple image_axes{
    choice("model", "tiny has one block of each kind, and is for tests", &Params::model,
           {Name{"resnet50", ResNetSize::resnet50}, Name{"tiny", ResNetSize::tiny}},
           {ResNetSize::resnet50}),
    integer("batch", "images at a time", "", &Params::batch, {1, 8, 64, 256}, {1, 4096}),
};

/// Scores are those of the last step. `Classes` is a tensor of integers: one for each image.
template <class Tensor, class Classes = Tensor>
class ResNetStages : public workload::Stages<Tensor> {
public:
    Work work() const {
        const auto images = static_cast<double>(images_count_);
        const double operations = 2 * images * static_cast<double>(net().products());
        const double numbers =
            images * static_cast<double>(net().moved()) + static_cast<double>(net().weights());
        Work work{.bytes = numbers * static_cast<double>(bytes_of(data_.precision())),
                  .items = images};
        (data_.is_int8() ? work.operations : work.flops) = operations;
        return work;
    }
    /// The steps, and each image's class: the first of the greatest scores.
    Check verify() const {
        Check check = workload::Stages<Tensor>::verify();
        if (!check.passed) return check;
        for (std::size_t image = 0; image < static_cast<std::size_t>(images_count_); ++image) {
            std::size_t best = 0;
            for (std::size_t i = 1; i < resnet_classes; ++i)
                if (score(image, i) > score(image, best)) best = i;
            const auto chosen = static_cast<double>(classes_.element(image));
            if (chosen == static_cast<double>(best)) continue;
            return check_value(2, check.bound, check.method,
                               joined("image ", image, ": class ", chosen, " was chosen, class ",
                                      best, " has the greatest score"));
        }
        return check;
    }
    Outputs outputs() const {
        Outputs all = workload::Stages<Tensor>::outputs();
        all.push_back(classes_.output());
        return all;
    }
    void poison() {
        workload::Stages<Tensor>::poison();
        classes_.poison(); // -1
    }
    void spoil() {
        const std::uint64_t pick = spoils_.next();
        if (pick % (this->stages_.size() + 1) != 0) return workload::Stages<Tensor>::spoil();
        const std::size_t image = (pick >> 16U) % static_cast<std::size_t>(images_count_);
        classes_.change({.first = image, .last = image + 1},
                        [](float value) { return value > 0 ? 0.0F : 1.0F; });
    }

protected:
    ResNetStages(ResNetData data, std::int64_t images, const ResNetStorage& storage)
        : data_{std::move(data)}, images_count_{images}, storage_{storage} {}

    const ResNet& net() const { return data_.net(); }
    /// make(node) is a tensor for a node's results.
    template <class Make>
    void add_stages(const Make& make) {
        for (std::size_t i = 0; i < net().nodes().size(); ++i) {
            const ResNetNode& node = net().nodes()[i];
            const bool is_last = node.kind == ResNetNode::Kind::classifier;
            Tensor& results = results_.emplace_back(make(i));
            constexpr std::size_t samples = 64;
            this->stages_.push_back(
                {&results, static_cast<std::size_t>(images_count_ * node.results()), samples,
                 is_last ? storage_.scores : data_.precision(),
                 data_.is_int8() ? 1.0F : static_cast<float>(node.size),
                 [this, i](std::size_t at) { return expect(i, at); }, node.name});
        }
    }
    const Tensor& source_of(const ResNetNode& node) const {
        return node.source == ResNetNode::images ? images_ : result_of(node.source);
    }
    const Tensor& result_of(int node) const { return results_[static_cast<std::size_t>(node)]; }

    ResNetData data_;
    std::int64_t images_count_;
    Tensor images_;
    std::deque<Tensor> results_; // by node
    Classes classes_;
    ResNetStorage storage_;

private:
    /// Image, row, column and channel of a result.
    struct Place {
        std::int64_t image;
        std::int64_t row;
        std::int64_t column;
        std::int64_t channel;
    };
    static Place place_of(const ResNetNode& node, std::size_t at) {
        auto rest = static_cast<std::int64_t>(at);
        const auto next = [&rest](std::int64_t count) {
            return std::exchange(rest, rest / count) % count;
        };
        Place place{};
        place.channel = next(node.layer.outputs);
        place.column = next(node.edge());
        place.row = next(node.edge());
        place.image = rest;
        return place;
    }
    /// use(number, tap) for every number of a channel below the kernel, but not for padding.
    template <class Use>
    void each_below(const ResNetNode& node, const Place& place, const Use& use) const {
        const Layer& l = node.layer;
        const std::int64_t padding = node.kind == ResNetNode::Kind::mean ? 0 : l.padding();
        const std::int64_t channels =
            node.source == ResNetNode::images ? storage_.image_channels : l.inputs;
        for (std::int64_t tap = 0; tap < l.kernel * l.kernel; ++tap) {
            const std::int64_t row = place.row * l.stride + tap / l.kernel - padding;
            const std::int64_t column = place.column * l.stride + tap % l.kernel - padding;
            if (row < 0 || row >= l.size || column < 0 || column >= l.size) continue;
            use(static_cast<std::size_t>(((place.image * l.size + row) * l.size + column) *
                                         channels),
                tap);
        }
    }

    Expected expect(std::size_t number, std::size_t at) const {
        const ResNetNode& node = net().nodes()[number];
        const Place place = place_of(node, at);
        if (!node.has_weights()) return pooled(node, place);
        const bool is_last = node.kind == ResNetNode::Kind::classifier;
        const double added = node.adds() ? result_of(node.shortcut).element(at) : 0;
        Expected result = sum(number, place);
        result.value += added;
        result.allowed += 0x1p-23 * std::fabs(added);
        if (data_.is_int8() && !is_last) return steps(result, node.has_relu);
        if (node.has_relu) result.value = std::fmax(result.value, 0.0);
        return stored(result, is_last ? storage_.scores : data_.precision());
    }
    /// A sum of products with bias, before it is stored.
    Expected sum(std::size_t number, const Place& place) const {
        const ResNetNode& node = net().nodes()[number];
        const Tensor& in = source_of(node);
        const auto inputs = static_cast<std::size_t>(node.layer.inputs);
        const auto terms = static_cast<std::size_t>(node.layer.terms());
        std::vector<std::size_t> first(terms / inputs, outside);
        each_below(node, place, [&](std::size_t from, std::int64_t tap) {
            first[static_cast<std::size_t>(tap)] = from;
        });
        const auto input = [&](std::size_t k) {
            const std::size_t from = first[k / inputs];
            return from == outside ? 0.0F : in.element(from + k % inputs);
        };
        const auto channel = static_cast<std::size_t>(place.channel);
        const auto weight = [&](std::size_t k) {
            return data_.weight(number, channel * terms + k);
        };
        const float bias = data_.bias(number, channel);
        if (data_.is_int8())
            return workload::expect_int8_product(terms, input, weight, bias,
                                                 data_.scale(number, channel));
        return workload::expect_product(
            terms, input, weight, bias,
            storage_.lost == nullptr ? 0 : storage_.lost(node.layer.terms()));
    }
    Expected pooled(const ResNetNode& node, const Place& place) const {
        const Tensor& in = source_of(node);
        double most = -std::numeric_limits<double>::infinity();
        double sum = 0;
        double squares = 0;
        double count = 0;
        each_below(node, place, [&](std::size_t from, std::int64_t) {
            const double each = in.element(from + static_cast<std::size_t>(place.channel));
            most = std::fmax(most, each);
            sum += each;
            squares += each * each;
            ++count;
        });
        if (node.kind == ResNetNode::Kind::max_pool) return {.value = most, .allowed = nothing};
        const Expected mean{
            .value = sum / count,
            .allowed =
                workload::allowed_error(Precision::fp32, count, std::sqrt(squares), sum) / count};
        return data_.is_int8() ? steps(mean, true) : stored(mean, data_.precision());
    }
    static Expected stored(const Expected& number, Precision precision) {
        return {.value = number.value,
                .allowed = number.allowed +
                           workload::roundoff_of(precision) * std::fabs(number.value) + nothing};
    }
    /// The nearest of the steps of 8 bits, or the outermost one.
    static Expected steps(const Expected& number, bool is_unsigned) {
        const double low = is_unsigned ? 0 : -128;
        return {.value = std::clamp(number.value, low, low + 255),
                .allowed = 0.5 + number.allowed + 0x1p-23 * std::fabs(number.value)};
    }
    float score(std::size_t image, std::size_t i) const {
        return results_.back().element(image * resnet_classes + i);
    }

    static constexpr auto outside = std::numeric_limits<std::size_t>::max();
    static constexpr double nothing = 1e-30;

    Picks spoils_{61};
};

} // namespace assay::model
