// SPDX-License-Identifier: Apache-2.0
//
// Convolutions of a network one after the other, each with its own data: what is measured and checked, whatever the
// network.

#pragma once

#include "convolution_layers.hpp"
#include "onednn.hpp"

#include <algorithm>
#include <vector>

namespace assay::workload {

inline dnnl::convolution_forward::primitive_desc describe(const Layer& layer, std::int64_t batch,
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
    const auto dims = static_cast<std::size_t>(layer.dims);
    const auto with_edges = [dims](std::int64_t a, std::int64_t b, std::int64_t edge) {
        Dimensions all{a, b};
        all.insert(all.end(), dims, edge);
        return all;
    };
    return {
        {dnnl::prop_kind::forward_inference,
         dnnl::algorithm::convolution_direct,
         {with_edges(batch, layer.inputs, layer.size), activations, Layout::any},
         {with_edges(layer.outputs, layer.inputs, layer.kernel), type_of(precision), Layout::any},
         {{layer.outputs}, Data::f32, Layout::x},
         {with_edges(batch, layer.outputs, result_size), activations, Layout::any},
         Dimensions(dims, layer.stride),
         Dimensions(dims, layer.padding()),
         Dimensions(dims, right)},
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
    float at(std::size_t number) const { return result.at(coordinates(place_of(number, layer))); }
    void spoil(Slice damage) {
        for (std::size_t i = damage.first; i < damage.last; ++i)
            result.set(coordinates(place_of(i, layer)), data.damaged(at(i)));
    }
    /// Coordinates in the result: flat images have no planes.
    std::vector<std::int64_t> coordinates(const Place& place) const {
        std::vector<std::int64_t> all{place[0], place[1]};
        all.insert(all.end(), place.end() - layer.dims, place.end());
        return all;
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

class LayersInOrder : public Layers<Convolution> {
public:
    void run() noexcept { steps_.run(); }

    Check verify() const {
        steps_.check();
        return check(is_int8_ ? ", exactly"
                              : " in fp64; 1 is four times u sqrt(products) of a typical sum, and "
                                "one rounding of the output");
    }
    Outputs outputs() const {
        Outputs all;
        for (const Convolution& c : convolutions_) all.push_back(c.result.output());
        return all;
    }
    void poison() {
        for (Convolution& c : convolutions_) c.result.poison();
        next_round();
    }

protected:
    LayersInOrder(const std::vector<Layer>& layers, bool is_whole, std::int64_t batch,
                  Precision precision, Symbolic threads, const Context& context)
        : Layers{is_whole, batch, precision}, is_int8_{precision == Precision::int8},
          threads_{host::use_threads(context.machine(), threads)}, engine_{cpu()}, steps_{engine_} {
        Kernels kernels;
        for (const Layer& layer : layers) {
            const Convolution& c = convolutions_.emplace_back(
                layer, batch, precision, convolutions_.size(), engine_, steps_.stream());
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
    static Fit fits(const std::vector<Layer>& layers, std::int64_t batch, Precision precision,
                    Symbolic threads, const Machine& m) {
        std::int64_t bytes = 0;
        std::int64_t largest = 0; // while it is filled, a tensor also exists in fp32
        for (const Layer& layer : layers) {
            const std::int64_t source = batch * layer.source_elements();
            bytes +=
                bytes_of(precision) * (source + batch * layer.result_elements() + layer.weights());
            largest = std::max({largest, source, layer.weights()});
        }
        if (Fit room = host::fits(threads, bytes + 4 * largest, m); !room) return room;
        return fits_kernels([&](Kernels& kernels) {
            for (const Layer& layer : layers)
                kernels.add(describe(layer, batch, precision, 1, cpu()).impl_info_str());
        });
    }

private:
    bool is_int8_;
    int threads_;
    dnnl::engine engine_;
    Steps steps_;
};

} // namespace assay::workload
