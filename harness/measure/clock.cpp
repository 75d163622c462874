// SPDX-License-Identifier: Apache-2.0

#include "measure/subject.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

namespace assay::measure {
namespace {

class SteadyClock final : public Clock {
public:
    double now() override {
        return std::chrono::duration<double>(Source::now().time_since_epoch()).count();
    }
    double read_cost() override { return read_cost_; }
    double resolution() override { return resolution_; }

private:
    using Source = std::chrono::steady_clock;

    static double seconds(Source::duration duration) {
        return std::chrono::duration<double>(duration).count();
    }

    /// The quickest of several series: what reading costs when nobody interrupts.
    static double measure_read_cost() {
        constexpr int series = 20;
        constexpr int reads = 1000; // some 30 us each series
        auto quickest = Source::duration::max();
        for (int i = 0; i < series; ++i) {
            const auto begin = Source::now();
            auto end = begin;
            for (int j = 0; j < reads; ++j) end = Source::now();
            quickest = std::min(quickest, end - begin);
        }
        return seconds(quickest) / reads;
    }

    /// The smallest step seen between two readings that differ.
    static double measure_resolution() {
        constexpr int steps = 1000;
        auto smallest = Source::duration::max();
        for (int i = 0; i < steps; ++i) {
            const auto begin = Source::now();
            auto end = begin;
            while (end == begin) end = Source::now();
            smallest = std::min(smallest, end - begin);
        }
        return seconds(smallest);
    }

    double read_cost_ = measure_read_cost();
    double resolution_ = measure_resolution();
};

} // namespace

Clock& steady_clock() {
    static SteadyClock clock;
    return clock;
}

} // namespace assay::measure
