// SPDX-License-Identifier: Apache-2.0
//
// What a training step consists of: numbers on the device, the steps that make them, and the stages that check them.
// For .cu files.

#pragma once

#include "device/graph.hpp"
#include "gemm/cublaslt_tuned.hpp"
#include "model/training_stages.hpp"
#include "workload/device_tensor.cuh"

#include <cuda_bf16.h>

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>

namespace assay::model::training {

using Half = __nv_bfloat16;

template <class T>
struct Pick {
    const T* from;
    float* to;
    std::uint64_t stride;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t i) const {
        to[i] = static_cast<float>(from[i * stride]);
    }
};

/// Brings columns of matrices to the host, one at a time.
class Columns {
public:
    Columns(std::size_t most, const device::Stream& stream) : stream_{stream}, column_{most} {}
    template <class T>
    std::vector<float> operator()(const T* first, std::size_t stride, std::size_t count) {
        const std::lock_guard only{mutex_};
        device::for_each_now(stream_, count, Pick<T>{first, column_.data(), stride});
        return device::to_host(column_.data(), count, stream_);
    }
    const device::Stream& stream() const { return stream_; }

private:
    const device::Stream& stream_;
    device::Buffer<float> column_;
    std::mutex mutex_;
};

template <class T>
class StoredAs final : public Stored {
public:
    StoredAs(std::int64_t count, Columns& columns)
        : tensor_{count, columns.stream()}, columns_{columns} {}
    /// A part of another's.
    StoredAs(const StoredAs& whole, std::int64_t first, std::int64_t count)
        : tensor_{whole.data() + first, count, whole.columns_.stream()}, columns_{whole.columns_} {}

    T* data() const { return tensor_.data(); }
    std::size_t size() const override { return tensor_.size(); }
    float element(std::size_t i) const override { return tensor_.element(i); }
    std::vector<float> column(std::size_t first, std::size_t stride) const override {
        const std::size_t count = (size() - first + stride - 1) / stride;
        constexpr std::size_t few = 65536; // numbers that the host may have altogether
        if (size() > few) return columns_(data() + first, stride, count);
        std::vector<float> found(count);
        for (std::size_t i = 0; i < count; ++i) found[i] = element(first + i * stride);
        return found;
    }
    void change(Slice elements, const std::function<float(float)>& change) const override {
        tensor_.change(elements, change);
    }
    Output output() const override { return tensor_.output(); }
    void poison() const override { tensor_.poison(); }
    void look_again() const override { tensor_.look_again(); }

private:
    workload::DeviceTensor<T> tensor_;
    Columns& columns_;
};
using Narrow = StoredAs<Half>;
using Wide = StoredAs<float>;

/// All parameters with their moments, and as products take them.
struct State {
    State(std::int64_t count, Columns& columns)
        : masters{count, columns}, first{count, columns}, second{count, columns},
          weights{count, columns} {}
    Wide masters, first, second;
    Narrow weights;
};

/// A matrix as an operand: rows of neighbouring numbers.
template <class T>
gemm::Operand operand(const T* data, std::int64_t rows, std::int64_t inner) {
    return {std::is_same_v<T, float> ? gemm::Storage::fp32 : gemm::Storage::bf16,
            const_cast<T*>(data), // NOLINT: the library reads it
            nullptr, static_cast<std::uint64_t>(inner), static_cast<std::uint64_t>(rows)};
}

inline constexpr auto product_precision = gemm::DevicePrecision::bf16;
inline constexpr std::size_t some_samples = 32;
inline constexpr std::size_t few_samples = 8; // each reads a sequence, or a number of every token
inline constexpr std::size_t many_samples = 512;

/// Steps in their order, and stages. Stays where it is.
class Steps : public workload::Stages<Stored> {
public:
    void run() { graph_->launch(place_.stream); }
    Check verify() const {
        look_again();
        return Stages::verify();
    }
    double planning_seconds() const { return planning_seconds_; }

protected:
    Steps(device::Place& place, std::int64_t tokens)
        : place_{place}, columns_{static_cast<std::size_t>(tokens), place.stream} {}

    Wide& wide(std::size_t count) {
        return wide_.emplace_back(static_cast<std::int64_t>(count), columns_);
    }
    Narrow& narrow(std::size_t count) {
        return narrow_.emplace_back(static_cast<std::int64_t>(count), columns_);
    }
    void stage(Stored& of, std::size_t samples, std::string name,
               std::function<Expected(std::size_t at)> expect) {
        stages_.push_back(
            {&of, of.size(), samples, Precision::bf16, 1, std::move(expect), std::move(name)});
    }
    void add(std::function<void()> step) { steps_.push_back(std::move(step)); }
    template <class Kernel, class... Arguments>
    void add_kernel(Kernel* kernel, dim3 blocks, unsigned warps, const Arguments&... arguments) {
        const device::Launch how{blocks, warps * device::warp_lanes, place_.stream.get()};
        add([=] { device::launch(kernel, how, arguments...); });
    }
    template <class Body>
    void add_each(std::uint64_t count, const Body& body) {
        add([=, this] { device::on_each(place_.stream, count, body); });
    }
    /// Products of one kind get the same algorithm.
    void add_product(const std::string& kind, const gemm::Operands& operands) {
        auto& product = products_.emplace_back(
            library_, gemm::Conditions{.precision = product_precision}, operands,
            gemm::Scratch{.workspace = workspace_.data(), .bytes = workspace_.bytes()},
            place_.stream, place_.clock);
        kinds_[kind].push_back(&product);
        add([&product] { product.queue(); });
    }
    template <class T, class Make>
    void fill(T* to, std::uint64_t count, const Make& make) const {
        device::for_each_now(place_.stream, count, device::Fill{to, make});
    }
    static device::Uniform<float> uniform(const Numbers& of) { return {of.seed, of.low, of.high}; }

    /// Chooses algorithms on numbers of the usual kind, runs once, which loads kernels, and makes the graph.
    void prepare(const Context& context) {
        for (const Narrow& each : narrow_)
            fill(each.data(), each.size(), workload::Rounded<Half>{{1, -1, 1}});
        const Stopwatch watch;
        constexpr std::size_t most_operations = 4; // of a product, as in gemm.square
        const gemm::TrialLimits limits{.rounds = place_.properties.times(3, 1), .seconds = 0.5};
        workload::Kernels names;
        for (const auto& [kind, products] : kinds_) {
            place_.clock.expect_operations(most_operations * products.size());
            gemm::ChosenProduct::tune(products, gemm::Product::most, limits,
                                      gemm::Queued::in_graph);
            names.add(gemm::text_of(products.front()->config()));
        }
        planning_seconds_ = watch.seconds();
        const auto queue = [this] {
            for (const auto& step : steps_) step();
        };
        queue();
        device::check_launches();
        place_.stream.wait();
        graph_.emplace(place_.stream, queue);
        place_.clock.expect_operations(graph_->operations());
        look_again();
        for (auto& each : stages_) each.size = usual_size(*each.tensor);
        poison();
        context.setting("implementation", names.words());
        context.setting("operations", graph_->operations());
        context.setting("workspace_bytes", workspace_.bytes());
    }

    device::Place& place_;
    Columns columns_;

private:
    void look_again() const {
        for (const Narrow& each : narrow_) each.look_again();
        for (const Wide& each : wide_) each.look_again();
        for (const auto& each : stages_) each.tensor->look_again();
    }
    /// The root mean square of some numbers.
    static float usual_size(const Stored& of) {
        const workload::Samples samples{of.size(), many_samples, 0};
        double squares = 0;
        for (std::size_t i = 0; i < samples.size(); ++i)
            squares += std::pow(double{of.element(samples[i])}, 2);
        const double size = std::sqrt(squares / static_cast<double>(samples.size()));
        return static_cast<float>(std::fmax(size, 1e-20));
    }

    gemm::Library library_ = gemm::open_library();
    device::Buffer<std::uint8_t> workspace_{
        static_cast<std::size_t>(gemm::workspace_bytes(product_precision, {}))};
    std::deque<Narrow> narrow_;
    std::deque<Wide> wide_;
    std::deque<gemm::ChosenProduct> products_;
    std::map<std::string, std::vector<gemm::ChosenProduct*>> kinds_;
    std::vector<std::function<void()>> steps_;
    std::optional<device::Graph> graph_;
    double planning_seconds_ = 0;
};

} // namespace assay::model::training
