// SPDX-License-Identifier: Apache-2.0
//
// Owners of what CUDA hands out: a stream, an event, memory of the device, pinned memory of the host.
// Nothing here uses the default stream, which would wait for everything else.

#pragma once

#include "device/error.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <span>
#include <type_traits>
#include <vector>

namespace assay::device {

class Stream {
public:
    explicit Stream(const std::source_location& from = std::source_location::current()) {
        cudaStream_t raw = nullptr;
        check(cudaStreamCreateWithFlags(&raw, cudaStreamNonBlocking), from);
        stream_.reset(raw);
    }
    cudaStream_t get() const { return stream_.get(); }
    /// Waits for all that was queued, and throws what went wrong in it.
    void wait(const std::source_location& from = std::source_location::current()) const {
        check(cudaStreamSynchronize(get()), from);
    }

private:
    struct Destroy {
        void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); }
    };
    std::unique_ptr<std::remove_pointer_t<cudaStream_t>, Destroy> stream_;
};

class Event {
public:
    explicit Event(const std::source_location& from = std::source_location::current()) {
        cudaEvent_t raw = nullptr;
        check(cudaEventCreate(&raw), from);
        event_.reset(raw);
    }
    cudaEvent_t get() const { return event_.get(); }
    void record(const Stream& stream,
                const std::source_location& from = std::source_location::current()) const {
        check(cudaEventRecord(get(), stream.get()), from);
    }
    /// Waits until the event has happened, and throws what went wrong before it.
    void wait(const std::source_location& from = std::source_location::current()) const {
        check(cudaEventSynchronize(get()), from);
    }
    /// Seconds from `earlier` to this one; both have happened. Resolution about 0.5 us.
    double seconds_since(const Event& earlier,
                         const std::source_location& from = std::source_location::current()) const {
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, earlier.get(), get()), from);
        return 1e-3 * static_cast<double>(milliseconds);
    }

private:
    struct Destroy {
        void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
    };
    std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, Destroy> event_;
};

/// Memory of the device, not initialised; 256-byte aligned, as cudaMalloc promises.
template <class T>
class Buffer {
public:
    Buffer() = default;
    explicit Buffer(std::size_t count,
                    const std::source_location& from = std::source_location::current())
        : count_{count} {
        void* raw = nullptr;
        if (count > 0) check(cudaMalloc(&raw, bytes()), from);
        memory_.reset(static_cast<T*>(raw));
    }
    T* data() const { return memory_.get(); }
    std::size_t size() const { return count_; }
    std::size_t bytes() const { return count_ * sizeof(T); }

private:
    struct Free {
        void operator()(T* memory) const { cudaFree(memory); }
    };
    std::size_t count_ = 0;
    std::unique_ptr<T, Free> memory_;
};

/// Memory of the host that the device reads and writes by itself: pinned, at one address for both.
template <class T>
class PinnedBuffer {
public:
    PinnedBuffer() = default;
    explicit PinnedBuffer(std::size_t count,
                          const std::source_location& from = std::source_location::current())
        : count_{count} {
        void* raw = nullptr;
        if (count > 0)
            check(
                cudaHostAlloc(&raw, count * sizeof(T), cudaHostAllocPortable | cudaHostAllocMapped),
                from);
        memory_.reset(static_cast<T*>(raw));
    }
    T* data() const { return memory_.get(); }
    std::size_t size() const { return count_; }
    std::span<T> view() const { return {data(), count_}; }

private:
    struct Free {
        void operator()(T* memory) const { cudaFreeHost(memory); }
    };
    std::size_t count_ = 0;
    std::unique_ptr<T, Free> memory_;
};

/// Copies that wait: for checks, never inside a window.
template <class T>
std::vector<T> to_host(const T* from, std::size_t count, const Stream& stream) {
    std::vector<T> values(count);
    check(cudaMemcpyAsync(values.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost,
                          stream.get()));
    stream.wait();
    return values;
}
template <class T>
std::vector<T> to_host(const Buffer<T>& from, const Stream& stream) {
    return to_host(from.data(), from.size(), stream);
}
template <class T>
void to_device(std::span<const T> from, T* to, const Stream& stream) {
    check(
        cudaMemcpyAsync(to, from.data(), from.size_bytes(), cudaMemcpyHostToDevice, stream.get()));
    stream.wait();
}

/// One element there and back.
template <class T>
T get(const T* from, const Stream& stream) {
    return to_host(from, 1, stream).front();
}
template <class T>
void put(const T& value, T* to, const Stream& stream) {
    to_device(std::span<const T>{&value, 1}, to, stream);
}

/// Makes change(element) of an element.
template <class T, class Change>
void change(T* at, const Stream& stream, const Change& change) {
    put(static_cast<T>(change(get(at, stream))), at, stream);
}

/// Sets every byte, and waits: with 0xff every floating-point number is a NaN.
template <class T>
void set_bytes(const Buffer<T>& in, int byte, const Stream& stream) {
    check(cudaMemsetAsync(in.data(), byte, in.bytes(), stream.get()));
    stream.wait();
}

/// Damages one element by one bit; `pick` is random and says which.
template <class T>
void flip_bit(T* data, std::size_t count, std::uint64_t pick, const Stream& stream) {
    const T bit = T{1} << (pick % (8 * sizeof(T)));
    change(data + (pick >> 8U) % count, stream, [bit](T value) { return value ^ bit; });
}
template <class T>
void flip_bit(const Buffer<T>& in, std::uint64_t pick, const Stream& stream) {
    flip_bit(in.data(), in.size(), pick, stream);
}

} // namespace assay::device
