// SPDX-License-Identifier: Apache-2.0
//
// Convolutions of a network by cuDNN: what is measured and checked, whatever the network. For .cu files.

#pragma once

#include "device/back_to_back.hpp"
#include "device/benchmark.cuh"
#include "gemm/device_precision.hpp"
#include "workload/convolution_layers.hpp"
#include "workload/cudnn_plans.hpp"

#include <optional>

namespace assay::workload {

using cudnn::ConvolutionOperations;

/// Numbers of a tensor counted as its dimensions are written (image,
/// channel, place), and where they lie: channels last.
struct ChannelsLast {
    std::uint64_t channels; ///< 1: as they are counted
    std::uint64_t places;   ///< of an image
    ASSAY_HOST_DEVICE std::uint64_t number_at(std::uint64_t lies) const {
        const std::uint64_t image = lies / (channels * places);
        const std::uint64_t place = lies / channels % places;
        return (image * channels + lies % channels) * places + place;
    }
    ASSAY_HOST_DEVICE std::uint64_t lies_at(std::uint64_t number) const {
        const std::uint64_t image = number / (channels * places);
        const std::uint64_t channel = number / places % channels;
        return (image * places + number % places) * channels + channel;
    }
};

struct FillNumbers {
    gemm::Operand to;
    ChannelsLast order;
    Numbers of;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t lies) const {
        const auto value = random_uniform<float>(of.seed, order.number_at(lies), of.low, of.high);
        gemm::store(to, lies, static_cast<double>(value));
    }
};
/// ConvolutionData::damaged() of some results.
struct Damage {
    gemm::Operand in;
    ChannelsLast order;
    std::uint64_t first;
    double scale;
    double damage;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t i) const {
        const std::uint64_t lies = order.lies_at(first + i);
        const double value = gemm::load(in, 0, lies);
        gemm::store(in, lies, value + damage * (value > scale ? value : scale));
    }
};

constexpr gemm::Storage storage_of(Precision precision) {
    if (precision == Precision::fp16) return gemm::Storage::fp16;
    if (precision == Precision::tf32) return gemm::Storage::tf32;
    return precision == Precision::bf16 ? gemm::Storage::bf16 : gemm::Storage::fp32;
}
/// Error of matrix units in a sum, in units of its size; fp32 does not use them.
inline OnDevice on_device(Precision precision, std::int64_t terms) {
    if (precision == Precision::fp32) return {};
    const auto as = precision == Precision::tf32   ? gemm::DevicePrecision::tf32
                    : precision == Precision::fp16 ? gemm::DevicePrecision::fp16
                                                   : gemm::DevicePrecision::bf16;
    return {.lost = gemm::tolerance_of(as, gemm::Accumulation::exact, terms).absolute};
}

/// A tensor on the device.
class Elements {
public:
    Elements(gemm::Storage storage, std::int64_t count, const ChannelsLast& order)
        : order_{order}, bytes_{static_cast<std::size_t>(count * gemm::bits_of(storage) / 8)},
          operand_{storage, bytes_.data(), nullptr, static_cast<std::uint64_t>(count), 1} {}
    void fill(const Numbers& of, const device::Stream& stream) const {
        device::for_each_now(stream, operand_.inner, FillNumbers{operand_, order_, of});
    }
    float at(std::uint64_t number, const device::Stream& stream) const {
        const std::size_t size = element_bytes();
        auto bytes = device::to_host(bytes_.data() + order_.lies_at(number) * size, size, stream);
        const gemm::Operand one{operand_.storage, bytes.data(), nullptr, 1, 1};
        return static_cast<float>(gemm::load(one, 0, 0));
    }
    std::size_t element_bytes() const { return bytes_.size() / operand_.inner; }
    const device::Buffer<std::uint8_t>& bytes() const { return bytes_; }
    const gemm::Operand& operand() const { return operand_; }
    const ChannelsLast& order() const { return order_; }

private:
    ChannelsLast order_;
    device::Buffer<std::uint8_t> bytes_;
    gemm::Operand operand_;
};

/// One convolution with its own data.
struct DeviceConvolution {
    DeviceConvolution(const Layer& shape, std::int64_t batch, Precision precision,
                      std::uint64_t seed, const device::Stream& on)
        : layer{shape}, data{shape, precision, seed, on_device(precision, shape.terms())},
          stream{on}, source{elements(precision, batch, shape.inputs, shape.source_elements())},
          weights{elements(precision, shape.outputs, shape.inputs, shape.terms())},
          bias{elements(precision, 1, shape.outputs, shape.outputs)},
          result{elements(precision, batch, shape.outputs, shape.result_elements(), true)},
          results{static_cast<std::size_t>(batch * shape.result_elements())} {
        source.fill(data.sources(), stream);
        weights.fill(data.weights(), stream);
        bias.fill(data.biases(), stream);
    }
    cudnn::Chosen<ConvolutionOperations>::Data tensors() const {
        return {source.bytes().data(), weights.bytes().data(), bias.bytes().data(),
                result.bytes().data()};
    }
    float at(std::size_t number) const { return result.at(number, stream); }
    void spoil(Slice damage) const {
        device::for_each_now(stream, damage.last - damage.first,
                             Damage{result.operand(), result.order(), damage.first,
                                    data.sum_scale(), data.damage()});
    }

    Layer layer;
    ConvolutionData data;
    const device::Stream& stream;
    Elements source;
    Elements weights;
    Elements bias;
    Elements result;
    std::size_t results; // elements

private:
    static Elements elements(Precision precision, std::int64_t images, std::int64_t channels,
                             std::int64_t of_one, bool is_result = false) {
        if (!cudnn::has_channels_last(precision)) channels = 1;
        // No rounding to tf32.
        const bool is_wide = is_result && precision == Precision::tf32;
        return {
            storage_of(is_wide ? Precision::fp32 : precision),
            images * of_one,
            {static_cast<std::uint64_t>(channels), static_cast<std::uint64_t>(of_one / channels)}};
    }
};

class DeviceLayers : private device::Place, public Layers<DeviceConvolution> {
public:
    void run() { graph_->launch(stream); }
    Check verify() const {
        return check(
            " in fp64; 1 is four times u sqrt(products) of a typical sum, what matrix units "
            "cut off, and one rounding of the output");
    }
    Outputs outputs() const {
        Outputs all;
        for (const DeviceConvolution& c : convolutions_)
            all.push_back(device::output(c.result.bytes().data(), c.result.bytes().bytes(),
                                         c.result.element_bytes(), stream));
        return all;
    }
    void poison() {
        for (const DeviceConvolution& c : convolutions_)
            device::set_bytes(c.result.bytes(), 0xff, stream); // NaN
        next_round();
    }
    device::EventClock& clock() { return device::Place::clock; }
    void metrics(Metrics& to) {
        to.add("planning_time", planning_seconds_);
        device::add_back_to_back(to, device::Place::clock, stream, [this] { queue(); });
    }

protected:
    DeviceLayers(const std::vector<Layer>& layers, bool is_whole, std::int64_t batch,
                 Precision precision, const Context& context)
        : Layers{is_whole, batch, precision}, handle_{stream} {
        constexpr std::size_t most_operations = 4; // of one plan: layouts, parts of sums, the layer
        device::Place::clock.expect_operations(most_operations);
        Kernels kernels;
        std::size_t tried = 0;
        const char* planned = nullptr;
        for (const Layer& layer : layers) {
            const DeviceConvolution& c =
                convolutions_.emplace_back(layer, batch, precision, convolutions_.size(), stream);
            if (layer.name != planned) { // or it is the same layer again, with other data
                const Stopwatch watch;
                plans_.push_back(std::make_unique<Chosen>(
                    handle_, ConvolutionOperations{layer, batch, precision}, precision, c.tensors(),
                    stream, device::Place::clock, workspace_));
                planning_seconds_ += watch.seconds();
                tried += plans_.back()->tried();
                planned = layer.name;
            }
            plan_of_.push_back(plans_.size() - 1);
            kernels.add(plans_.back()->name());
        }
        void* const workspace = workspace_.at_least(0);
        for (const DeviceConvolution& c : convolutions_)
            arguments_.emplace_back(ConvolutionOperations::uids, c.tensors(), workspace);
        queue(); // loads what a recording could not
        stream.wait();
        graph_.emplace(stream, [this] { queue(); });
        device::Place::clock.expect_operations(graph_->operations());
        poison();
        context.setting("implementation", kernels.words());
        context.setting("plans_tried", tried);
        context.setting("operations", graph_->operations());
        context.setting("workspace_bytes", workspace_.bytes());
        context.setting("layers", convolutions_.size());
    }
    static Fit fits(const std::vector<Layer>& layers, std::int64_t batch, Precision precision) {
        std::int64_t elements = 0;
        for (const Layer& layer : layers)
            elements +=
                batch * (layer.source_elements() + layer.result_elements()) + layer.weights();
        const int capability = precision == Precision::fp32 ? 0 : 80; // tf32 and bf16
        const std::int64_t bytes = bytes_of(precision) * elements + cudnn::most_workspace;
        if (Fit fit = device::fits_device(bytes, capability); !fit) return fit;
        return cudnn::fits_library([&](const cudnn::Handle& handle) {
            const char* asked = nullptr;
            for (const Layer& layer : layers) {
                if (layer.name == asked) continue;
                const ConvolutionOperations operations{layer, batch, precision};
                if (Fit fit = cudnn::fits_engines(handle, operations, precision); !fit) return fit;
                asked = layer.name;
            }
            return Fit::yes();
        });
    }

private:
    using Chosen = cudnn::Chosen<ConvolutionOperations>;

    void queue() const {
        for (std::size_t i = 0; i < arguments_.size(); ++i)
            arguments_[i].queue(handle_, plans_[plan_of_[i]]->plan());
    }

    cudnn::Handle handle_;
    cudnn::Workspace workspace_;
    std::vector<std::unique_ptr<Chosen>> plans_; // of different layers
    std::vector<std::size_t> plan_of_;           // by convolution
    std::vector<cudnn::Arguments> arguments_;
    std::optional<device::Graph> graph_;
    double planning_seconds_ = 0;
};

} // namespace assay::workload
