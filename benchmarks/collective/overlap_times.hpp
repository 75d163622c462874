// SPDX-License-Identifier: Apache-2.0
//
// The times of a call of collective.overlap, by the slowest rank, and what follows from them:
//
//   exposed = together - gemm alone         s, median over calls
//   overlap = 1 - exposed / all-reduce alone

#pragma once

#include <assay/benchmark.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::collective {

enum OverlapPart : std::uint8_t { together, gemm_alone, all_reduce_alone };

class OverlapTimes {
public:
    using Times = std::array<double, 3>; ///< seconds of each part

    /// Room for one more call: the oldest is given up.
    Times& next() noexcept { return kept_[calls_++ % kept_.size()]; }
    void forget() noexcept { calls_ = 0; }
    std::uint64_t calls() const { return calls_; }

    /// Shortest of the calls that were kept: any disturbance of the processor made the others longer.
    double shortest(OverlapPart part) const {
        return std::ranges::min(values([part](const Times& t) { return t[part]; }));
    }
    /// Adds `exposed_time` and `overlap`.
    void report(const Metrics& metrics) const {
        constexpr double resolved = 0.01; // of the all-reduce alone
        const double alone = median([](const Times& t) { return t[all_reduce_alone]; });
        const double exposed = median([](const Times& t) { return t[together] - t[gemm_alone]; });
        metrics.add("exposed_time", std::max(exposed, resolved * alone));
        metrics.add("overlap", std::clamp(1 - exposed / alone, 0.0, 1.0));
    }

private:
    template <class Value>
    std::vector<double> values(const Value& value) const {
        std::vector<double> all;
        const auto count = std::min<std::uint64_t>(calls_, kept_.size());
        for (std::uint64_t i = 0; i < count; ++i) all.push_back(value(kept_[i]));
        return all;
    }
    template <class Value>
    double median(const Value& value) const {
        std::vector<double> all = values(value);
        const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
        std::ranges::nth_element(all, middle);
        return *middle;
    }

    std::vector<Times> kept_ = std::vector<Times>(512); // the last ones
    std::uint64_t calls_ = 0;
};

} // namespace assay::collective
