// SPDX-License-Identifier: Apache-2.0
//
// The primitives of an encoder layer, as oneDNN describes them.

#pragma once

#include "onednn.hpp"
#include "transformer_data.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace assay::workload {

/// Descriptions of the primitives. Activations lie token by token, as every framework has them; heads
/// are slices of a token's row, so they are addressed by strides and never moved. Weights are in
/// oneDNN's layout.
struct Plans {
    dnnl::matmul::primitive_desc qkv;
    dnnl::matmul::primitive_desc scores;
    dnnl::softmax_v2_forward::primitive_desc softmax;
    dnnl::matmul::primitive_desc context;
    dnnl::matmul::primitive_desc output;
    dnnl::layer_normalization_forward::primitive_desc norm;
    dnnl::matmul::primitive_desc inner;
    dnnl::matmul::primitive_desc outer;
    /// From what is stored between the stages to 8 bits; only where the products are in 8 bits.
    std::optional<dnnl::reorder::primitive_desc> input_to_int8;
    std::optional<dnnl::reorder::primitive_desc> context_to_int8;
    std::optional<dnnl::reorder::primitive_desc> middle_to_int8;

    Kernels names() const {
        Kernels kernels;
        for (const char* name :
             {qkv.impl_info_str(), scores.impl_info_str(), softmax.impl_info_str(),
              context.impl_info_str(), output.impl_info_str(), norm.impl_info_str(),
              inner.impl_info_str(), outer.impl_info_str(), norm.impl_info_str()})
            kernels.add(name);
        for (const auto* reorder : {&input_to_int8, &context_to_int8, &middle_to_int8})
            if (*reorder) kernels.add((*reorder)->impl_info_str());
        return kernels;
    }
};

class Planner {
public:
    /// Training keeps what the backward pass needs: means and variances, and what GELU was given.
    Planner(const TransformerData& data, bool training, dnnl::engine engine)
        : s_{data.shape()}, data_{data}, training_{training}, type_{type_of(data.stored())},
          engine_{std::move(engine)} {}

    Plans plans() const {
        const std::int64_t h = s_.hidden;
        Plans plans{.qkv = dense(Kind::qkv, h, 3 * h, {}),
                    .scores = scores(),
                    .softmax = softmax(),
                    .context = {{scores_desc(), heads(3 * h, false), heads(h, false)}, engine_},
                    .output = dense(Kind::output, h, h, adding()),
                    .norm = norm(),
                    .inner =
                        dense(Kind::inner, h, s_.inner(), training_ ? dnnl::post_ops{} : gelu()),
                    .outer = dense(Kind::outer, s_.inner(), h, adding())};
        if (!data_.is_int8()) return plans;
        plans.input_to_int8 = to_int8(Kind::qkv);
        plans.context_to_int8 = to_int8(Kind::output);
        plans.middle_to_int8 = to_int8(Kind::inner);
        return plans;
    }
    /// Type of the operands of a product with weights: 8 bits, or the type stored between the stages.
    dnnl::memory::desc inputs(std::int64_t width) const {
        return {{s_.tokens(), width}, data_.is_int8() ? Data::s8 : type_, Layout::ab};
    }
    dnnl::memory::desc rows(std::int64_t width) const {
        return {{s_.tokens(), width}, type_, Layout::ab};
    }
    dnnl::memory::desc scores_desc() const {
        return {{s_.batch, s_.heads(), s_.sequence, s_.sequence}, type_, Layout::abcd};
    }
    /// batch x heads x sequence x head, or with the last two swapped, in rows of `width` elements.
    dnnl::memory::desc heads(std::int64_t width, bool swapped) const {
        const std::int64_t per_sequence = s_.sequence * width;
        if (swapped)
            return {{s_.batch, s_.heads(), head_size, s_.sequence},
                    type_,
                    Dimensions{per_sequence, head_size, 1, width}};
        return {{s_.batch, s_.heads(), s_.sequence, head_size},
                type_,
                Dimensions{per_sequence, head_size, width, 1}};
    }

    dnnl::softmax_v2_forward::primitive_desc softmax() const {
        return {{pass(), dnnl::algorithm::softmax_accurate, scores_desc(), scores_desc(), 3},
                engine_};
    }
    dnnl::layer_normalization_forward::primitive_desc norm() const {
        return {{pass(), rows(s_.hidden), norm_epsilon,
                 dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift},
                engine_};
    }
    /// In training a step of its own.
    dnnl::eltwise_forward::primitive_desc apart_gelu() const {
        return {{pass(), dnnl::algorithm::eltwise_gelu_erf, rows(s_.inner())}, engine_};
    }
    dnnl::post_ops adding() const {
        dnnl::post_ops after;
        after.append_binary(dnnl::algorithm::binary_add, rows(s_.hidden));
        return after;
    }

private:
    using Kind = TransformerData::Kind;

    dnnl::prop_kind pass() const {
        return training_ ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
    }
    dnnl::matmul::primitive_desc dense(Kind kind, std::int64_t from, std::int64_t to,
                                       const dnnl::post_ops& after) const {
        dnnl::primitive_attr attributes;
        attributes.set_post_ops(after);
        if (data_.is_int8()) {
            std::vector<float> scales;
            for (std::int64_t column = 0; column < to; ++column)
                scales.push_back(data_.product_scale(kind, static_cast<std::uint64_t>(column)));
            attributes.set_output_scales(1U << 1U, scales); // one for each column
        }
        // The output of GELU is the next product's input.
        return {{inputs(from),
                 {{from, to}, inputs(from).data_type(), Layout::any},
                 {{1, to}, Data::f32, Layout::ab},
                 kind == Kind::inner ? inputs(to) : rows(to)},
                attributes,
                engine_};
    }
    dnnl::reorder::primitive_desc to_int8(Kind kind) const {
        dnnl::primitive_attr attributes;
        attributes.set_output_scales(0, {1 / data_.step(kind)});
        return {engine_, rows(s_.hidden), engine_, inputs(s_.hidden), attributes};
    }
    dnnl::matmul::primitive_desc scores() const {
        dnnl::primitive_attr attributes;
        attributes.set_output_scales(0, {score_scale});
        return {{heads(3 * s_.hidden, false), heads(3 * s_.hidden, true), scores_desc()},
                attributes,
                engine_};
    }
    dnnl::post_ops gelu() const {
        dnnl::post_ops after;
        after.append_eltwise(1, dnnl::algorithm::eltwise_gelu_erf, 0, 0);
        if (data_.is_int8())
            after.append_eltwise(1, dnnl::algorithm::eltwise_linear, 1 / data_.step(Kind::outer),
                                 0);
        return after;
    }

    TransformerShape s_;
    TransformerData data_;
    bool training_;
    Data type_;
    dnnl::engine engine_;
};

} // namespace assay::workload
