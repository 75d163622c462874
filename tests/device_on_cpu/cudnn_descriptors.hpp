// SPDX-License-Identifier: Apache-2.0
//
// Descriptors of cuDNN's graph interface as cudnn.cpp keeps them: attributes by their name, which are refused where the
// real library (9.19) refuses them.

#pragma once

#include <cudnn_graph.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace assay::device_on_cpu {

/// Why a call is refused.
struct Refused {
    cudnnStatus_t status;
    std::string why;
};
inline void needs(bool holds, const std::string& why,
                  cudnnStatus_t status = CUDNN_STATUS_BAD_PARAM) {
    if (!holds) throw Refused{status, why};
}

struct Engine {
    std::int64_t index;
    std::vector<cudnnBackendNumericalNote_t> notes;
    std::int64_t workspace; ///< bytes
    bool has_plan; ///< false: offered, and refused when a plan is made of it, as it happens
    bool runs;     ///< false: refused when it is executed
    std::int64_t tiles =
        0; ///< values of its only setting, TILE_SIZE; the last one is refused when a plan is made
};

struct Descriptor {
    struct Value {
        cudnnBackendAttributeType_t type;
        std::int64_t count;
        std::vector<std::byte> bytes;
    };
    cudnnBackendDescriptorType_t type;
    bool is_final = false;
    std::map<cudnnBackendAttributeName_t, Value> values;
    // For engines and their configurations.
    const Descriptor* graph = nullptr;
    const Engine* engine = nullptr;
    std::int64_t tile = 0;

    bool has(cudnnBackendAttributeName_t name) const { return values.contains(name); }
    template <class T>
    std::vector<T> all(cudnnBackendAttributeName_t name) const {
        const auto found = values.find(name);
        needs(found != values.end(), "attribute " + std::to_string(name) + " is missing");
        std::vector<T> result(static_cast<std::size_t>(found->second.count));
        needs(result.size() * sizeof(T) == found->second.bytes.size(), "an attribute's size");
        if (!result.empty())
            std::memcpy(result.data(), found->second.bytes.data(), found->second.bytes.size());
        return result;
    }
    template <class T>
    T get(cudnnBackendAttributeName_t name) const {
        const auto values_of = all<T>(name);
        needs(values_of.size() == 1, "an attribute is one value");
        return values_of.front();
    }
    const Descriptor& other(cudnnBackendAttributeName_t name) const {
        return *static_cast<const Descriptor*>(get<cudnnBackendDescriptor_t>(name));
    }
};

inline Descriptor& of(cudnnBackendDescriptor_t raw) {
    needs(raw != nullptr, "no descriptor", CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
    return *static_cast<Descriptor*>(raw);
}

/// A tensor's numbers.
struct Tensor {
    explicit Tensor(const Descriptor& from)
        : uid{from.get<std::int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID)},
          type{from.get<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE)},
          dims{from.all<std::int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS)},
          strides{from.all<std::int64_t>(CUDNN_ATTR_TENSOR_STRIDES)},
          alignment{from.get<std::int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT)},
          is_virtual{from.has(CUDNN_ATTR_TENSOR_IS_VIRTUAL) &&
                     from.get<char>(CUDNN_ATTR_TENSOR_IS_VIRTUAL) != 0} {}
    /// Elements from the first to behind the last.
    std::size_t span() const {
        std::int64_t last = 0;
        for (std::size_t d = 0; d < dims.size(); ++d) last += (dims[d] - 1) * strides[d];
        return static_cast<std::size_t>(last + 1);
    }

    std::int64_t uid;
    cudnnDataType_t type;
    std::vector<std::int64_t> dims;
    std::vector<std::int64_t> strides;
    std::int64_t alignment;
    bool is_virtual;
};

using Attributes = std::map<cudnnBackendAttributeName_t, cudnnBackendAttributeType_t>;

/// Attributes of each kind of descriptor; it must have all that are not optional.
inline const std::map<cudnnBackendDescriptorType_t, Attributes> attributes{
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR,
     {{CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64},
      {CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE},
      {CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64},
      {CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64},
      {CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64},
      {CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN},
      {CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN}}},
    {CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR,
     {{CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64},
      {CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE},
      {CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE},
      {CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64},
      {CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64},
      {CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64},
      {CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64}}},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
     {{CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_TYPE_BACKEND_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, CUDNN_TYPE_BACKEND_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, CUDNN_TYPE_BACKEND_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT}}},
    {CUDNN_BACKEND_POINTWISE_DESCRIPTOR,
     {{CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE},
      {CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64},
      {CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE}}},
    {CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR,
     {{CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, CUDNN_TYPE_BACKEND_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_POINTWISE_XDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_POINTWISE_YDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_POINTWISE_BDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_POINTWISE_TDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR}}},
    {CUDNN_BACKEND_MATMUL_DESCRIPTOR, {{CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE}}},
    {CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR,
     {{CUDNN_ATTR_OPERATION_MATMUL_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_MATMUL_ADESC, CUDNN_TYPE_BACKEND_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_MATMUL_BDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_MATMUL_CDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR}}},
    {CUDNN_BACKEND_REDUCTION_DESCRIPTOR,
     {{CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE},
      {CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE}}},
    {CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR,
     {{CUDNN_ATTR_OPERATION_REDUCTION_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_REDUCTION_XDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_REDUCTION_YDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR}}},
    {CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR,
     {{CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC, CUDNN_TYPE_BACKEND_DESCRIPTOR}}},
    {CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR,
     {{CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR},
      {CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE}}},
    {CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR,
     {{CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR},
      {CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE},
      {CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, CUDNN_TYPE_BACKEND_DESCRIPTOR}}},
    {CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR,
     {{CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR}}},
    {CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR,
     {{CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE},
      {CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64}}},
    {CUDNN_BACKEND_KNOB_INFO_DESCRIPTOR, {}},
    {CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
     {{CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR},
      {CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR}}},
    {CUDNN_BACKEND_ENGINE_DESCRIPTOR,
     {{CUDNN_ATTR_ENGINE_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR},
      {CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64},
      {CUDNN_ATTR_ENGINE_DEVICEPROP, CUDNN_TYPE_BACKEND_DESCRIPTOR}}},
    {CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR,
     {{CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR},
      {CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE},
      {CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, CUDNN_TYPE_BACKEND_DESCRIPTOR}}},
    {CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR,
     {{CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64},
      {CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR},
      {CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR}}},
};
// A handle, or a device that is only described.
inline const std::set<cudnnBackendAttributeName_t> optional{CUDNN_ATTR_TENSOR_IS_VIRTUAL,
                                                            CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
                                                            CUDNN_ATTR_TENSOR_IS_BY_VALUE,
                                                            CUDNN_ATTR_OPERATION_POINTWISE_TDESC,
                                                            CUDNN_ATTR_POINTWISE_AXIS,
                                                            CUDNN_ATTR_OPERATIONGRAPH_HANDLE,
                                                            CUDNN_ATTR_ENGINEHEUR_DEVICEPROP,
                                                            CUDNN_ATTR_EXECUTION_PLAN_HANDLE,
                                                            CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP,
                                                            CUDNN_ATTR_ENGINE_DEVICEPROP,
                                                            CUDNN_ATTR_ENGINECFG_KNOB_CHOICES};

inline std::size_t size_of(cudnnBackendAttributeType_t type) {
    switch (type) {
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR:
        return 8;
    case CUDNN_TYPE_BOOLEAN:
    case CUDNN_TYPE_CHAR:
        return 1;
    default:
        return 4; // enumerations and floats
    }
}

} // namespace assay::device_on_cpu
