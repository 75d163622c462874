// SPDX-License-Identifier: Apache-2.0
//
// Waiting for another thread without sleeping, that ends even where both share one core: whoever has
// waited long gives the core away with every further look.

#pragma once

#include <assay/host.hpp>

#include <sched.h>

#include <atomic>
#include <cstdint>

namespace assay::latency {

class Spin {
public:
    /// Waits until the word is at least `value`; what it is then.
    std::uint64_t until(std::uint64_t& word, std::uint64_t value) {
        const std::atomic_ref<std::uint64_t> seen{word};
        for (std::uint32_t looks = 0;; ++looks) {
            const std::uint64_t now = seen.load(std::memory_order_acquire);
            if (now >= value) return now;
            if (looks < patience_) continue;
            patience_ = hardly_any;
            ::sched_yield();
        }
    }

private:
    // Looks at a line in the own cache take about a nanosecond, a line on its way from another socket
    // less than a microsecond: a partner who is running keeps nobody waiting for 50 us.
    static constexpr std::uint32_t plenty = 50'000;
    static constexpr std::uint32_t hardly_any = 16; // once it has been in vain
    std::uint32_t patience_ = plenty;
};

/// A word that others wait for, with no neighbour that a prefetcher could fetch together with it.
struct alignas(2 * cache_line) Signal {
    std::uint64_t word = 0;
};

inline void publish(std::uint64_t& word, std::uint64_t value) {
    std::atomic_ref<std::uint64_t>{word}.store(value, std::memory_order_release);
}

} // namespace assay::latency
