// SPDX-License-Identifier: Apache-2.0
//
// What the workloads share in using oneDNN: memory of ours in layouts of oneDNN's choice, single
// elements in it, and primitives with their arguments bound once.

#pragma once

#include "precision.hpp"

#include <assay/benchmark.hpp>
#include <assay/host.hpp>

#include <dnnl.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace assay::workload {

using Data = dnnl::memory::data_type;
using Layout = dnnl::memory::format_tag;
using Dimensions = dnnl::memory::dims;

inline dnnl::engine cpu() { return {dnnl::engine::kind::cpu, 0}; }

inline Data type_of(Precision precision) {
    switch (precision) {
    case Precision::bf16:
        return Data::bf16;
    case Precision::int8:
        return Data::s8;
    case Precision::fp16:
        return Data::f16;
    case Precision::fp32:
    case Precision::tf32:
    case Precision::fp8: // of devices
        break;
    }
    return Data::f32;
}

/// Elements, without what a layout adds to fill its blocks.
inline std::size_t elements_of(const dnnl::memory::desc& desc) {
    std::size_t count = 1;
    for (int d = 0; d < desc.data.ndims; ++d) count *= static_cast<std::size_t>(desc.data.dims[d]);
    return count;
}

/// The place of one element, counted in elements. See dnnl_blocking_desc_t: outer blocks have
/// strides, inner blocks follow each other.
inline std::int64_t offset_of(const dnnl_memory_desc_t& desc, std::span<const std::int64_t> at) {
    if (desc.format_kind != dnnl_blocked)
        throw std::logic_error{"oneDNN chose a layout without a description"};
    const dnnl_blocking_desc_t& blocks = desc.format_desc.blocking;
    std::vector<std::int64_t> rest(at.begin(), at.end());
    std::int64_t inner = 0;
    std::int64_t inner_stride = 1;
    for (int i = blocks.inner_nblks - 1; i >= 0; --i) {
        std::int64_t& position = rest[static_cast<std::size_t>(blocks.inner_idxs[i])];
        inner += position % blocks.inner_blks[i] * inner_stride;
        position /= blocks.inner_blks[i];
        inner_stride *= blocks.inner_blks[i];
    }
    std::int64_t offset = desc.offset0 + inner;
    for (std::size_t d = 0; d < rest.size(); ++d) offset += rest[d] * blocks.strides[d];
    return offset;
}

/// Memory of ours, first touched by the threads that use it, as oneDNN sees it.
class Tensor {
public:
    Tensor() = default;
    Tensor(const dnnl::memory::desc& desc, const dnnl::engine& engine)
        : type_{desc.data_type()}, bytes_{desc.get_size()}, memory_{desc, engine, bytes_.data()} {}

    /// Values in the order of the dimensions, brought into the tensor's type and layout.
    void fill(std::span<const float> values, dnnl::stream& stream) {
        const dnnl::memory::desc plain = plain_desc();
        const dnnl::engine engine = memory_.get_engine();
        // oneDNN's interface takes memory that it only reads as writable.
        dnnl::memory from{plain, engine, const_cast<float*>(values.data())}; // NOLINT
        dnnl::reorder{from, memory_}.execute(stream, from, memory_);
        stream.wait();
    }
    Output output() const {
        Output whole{bytes_};
        whole.element_bytes = dnnl::memory::data_type_size(type_);
        return whole;
    }
    void poison() {
        // All bits one: NaN in fp32 and bf16, 255 or -1 in 8 bits.
        on_each_slice(team_threads(), bytes_.size(), cache_line,
                      [&](Slice slice) { std::ranges::fill(bytes_.view(slice), std::byte{0xff}); });
    }

    /// Part of this tensor, `offset` elements from its start, as another shape. It does not keep
    /// the memory alive.
    Tensor part(const dnnl::memory::desc& desc, std::int64_t offset) {
        Tensor view;
        const dnnl::memory::desc own = memory_.get_desc();
        const auto skip =
            static_cast<std::size_t>(offset) * dnnl::memory::data_type_size(own.data_type());
        view.memory_ = {desc, memory_.get_engine(), bytes_.data() + skip};
        return view;
    }

    float at(std::span<const std::int64_t> position) const { return element(offset(position)); }
    void set(std::span<const std::int64_t> position, float value) {
        set_element(offset(position), value);
    }

    /// The number of an element counts in memory.
    float element(std::size_t i) const {
        switch (type_) {
        case Data::f32:
            return read<float>(i);
        case Data::bf16:
            return std::bit_cast<float>(std::uint32_t{read<std::uint16_t>(i)} << 16U);
        case Data::u8:
            return read<std::uint8_t>(i);
        case Data::s8:
            return read<std::int8_t>(i);
        default:
            return static_cast<float>(read<std::int32_t>(i));
        }
    }
    /// The value must be one that the type has; bf16 cuts.
    void set_element(std::size_t i, float value) {
        switch (type_) {
        case Data::f32:
            return write(i, value);
        case Data::bf16:
            return write(i, static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16U));
        case Data::u8:
            return write(i, static_cast<std::uint8_t>(value));
        case Data::s8:
            return write(i, static_cast<std::int8_t>(value));
        default:
            return write(i, static_cast<std::int32_t>(value));
        }
    }
    /// Makes change(element) of some.
    template <class Change>
    void change(Slice elements, const Change& change) {
        for (std::size_t i = elements.first; i < elements.last; ++i)
            set_element(i, change(element(i)));
    }
    const dnnl::memory& memory() const { return memory_; }
    /// The numbers, in the layout.
    std::byte* data() { return bytes_.data(); }
    std::size_t bytes() const { return bytes_.size(); }

private:
    template <class T>
    T read(std::size_t i) const {
        T value;
        std::memcpy(&value, bytes_.data() + i * sizeof value, sizeof value);
        return value;
    }
    template <class T>
    void write(std::size_t i, T value) {
        std::memcpy(bytes_.data() + i * sizeof value, &value, sizeof value);
    }
    std::size_t offset(std::span<const std::int64_t> position) const {
        return static_cast<std::size_t>(offset_of(memory_.get_desc().data, position));
    }
    dnnl::memory::desc plain_desc() const {
        const Dimensions dims = memory_.get_desc().dims();
        Dimensions strides(dims.size(), 1);
        for (std::size_t d = dims.size() - 1; d > 0; --d) strides[d - 1] = strides[d] * dims[d];
        return {dims, Data::f32, strides};
    }

    Data type_ = Data::undef;
    HostBuffer<std::byte> bytes_;
    dnnl::memory memory_;
};

/// DNNL_ARG_SRC and the like, and what is meant by it.
struct Argument {
    int which;
    const Tensor& tensor;
};

/// A primitive and what it works on.
class Step {
public:
    Step(dnnl::primitive primitive, std::span<const Argument> arguments)
        : primitive_{std::move(primitive)} {
        for (const Argument& argument : arguments) {
            memories_.push_back(argument.tensor.memory());
            arguments_.push_back({argument.which, memories_.back().get()});
        }
    }
    // NOLINTNEXTLINE(bugprone-exception-escape): get() throws where there is no primitive
    dnnl_status_t run(const dnnl::stream& stream) const noexcept {
        return dnnl_primitive_execute(primitive_.get(), stream.get(),
                                      static_cast<int>(arguments_.size()), arguments_.data());
    }

private:
    dnnl::primitive primitive_;
    std::vector<dnnl::memory> memories_; // keeps alive what the arguments point to
    std::vector<dnnl_exec_arg_t> arguments_;
};

/// Primitives one after the other.
class Steps {
public:
    explicit Steps(const dnnl::engine& engine) : stream_{engine} {}

    template <std::size_t N>
    void add(const dnnl::primitive& primitive, const Argument (&arguments)[N]) { // NOLINT: braces
        steps_.emplace_back(primitive, std::span<const Argument>{arguments});
    }
    // NOLINTNEXTLINE(bugprone-exception-escape): likewise
    void run() noexcept {
        for (const Step& step : steps_) keep_first(step.run(stream_));
        keep_first(dnnl_stream_wait(stream_.get()));
    }
    /// Throws where a run failed.
    void check() const {
        if (status_ != dnnl_success) throw dnnl::error{status_, "oneDNN could not run a primitive"};
    }
    dnnl::stream& stream() { return stream_; }

private:
    void keep_first(dnnl_status_t status) noexcept {
        if (status_ == dnnl_success) status_ = status;
    }

    dnnl::stream stream_;
    std::vector<Step> steps_;
    dnnl_status_t status_ = dnnl_success;
};

/// Makes a primitive's description, which throws where oneDNN has no kernel, and asks whether what it
/// has is worth measuring.
template <class Describe>
Fit fits_kernels(Describe&& describe) {
    Kernels kernels;
    try {
        describe(kernels);
    } catch (const dnnl::error& e) {
        return Fit::no(std::string{"not applicable: oneDNN has no kernel for this on this CPU: "} +
                       e.what());
    }
    if (kernels.has_reference())
        return Fit::no("not applicable: needs instructions this CPU lacks: oneDNN has only its "
                       "reference loops (" +
                       kernels.words() + ") for this precision here");
    return Fit::yes();
}

} // namespace assay::workload
