// SPDX-License-Identifier: Apache-2.0
#include "device/graph.hpp"
#include "device/pack.hpp"
#include "gemm/device_precision.hpp"
#include "model/resnet_stages.hpp"
#include "workload/cudnn_plans.hpp"
#include "workload/device_attention_data.cuh"
#include "workload/device_tensor.cuh"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <tuple>
#include <variant>
#include <vector>

namespace assay::model {
namespace {

namespace cudnn = workload::cudnn;
using workload::DeviceTensor;
using workload::Format;

// --- kernels between the convolutions -------------------------------------------------------------------

/// The largest of 3 x 3 places, every second of each direction; eight channels at a time.
template <class T>
struct MaxPool {
    using Eight = device::Pack<T, 8>;
    const Eight* from;
    Eight* to;
    std::uint32_t packs; ///< of a place
    std::uint32_t edge;  ///< of the result; the input's is twice as long
    ASSAY_HOST_DEVICE void operator()(std::uint64_t i) const {
        const auto place = static_cast<std::uint32_t>(i / packs);
        const std::uint64_t first_row = 2 * (place / edge / edge * edge); // of the image
        float most[8];
        for (float& each : most) each = -INFINITY;
        for (std::uint32_t tap = 0; tap < 9; ++tap) {
            // Row -1 wraps around, so that it lies outside as well.
            const std::uint32_t row = 2 * (place / edge % edge) + tap / 3 - 1;
            const std::uint32_t column = 2 * (place % edge) + tap % 3 - 1;
            if (row >= 2 * edge || column >= 2 * edge) continue;
            const Eight eight = device::read_only(
                from + ((first_row + row) * 2 * edge + column) * packs + i % packs);
            for (unsigned k = 0; k < 8; ++k)
                most[k] = fmaxf(most[k], static_cast<float>(eight.values[k]));
        }
        Eight result;
        for (unsigned k = 0; k < 8; ++k) result.values[k] = static_cast<T>(most[k]);
        to[i] = result;
    }
};

/// The mean of a channel over all places of an image.
template <class T>
struct Mean {
    const T* from;
    T* to;
    std::uint32_t channels;
    std::uint32_t places;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t i) const {
        const T* const first = from + i / channels * places * channels + i % channels;
        float sum = 0;
        for (std::uint32_t place = 0; place < places; ++place)
            sum += static_cast<float>(device::read_only(first + place * channels));
        to[i] = static_cast<T>(sum / static_cast<float>(places));
    }
};

/// The first of the greatest scores of an image, by a warp.
template <class T>
__global__ void choose(const T* scores, std::int32_t* classes) {
    const T* const row = scores + static_cast<std::uint64_t>(blockIdx.x) * resnet_classes;
    float best = -INFINITY;
    std::int32_t chosen = resnet_classes;
    for (auto i = static_cast<std::int32_t>(threadIdx.x); i < resnet_classes;
         i += device::warp_lanes) {
        const auto score = static_cast<float>(row[i]);
        if (score > best) {
            best = score;
            chosen = i;
        }
    }
    for (unsigned distance = device::warp_lanes / 2; distance > 0; distance /= 2) {
        const float score = __shfl_down_sync(device::every_lane, best, distance);
        const std::int32_t other = __shfl_down_sync(device::every_lane, chosen, distance);
        if (score > best || (score == best && other < chosen)) {
            best = score;
            chosen = other;
        }
    }
    if (threadIdx.x == 0) classes[blockIdx.x] = chosen;
}

// --- the network ----------------------------------------------------------------------------------------

/// Matrix units take eight channels at a time: those of images are filled with zeros.
constexpr std::int64_t stored_channels = 8;
Layer stored(Layer layer) {
    if (layer.inputs == image_channels) layer.inputs = stored_channels;
    return layer;
}
template <bool adds>
cudnn::FusedConvolution<adds> operations_of(const ResNetNode& node, std::int64_t images,
                                            Precision precision) {
    return {stored(node.layer), images, precision, node.has_relu};
}
/// One plan serves both.
bool are_alike(const ResNetNode& a, const ResNetNode& b) {
    const auto shape = [](const ResNetNode& n) {
        return std::tuple{n.layer.inputs, n.layer.outputs, n.layer.size, n.layer.kernel,
                          n.layer.stride, n.adds(),        n.has_relu};
    };
    return shape(a) == shape(b);
}

template <class T>
constexpr Precision precision_of = workload::is_bf16<T> ? Precision::bf16 : Precision::fp16;

template <class T>
double lost_in_sums(std::int64_t products) {
    constexpr auto precision =
        workload::is_bf16<T> ? gemm::DevicePrecision::bf16 : gemm::DevicePrecision::fp16;
    return gemm::tolerance_of(precision, gemm::Accumulation::exact, products).absolute;
}

template <class T>
class DeviceResNet : public ResNetStages<DeviceTensor<T>, DeviceTensor<std::int32_t>> {
public:
    DeviceResNet(ResNetSize size, std::int64_t images, device::Place& place, const Context& context)
        : Base{{size, precision_of<T>, true},
               images,
               {.image_channels = stored_channels,
                .scores = precision_of<T>,
                .lost = lost_in_sums<T>}},
          place_{place}, handle_{place.stream} {
        constexpr std::size_t most_operations = 4; // of one plan: layouts, parts of sums, the layer
        place_.clock.expect_operations(most_operations);
        const auto edge = net().image_edge();
        images_ = tensor(edge * edge * stored_channels);
        classes_ = {images, place_.stream};
        fill(images_.data(), images_.size(), data_.pixels(), stored_channels, image_channels);
        this->add_stages([&](std::size_t i) { return tensor(data_.node(i).results()); });
        for (std::size_t i = 0; i < net().nodes().size(); ++i) add_step(i);
        add([this, images] {
            device::launch(choose<T>,
                           {static_cast<unsigned>(images), device::warp_lanes, place_.stream.get()},
                           results_.back().data(), classes_.data());
        });
        graph_.emplace(place_.stream, [this] {
            for (const auto& step : steps_) step();
        });
        place_.clock.expect_operations(graph_->operations());
        this->poison();
        context.setting("implementation", names_.words());
        context.setting("plans_tried", tried_);
        context.setting("operations", graph_->operations());
    }
    void run() { graph_->launch(place_.stream); }
    Check verify() const {
        images_.look_again();
        classes_.look_again();
        for (const auto& results : results_) results.look_again();
        return Base::verify();
    }
    double planning_seconds() const { return planning_seconds_; }

private:
    using Base = ResNetStages<DeviceTensor<T>, DeviceTensor<std::int32_t>>;
    using Base::classes_;
    using Base::data_;
    using Base::images_;
    using Base::images_count_;
    using Base::net;
    using Base::results_;
    template <bool adds>
    struct Planned {
        ResNetNode node;
        cudnn::Chosen<cudnn::FusedConvolution<adds>> chosen;
    };

    DeviceTensor<T> tensor(std::int64_t of_image) const {
        return {images_count_ * of_image, place_.stream};
    }
    template <class Make>
    T* constant(std::int64_t count, const Make& make, std::int64_t stored, std::int64_t channels) {
        const auto& made = constants_.emplace_back(static_cast<std::size_t>(count));
        fill(made.data(), made.size(), make, stored, channels);
        return made.data();
    }
    template <class Make>
    void fill(T* to, std::uint64_t count, const Make& make, std::int64_t stored,
              std::int64_t channels) const {
        device::for_each_now(
            place_.stream, count,
            device::Fill{to, Padded<T, Make>{make, static_cast<std::uint64_t>(stored),
                                             static_cast<std::uint64_t>(channels)}});
    }
    static device::Uniform<float> uniform(const Numbers& of) { return {of.seed, of.low, of.high}; }
    /// Done at once, so that the next has numbers to work on, and in every call.
    void add(std::function<void()> step) {
        step();
        device::check_launches();
        place_.stream.wait();
        steps_.push_back(std::move(step));
    }
    void add_step(std::size_t i) {
        const ResNetNode& n = data_.node(i);
        const auto channels = static_cast<std::uint32_t>(n.layer.outputs);
        const T* const from = this->source_of(n).data();
        T* const to = results_[i].data();
        const std::uint64_t count = results_[i].size();
        if (n.kind == ResNetNode::Kind::max_pool) {
            using Eight = device::Pack<T, 8>;
            const MaxPool<T> pool{reinterpret_cast<const Eight*>(from),
                                  reinterpret_cast<Eight*>(to), channels / 8,
                                  static_cast<std::uint32_t>(n.edge())};
            add([=, this] { device::on_each(place_.stream, count / 8, pool); });
        } else if (n.kind == ResNetNode::Kind::mean) {
            const Mean<T> mean{from, to, channels,
                               static_cast<std::uint32_t>(n.layer.size * n.layer.size)};
            add([=, this] { device::on_each(place_.stream, count, mean); });
        } else if (n.adds()) {
            add_convolution<true>(i);
        } else {
            add_convolution<false>(i);
        }
    }
    template <bool adds>
    void add_convolution(std::size_t i) {
        using Operations = cudnn::FusedConvolution<adds>;
        const ResNetNode& n = data_.node(i);
        const Layer layer = stored(n.layer);
        typename cudnn::Chosen<Operations>::Data data{
            this->source_of(n).data(),
            constant(layer.weights(), uniform(data_.weights(i)), layer.inputs, n.layer.inputs),
            constant(layer.outputs, uniform(data_.biases(i)), 1, 1), results_[i].data()};
        if constexpr (adds) data[4] = this->result_of(n.shortcut).data();
        const auto& chosen = plan<adds>(n, data);
        names_.add(chosen.name());
        const auto& arguments =
            arguments_.emplace_back(Operations::uids, data, workspace_.at_least(0));
        add([this, &arguments, &chosen] { arguments.queue(handle_, chosen.plan()); });
    }
    template <bool adds>
    const auto& plan(const ResNetNode& n, const auto& data) {
        auto& plans = std::get<std::deque<Planned<adds>>>(plans_);
        for (const auto& before : plans)
            if (are_alike(before.node, n)) return before.chosen;
        const Stopwatch watch;
        plans.push_back({n,
                         {handle_, operations_of<adds>(n, images_count_, precision_of<T>),
                          precision_of<T>, data, place_.stream, place_.clock, workspace_}});
        planning_seconds_ += watch.seconds();
        tried_ += plans.back().chosen.tried();
        return plans.back().chosen;
    }

    device::Place& place_;
    cudnn::Handle handle_;
    cudnn::Workspace workspace_{cudnn::most_workspace};
    std::deque<device::Buffer<T>> constants_;                                 // weights, biases
    std::tuple<std::deque<Planned<false>>, std::deque<Planned<true>>> plans_; // of all shapes
    std::deque<cudnn::Arguments> arguments_;
    std::vector<std::function<void()>> steps_;
    std::optional<device::Graph> graph_;
    workload::Kernels names_;
    std::size_t tried_ = 0;
    double planning_seconds_ = 0;
};

class CudnnImageClassification : private device::Place,
                                 public workload::OneOfFormats<DeviceResNet> {
public:
    struct Params {
        ResNetSize model = ResNetSize::resnet50;
        std::int64_t batch = 1;
        Format precision = Format::bf16;
    };
    static constexpr Info info{
        .id = "model.image_classification",
        .question = "How many images per second does this device classify with ResNet-50?",
        .method =
            "One pass of a batch through ResNet-50 v1.5, from images of 224 x 224 on the device "
            "to 1000 scores each and the class with the greatest, as one CUDA graph. "
            "Convolutions and classifier are graphs of cuDNN with fused bias, residual and ReLU, "
            "each by the fastest plan of a trial of a second, as in workload.convolution; "
            "poolings and the choice are kernels of this program. Channels lie last, three of "
            "images are filled to eight; sums are fp32. Batch norms are folded into weights. "
            "Weights and images are random. Every step is checked: a sample of its results, "
            "spread evenly, is recomputed in fp64 from what the steps before have stored, within "
            "the rounding of sums and of storing; the class exactly.",
        .caveats = "The rate of a library: another version may be faster, and int8 is. Decoding, "
                   "scaling and copying of images are left out, and so is a server: calls follow "
                   "each other. Random weights classify nothing; their speed is that of trained "
                   "ones. FLOP include padding, as the literature counts them (8.2e9 per image). "
                   "Every step has its own memory. A small batch does not fill a device.",
        .headline = "item_rate",
        .ceiling = "peak.tensor memory.stream",
        .place = "cuda",
        .bound = Bound::matrix_units,
        .noise = Noise::workload,
        .items = "images",
    };
    static constexpr auto axes = std::tuple_cat(
        image_axes<Params>,
        std::tuple{choice("precision", "type of weights and activations; sums are fp32",
                          &Params::precision,
                          {Name{"bf16", Format::bf16}, Name{"fp16", Format::fp16}})});
    static constexpr bool single_call = true; // a call is a batch of images, as a user waits for it

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        const ResNet net{p.model};
        const std::int64_t edge = net.image_edge();
        const std::int64_t of_image =
            net.activations() + edge * edge * (stored_channels - image_channels);
        const std::int64_t bytes = 2 * (p.batch * of_image + net.weights()) + cudnn::most_workspace;
        if (Fit fit = device::fits_device(bytes, 80); !fit) return fit;
        const auto precision = p.precision == Format::bf16 ? Precision::bf16 : Precision::fp16;
        return cudnn::fits_library([&](const cudnn::Handle& handle) {
            std::vector<ResNetNode> asked;
            for (const ResNetNode& n : net.nodes()) {
                const auto is_alike = [&](const ResNetNode& before) {
                    return are_alike(before, n);
                };
                if (!n.has_weights() || std::ranges::any_of(asked, is_alike)) continue;
                asked.push_back(n);
                const auto ask = [&](const auto& operations) {
                    return cudnn::fits_engines(handle, operations, precision);
                };
                const Fit fit = n.adds() ? ask(operations_of<true>(n, p.batch, precision))
                                         : ask(operations_of<false>(n, p.batch, precision));
                if (!fit) return fit;
            }
            return Fit::yes();
        });
    }

    CudnnImageClassification(const Params& p, const Context& context)
        : OneOf{p.precision, p.model, p.batch, static_cast<device::Place&>(*this), context} {}

    device::EventClock& clock() { return device::Place::clock; }
    void metrics(Metrics& metrics) const {
        metrics.add("planning_time",
                    std::visit([](const auto& net) { return net.planning_seconds(); }, state()));
    }
};

} // namespace

extern constinit const assay_benchmark cudnn_image_classification =
    define<CudnnImageClassification>();

} // namespace assay::model
