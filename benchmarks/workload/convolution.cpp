// SPDX-License-Identifier: Apache-2.0

#include "convolution_data.hpp"
#include "onednn.hpp"
#include "resnet50.hpp"
#include "samples.hpp"

#include <assay/define.hpp>

#include <deque>

namespace assay::workload {
namespace {

/// Those that stand for their kind, by their place in the table, and the whole network.
enum class Which : std::int8_t {
    all = -1,
    conv1 = 0,
    res2_3x3 = 2,
    res2_expand = 3,
    res3_3x3 = 10,
    res4_expand = 14,
    res4_3x3 = 16,
    res5a_shortcut = 19,
    res5_3x3 = 22,
};

/// The layers, each as often as it occurs.
std::vector<Layer> layers_of(Which which) {
    if (which != Which::all) return {resnet50.at(static_cast<std::size_t>(which))};
    std::vector<Layer> layers;
    for (const Layer& layer : resnet50)
        layers.insert(layers.end(), static_cast<std::size_t>(layer.count), layer);
    return layers;
}

dnnl::convolution_forward::primitive_desc describe(const Layer& layer, std::int64_t batch,
                                                   Precision precision, float output_scale,
                                                   const dnnl::engine& engine) {
    const bool is_int8 = precision == Precision::int8;
    const Data activations = is_int8 ? Data::u8 : type_of(precision);
    const std::int64_t result_size = layer.output_size();
    const std::int64_t right =
        (result_size - 1) * layer.stride + layer.kernel - layer.size - layer.padding();
    dnnl::primitive_attr attributes;
    if (is_int8) attributes.set_output_scales(0, {output_scale});
    dnnl::post_ops after;
    after.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
    attributes.set_post_ops(after);
    return {{dnnl::prop_kind::forward_inference,
             dnnl::algorithm::convolution_direct,
             {{batch, layer.inputs, layer.size, layer.size}, activations, Layout::any},
             {{layer.outputs, layer.inputs, layer.kernel, layer.kernel},
              type_of(precision),
              Layout::any},
             {{layer.outputs}, Data::f32, Layout::x},
             {{batch, layer.outputs, result_size, result_size}, activations, Layout::any},
             {layer.stride, layer.stride},
             {layer.padding(), layer.padding()},
             {right, right}},
            attributes,
            engine};
}

/// One convolution with its own data.
struct Convolution {
    Convolution(const Layer& shape, std::int64_t batch, Precision precision, std::uint64_t seed,
                const dnnl::engine& engine, dnnl::stream& stream)
        : layer{shape}, data{shape, precision, seed},
          plan{describe(shape, batch, precision, data.output_scale(), engine)},
          source{plan.src_desc(), engine}, weights{plan.weights_desc(), engine},
          bias{plan.bias_desc(), engine}, result{plan.dst_desc(), engine},
          results{static_cast<std::size_t>(batch * shape.result_elements())} {
        const auto fill = [&](Tensor& tensor, std::int64_t elements, auto&& make) {
            std::vector<float> values(static_cast<std::size_t>(elements));
            assay::detail::fill(std::span{values}, 0, make);
            tensor.fill(values, stream);
        };
        fill(source, batch * layer.source_elements(), [&](auto i) { return data.source(i); });
        fill(weights, layer.weights(), [&](auto i) { return data.weight(i); });
        fill(bias, layer.outputs, [&](auto i) { return data.bias(i); });
    }
    Place place(std::size_t index) const {
        return place_of(index, layer.outputs, layer.output_size());
    }

    Layer layer;
    ConvolutionData data;
    dnnl::convolution_forward::primitive_desc plan;
    Tensor source;
    Tensor weights;
    Tensor bias;
    Tensor result;
    std::size_t results; // elements
};

class Convolutions {
public:
    struct Params {
        Which layer = Which::all;
        std::int64_t batch = 1;
        Precision precision = Precision::fp32;
        Symbolic threads = Symbol::all;
    };
    static constexpr Info info{
        .id = "workload.convolution",
        .question = "How fast does this machine run the convolutions of ResNet-50?",
        .method = "Forward convolutions with fused bias and ReLU, as in inference, on 224 x 224 "
                  "images: one layer, or all 53 in order. fp32; bf16 in and out; int8: unsigned "
                  "activations, signed weights, requantised. Each occurrence of a layer has its "
                  "own weights, input and output. A sample of the outputs of every layer, spread "
                  "evenly, is recomputed in fp64 from the random seed: exactly for int8, else "
                  "within the rounding of fp32 sums (and of bf16 outputs).",
        .caveats =
            "The rate of a library in layouts of its choice; reordering data into them is not "
            "timed. Products with zero padding are not counted (four percent of the usual 4.1e9 "
            "per image). Layers are independent: residual additions, pooling and the classifier "
            "are left out, and inputs are colder than in the network. No Winograd.",
        .headline = "flop_rate",
        .ceiling = "peak.fma peak.dot",
        .noise = Noise::workload,
        .items = "images",
        .reproducible = true,
    };
    static constexpr std::tuple axes{
        choice("layer", "a layer of ResNet-50, or all 53", &Params::layer,
               {Name{"all", Which::all}, Name{"conv1", Which::conv1},
                Name{"res2_3x3", Which::res2_3x3}, Name{"res2_expand", Which::res2_expand},
                Name{"res3_3x3", Which::res3_3x3}, Name{"res4_expand", Which::res4_expand},
                Name{"res4_3x3", Which::res4_3x3}, Name{"res5a_shortcut", Which::res5a_shortcut},
                Name{"res5_3x3", Which::res5_3x3}},
               {Which::all}),
        integer("batch", "images at a time", "", &Params::batch, {1, 16}, {1, 4096}),
        choice("precision", "type of inputs and outputs", &Params::precision,
               {Name{"fp32", Precision::fp32}, Name{"bf16", Precision::bf16},
                Name{"int8", Precision::int8}}),
        threads_axis(&Params::threads, {Symbol::all}),
    };
    static constexpr bool single_call = true; // a call is a batch of images, as a user waits for it

    static Fit fit(const Params& p, const Machine& m) {
        std::int64_t bytes = 0;
        std::int64_t largest = 0; // while it is filled, a tensor also exists in fp32
        const auto layers = layers_of(p.layer);
        for (const Layer& layer : layers) {
            const std::int64_t source = p.batch * layer.source_elements();
            bytes += bytes_of(p.precision) *
                     (source + p.batch * layer.result_elements() + layer.weights());
            largest = std::max({largest, source, layer.weights()});
        }
        if (Fit room = host::fits(p.threads, bytes + 4 * largest, m); !room) return room;
        return fits_kernels([&](Kernels& kernels) {
            for (const Layer& layer : layers)
                kernels.add(describe(layer, p.batch, p.precision, 1, cpu()).impl_info_str());
        });
    }

    Convolutions(const Params& p, const Context& context)
        : params_{p}, threads_{host::use_threads(context.machine(), p.threads)}, engine_{cpu()},
          steps_{engine_} {
        Kernels kernels;
        for (const Layer& layer : layers_of(p.layer)) {
            const Convolution& c = convolutions_.emplace_back(
                layer, p.batch, p.precision, convolutions_.size(), engine_, steps_.stream());
            steps_.add(dnnl::convolution_forward{c.plan}, {{DNNL_ARG_SRC, c.source},
                                                           {DNNL_ARG_WEIGHTS, c.weights},
                                                           {DNNL_ARG_BIAS, c.bias},
                                                           {DNNL_ARG_DST, c.result}});
            kernels.add(c.plan.impl_info_str());
        }
        poison();
        context.setting("implementation", kernels.words());
        context.setting("threads", threads_);
        context.setting("layers", convolutions_.size());
    }

    void run() noexcept { steps_.run(); }

    Work work() const {
        std::int64_t products = 0;
        for (const Convolution& c : convolutions_) products += c.layer.products();
        const double operations = 2 * static_cast<double>(products * params_.batch);
        Work work;
        (params_.precision == Precision::int8 ? work.operations : work.flops) = operations;
        // A rate of images is one of the whole network, or it misleads.
        if (params_.layer == Which::all) work.items = static_cast<double>(params_.batch);
        return work;
    }

    Check verify() const {
        steps_.check();
        const std::size_t each = samples_of(0).size();
        return check_each(
            each * convolutions_.size(),
            [&](std::size_t i) {
                const Convolution& c = convolutions_[i / each];
                const Place place = c.place(samples_of(i / each)[i % each]);
                return c.data.error(place, c.result.at(place));
            },
            convolutions_.front().data.bound(),
            params_.precision == Precision::int8
                ? joined(each, " outputs of every layer recomputed, exactly")
                : joined(each, " outputs of every layer recomputed in fp64; 1 is four times u "
                               "sqrt(products) of a typical sum, and one rounding of the output"));
    }
    Outputs outputs() const {
        Outputs all;
        for (const Convolution& c : convolutions_) all.push_back(c.result.output());
        return all;
    }
    void poison() {
        for (Convolution& c : convolutions_) c.result.poison();
        ++round_;
    }
    /// As many outputs in a row as surely hold a sample, by the smallest error that matters.
    void spoil() {
        const std::uint64_t pick = spoils_.next();
        const std::size_t which = pick % convolutions_.size();
        Convolution& c = convolutions_[which];
        const Slice damage = samples_of(which).damage(pick >> 16U);
        for (std::size_t i = damage.first; i < damage.last; ++i)
            c.result.set(c.place(i), c.data.damaged(c.result.at(c.place(i))));
    }

private:
    /// The smallest layer has 25,088 outputs, so there are as many samples of each.
    Samples samples_of(std::size_t which) const {
        constexpr std::size_t of_one = 256;
        constexpr std::size_t of_many = 64;
        return {convolutions_[which].results, convolutions_.size() == 1 ? of_one : of_many, round_};
    }

    Params params_;
    int threads_;
    dnnl::engine engine_;
    Steps steps_;
    std::deque<Convolution> convolutions_; // stay where they are
    std::uint64_t round_ = 0;              // of samples
    Picks spoils_{41};
};

} // namespace

extern constinit const assay_benchmark convolution = define<Convolutions>();

} // namespace assay::workload
