// SPDX-License-Identifier: Apache-2.0
//
// cuDNN's graph interface: operations on tensors are described, the library offers engines for the whole graph, and a
// plan of one of them is executed. The library is found at run time.

#pragma once

#include "device/handles.hpp"
#include "workload/plan_search.hpp"

#include <cudnn_graph.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace assay::workload::cudnn {

/// The library refused a call. Failures of the device itself are a device::Error.
class LibraryError : public device::Error {
public:
    using device::Error::Error;
};
/// This library, or this device, has nothing for what was asked.
class Unsupported : public LibraryError {
public:
    using LibraryError::LibraryError;
};

/// Why no cuDNN was found; "" where one was. The first call that needs it looks for it.
const std::string& why_no_library();
/// "9.19.0"
std::string version();

/// Throws, with the library's own words.
void check(cudnnStatus_t status,
           const std::source_location& from = std::source_location::current());

class Handle {
public:
    explicit Handle(const device::Stream& stream);
    cudnnHandle_t get() const { return raw_.get(); }

private:
    struct Destroy {
        void operator()(cudnnHandle_t raw) const;
    };
    std::unique_ptr<std::remove_pointer_t<cudnnHandle_t>, Destroy> raw_;
};

class Descriptor {
public:
    explicit Descriptor(cudnnBackendDescriptorType_t type);

    template <class T>
    void set(cudnnBackendAttributeName_t name, std::span<const T> values) {
        set(name, type_of(T{}), static_cast<std::int64_t>(values.size()), values.data());
    }
    template <class T>
    void set(cudnnBackendAttributeName_t name, const std::vector<T>& values) {
        set(name, std::span<const T>{values});
    }
    template <class T>
    void set(cudnnBackendAttributeName_t name, const T& value) {
        set(name, std::span<const T>{&value, 1});
    }
    void set(cudnnBackendAttributeName_t name, const Descriptor& other) { set(name, other.raw()); }
    void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t count,
             const void* values);
    void finalize();

    /// All values, at most `most`.
    template <class T>
    std::vector<T> get(cudnnBackendAttributeName_t name, std::size_t most = 1) const {
        std::vector<T> values(most);
        values.resize(get(name, type_of(T{}), most, values.data()));
        return values;
    }
    std::size_t get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                    std::size_t most, void* values) const;
    cudnnBackendDescriptor_t raw() const { return raw_.get(); }

private:
    static constexpr auto type_of(std::int64_t) { return CUDNN_TYPE_INT64; }
    static constexpr auto type_of(bool) { return CUDNN_TYPE_BOOLEAN; }
    static constexpr auto type_of(float) { return CUDNN_TYPE_FLOAT; }
    static constexpr auto type_of(char) { return CUDNN_TYPE_CHAR; }
    static constexpr auto type_of(cudnnDataType_t) { return CUDNN_TYPE_DATA_TYPE; }
    static constexpr auto type_of(cudnnHandle_t) { return CUDNN_TYPE_HANDLE; }
    static constexpr auto type_of(cudnnConvolutionMode_t) { return CUDNN_TYPE_CONVOLUTION_MODE; }
    static constexpr auto type_of(cudnnPointwiseMode_t) { return CUDNN_TYPE_POINTWISE_MODE; }
    static constexpr auto type_of(cudnnBackendHeurMode_t) { return CUDNN_TYPE_HEUR_MODE; }
    static constexpr auto type_of(cudnnBackendNumericalNote_t) { return CUDNN_TYPE_NUMERICAL_NOTE; }
    static constexpr auto type_of(cudnnBackendBehaviorNote_t) { return CUDNN_TYPE_BEHAVIOR_NOTE; }
    static constexpr auto type_of(cudnnBackendKnobType_t) { return CUDNN_TYPE_KNOB_TYPE; }
    static constexpr auto type_of(cudnnBackendDescriptor_t) {
        return CUDNN_TYPE_BACKEND_DESCRIPTOR;
    }

    struct Destroy {
        void operator()(void* raw) const;
    };
    std::unique_ptr<void, Destroy> raw_;
};

/// Dimensions as cuDNN counts them, with the strides of how they lie in memory, both in elements.
struct TensorShape {
    std::vector<std::int64_t> dims;
    std::vector<std::int64_t> strides;
};
/// The last dimension is contiguous.
TensorShape packed(std::vector<std::int64_t> dims);
/// Images, channels, and edges: channels are contiguous, which matrix units want.
TensorShape channels_last(std::vector<std::int64_t> dims);

/// `is_virtual`: it lies nowhere, one operation hands it to the next.
Descriptor tensor(std::int64_t uid, const TensorShape& shape, cudnnDataType_t type,
                  bool is_virtual = false);
/// y = x op b, or op x; in fp32.
struct Pointwise {
    Pointwise(cudnnPointwiseMode_t mode, const Descriptor& x, const Descriptor* b,
              const Descriptor& y);
    Descriptor how{CUDNN_BACKEND_POINTWISE_DESCRIPTOR};
    Descriptor operation{CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR};
};

/// For what a graph is made: the device of a handle, or one that is only described (tests).
struct Target {
    cudnnHandle_t handle = nullptr;
    const Descriptor* properties = nullptr;
};

/// The library's words about an engine.
struct Engine {
    Descriptor config;
    std::int64_t index;
    std::vector<cudnnBackendNumericalNote_t> notes;
    std::vector<Knob> knobs;       ///< those that are set; the others have their defaults
    bool compiles;                 ///< its kernels, when a plan is made, which can take a second
    std::vector<Descriptor> parts; ///< of `config`

    bool has(cudnnBackendNumericalNote_t note) const;
    PlanPoint point() const { return {index, knobs}; }
    /// "engine 41, TILE_SIZE 3, TILE_CGA_M 2": repeats the choice with the same version of the library.
    std::string name() const;
};

/// Operations that are done as one.
class Graph {
public:
    /// `operations` and what they refer to live as long.
    Graph(const Target& target, std::span<const Descriptor* const> operations);
    /// The best by the library's own estimate first.
    std::vector<Engine> engines(cudnnBackendHeurMode_t mode) const;

    /// Numbers of engines for such graphs are below it; not all of them exist.
    std::int64_t engine_count() const;
    /// One by its number, with these settings; none where it cannot do such graphs. Some settings are refused only when
    /// a plan is made.
    std::optional<Engine> engine(std::int64_t index, const std::vector<Knob>& knobs = {}) const;
    std::vector<KnobRange> knobs_of(std::int64_t index) const;

private:
    Descriptor numbered(std::int64_t index) const;

    Target target_;
    Descriptor graph_;
};

/// How a graph is done by one engine.
class Plan {
public:
    /// Throws LibraryError where the engine cannot do it after all. `engine` lives as long.
    Plan(const Target& target, const Engine& engine);

    std::size_t workspace_bytes() const { return workspace_bytes_; }
    cudnnBackendDescriptor_t raw() const { return plan_.raw(); }

private:
    Descriptor plan_;
    std::size_t workspace_bytes_;
};

/// Where the tensors of a plan lie.
class Arguments {
public:
    Arguments(std::span<const std::int64_t> uids, std::span<void* const> data, void* workspace);
    /// Queues the plan on the handle's stream.
    void queue(const Handle& handle, const Plan& plan) const;

private:
    Descriptor pack_;
};

} // namespace assay::workload::cudnn
