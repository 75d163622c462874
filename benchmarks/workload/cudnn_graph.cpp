// SPDX-License-Identifier: Apache-2.0
#include "workload/cudnn_graph.hpp"

#include "device/opened.hpp"

#include <algorithm>
#include <array>

namespace assay::workload::cudnn {
namespace {

const device::Opened& found() {
    static const device::Opened once{"cuDNN", {"libcudnn.so.9"}};
    return once;
}

/// Calls it; where there is no library, or none with this function, the answer is `otherwise`.
template <auto function, class Otherwise, class... Arguments>
Otherwise pass(const char* name, Otherwise otherwise, const Arguments&... arguments) {
    static const auto there = reinterpret_cast<decltype(function)>(found().function(name));
    return there == nullptr ? otherwise : there(arguments...);
}
#define ASSAY_CUDNN(name, ...) pass<&name>(#name, CUDNN_STATUS_NOT_SUPPORTED, __VA_ARGS__)

std::string words_of_last_error() {
    std::array<char, 512> words{};
    const auto ask = reinterpret_cast<decltype(&cudnnGetLastErrorString)>(
        found().function("cudnnGetLastErrorString"));
    if (ask != nullptr) ask(words.data(), words.size());
    return words.data();
}

} // namespace

const std::string& why_no_library() { return found().why_not(); }

std::string version() {
    const auto ask =
        reinterpret_cast<decltype(&cudnnGetVersion)>(found().function("cudnnGetVersion"));
    const std::size_t number = ask == nullptr ? 0 : ask();
    return joined(number / 10000, '.', number / 100 % 100, '.', number % 100);
}

void check(cudnnStatus_t status, const std::source_location& from) {
    if (status == CUDNN_STATUS_SUCCESS) return;
    const std::string more = words_of_last_error();
    const std::string words = joined(
        "cuDNN: ", pass<&cudnnGetErrorString>("cudnnGetErrorString", "no such function", status),
        more.empty() ? "" : ": ", more, " (at ", device::words_of(from), ')');
    if (CUDNN_STATUS_CATEGORY(status) == CUDNN_STATUS_NOT_SUPPORTED) throw Unsupported{words};
    throw LibraryError{words};
}

Handle::Handle(const device::Stream& stream) {
    cudnnHandle_t raw = nullptr;
    check(ASSAY_CUDNN(cudnnCreate, &raw));
    raw_.reset(raw);
    check(ASSAY_CUDNN(cudnnSetStream, raw, stream.get()));
}
void Handle::Destroy::operator()(cudnnHandle_t raw) const { ASSAY_CUDNN(cudnnDestroy, raw); }

Descriptor::Descriptor(cudnnBackendDescriptorType_t type) {
    cudnnBackendDescriptor_t raw = nullptr;
    check(ASSAY_CUDNN(cudnnBackendCreateDescriptor, type, &raw));
    raw_.reset(raw);
}
void Descriptor::Destroy::operator()(void* raw) const {
    ASSAY_CUDNN(cudnnBackendDestroyDescriptor, raw);
}
void Descriptor::set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                     std::int64_t count, const void* values) {
    check(ASSAY_CUDNN(cudnnBackendSetAttribute, raw(), name, type, count, values));
}
void Descriptor::finalize() { check(ASSAY_CUDNN(cudnnBackendFinalize, raw())); }
std::size_t Descriptor::get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                            std::size_t most, void* values) const {
    std::int64_t count = 0;
    check(ASSAY_CUDNN(cudnnBackendGetAttribute, raw(), name, type, static_cast<std::int64_t>(most),
                      &count, values));
    return std::min(most, static_cast<std::size_t>(count));
}

TensorShape packed(std::vector<std::int64_t> dims) {
    std::vector<std::int64_t> strides(dims.size(), 1);
    for (std::size_t d = dims.size() - 1; d > 0; --d) strides[d - 1] = strides[d] * dims[d];
    return {std::move(dims), std::move(strides)};
}

TensorShape channels_last(std::vector<std::int64_t> dims) {
    std::vector<std::int64_t> strides(dims.size(), 1);
    std::int64_t next = dims[1];
    for (std::size_t d = dims.size() - 1; d > 1; --d) {
        strides[d] = next;
        next *= dims[d];
    }
    strides[0] = next;
    return {std::move(dims), std::move(strides)};
}

Descriptor tensor(std::int64_t uid, const TensorShape& shape, cudnnDataType_t type,
                  bool is_virtual) {
    constexpr std::int64_t alignment = 16; // bytes: the widest load; memory of a device has 256
    Descriptor made{CUDNN_BACKEND_TENSOR_DESCRIPTOR};
    made.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, uid);
    made.set(CUDNN_ATTR_TENSOR_DATA_TYPE, type);
    made.set(CUDNN_ATTR_TENSOR_DIMENSIONS, shape.dims);
    made.set(CUDNN_ATTR_TENSOR_STRIDES, shape.strides);
    made.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, alignment);
    made.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, is_virtual);
    made.finalize();
    return made;
}

Pointwise::Pointwise(cudnnPointwiseMode_t mode, const Descriptor& x, const Descriptor* b,
                     const Descriptor& y) {
    how.set(CUDNN_ATTR_POINTWISE_MODE, mode);
    how.set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_DATA_FLOAT);
    how.finalize();
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how);
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
    if (b != nullptr) operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *b);
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
    operation.finalize();
}

bool Engine::has(cudnnBackendNumericalNote_t note) const {
    return std::ranges::find(notes, note) != notes.end();
}

Graph::Graph(const Target& target, std::span<const Descriptor* const> operations)
    : target_{target}, graph_{CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR} {
    std::vector<cudnnBackendDescriptor_t> raw;
    for (const Descriptor* operation : operations) raw.push_back(operation->raw());
    graph_.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, raw);
    if (target.handle != nullptr) graph_.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, target.handle);
    graph_.finalize();
}

std::vector<Engine> Graph::engines(cudnnBackendHeurMode_t mode) const {
    Descriptor heuristics{CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR};
    heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph_);
    heuristics.set(CUDNN_ATTR_ENGINEHEUR_MODE, mode);
    if (target_.properties != nullptr)
        heuristics.set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *target_.properties);
    try {
        heuristics.finalize();
    } catch (const Unsupported&) {
        return {}; // this mode has nothing for such graphs
    }
    std::int64_t count = 0;
    check(ASSAY_CUDNN(cudnnBackendGetAttribute, heuristics.raw(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                      CUDNN_TYPE_BACKEND_DESCRIPTOR, std::int64_t{0}, &count,
                      static_cast<void*>(nullptr)));
    // Filled are descriptors that are there already.
    std::vector<Descriptor> configs;
    std::vector<cudnnBackendDescriptor_t> raw;
    for (std::int64_t i = 0; i < count; ++i)
        raw.push_back(configs.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR).raw());
    count = static_cast<std::int64_t>(heuristics.get(
        CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, raw.size(), raw.data()));
    std::vector<Engine> engines;
    for (std::int64_t i = 0; i < count; ++i) {
        Descriptor& config = configs[static_cast<std::size_t>(i)];
        const Descriptor engine{CUDNN_BACKEND_ENGINE_DESCRIPTOR};
        cudnnBackendDescriptor_t to = engine.raw();
        config.get(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &to);
        engines.push_back({.config = std::move(config),
                           .index = engine.get<std::int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX).at(0),
                           .notes = engine.get<cudnnBackendNumericalNote_t>(
                               CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT)});
    }
    return engines;
}

Plan::Plan(const Target& target, const Engine& engine)
    : plan_{CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR} {
    plan_.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, engine.config);
    if (target.handle != nullptr) plan_.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, target.handle);
    if (target.properties != nullptr)
        plan_.set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, *target.properties);
    plan_.finalize();
    workspace_bytes_ = static_cast<std::size_t>(
        plan_.get<std::int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE).at(0));
}

Arguments::Arguments(std::span<const std::int64_t> uids, std::span<void* const> data,
                     void* workspace)
    : pack_{CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR} {
    pack_.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, uids);
    pack_.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
              static_cast<std::int64_t>(data.size()), data.data());
    pack_.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
    pack_.finalize();
}

void Arguments::queue(const Handle& handle, const Plan& plan) const {
    check(ASSAY_CUDNN(cudnnBackendExecute, handle.get(), plan.raw(), pack_.raw()));
}

} // namespace assay::workload::cudnn
