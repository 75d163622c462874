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
    constexpr std::int64_t alignment = 128; // bytes; memory of a device has 256
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

namespace {

/// In the order of cudnnBackendKnobType_t.
constexpr std::array knob_names{
    "SPLIT_K",     "SWIZZLE",    "TILE_SIZE", "USE_TEX",        "EDGE",        "KBLOCK",
    "LDGA",        "LDGB",       "CHUNK_K",   "SPLIT_H",        "WINO_TILE",   "MULTIPLY",
    "SPLIT_K_BUF", "TILEK",      "STAGES",    "REDUCTION_MODE", "CTA_SPLIT_K", "SPLIT_K_SLC",
    "IDX_MODE",    "SLICED",     "SPLIT_RS",  "SINGLEBUFFER",   "LDGC",        "SPECFILT",
    "KERNEL_CFG",  "WORKSPACE",  "TILE_CGA",  "TILE_CGA_M",     "TILE_CGA_N",  "BLOCK_SIZE",
    "OCCUPANCY",   "ARRAY_SIZE", "NUM_C",     "SPLIT_COLS",     "TILE_ROWS",   "TILE_COLS",
    "LOAD_SIZE",   "CTA_COUNT",  "STREAM_K",  "SPLIT_P_SLC",    "TILE_M",      "TILE_N",
    "WARP_SPEC",   "SWAP_AB"};

/// Descriptors of this kind that the library fills in: those are asked for that are there already.
std::vector<Descriptor> filled(const Descriptor& from, cudnnBackendAttributeName_t name,
                               cudnnBackendDescriptorType_t type, std::size_t most) {
    std::vector<Descriptor> all;
    std::vector<cudnnBackendDescriptor_t> raw;
    for (std::size_t i = 0; i < most; ++i) raw.push_back(all.emplace_back(type).raw());
    const std::size_t count = from.get(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, most, raw.data());
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(count), all.end());
    return all;
}

Engine described(Descriptor config, const Descriptor& engine) {
    const auto behaviors = engine.get<cudnnBackendBehaviorNote_t>(CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE,
                                                                  CUDNN_BEHAVIOR_NOTE_TYPE_COUNT);
    return {.config = std::move(config),
            .index = engine.get<std::int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX).at(0),
            .notes = engine.get<cudnnBackendNumericalNote_t>(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                                             CUDNN_NUMERICAL_NOTE_TYPE_COUNT),
            .knobs = {},
            .compiles = std::ranges::find(behaviors, CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION) !=
                        behaviors.end(),
            .parts = {}};
}

} // namespace

std::string Engine::name() const {
    std::string text = joined("engine ", index);
    for (const Knob& knob : knobs) {
        const auto type = static_cast<std::size_t>(knob.type);
        text += type < knob_names.size() ? joined(", ", knob_names.at(type), ' ', knob.value)
                                         : joined(", knob ", type, ' ', knob.value);
    }
    return text;
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
    std::vector<Engine> engines;
    for (Descriptor& config :
         filled(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
                static_cast<std::size_t>(count))) {
        const Descriptor engine{CUDNN_BACKEND_ENGINE_DESCRIPTOR};
        cudnnBackendDescriptor_t to = engine.raw();
        config.get(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &to);
        std::vector<Knob> knobs;
        for (const Descriptor& choice :
             filled(config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR,
                    CUDNN_KNOB_TYPE_COUNTS))
            knobs.push_back(
                {choice.get<cudnnBackendKnobType_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE).at(0),
                 choice.get<std::int64_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE).at(0)});
        engines.push_back(described(std::move(config), engine));
        engines.back().knobs = std::move(knobs);
    }
    return engines;
}

std::int64_t Graph::engine_count() const {
    return graph_.get<std::int64_t>(CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT).at(0);
}

Descriptor Graph::numbered(std::int64_t index) const {
    Descriptor engine{CUDNN_BACKEND_ENGINE_DESCRIPTOR};
    engine.set(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph_);
    engine.set(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, index);
    if (target_.properties != nullptr)
        engine.set(CUDNN_ATTR_ENGINE_DEVICEPROP, *target_.properties);
    engine.finalize();
    return engine;
}

std::optional<Engine> Graph::engine(std::int64_t index, const std::vector<Knob>& knobs) const {
    try {
        std::vector<Descriptor> parts;
        parts.push_back(numbered(index));
        Descriptor config{CUDNN_BACKEND_ENGINECFG_DESCRIPTOR};
        config.set(CUDNN_ATTR_ENGINECFG_ENGINE, parts.front());
        std::vector<cudnnBackendDescriptor_t> raw;
        for (const Knob& knob : knobs) {
            Descriptor& choice = parts.emplace_back(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
            choice.set(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE,
                       static_cast<cudnnBackendKnobType_t>(knob.type));
            choice.set(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, knob.value);
            choice.finalize();
            raw.push_back(choice.raw());
        }
        if (!raw.empty()) config.set(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, raw);
        config.finalize();
        Engine engine = described(std::move(config), parts.front());
        engine.knobs = knobs;
        engine.parts = std::move(parts);
        return engine;
    } catch (const LibraryError&) {
        return {};
    }
}

std::vector<KnobRange> Graph::knobs_of(std::int64_t index) const {
    const Descriptor engine = numbered(index);
    std::vector<KnobRange> ranges;
    for (const Descriptor& info :
         filled(engine, CUDNN_ATTR_ENGINE_KNOB_INFO, CUDNN_BACKEND_KNOB_INFO_DESCRIPTOR,
                CUDNN_KNOB_TYPE_COUNTS)) {
        const auto number = [&](cudnnBackendAttributeName_t name) {
            return info.get<std::int64_t>(name).at(0);
        };
        ranges.push_back({.type = info.get<cudnnBackendKnobType_t>(CUDNN_ATTR_KNOB_INFO_TYPE).at(0),
                          .first = number(CUDNN_ATTR_KNOB_INFO_MINIMUM_VALUE),
                          .last = number(CUDNN_ATTR_KNOB_INFO_MAXIMUM_VALUE),
                          .step = number(CUDNN_ATTR_KNOB_INFO_STRIDE)});
    }
    return ranges;
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
