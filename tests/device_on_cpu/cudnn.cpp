// SPDX-License-Identifier: Apache-2.0
//
// cuDNN's graph interface on the memory of a device on the CPU: convolution with bias, residual and ReLU by oneDNN,
// attention by plain loops. Graphs are looked at as the real library (9.19) looks at them: what it refuses, or offers no engine for,
// is refused here; cudnn_graph_test.cpp asks both. Some engines do not work, as it happens, and those with a note
// compute what it says: tf32 in matrix units, wrong sums by Winograd. ASSAY_CPU_FAULT: cudnn leaves out the last
// channel, or the last key; cudnn_residual leaves out what is added, cudnn_slice the first 16 channels of many.

#include "cudnn_graphs.hpp"
#include "fault.hpp"
#include "gemm/bfloat16.hpp"
#include "runtime.hpp"

#include <cuda_fp16.h>
#include <dnnl.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <tuple>

struct cudnnContext {
    cudaStream_t stream = nullptr;
};

using namespace assay::device_on_cpu;

namespace {

thread_local std::string last_error; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

template <class Work>
cudnnStatus_t guarded(const Work& work) {
    try {
        work();
        return CUDNN_STATUS_SUCCESS;
    } catch (const Refused& refused) {
        last_error = refused.why;
        return refused.status;
    } catch (const std::exception& e) {
        last_error = e.what();
        return CUDNN_STATUS_INTERNAL_ERROR;
    }
}
// --- engines --------------------------------------------------------------------------------------------

const std::array engines_of_convolutions{
    Engine{3, {CUDNN_NUMERICAL_NOTE_TENSOR_CORE, CUDNN_NUMERICAL_NOTE_WINOGRAD}, 0, true, true},
    Engine{41, {CUDNN_NUMERICAL_NOTE_TENSOR_CORE}, 0, false, true},
    Engine{51, {CUDNN_NUMERICAL_NOTE_TENSOR_CORE}, 131, true, false},
    Engine{10, {CUDNN_NUMERICAL_NOTE_TENSOR_CORE}, 131, true, true, 3},
    Engine{26, {CUDNN_NUMERICAL_NOTE_TENSOR_CORE}, 4096, true, true},
    Engine{44, {}, 64, true, true},
};
/// By their numbers alone.
const std::array engines_not_listed{
    Engine{23, {CUDNN_NUMERICAL_NOTE_TENSOR_CORE}, 64, true, true},
    Engine{29,
           {CUDNN_NUMERICAL_NOTE_TENSOR_CORE, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC},
           0,
           true,
           true}};
constexpr std::int64_t numbers_of_engines = 61;
const std::array engines_of_fallback{
    Engine{11, {}, 0, true, true},
    Engine{0, {CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP}, 0, true, true}};
const std::array engines_of_attention{
    Engine{9, {CUDNN_NUMERICAL_NOTE_TENSOR_CORE}, 0, false, true},
    Engine{8, {CUDNN_NUMERICAL_NOTE_TENSOR_CORE}, 256, true, true},
};

std::vector<const Engine*> engines_for(const Descriptor& graph, cudnnBackendHeurMode_t mode) {
    const auto all = [](const auto& engines) {
        std::vector<const Engine*> list;
        list.reserve(engines.size());
        for (const Engine& engine : engines) list.push_back(&engine);
        return list;
    };
    const bool falls_back = mode == CUDNN_HEUR_MODE_FALLBACK;
    if (const auto found = attention_of(graph)) {
        const Attention& a = *found;
        const bool is_narrow = a.q.type == CUDNN_DATA_HALF || a.q.type == CUDNN_DATA_BFLOAT16;
        const bool fits = is_narrow && a.k.type == a.q.type && a.v.type == a.q.type &&
                          a.o.type == a.q.type && a.q.strides[3] == 1 && a.k.strides[3] == 1;
        return fits && !falls_back ? all(engines_of_attention) : std::vector<const Engine*>{};
    }
    if (!is_fused(graph)) return {};
    const Fused fused{operations_of(graph)};
    if (!fused.has_engines()) return {};
    if (falls_back) return all(engines_of_fallback);
    auto engines = all(engines_of_convolutions);
    if (fused.convolution.edges == 3) engines.pop_back(); // so that fp32 has to fall back
    return engines;
}

/// Finishes an engine by its number, or a configuration of one.
void complete(Descriptor& made) {
    if (made.type == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR) {
        const Descriptor& engine = made.other(CUDNN_ATTR_ENGINECFG_ENGINE);
        made.engine = engine.engine;
        made.graph = engine.graph;
        if (!made.has(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES)) return;
        for (auto* raw : made.all<cudnnBackendDescriptor_t>(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES)) {
            needs(made.engine->tiles > 0 &&
                      of(raw).get<cudnnBackendKnobType_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE) ==
                          CUDNN_KNOB_TYPE_TILE_SIZE,
                  "a setting that the engine has not", CUDNN_STATUS_NOT_SUPPORTED);
            made.tile = of(raw).get<std::int64_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE);
        }
    }
    if (made.type != CUDNN_BACKEND_ENGINE_DESCRIPTOR) return;
    const auto index = made.get<std::int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
    made.graph = &made.other(CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
    std::vector<const Engine*> all = engines_for(*made.graph, CUDNN_HEUR_MODE_A);
    const auto more = engines_for(*made.graph, CUDNN_HEUR_MODE_FALLBACK);
    all.insert(all.end(), more.begin(), more.end());
    if (!all.empty() && !attention_of(*made.graph))
        for (const Engine& engine : engines_not_listed) all.push_back(&engine);
    const auto found = std::ranges::find(all, index, &Engine::index);
    needs(found != all.end(), "no engine of this number", CUDNN_STATUS_NOT_SUPPORTED);
    made.engine = *found;
}

// --- what is computed -----------------------------------------------------------------------------------

float widen(const void* data, cudnnDataType_t type, std::size_t i) {
    if (type == CUDNN_DATA_HALF) return __half2float(static_cast<const __half*>(data)[i]);
    if (type == CUDNN_DATA_BFLOAT16)
        return assay::gemm::Bfloat16{static_cast<const std::uint16_t*>(data)[i]};
    return static_cast<const float*>(data)[i];
}
void narrow(float value, void* data, cudnnDataType_t type, std::size_t i) {
    if (type == CUDNN_DATA_HALF)
        static_cast<__half*>(data)[i] = __float2half(value);
    else if (type == CUDNN_DATA_BFLOAT16)
        static_cast<std::uint16_t*>(data)[i] = assay::gemm::to_bfloat16(value).bits;
    else
        static_cast<float*>(data)[i] = value;
}
std::vector<float> widened(const void* data, const Tensor& tensor) {
    std::vector<float> values(tensor.span());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = widen(data, tensor.type, i);
    return values;
}

using Data = std::map<std::int64_t, void*>; // by uid

dnnl::memory memory_of(const Tensor& tensor, std::vector<float>& values,
                       const dnnl::engine& engine) {
    return {{tensor.dims, dnnl::memory::data_type::f32, tensor.strides}, engine, values.data()};
}

void convolve(const Fused& f, const Engine& by, const Data& data) {
    static const dnnl::engine engine{dnnl::engine::kind::cpu, 0};
    const ConvolutionForward& c = f.convolution;
    const auto& [x, w] = std::tie(c.x, c.w);
    auto source = widened(data.at(x.uid), x);
    auto weights = widened(data.at(w.uid), w);
    auto bias = widened(data.at(f.bias->uid), *f.bias);
    std::vector<float> result(f.y.span());
    const auto has = [&](auto note) { return std::ranges::find(by.notes, note) != by.notes.end(); };
    if (has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE)) // in fp32 it would be tf32
        for (auto* values : {&source, &weights})
            for (float& value : *values) value = assay::gemm::round_to_bits(value, 11);
    if (has(CUDNN_NUMERICAL_NOTE_WINOGRAD))
        for (float& value : source) value *= 1.01F; // far too much, so that it is seen who uses it
    if (has_fault("cudnn"))
        for (std::size_t i = 0; i < weights.size(); ++i)
            if (static_cast<std::int64_t>(i) / w.strides[1] % w.dims[1] == w.dims[1] - 1)
                weights[i] = 0;
    if (has_fault("cudnn_slice") && w.dims[1] > 64)
        for (std::size_t i = 0; i < weights.size(); ++i)
            if (static_cast<std::int64_t>(i) / w.strides[1] % w.dims[1] < 16) weights[i] = 0;
    using Descriptions = dnnl::memory::desc;
    constexpr auto f32 = dnnl::memory::data_type::f32;
    constexpr auto any = dnnl::memory::format_tag::any;
    // Padding behind is what the result needs: oneDNN counts no part of a stride.
    auto behind = c.after;
    for (std::size_t d = 0; d < c.edges; ++d)
        behind[d] =
            (f.y.dims[d + 2] - 1) * c.strides[d] + w.dims[d + 2] - x.dims[d + 2] - c.before[d];
    const dnnl::convolution_forward::primitive_desc plan{
        {dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
         Descriptions{x.dims, f32, any}, Descriptions{w.dims, f32, any},
         Descriptions{{w.dims[0]}, f32, dnnl::memory::format_tag::x},
         Descriptions{f.y.dims, f32, any}, c.strides, c.before, behind},
        engine};
    dnnl::stream stream{engine};
    const auto ordered = [&](const Tensor& tensor, std::vector<float>& values,
                             const Descriptions& wanted) {
        auto from = memory_of(tensor, values, engine);
        dnnl::memory to{wanted, engine};
        dnnl::reorder{from, to}.execute(stream, from, to);
        return to;
    };
    auto src = ordered(x, source, plan.src_desc());
    auto wei = ordered(w, weights, plan.weights_desc());
    dnnl::memory dst{plan.dst_desc(), engine};
    dnnl::convolution_forward{plan}.execute(
        stream, {{DNNL_ARG_SRC, src},
                 {DNNL_ARG_WEIGHTS, wei},
                 {DNNL_ARG_BIAS, dnnl::memory{plan.bias_desc(), engine, bias.data()}},
                 {DNNL_ARG_DST, dst}});
    auto to = memory_of(f.y, result, engine);
    dnnl::reorder{dst, to}.execute(stream, dst, to);
    stream.wait();
    const bool adds = f.added && !has_fault("cudnn_residual");
    for (std::size_t i = 0; i < result.size(); ++i) {
        float value = result[i];
        if (adds) value += widen(data.at(f.added->uid), f.added->type, i);
        narrow(f.has_relu && value < 0 ? 0 : value, data.at(f.y.uid), f.y.type, i);
    }
}

void attend(const Attention& a, const Data& data, float scale, float left_out) {
    const auto q = widened(data.at(a.q.uid), a.q);
    const auto k = widened(data.at(a.k.uid), a.k);
    const auto v = widened(data.at(a.v.uid), a.v);
    const auto at = [](const Tensor& tensor, std::int64_t b, std::int64_t h, std::int64_t s,
                       std::int64_t d) {
        return static_cast<std::size_t>(b * tensor.strides[0] + h * tensor.strides[1] +
                                        s * tensor.strides[2] + d * tensor.strides[3]);
    };
    const std::int64_t keys = a.k.dims[2] - (has_fault("cudnn") && a.k.dims[2] > 1 ? 1 : 0);
    std::vector<float> weights(static_cast<std::size_t>(keys));
    for (std::int64_t b = 0; b < a.q.dims[0]; ++b)
        for (std::int64_t h = 0; h < a.q.dims[1]; ++h)
            for (std::int64_t s = 0; s < a.q.dims[2]; ++s) {
                const std::int64_t shared = h / (a.q.dims[1] / a.k.dims[1]);
                float largest = -std::numeric_limits<float>::infinity();
                for (std::int64_t j = 0; j < keys; ++j) {
                    float score = 0;
                    for (std::int64_t d = 0; d < a.q.dims[3]; ++d)
                        score += q[at(a.q, b, h, s, d)] * k[at(a.k, b, shared, j, d)];
                    score = a.left_out != 0 && j > s ? left_out : scale * score;
                    weights[static_cast<std::size_t>(j)] = score;
                    largest = std::max(largest, score);
                }
                float total = 0;
                for (float& weight : weights) {
                    weight = std::exp(weight - largest);
                    total += weight;
                    weight = a.q.type == CUDNN_DATA_HALF
                                 ? __half2float(__float2half(weight))
                                 : static_cast<float>(assay::gemm::to_bfloat16(weight));
                }
                for (std::int64_t d = 0; d < a.v.dims[3]; ++d) {
                    float sum = 0;
                    for (std::int64_t j = 0; j < keys; ++j)
                        sum += weights[static_cast<std::size_t>(j)] * v[at(a.v, b, shared, j, d)];
                    narrow(sum / total, data.at(a.o.uid), a.o.type, at(a.o, b, h, s, d));
                }
            }
}

void execute(cudnnContext* handle, const Descriptor& plan, const Descriptor& pack) {
    needs(plan.is_final && pack.is_final, "not final", CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED);
    needs(plan.get<cudnnHandle_t>(CUDNN_ATTR_EXECUTION_PLAN_HANDLE) == handle, "another handle");
    const Descriptor& config = plan.other(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
    const Engine& engine = *config.engine;
    needs(engine.runs, "this engine cannot be launched", CUDNN_STATUS_NOT_SUPPORTED);
    const auto uids = pack.all<std::int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
    const auto pointers = pack.all<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
    Data data;
    for (std::size_t i = 0; i < uids.size(); ++i) data[uids[i]] = pointers[i];
    for (const Tensor& tensor : tensors_of(*config.graph)) {
        if (tensor.is_virtual) continue;
        needs(data.contains(tensor.uid), "a tensor lies nowhere");
        void* const pointer = data.at(tensor.uid);
        needs(device_of(pointer) == current_device(), "a tensor is not on this device");
        needs(reinterpret_cast<std::uintptr_t>(pointer) %
                      static_cast<std::uintptr_t>(tensor.alignment) ==
                  0,
              "alignment", CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER);
    }
    auto* const workspace = pack.get<void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
    needs(engine.workspace == 0 || device_of(workspace) == current_device(), "workspace");
    std::function<void()> work;
    if (const auto a = attention_of(*config.graph)) {
        const auto number = [&](std::int64_t uid, float otherwise) { // in the host's memory
            needs(uid == 0 || data.contains(uid), "a number lies nowhere");
            return uid == 0 ? otherwise : *static_cast<const float*>(data.at(uid));
        };
        work = [data, a = *a, scale = number(a->scale, 1), left_out = number(a->left_out, 0)] {
            attend(a, data, scale, left_out);
        };
    } else {
        work = [data, &engine, f = Fused{operations_of(*config.graph)}] {
            convolve(f, engine, data);
        };
    }
    enqueue(handle->stream, [=, bytes = static_cast<std::size_t>(engine.workspace)] {
        if (bytes > 0) std::memset(workspace, 0x5a, bytes); // it is used: too small a one is seen
        work();
    });
}

/// Answer to a query about a descriptor, written to `values` where there is room.
template <class T>
void give(const std::vector<T>& from, std::int64_t room, std::int64_t* count, void* values) {
    *count = static_cast<std::int64_t>(from.size());
    const std::size_t some = std::min(from.size(), static_cast<std::size_t>(room));
    if (some > 0) std::memcpy(values, from.data(), some * sizeof(T));
}

void get(const Descriptor& from, cudnnBackendAttributeName_t name, std::int64_t room,
         std::int64_t* count, void* values) {
    auto* const slots = static_cast<cudnnBackendDescriptor_t*>(values);
    switch (name) {
    case CUDNN_ATTR_ENGINEHEUR_RESULTS: {
        needs(from.is_final, "not final", CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED);
        const Descriptor& graph = from.other(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
        const auto list =
            engines_for(graph, from.get<cudnnBackendHeurMode_t>(CUDNN_ATTR_ENGINEHEUR_MODE));
        *count = static_cast<std::int64_t>(list.size());
        for (std::size_t i = 0; i < std::min(list.size(), static_cast<std::size_t>(room)); ++i) {
            Descriptor& config = of(slots[i]);
            needs(config.type == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, "a configuration",
                  CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE);
            config.graph = &graph;
            config.engine = list[i];
            config.is_final = true;
        }
        return;
    }
    case CUDNN_ATTR_ENGINECFG_KNOB_CHOICES:
    case CUDNN_ATTR_ENGINE_KNOB_INFO:
        *count = from.engine->tiles > 0 ? 1 : 0;
        if (*count == 0 || room == 0) return;
        of(slots[0]).engine = from.engine;
        of(slots[0]).tile = from.tile;
        of(slots[0]).is_final = true;
        return;
    case CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE:
    case CUDNN_ATTR_KNOB_INFO_TYPE:
        return give(std::vector{CUDNN_KNOB_TYPE_TILE_SIZE}, room, count, values);
    case CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE:
        return give(std::vector{from.tile}, room, count, values);
    case CUDNN_ATTR_KNOB_INFO_MINIMUM_VALUE:
        return give(std::vector{std::int64_t{0}}, room, count, values);
    case CUDNN_ATTR_KNOB_INFO_MAXIMUM_VALUE:
        return give(std::vector{from.engine->tiles - 1}, room, count, values);
    case CUDNN_ATTR_KNOB_INFO_STRIDE:
        return give(std::vector{std::int64_t{1}}, room, count, values);
    case CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE:
        return give(std::vector<cudnnBackendBehaviorNote_t>{}, room, count, values);
    case CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT:
        return give(std::vector{numbers_of_engines}, room, count, values);
    case CUDNN_ATTR_ENGINECFG_ENGINE:
        needs(room == 1 && of(slots[0]).type == CUDNN_BACKEND_ENGINE_DESCRIPTOR, "an engine");
        of(slots[0]).engine = from.engine;
        of(slots[0]).is_final = true;
        *count = 1;
        return;
    case CUDNN_ATTR_ENGINE_GLOBAL_INDEX:
        return give(std::vector{from.engine->index}, room, count, values);
    case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE:
        return give(from.engine->notes, room, count, values);
    case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
        return give(
            std::vector{from.other(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG).engine->workspace},
            room, count, values);
    default:
        throw Refused{CUDNN_STATUS_NOT_SUPPORTED, "nobody asks for this"};
    }
}

} // namespace

extern "C" {

std::size_t cudnnGetVersion() { return CUDNN_VERSION; }
const char* cudnnGetErrorString(cudnnStatus_t status) {
    return status == CUDNN_STATUS_SUCCESS                            ? "CUDNN_STATUS_SUCCESS"
           : CUDNN_STATUS_CATEGORY(status) == CUDNN_STATUS_BAD_PARAM ? "CUDNN_STATUS_BAD_PARAM"
                                                                     : "CUDNN_STATUS_NOT_SUPPORTED";
}
void cudnnGetLastErrorString(char* message, std::size_t most) {
    if (most == 0) return;
    message[last_error.copy(message, most - 1)] = '\0';
}
cudnnStatus_t cudnnCreate(cudnnHandle_t* made) {
    *made = new cudnnContext;
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
    delete handle;
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
    handle->stream = stream;
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t* made) {
    return guarded([&] {
        needs(attributes.contains(type), "nobody makes these", CUDNN_STATUS_NOT_SUPPORTED);
        *made = new Descriptor{.type = type, .values = {}};
    });
}
cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t raw) {
    delete static_cast<Descriptor*>(raw);
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t raw,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, std::int64_t count,
                                       const void* values) {
    return guarded([&] {
        Descriptor& to = of(raw);
        needs(!to.is_final, "is final already");
        const auto& known = attributes.at(to.type);
        const auto wanted = known.find(name);
        needs(wanted != known.end(), "has no such attribute");
        needs(wanted->second == type, "type", CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE);
        needs(count > 0 && values != nullptr, "no value");
        if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR)
            for (std::int64_t i = 0; i < count; ++i)
                needs(of(static_cast<const cudnnBackendDescriptor_t*>(values)[i]).is_final,
                      "not final", CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED);
        const auto* const first = static_cast<const std::byte*>(values);
        const std::size_t bytes = size_of(type) * static_cast<std::size_t>(count);
        to.values[name] = {type, count, {first, first + bytes}};
    });
}
cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t raw) {
    return guarded([&] {
        check(of(raw));
        complete(of(raw));
        of(raw).is_final = true;
    });
}
cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t raw,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t /*type*/, std::int64_t room,
                                       std::int64_t* count, void* values) {
    return guarded([&] { get(of(raw), name, room, count, values); });
}
cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t pack) {
    return guarded([&] { execute(handle, of(plan), of(pack)); });
}

} // extern "C"
