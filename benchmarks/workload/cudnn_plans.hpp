// SPDX-License-Identifier: Apache-2.0
//
// The graphs of cuDNN that the workloads consist of, which engines a precision may use, and the fastest plan by trial.

#pragma once

#include "device/clock.hpp"
#include "device/graph.hpp"
#include "device/properties.hpp"
#include "workload/attention_data.hpp"
#include "workload/cudnn_graph.hpp"
#include "workload/layer.hpp"
#include "workload/precision.hpp"

#include <assay/define.hpp>

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace assay::workload::cudnn {

constexpr cudnnDataType_t data_type_of(Precision precision) {
    if (precision == Precision::fp16) return CUDNN_DATA_HALF;
    return precision == Precision::bf16 ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_FLOAT;
}

/// An engine whose products differ from the definition, or whose bits differ between calls, is unfit; fp32 is without
/// the matrix units, which would make it tf32.
inline bool serves(Precision precision, const Engine& engine) {
    constexpr std::array never{
        CUDNN_NUMERICAL_NOTE_FFT,
        CUDNN_NUMERICAL_NOTE_WINOGRAD,
        CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4,
        CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6,
        CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13,
        CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION,
        CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC,
    };
    if (std::ranges::any_of(never, [&](auto note) { return engine.has(note); })) return false;
    const bool by_matrix_units = engine.has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
    if (precision == Precision::tf32) return by_matrix_units;
    return precision != Precision::fp32 ||
           (!by_matrix_units && !engine.has(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS));
}

/// Matrix units want channels last; kernels without them have channels first, and would bring others into that order,
/// in a workspace as large as the tensors.
constexpr bool has_channels_last(Precision precision) { return precision != Precision::fp32; }

/// A forward convolution, a residual where `adds`, the bias, and ReLU where it has one: sums in fp32, bias and residual
/// in the type of the data, and in this order, as ready-made kernels want it.
template <bool adds>
class FusedConvolution {
public:
    /// Source, weights, bias, result, and what is added.
    static constexpr auto uids = [] {
        if constexpr (adds)
            return std::array<std::int64_t, 5>{1, 2, 3, 4, 5};
        else
            return std::array<std::int64_t, 4>{1, 2, 3, 4};
    }();

    FusedConvolution(const Layer& layer, std::int64_t batch, Precision precision,
                     bool has_relu = true)
        : results_{shape(layer, precision, batch, layer.outputs, layer.output_size())},
          source_{tensor(uids[0], shape(layer, precision, batch, layer.inputs, layer.size),
                         data_type_of(precision))},
          weights_{tensor(uids[1],
                          shape(layer, precision, layer.outputs, layer.inputs, layer.kernel),
                          data_type_of(precision))},
          bias_{tensor(uids[2], shape(layer, precision, 1, layer.outputs, 1),
                       data_type_of(precision))},
          result_{tensor(uids[3], results_, data_type_of(precision))} {
        const auto edges = [&](std::int64_t value) {
            return std::vector<std::int64_t>(static_cast<std::size_t>(layer.dims), value);
        };
        how_.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, std::int64_t{layer.dims});
        how_.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT);
        how_.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION);
        how_.set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, edges(layer.padding()));
        how_.set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, edges(layer.padding()));
        how_.set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, edges(layer.stride));
        how_.set(CUDNN_ATTR_CONVOLUTION_DILATIONS, edges(1));
        how_.finalize();
        convolve_.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, how_);
        convolve_.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, source_);
        convolve_.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, weights_);
        convolve_.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, hand_on());
        convolve_.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, 1.0F);
        convolve_.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, 0.0F);
        convolve_.finalize();
        if constexpr (adds) {
            added_ = tensor(uids[4], results_, data_type_of(precision));
            then(CUDNN_POINTWISE_ADD, &*added_, false);
        }
        then(CUDNN_POINTWISE_ADD, &bias_, !has_relu);
        if (has_relu) then(CUDNN_POINTWISE_RELU_FWD, nullptr, true);
    }
    std::vector<const Descriptor*> operations() const {
        std::vector<const Descriptor*> all{&convolve_};
        for (const Pointwise& each : pointwise_) all.push_back(&each.operation);
        return all;
    }

private:
    static TensorShape shape(const Layer& layer, Precision precision, std::int64_t first,
                             std::int64_t channels, std::int64_t edge) {
        std::vector<std::int64_t> dims{first, channels};
        dims.insert(dims.end(), static_cast<std::size_t>(layer.dims), edge);
        return has_channels_last(precision) ? channels_last(std::move(dims))
                                            : packed(std::move(dims));
    }
    const Descriptor& hand_on() {
        const auto uid = static_cast<std::int64_t>(uids.size() + handed_on_.size()) + 1;
        return handed_on_.emplace_back(tensor(uid, results_, CUDNN_DATA_FLOAT, true));
    }
    void then(cudnnPointwiseMode_t mode, const Descriptor* other, bool is_last) {
        const Descriptor& from = handed_on_.back();
        pointwise_.emplace_back(mode, from, other, is_last ? result_ : hand_on());
    }

    TensorShape results_;
    Descriptor source_;
    Descriptor weights_;
    Descriptor bias_;
    Descriptor result_;
    std::optional<Descriptor> added_;
    std::deque<Descriptor> handed_on_; // from operation to operation
    std::vector<Pointwise> pointwise_;
    Descriptor how_{CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR};
    Descriptor convolve_{CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR};
};
using ConvolutionOperations = FusedConvolution<false>;

/// One query of each sequence and head against all of the cache: softmax(Q K^T) V, by the library's own operation.
class AttentionOperations {
public:
    /// Queries, keys, values, results.
    static constexpr std::array<std::int64_t, 4> uids{1, 2, 3, 4};

    AttentionOperations(const AttentionShape& shape, Precision precision)
        : queries_{data(0, one_each(shape), precision)}, keys_{data(1, cache(shape), precision)},
          values_{data(2, cache(shape), precision)}, results_{data(3, one_each(shape), precision)} {
        attend_.set(CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC, queries_);
        attend_.set(CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC, keys_);
        attend_.set(CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC, values_);
        attend_.set(CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC, results_);
        attend_.finalize();
    }
    std::array<const Descriptor*, 1> operations() const { return {&attend_}; }

private:
    /// Sequences, heads, tokens, numbers of a head.
    static TensorShape one_each(const AttentionShape& shape) {
        return packed({shape.batch, shape.heads, 1, shape.size});
    }
    /// In memory the heads of a token follow each other.
    static TensorShape cache(const AttentionShape& shape) {
        const std::int64_t heads = shape.heads / shape.group;
        return {{shape.batch, heads, shape.context, shape.size},
                {shape.context * heads * shape.size, shape.size, heads * shape.size, 1}};
    }
    static Descriptor data(std::size_t which, const TensorShape& shape, Precision precision) {
        return tensor(uids.at(which), shape, data_type_of(precision));
    }

    Descriptor queries_;
    Descriptor keys_;
    Descriptor values_;
    Descriptor results_;
    Descriptor attend_{CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR};
};

/// Memory that a plan may take beside the tensors: more makes no kernel of these graphs faster.
inline constexpr std::int64_t most_workspace = std::int64_t{256} << 20U;

/// A workspace that plans share.
class Workspace {
public:
    explicit Workspace(std::size_t bytes = 0) : memory_{bytes} {}
    void* at_least(std::size_t bytes) {
        if (bytes > memory_.bytes()) memory_ = device::Buffer<std::byte>{bytes};
        return memory_.data();
    }
    std::size_t bytes() const { return memory_.bytes(); }

private:
    device::Buffer<std::byte> memory_;
};

/// Engines of a graph that serve a precision, by both of the library's estimates and in its order; those that work for
/// nearly everything, and slowly, only where there is no other.
template <class Operations>
std::vector<Engine> engines_for(const Target& target, const Operations& operations,
                                Precision precision, std::unique_ptr<Graph>& graph) {
    const auto list = operations.operations();
    graph = std::make_unique<Graph>(target, std::span<const Descriptor* const>{list});
    std::vector<Engine> all;
    for (const auto mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_B, CUDNN_HEUR_MODE_FALLBACK}) {
        if (mode == CUDNN_HEUR_MODE_FALLBACK && !all.empty()) break;
        for (Engine& engine : graph->engines(mode))
            if (serves(precision, engine) &&
                std::ranges::none_of(all, [&](auto& of) { return of.point() == engine.point(); }))
                all.push_back(std::move(engine));
    }
    return all;
}
/// Engines that serve as well and are in no list, with default settings; on matrix units where the listed are. Those
/// that compile their kernels come last.
inline std::vector<PlanPoint> other_engines(const Graph& graph, Precision precision,
                                            const std::vector<Engine>& listed) {
    std::vector<PlanPoint> ready;
    std::vector<PlanPoint> compiled;
    const auto by_matrix_units = [](const Engine& of) {
        return of.has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
    };
    const auto slow = graph.engines(CUDNN_HEUR_MODE_FALLBACK);
    const auto is_in = [](const std::vector<Engine>& list, std::int64_t index) {
        return std::ranges::find(list, index, &Engine::index) != list.end();
    };
    for (std::int64_t index = 0; !listed.empty() && index < graph.engine_count(); ++index) {
        if (is_in(listed, index) || is_in(slow, index)) continue;
        const auto engine = graph.engine(index);
        if (!engine || !serves(precision, *engine) ||
            by_matrix_units(*engine) != by_matrix_units(listed.front()))
            continue;
        (engine->compiles ? compiled : ready).push_back(engine->point());
    }
    ready.insert(ready.end(), compiled.begin(), compiled.end());
    return ready;
}
/// Settings worth varying: not of engines that compile each of them, and not the one that says how parts of sums are
/// put together, which may round or order them in another way.
inline std::vector<KnobRange> knobs_to_vary(const Graph& graph, std::int64_t index) {
    const auto engine = graph.engine(index);
    if (!engine || engine->compiles) return {};
    std::vector<KnobRange> ranges = graph.knobs_of(index);
    std::erase_if(ranges, [](const KnobRange& range) {
        return range.type == CUDNN_KNOB_TYPE_REDUCTION_MODE;
    });
    return ranges;
}
/// Does this library have any for it here?
template <class Operations>
Fit fits_engines(const Handle& handle, const Operations& operations, Precision precision) {
    std::unique_ptr<Graph> graph;
    const Target target{.handle = handle.get(), .properties = nullptr};
    return Fit::needs(!engines_for(target, operations, precision, graph).empty(),
                      "an engine of cuDNN for this graph in this precision on this device");
}

/// The answer of ask(handle), if there is a library to ask.
template <class Ask>
Fit fits_library(const Ask& ask) {
    if (!why_no_library().empty()) return Fit::no("not applicable: " + why_no_library());
    try {
        const device::Stream stream;
        return ask(Handle{stream});
    } catch (const Unsupported& e) {
        return Fit::no(std::string{"not applicable: "} + e.what());
    }
}

/// The fastest plan, with what it refers to.
template <class Operations>
class Chosen {
public:
    using Data = std::array<void*, Operations::uids.size()>; ///< where its tensors lie

    /// Tries the engines that serve the precision on `data`, then settings of the best two.
    Chosen(const Handle& handle, Operations operations, Precision precision, const Data& data,
           const device::Stream& stream, device::EventClock& clock, Workspace& workspace)
        : operations_{std::make_unique<Operations>(std::move(operations))},
          target_{.handle = handle.get(), .properties = nullptr} {
        const PlanLimits few{
            .least = 1, .most = 4, .seconds = 60, .engines = 1, .values = 2, .rounds = 1};
        const Stopwatch watch;
        std::vector<Engine> listed = engines_for(target_, *operations_, precision, graph_);
        std::vector<PlanPoint> list;
        for (const Engine& engine : listed) list.push_back(engine.point());
        const std::vector<PlanPoint> others = other_engines(*graph_, precision, listed);
        std::deque<Made> made; // by point
        const auto time = [&](std::size_t i, const PlanPoint& point, double best) {
            if (i == made.size()) made.push_back(make(point, listed));
            if (made[i].plan == nullptr) return std::numeric_limits<double>::infinity();
            return seconds_of(*made[i].plan, handle, data, stream, clock, workspace, best);
        };
        PlanSearch search{device::properties().is_cpu() ? few : PlanLimits{}, time,
                          [&] { return watch.seconds(); },
                          [&](std::int64_t index) { return knobs_to_vary(*graph_, index); }};
        const auto fastest = search.run(list, others);
        if (!fastest) {
            stream.wait(); // where the device is lost, that is the reason
            throw LibraryError{joined("none of the ", made.size(),
                                      " plans that cuDNN offers works; the last one: ", why_)};
        }
        chosen_ = std::move(made[*fastest]);
        tried_ = search.works();
    }
    const Plan& plan() const { return *chosen_.plan; }
    /// "engine 41, TILE_SIZE 3": with the same version of the library the choice can be repeated.
    std::string name() const { return chosen_.engine->name(); }
    std::size_t tried() const { return tried_; }

private:
    struct Made {
        std::optional<Engine> engine;
        std::unique_ptr<Plan> plan; ///< none where it is refused, or needs much memory
    };

    Made make(const PlanPoint& point, std::vector<Engine>& listed) {
        Made made;
        const auto known = std::ranges::find(listed, point, &Engine::point);
        if (known != listed.end()) {
            made.engine.emplace(std::move(*known));
            listed.erase(known);
        } else {
            made.engine = graph_->engine(point.engine, point.knobs);
        }
        if (!made.engine) return made;
        try {
            auto plan = std::make_unique<Plan>(target_, *made.engine);
            if (std::cmp_less_equal(plan->workspace_bytes(), most_workspace))
                made.plan = std::move(plan);
            else
                why_ = joined("it needs ", plan->workspace_bytes(), " bytes of memory");
        } catch (const LibraryError& e) {
            why_ = e.what(); // others may work
        }
        return made;
    }
    /// Seconds of one call, infinite where the library refuses; a short call among several in a graph. The first call
    /// loads kernels, which waits for the device and must not happen behind a kernel that waits for us.
    double seconds_of(const Plan& plan, const Handle& handle, const Data& data,
                      const device::Stream& stream, device::EventClock& clock, Workspace& workspace,
                      double best) {
        const Arguments arguments{Operations::uids, data,
                                  workspace.at_least(plan.workspace_bytes())};
        const auto queue = [&] { arguments.queue(handle, plan); };
        constexpr double enough = 2e-3; // s: a thousand times what the clock resolves
        const std::uint64_t calls = device::properties().is_cpu() ? 1 : 10;
        try {
            queue();
            stream.wait();
            const double once = clock.seconds(1, queue);
            if (once > enough || once > 2 * best) return once;
            const device::Graph graph{stream, [&] {
                                          for (std::uint64_t i = 0; i < calls; ++i) queue();
                                      }};
            return clock.seconds(1, [&] { graph.launch(stream); }) / static_cast<double>(calls);
        } catch (const device::Error& e) { // also where it cannot be part of a graph
            why_ = e.what();
            cudaGetLastError(); // a launch that failed is not the fault of the next engine
            return std::numeric_limits<double>::infinity();
        }
    }

    std::unique_ptr<Operations> operations_;
    Target target_;
    std::unique_ptr<Graph> graph_;
    Made chosen_;
    std::size_t tried_ = 0;
    std::string why_; // the last engine that was refused was
};

} // namespace assay::workload::cudnn
