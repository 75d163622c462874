// SPDX-License-Identifier: Apache-2.0
//
// In which order blocks, warps, lanes and bulk copies run: ASSAY_CPU_SCHEDULE.

#pragma once

#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>

namespace assay::device_on_cpu {

enum class Order : std::uint8_t { sequence, reversed, random };

struct Schedule {
    Order order = Order::sequence;
    std::minstd_rand random;

    void set(const std::string& text) {
        order = text.empty() || text == "sequence" ? Order::sequence
                : text == "reversed"               ? Order::reversed
                                                   : Order::random;
        if (order == Order::random) random.seed(static_cast<unsigned>(std::stoul(text)));
    }
    std::uint64_t below(std::uint64_t count) { return random() % count; }
    /// One of `count`.
    std::size_t pick(std::size_t count) {
        return order == Order::sequence ? 0 : order == Order::reversed ? count - 1 : below(count);
    }
};

inline Schedule& schedule() {
    static Schedule made = [] {
        Schedule from;
        const char* text = std::getenv("ASSAY_CPU_SCHEDULE"); // NOLINT(concurrency-mt-unsafe)
        from.set(text == nullptr ? "" : text);
        return from;
    }();
    return made;
}

/// Numbers below `count`, each once: in order, reversed, or with a random step.
class Numbers {
public:
    explicit Numbers(std::uint64_t count) : count_{count} {
        Schedule& by = schedule();
        if (by.order != Order::random) return;
        first_ = by.below(count);
        step_ = 1 + by.below(count);
        while (std::gcd(step_, count) != 1) ++step_;
    }
    std::uint64_t at(std::uint64_t i) const {
        const std::uint64_t number = (first_ + i * step_) % count_;
        return schedule().order == Order::reversed ? count_ - 1 - number : number;
    }

private:
    std::uint64_t count_;
    std::uint64_t first_ = 0;
    std::uint64_t step_ = 1;
};

} // namespace assay::device_on_cpu
