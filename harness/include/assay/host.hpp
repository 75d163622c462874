// SPDX-License-Identifier: Apache-2.0
//
// Host memory for benchmarks: aligned, on huge pages where they help, and first touched by the
// threads that use it, which places its pages on their NUMA nodes. Also barriers that keep the
// optimiser from removing timed code.

#pragma once

#include "assay/parallel.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

namespace assay {

/// Forces the value to be computed: the optimiser must assume that it is read.
template <class T>
inline void keep(const T& value) {
    if constexpr (std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(void*))
        asm volatile("" : : "r,m"(value) : "memory"); // NOLINT(hicpp-no-assembler)
    else
        asm volatile("" : : "m"(value) : "memory"); // NOLINT(hicpp-no-assembler)
}

/// Memory barrier for the optimiser: values read before are not reused, writes are not removed.
inline void clobber() {
    asm volatile("" : : : "memory"); // NOLINT(hicpp-no-assembler)
}

inline constexpr std::size_t cache_line = 64; // bytes; on all supported CPUs
inline constexpr std::size_t huge_page = std::size_t{2}
                                         << 20U; // bytes; x86-64 and usual on aarch64

/// Elements of T in one cache line: the granule of slices that threads write.
template <class T>
inline constexpr std::size_t line_granule = sizeof(T) < cache_line ? cache_line / sizeof(T) : 1;

/// A per-thread value on its own cache line.
template <class T>
struct alignas(cache_line) Own {
    T value{};
};

/// The sum of body(thread, threads) over all threads, in order of threads.
template <class Body>
auto sum_over_threads(int threads, Body&& body) {
    using T = std::invoke_result_t<Body&, std::size_t, std::size_t>;
    std::vector<Own<T>> parts(static_cast<std::size_t>(threads));
    on_each_thread(threads, [&](std::size_t thread, std::size_t team) {
        parts[thread].value = body(thread, team);
    });
    T sum{};
    for (const auto& part : parts) sum += part.value;
    return sum;
}

/// Seconds since construction.
class Stopwatch {
public:
    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point start_ = Clock::now();
};

/// Options of a HostBuffer.
struct Placement {
    int threads = 0;  ///< threads that first touch it; 0: the default team
    bool huge = true; ///< request huge pages where the buffer is large enough
    std::size_t offset =
        0; ///< bytes between the aligned start and the first element, a multiple of
           ///< 64: keeps arrays that are used together out of the same cache sets
};

/// `count` zeroed elements of T. First touched with on_each_slice() and granule line_granule<T>, so a
/// page is on the NUMA node of the thread that owns the slice. Aligned to a cache line, or to 2 MiB
/// if at least that large. Not copyable.
template <class T>
class HostBuffer {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

public:
    HostBuffer() = default;
    explicit HostBuffer(std::size_t count, Placement placement = {}) : count_{count} {
        if (count == 0) return;
        map(placement);
        touch(placement.threads > 0 ? placement.threads : team_threads());
    }
    HostBuffer(HostBuffer&& other) noexcept { swap(other); }
    HostBuffer& operator=(HostBuffer&& other) noexcept {
        HostBuffer{std::move(other)}.swap(*this);
        return *this;
    }
    HostBuffer(const HostBuffer&) = delete;
    HostBuffer& operator=(const HostBuffer&) = delete;
    ~HostBuffer() {
        if (mapping_ != nullptr) ::munmap(mapping_, mapped_);
    }

    T* data() { return data_; }
    const T* data() const { return data_; }
    std::size_t size() const { return count_; }
    std::size_t bytes() const { return count_ * sizeof(T); }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }
    std::span<T> view() { return {data_, count_}; }
    std::span<const T> view() const { return {data_, count_}; }
    std::span<T> view(Slice slice) { return view().subspan(slice.first, slice.size()); }
    std::span<const T> view(Slice slice) const { return view().subspan(slice.first, slice.size()); }

    void swap(HostBuffer& other) noexcept {
        std::swap(count_, other.count_);
        std::swap(data_, other.data_);
        std::swap(mapping_, other.mapping_);
        std::swap(mapped_, other.mapped_);
    }

private:
    void map(const Placement& placement) {
        if (placement.offset % cache_line != 0)
            throw std::invalid_argument{"HostBuffer: the offset must be a multiple of 64 bytes"};
        // Half of the address space: alignment and offset cannot overflow.
        if (count_ > std::numeric_limits<std::size_t>::max() / 2 / sizeof(T))
            throw std::length_error{"HostBuffer: " + std::to_string(count_) +
                                    " elements do not fit into the address space"};
        const bool large = bytes() >= huge_page;
        const std::size_t alignment = large ? huge_page : cache_line;
        mapped_ = bytes() + placement.offset + (large ? huge_page : 0);
        void* const mapping = ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (mapping == MAP_FAILED)
            throw std::system_error{errno, std::generic_category(),
                                    "cannot get " + std::to_string(mapped_) + " bytes of memory"};
        mapping_ = mapping;
        // Advice only: without huge pages the benchmark runs on small ones.
        if (large) ::madvise(mapping_, mapped_, placement.huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
        auto* const begin = static_cast<std::byte*>(mapping_);
        const std::size_t past = reinterpret_cast<std::uintptr_t>(begin) % alignment;
        const std::size_t skip = past == 0 ? 0 : alignment - past;
        data_ = reinterpret_cast<T*>(begin + skip + placement.offset);
    }

    void touch(int threads) {
        constexpr std::size_t step = 4096; // bytes; the smallest page size
        on_each_slice(threads, count_, line_granule<T>, [this](Slice slice) {
            auto* const bytes = reinterpret_cast<volatile std::byte*>(data_);
            for (std::size_t at = slice.first * sizeof(T); at < slice.last * sizeof(T); at += step)
                bytes[at] = std::byte{0};
        });
    }

    std::size_t count_ = 0;
    T* data_ = nullptr;
    void* mapping_ = nullptr;
    std::size_t mapped_ = 0; // bytes
};

/// For poison(): every element is a NaN.
template <class T>
void fill_nan(HostBuffer<T>& to, int threads) {
    on_each_slice(threads, to.size(), line_granule<T>, [&](Slice slice) {
        std::ranges::fill(to.view(slice), std::numeric_limits<T>::quiet_NaN());
    });
}

} // namespace assay
