// SPDX-License-Identifier: Apache-2.0

#include "../workload/onednn.hpp"
#include "resnet_stages.hpp"

#include <assay/define.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <tuple>
#include <vector>

namespace assay::model {
namespace {

using workload::Data;
using workload::Kernels;
using workload::Layout;
using workload::Tensor;

/// The primitives of a network for a batch of images; channels lie last.
class Planner {
public:
    Planner(const ResNetData& data, std::int64_t images, const dnnl::engine& engine)
        : data_{data}, images_{images}, engine_{engine} {
        constexpr std::int64_t one_register = 8; // before AVX-512 kernels want it full
        Kernels first;
        first.add(convolution(0).impl_info_str());
        if (first.has_reference()) image_channels_ = one_register;
    }
    std::int64_t image_channels() const { return image_channels_; }

    /// The classifier is one, too, of images of one place.
    dnnl::convolution_forward::primitive_desc convolution(std::size_t number) const {
        const ResNetNode& n = data_.node(number);
        const Layer& l = n.layer;
        const std::int64_t inputs = n.source == ResNetNode::images ? image_channels_ : l.inputs;
        const std::int64_t right = (n.edge() - 1) * l.stride + l.kernel - l.size - l.padding();
        dnnl::post_ops after;
        if (n.adds()) after.append_binary(dnnl::algorithm::binary_add, results(n.shortcut));
        if (n.has_relu) after.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
        dnnl::primitive_attr attributes;
        attributes.set_post_ops(after);
        if (data_.is_int8()) {
            std::vector<float> scales(static_cast<std::size_t>(l.outputs));
            for (std::size_t i = 0; i < scales.size(); ++i) scales[i] = data_.scale(number, i);
            constexpr int by_channel = 1 << 1U;
            attributes.set_output_scales(by_channel, scales);
        }
        return {{dnnl::prop_kind::forward_inference,
                 dnnl::algorithm::convolution_direct,
                 results(n.source),
                 {{l.outputs, inputs, l.kernel, l.kernel}, type(), Layout::any},
                 {{l.outputs}, Data::f32, Layout::x},
                 results(static_cast<int>(number)),
                 {l.stride, l.stride},
                 {l.padding(), l.padding()},
                 {right, right}},
                attributes,
                engine_};
    }
    dnnl::pooling_forward::primitive_desc pool(std::size_t number) const {
        const ResNetNode& n = data_.node(number);
        const Layer& l = n.layer;
        const bool is_mean = n.kind == ResNetNode::Kind::mean;
        const std::int64_t padding = is_mean ? 0 : l.padding();
        const std::int64_t right = (n.edge() - 1) * l.stride + l.kernel - l.size - padding;
        return {
            {dnnl::prop_kind::forward_inference,
             is_mean ? dnnl::algorithm::pooling_avg_exclude_padding : dnnl::algorithm::pooling_max,
             results(n.source),
             results(static_cast<int>(number)),
             {l.stride, l.stride},
             {l.kernel, l.kernel},
             {padding, padding},
             {right, right}},
            engine_};
    }
    /// use(number, description of the primitive) of every step.
    template <class Use>
    void each(const Use& use) const {
        for (std::size_t i = 0; i < data_.net().nodes().size(); ++i) {
            if (data_.node(i).has_weights())
                use(i, convolution(i));
            else
                use(i, pool(i));
        }
    }
    /// The output of a step, or the images.
    dnnl::memory::desc results(int node) const {
        if (node == ResNetNode::images) {
            const std::int64_t edge = data_.net().image_edge();
            return {{images_, image_channels_, edge, edge},
                    data_.is_int8() ? Data::u8 : type(),
                    Layout::nhwc};
        }
        const ResNetNode& n = data_.node(static_cast<std::size_t>(node));
        const bool is_signed = n.kind == ResNetNode::Kind::convolution && !n.has_relu;
        const Data of_step = data_.is_int8() && !is_signed ? Data::u8 : type();
        return {{images_, n.layer.outputs, n.edge(), n.edge()},
                n.kind == ResNetNode::Kind::classifier ? Data::f32 : of_step,
                Layout::nhwc};
    }

private:
    Data type() const { return workload::type_of(data_.precision()); }

    const ResNetData& data_;
    std::int64_t images_;
    dnnl::engine engine_;
    std::int64_t image_channels_ = model::image_channels;
};

class ImageClassification : public ResNetStages<Tensor> {
public:
    struct Params {
        ResNetSize model = ResNetSize::resnet50;
        std::int64_t batch = 1;
        Precision precision = Precision::fp32;
        Symbolic threads = Symbol::all;
    };
    static constexpr Info info{
        .id = "model.image_classification",
        .question = "How many images per second does this machine classify with ResNet-50?",
        .method =
            "One pass of a batch through ResNet-50 v1.5, from images of 224 x 224 to 1000 scores "
            "each and the class with the greatest: 53 convolutions with fused bias, residual and "
            "ReLU, two poolings, the classifier. Batch norms are folded into weights. Weights and "
            "images are random; int8 is static: unsigned activations, signed weights, a scale for "
            "each channel. Every step is checked: a sample of its results, spread evenly, is "
            "recomputed in fp64 from what the steps before have stored, within the rounding of "
            "fp32 sums and of storing; the class exactly.",
        .caveats = "The rate of a library, in one layout: channels last. Decoding and scaling of "
                   "images are left out, and so is a server: calls follow each other. Random "
                   "weights classify nothing; their speed is that of trained ones. FLOP include "
                   "padding, as the literature counts them (8.2e9 per image). Every step has its "
                   "own memory.",
        .headline = "item_rate",
        .ceiling = "peak.dot peak.fma memory.stream",
        .noise = Noise::workload,
        .items = "images",
        .reproducible = true,
    };
    static constexpr auto axes = std::tuple_cat(
        image_axes<Params>,
        std::tuple{choice("precision", "type of weights and activations", &Params::precision,
                          {Name{"fp32", Precision::fp32}, Name{"bf16", Precision::bf16},
                           Name{"int8", Precision::int8}}),
                   threads_axis(&Params::threads, {Symbol::all})});
    static constexpr bool single_call = true; // a call is a batch of images, as a user waits for it

    static Fit fit(const Params& p, const Machine& m) {
        const ResNetData data{p.model, p.precision, false};
        const std::int64_t numbers = p.batch * data.net().activations() + data.net().weights();
        if (Fit room = host::fits(p.threads, workload::bytes_of(p.precision) * numbers, m); !room)
            return room;
        return workload::fits_kernels([&](Kernels& kernels) {
            Planner{data, p.batch, workload::cpu()}.each(
                [&](std::size_t, const auto& plan) { kernels.add(plan.impl_info_str()); });
        });
    }

    ImageClassification(const Params& p, const Context& context)
        : ResNetStages{{p.model, p.precision, false}, p.batch, {}},
          threads_{host::use_threads(context.machine(), p.threads)}, engine_{workload::cpu()},
          steps_{engine_} {
        const Planner planner{data_, p.batch, engine_};
        storage_.image_channels = planner.image_channels();
        images_ = {planner.results(ResNetNode::images), engine_};
        const auto pixel = [this](std::uint64_t i) { return data_.pixel(i); };
        const Padded<float, decltype(pixel)> stored{
            pixel, static_cast<std::uint64_t>(storage_.image_channels), model::image_channels};
        const std::size_t numbers = workload::elements_of(images_.memory().get_desc());
        on_each_slice(threads_, numbers, cache_line, [&](Slice slice) {
            for (std::size_t i = slice.first; i < slice.last; ++i)
                images_.set_element(i, stored(i));
        });
        classes_ = {{{p.batch, 1}, Data::s32, Layout::nc}, engine_};
        add_stages(
            [&](std::size_t i) { return Tensor{planner.results(static_cast<int>(i)), engine_}; });
        Kernels kernels;
        planner.each([&](std::size_t i, const auto& plan) {
            add_step(i, plan);
            kernels.add(plan.impl_info_str());
        });
        poison();
        context.setting("implementation", kernels.words());
        context.setting("threads", threads_);
    }

    void run() noexcept {
        steps_.run();
        choose();
    }
    Check verify() const {
        steps_.check();
        return ResNetStages::verify();
    }

private:
    // NOLINTNEXTLINE(bugprone-exception-escape): there is memory
    void choose() noexcept {
        const auto* scores = static_cast<const float*>(results_.back().memory().get_data_handle());
        auto* const classes = static_cast<std::int32_t*>(classes_.memory().get_data_handle());
        for (std::int64_t image = 0; image < images_count_; ++image, scores += resnet_classes)
            classes[image] = static_cast<std::int32_t>(
                std::max_element(scores, scores + resnet_classes) - scores);
    }
    void add_step(std::size_t i, const dnnl::convolution_forward::primitive_desc& plan) {
        const ResNetNode& n = data_.node(i);
        const auto weight = [this, i](std::uint64_t at) { return data_.weight(i, at); };
        const auto taps = static_cast<std::uint64_t>(n.layer.kernel * n.layer.kernel);
        const auto inputs = static_cast<std::uint64_t>(plan.weights_desc().dims()[1]);
        const Padded<float, decltype(weight)> stored{weight, inputs,
                                                     static_cast<std::uint64_t>(n.layer.inputs)};
        const Tensor& weights = constant(plan.weights_desc(), [=](std::uint64_t at) {
            const std::uint64_t output = at / taps / inputs; // input, tap
            return stored((output * taps + at % taps) * inputs + at / taps % inputs);
        });
        // oneDNN adds it to the sum of integers, before the scale.
        const Tensor& bias = constant(plan.bias_desc(), [=, this](std::size_t channel) {
            const float value = data_.bias(i, channel);
            return data_.is_int8() ? value / data_.scale(i, channel) : value;
        });
        const dnnl::convolution_forward primitive{plan};
        if (n.adds())
            steps_.add(primitive,
                       {{DNNL_ARG_SRC, source_of(n)},
                        {DNNL_ARG_WEIGHTS, weights},
                        {DNNL_ARG_BIAS, bias},
                        {DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, result_of(n.shortcut)},
                        {DNNL_ARG_DST, results_[i]}});
        else
            steps_.add(primitive, {{DNNL_ARG_SRC, source_of(n)},
                                   {DNNL_ARG_WEIGHTS, weights},
                                   {DNNL_ARG_BIAS, bias},
                                   {DNNL_ARG_DST, results_[i]}});
    }
    void add_step(std::size_t i, const dnnl::pooling_forward::primitive_desc& plan) {
        steps_.add(dnnl::pooling_forward{plan},
                   {{DNNL_ARG_SRC, source_of(data_.node(i))}, {DNNL_ARG_DST, results_[i]}});
    }
    template <class Make>
    const Tensor& constant(const dnnl::memory::desc& desc, const Make& make) {
        std::vector<float> values(workload::elements_of(desc));
        assay::detail::fill(std::span{values}, threads_, make);
        Tensor& made = constants_.emplace_back(desc, engine_);
        made.fill(values, steps_.stream());
        return made;
    }

    int threads_;
    dnnl::engine engine_;
    workload::Steps steps_;
    std::deque<Tensor> constants_; // weights and biases
};

} // namespace

extern constinit const assay_benchmark image_classification = define<ImageClassification>();

} // namespace assay::model
