// SPDX-License-Identifier: Apache-2.0
//
// Numbers of a stage (stages.hpp) in a device's memory. For .cu files.

#pragma once

#include "device/benchmark.cuh"
#include "device/pack.hpp"
#include "workload/gelu.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

namespace assay::workload {

/// Numbers on the device. The host sees pages of them, which are copied when they are first looked at.
template <class T>
class DeviceTensor {
public:
    DeviceTensor() = default;
    /// Memory for `held` numbers where these are more: what lies behind the tensor is zero.
    DeviceTensor(std::int64_t count, const device::Stream& stream, std::int64_t held = 0)
        : stream_{&stream}, own_{static_cast<std::size_t>(std::max(count, held))},
          first_{own_.data()}, size_{static_cast<std::size_t>(count)} {
        if (held > count) device::set_bytes(own_, 0, stream);
    }
    /// A part of another's numbers, which must outlive it.
    DeviceTensor(T* first, std::int64_t count, const device::Stream& stream)
        : stream_{&stream}, first_{first}, size_{static_cast<std::size_t>(count)} {}

    T* data() const { return first_; }
    std::size_t size() const { return size_; }
    /// Forgets what was copied.
    void look_again() const { pages_ = std::vector<Page>((size() + page - 1) / page); }
    float element(std::size_t i) const {
        Page& of = pages_[i / page];
        std::call_once(of.copied, [&] {
            const std::size_t first = i / page * page;
            of.numbers = device::to_host(data() + first, std::min(page, size() - first), *stream_);
        });
        return static_cast<float>(of.numbers[i % page]);
    }
    template <class Change>
    void change(Slice elements, const Change& change) const {
        T* const first = data() + elements.first;
        auto some = device::to_host(first, elements.last - elements.first, *stream_);
        for (T& number : some) number = static_cast<T>(change(static_cast<float>(number)));
        device::to_device(std::span<const T>{some}, first, *stream_);
    }
    Output output() const {
        return device::output(data(), size() * sizeof(T), sizeof(T), *stream_);
    }
    void poison() const { // NaN
        device::check(cudaMemsetAsync(data(), 0xff, size() * sizeof(T), stream_->get()));
        stream_->wait();
    }

private:
    static constexpr std::size_t page = 16384;
    struct Page {
        std::once_flag copied;
        std::vector<T> numbers;
    };
    const device::Stream* stream_ = nullptr;
    device::Buffer<T> own_;
    T* first_ = nullptr;
    std::size_t size_ = 0;
    mutable std::vector<Page> pages_;
};

/// GELU of eight numbers.
template <class T, GeluForm form = GeluForm::erf>
struct Gelu {
    const T* from;
    T* to;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t i) const {
        using Eight = device::Pack<T, 8>;
        Eight eight = device::read_only(reinterpret_cast<const Eight*>(from) + i);
        for (T& number : eight.values)
            number = static_cast<T>(gelu<form>(static_cast<float>(number)));
        reinterpret_cast<Eight*>(to)[i] = eight;
    }
};

} // namespace assay::workload
