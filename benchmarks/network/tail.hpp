// SPDX-License-Identifier: Apache-2.0
//
// The times of single round trips, for what the mean hides. Takes no memory while it is filled.

#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace assay::network {

class Tail {
public:
    Tail() { seconds_.reserve(most); }

    void add(double seconds) {
        if (seconds_.size() < most) seconds_.push_back(seconds);
    }
    std::size_t size() const { return seconds_.size(); }
    /// The time that the share `share` of all stayed below. Nothing where fewer than ten lie above
    /// it: the slowest of them would decide alone.
    std::optional<double> at(double share) const {
        constexpr double least_above = 10;
        const auto count = static_cast<double>(seconds_.size());
        if (count * (1 - share) < least_above * (1 - 1e-9)) return std::nullopt;
        auto sorted = seconds_;
        const auto rank = static_cast<std::size_t>(count * share);
        const auto place = sorted.begin() + static_cast<std::ptrdiff_t>(rank);
        std::ranges::nth_element(sorted, place);
        return *place;
    }

private:
    static constexpr std::size_t most = std::size_t{1} << 20U; // 8 MB; a minute of a million each
    std::vector<double> seconds_;
};

} // namespace assay::network
