// SPDX-License-Identifier: Apache-2.0
//
// The graphs that cudnn.cpp knows, and what of them is refused.

#pragma once

#include "cudnn_descriptors.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

namespace assay::device_on_cpu {

inline void check_tensor(const Descriptor& from) {
    const Tensor tensor{from};
    needs(tensor.dims.size() == tensor.strides.size() && tensor.dims.size() >= 3, "dimensions");
    for (std::size_t d = 0; d < tensor.dims.size(); ++d)
        needs(tensor.dims[d] > 0 && tensor.strides[d] > 0, "dimensions and strides are positive");
}

struct ConvolutionForward {
    explicit ConvolutionForward(const Descriptor& from)
        : x{from.other(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X)},
          w{from.other(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W)},
          y{from.other(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y)} {
        const Descriptor& how = from.other(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC);
        compute = how.get<cudnnDataType_t>(CUDNN_ATTR_CONVOLUTION_COMP_TYPE);
        mode = how.get<cudnnConvolutionMode_t>(CUDNN_ATTR_CONVOLUTION_CONV_MODE);
        before = how.all<std::int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
        after = how.all<std::int64_t>(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS);
        strides = how.all<std::int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
        dilations = how.all<std::int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS);
        edges =
            static_cast<std::size_t>(how.get<std::int64_t>(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS));
        alpha = from.get<float>(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA);
        beta = from.get<float>(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA);
    }
    void check() const {
        for (const auto* each : {&before, &after, &strides, &dilations})
            needs(each->size() == edges, "as many as edges");
        for (const auto* tensor : {&x, &w, &y})
            needs(tensor->dims.size() == edges + 2, "dimensions of a convolution");
        needs(x.dims[1] == w.dims[1] && y.dims[0] == x.dims[0] && y.dims[1] == w.dims[0],
              "channels and images", CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH);
        for (std::size_t d = 0; d < edges; ++d)
            needs(y.dims[d + 2] ==
                      (x.dims[d + 2] + before[d] + after[d] - dilations[d] * (w.dims[d + 2] - 1) -
                       1) / strides[d] +
                          1,
                  "edges", CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH);
    }

    Tensor x;
    Tensor w;
    Tensor y;
    std::size_t edges = 0;
    cudnnDataType_t compute{};
    cudnnConvolutionMode_t mode{};
    std::vector<std::int64_t> before;
    std::vector<std::int64_t> after;
    std::vector<std::int64_t> strides;
    std::vector<std::int64_t> dilations;
    float alpha = 0;
    float beta = 0;
};

inline void check_pointwise(const Descriptor& from) {
    const Tensor x{from.other(CUDNN_ATTR_OPERATION_POINTWISE_XDESC)};
    const Tensor y{from.other(CUDNN_ATTR_OPERATION_POINTWISE_YDESC)};
    needs(x.dims == y.dims, "x and y have one shape", CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH);
    const auto mode = from.other(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR)
                          .get<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE);
    const bool has_two = from.has(CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
    needs(has_two == ((mode < CUDNN_POINTWISE_ABS && mode != CUDNN_POINTWISE_SQRT) ||
                      mode == CUDNN_POINTWISE_CMP_GE || mode == CUDNN_POINTWISE_BINARY_SELECT),
          "operands");
    if (!has_two) return;
    const Tensor b{from.other(CUDNN_ATTR_OPERATION_POINTWISE_BDESC)};
    needs(b.dims.size() == y.dims.size(), "dimensions of b");
    for (std::size_t d = 0; d < b.dims.size(); ++d)
        needs(b.dims[d] == 1 || b.dims[d] == y.dims[d], "b is repeated, or as y",
              CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH);
}

struct Attention {
    explicit Attention(const Descriptor& from)
        : q{from.other(CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC)},
          k{from.other(CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC)},
          v{from.other(CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC)},
          o{from.other(CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC)} {}
    /// k_transposed, as products want it.
    Attention(Tensor q_, Tensor k_transposed, Tensor v_, Tensor o_)
        : q{std::move(q_)}, k{std::move(k_transposed)}, v{std::move(v_)}, o{std::move(o_)} {
        std::swap(k.dims[2], k.dims[3]);
        std::swap(k.strides[2], k.strides[3]);
    }
    void check() const {
        for (const auto* tensor : {&q, &k, &v, &o}) needs(tensor->dims.size() == 4, "4 dimensions");
        needs(k.dims[3] == q.dims[3], "kDim[3] != d_qk");
        needs(k.dims[0] == q.dims[0] && v.dims[0] == q.dims[0] && q.dims[1] % k.dims[1] == 0 &&
                  v.dims[1] == k.dims[1] && v.dims[2] == k.dims[2] && o.dims[0] == q.dims[0] &&
                  o.dims[1] == q.dims[1] && o.dims[2] == q.dims[2] && o.dims[3] == v.dims[3],
              "shapes of attention");
    }
    Tensor q;
    Tensor k;
    Tensor v;
    Tensor o;
    std::int64_t scale = 0;    ///< uid of the number that scores are multiplied with; 0: of none
    std::int64_t left_out = 0; ///< uid of the number in place of scores of later keys
};

/// Convolution, a residual that may be added, bias, and ReLU, which may be left out: by their order, which is that of the
/// results handed on.
struct Fused {
    explicit Fused(const std::vector<cudnnBackendDescriptor_t>& operations)
        : convolution{of(operations.at(0))}, y{convolution.y} {
        for (auto operation = operations.begin() + 1; operation != operations.end(); ++operation)
            then(of(*operation));
        is_known = is_known && bias && !y.is_virtual;
    }
    /// Graphs that the real library has ready-made kernels for.
    bool has_engines() const {
        const ConvolutionForward& c = convolution;
        if (!is_known) return false;
        const bool sums_are_fp32 =
            c.compute == CUDNN_DATA_FLOAT &&
            std::ranges::all_of(handed_on, [&](auto& sum) { return sum.type == c.compute; });
        const bool has_one_type =
            c.w.type == c.x.type && y.type == c.x.type && bias->type == c.x.type &&
            (!added || (added->type == c.x.type && added->strides == y.strides)) &&
            (c.x.type == CUDNN_DATA_FLOAT || c.x.type == CUDNN_DATA_HALF ||
             c.x.type == CUDNN_DATA_BFLOAT16);
        return sums_are_fp32 && has_one_type && c.mode == CUDNN_CROSS_CORRELATION && c.alpha == 1 &&
               c.beta == 0 && c.before == c.after &&
               c.dilations == std::vector<std::int64_t>(c.edges, 1);
    }
    ConvolutionForward convolution;
    std::optional<Tensor> added;
    std::optional<Tensor> bias;
    std::vector<Tensor> handed_on; ///< virtual
    Tensor y;
    bool has_relu = false;
    bool is_known = true;

private:
    /// A residual behind the bias would be for kernels that are compiled when they are needed.
    void then(const Descriptor& operation) {
        const auto mode = operation.other(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR)
                              .get<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE);
        const Tensor x{operation.other(CUDNN_ATTR_OPERATION_POINTWISE_XDESC)};
        is_known = is_known && y.is_virtual && x.uid == y.uid && !has_relu;
        handed_on.push_back(y);
        y = Tensor{operation.other(CUDNN_ATTR_OPERATION_POINTWISE_YDESC)};
        if (mode == CUDNN_POINTWISE_RELU_FWD) {
            has_relu = true;
            return;
        }
        is_known = is_known && mode == CUDNN_POINTWISE_ADD && !bias;
        if (!operation.has(CUDNN_ATTR_OPERATION_POINTWISE_BDESC)) return;
        const Tensor other{operation.other(CUDNN_ATTR_OPERATION_POINTWISE_BDESC)};
        const bool is_bias = other.dims[0] == 1 && other.dims[1] == y.dims[1] &&
                             std::all_of(other.dims.begin() + 2, other.dims.end(),
                                         [](auto dim) { return dim == 1; });
        is_known = is_known && (is_bias || (other.dims == y.dims && !added));
        (is_bias ? bias : added) = other;
    }
};

inline std::vector<cudnnBackendDescriptor_t> operations_of(const Descriptor& graph) {
    return graph.all<cudnnBackendDescriptor_t>(CUDNN_ATTR_OPERATIONGRAPH_OPS);
}
/// Attention by single operations, which the library knows by their order: scores, their scale, a mask that may be left
/// out, softmax with the logarithm of its sum, and the product with values. Nothing where one of them is another.
class Prompt {
public:
    explicit Prompt(const Descriptor& graph) : operations_{operations_of(graph)} {
        if (operations_.size() != 10 && operations_.size() != 14) return;
        const Descriptor& scores = next(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
        if (!good_) return;
        auto at = number(scores, CUDNN_ATTR_OPERATION_MATMUL_CDESC);
        const std::int64_t scale = operand_of(operations_[1]);
        at = pointwise(CUDNN_POINTWISE_MUL, at, scale);
        std::int64_t left_out = 0;
        if (operations_.size() == 14) {
            const auto row = pointwise(CUDNN_POINTWISE_GEN_INDEX, at, 0, 0, 2);
            const auto column = pointwise(CUDNN_POINTWISE_GEN_INDEX, at, 0, 0, 3);
            const auto is_kept = pointwise(CUDNN_POINTWISE_CMP_GE, row, column);
            left_out = operand_of(operations_[5]);
            at = pointwise(CUDNN_POINTWISE_BINARY_SELECT, at, left_out, is_kept);
        }
        const auto largest = reduce(CUDNN_REDUCE_TENSOR_MAX, at);
        const auto weights =
            pointwise(CUDNN_POINTWISE_EXP, pointwise(CUDNN_POINTWISE_SUB, at, largest));
        const auto total = reduce(CUDNN_REDUCE_TENSOR_ADD, weights);
        pointwise(CUDNN_POINTWISE_ADD, largest, pointwise(CUDNN_POINTWISE_LOG, total));
        at = pointwise(CUDNN_POINTWISE_DIV, weights, total);
        const Descriptor& result = next(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
        if (!good_ || number(result, CUDNN_ATTR_OPERATION_MATMUL_ADESC) != at) return;
        found = Attention{Tensor{scores.other(CUDNN_ATTR_OPERATION_MATMUL_ADESC)},
                          Tensor{scores.other(CUDNN_ATTR_OPERATION_MATMUL_BDESC)},
                          Tensor{result.other(CUDNN_ATTR_OPERATION_MATMUL_BDESC)},
                          Tensor{result.other(CUDNN_ATTR_OPERATION_MATMUL_CDESC)}};
        found->scale = scale;
        found->left_out = left_out;
    }
    std::optional<Attention> found;

private:
    const Descriptor& next(cudnnBackendDescriptorType_t type) {
        const Descriptor& operation = of(operations_[next_++]);
        good_ = good_ && operation.type == type;
        return operation;
    }
    static std::int64_t number(const Descriptor& operation, cudnnBackendAttributeName_t name) {
        return operation.has(name) ? Tensor{operation.other(name)}.uid : 0;
    }
    static std::int64_t operand_of(cudnnBackendDescriptor_t operation) {
        return number(of(operation), CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
    }
    /// The number of its result; operations of several numbers take the first before the others, in order.
    std::int64_t pointwise(cudnnPointwiseMode_t mode, std::int64_t x, std::int64_t b = 0,
                           std::int64_t t = 0, std::int64_t axis = -1) {
        const Descriptor& operation = next(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
        if (!good_) return 0;
        const Descriptor& how = operation.other(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
        good_ = how.get<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE) == mode &&
                number(operation, CUDNN_ATTR_OPERATION_POINTWISE_XDESC) == x &&
                number(operation, CUDNN_ATTR_OPERATION_POINTWISE_BDESC) == b &&
                number(operation, CUDNN_ATTR_OPERATION_POINTWISE_TDESC) == t &&
                (axis < 0 || how.get<std::int64_t>(CUDNN_ATTR_POINTWISE_AXIS) == axis);
        return number(operation, CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
    }
    std::int64_t reduce(cudnnReduceTensorOp_t by, std::int64_t x) {
        const Descriptor& operation = next(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
        if (!good_) return 0;
        good_ = operation.other(CUDNN_ATTR_OPERATION_REDUCTION_DESC)
                        .get<cudnnReduceTensorOp_t>(CUDNN_ATTR_REDUCTION_OPERATOR) == by &&
                number(operation, CUDNN_ATTR_OPERATION_REDUCTION_XDESC) == x;
        return number(operation, CUDNN_ATTR_OPERATION_REDUCTION_YDESC);
    }

    std::vector<cudnnBackendDescriptor_t> operations_;
    std::size_t next_ = 0;
    bool good_ = true;
};
inline std::optional<Attention> attention_of(const Descriptor& graph) {
    const auto operations = operations_of(graph);
    if (operations.size() == 1 &&
        of(operations[0]).type == CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR)
        return Attention{of(operations[0])};
    return Prompt{graph}.found;
}
inline bool is_fused(const Descriptor& graph) {
    const auto operations = operations_of(graph);
    return operations.size() > 1 &&
           of(operations[0]).type == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR &&
           std::all_of(operations.begin() + 1, operations.end(), [](auto raw) {
               return of(raw).type == CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR;
           });
}
inline std::vector<Tensor> tensors_of(const Descriptor& graph) {
    if (const auto a = attention_of(graph)) return {a->q, a->k, a->v, a->o};
    if (!is_fused(graph)) return {};
    const Fused f{operations_of(graph)};
    std::vector<Tensor> all{f.convolution.x, f.convolution.w, f.y};
    for (const auto& other : {f.bias, f.added})
        if (other) all.push_back(*other);
    all.insert(all.end(), f.handed_on.begin(), f.handed_on.end());
    return all;
}
inline void check_graph(const Descriptor& graph) {
    needs(!operations_of(graph).empty(), "no operations");
    if (const auto a = attention_of(graph)) a->check();
    std::set<std::int64_t> uids;
    for (const Tensor& tensor : tensors_of(graph))
        needs(uids.insert(tensor.uid).second, "two tensors have one number",
              CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES);
}

inline void check(const Descriptor& made) {
    for (const auto& [name, type] : attributes.at(made.type))
        needs(made.has(name) || optional.contains(name),
              "attribute " + std::to_string(name) + " is missing");
    switch (made.type) {
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
        return check_tensor(made);
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
        return ConvolutionForward{made}.check();
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
        return check_pointwise(made);
    case CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR:
        return Attention{made}.check();
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
        return check_graph(made);
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR: {
        const Descriptor& config = made.other(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
        const Engine& engine = *config.engine;
        const bool has_tile =
            engine.tiles == 0 || (config.tile >= 0 && config.tile < engine.tiles - 1);
        return needs(engine.has_plan && has_tile, "this engine cannot do it after all",
                     CUDNN_STATUS_NOT_SUPPORTED);
    }
    case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR:
        return needs(made.all<std::int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS).size() ==
                         made.all<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS).size(),
                     "as many addresses as numbers");
    default:
        return;
    }
}

} // namespace assay::device_on_cpu
