// SPDX-License-Identifier: Apache-2.0

#include "candidates.hpp"

#include <algorithm>
#include <cmath>

namespace assay::md {
namespace {

template <class T>
class Search {
public:
    Search(const ClusterView<T>& clusters, Slice own, std::uint32_t cluster, T reach,
           Candidates& candidates)
        : clusters_{clusters}, own_{own}, cluster_{cluster}, reach_{reach},
          candidates_{candidates} {}

    void run() {
        for (int x = -1; x <= 1; ++x) {
            if (!may_reach(0, x)) continue;
            for (int y = -1; y <= 1; ++y) {
                if (!may_reach(1, y)) continue;
                for (int z = -1; z <= 1; ++z)
                    if (may_reach(2, z)) search_image({x, y, z});
            }
        }
    }

private:
    struct Interval {
        T low;
        T high;
    };
    using Image = std::array<int, 3>;

    /// The cluster's extent along an axis, moved by so many edges.
    Interval moved(std::size_t axis, int edges) const {
        const Bounds<T>& bounds = clusters_.bounds[cluster_];
        const T shift = static_cast<T>(edges) * clusters_.edge;
        return {bounds.low[axis] + shift, bounds.high[axis] + shift};
    }
    /// Is any of the box within reach of that image?
    bool may_reach(std::size_t axis, int edges) const {
        const Interval at = moved(axis, edges);
        return at.high + reach_ >= 0 && at.low - reach_ <= clusters_.edge;
    }
    static std::int32_t cell_at(T scaled, std::int32_t count) {
        return std::clamp(static_cast<std::int32_t>(scaled), 0,
                          count - 1); // -0.5 is in the first, too
    }
    std::int32_t column_at(T coordinate) const {
        return cell_at(coordinate * clusters_.columns_per_length, clusters_.columns);
    }
    std::int32_t bin_at(T coordinate) const {
        return cell_at(coordinate * clusters_.bins_per_length, clusters_.bins);
    }
    /// The gap along one axis between an interval and a row of columns, squared.
    T gap_squared(Interval at, std::int32_t column) const {
        const T low = static_cast<T>(column) * clusters_.column_edge;
        const T gap = std::max({low - at.high, at.low - (low + clusters_.column_edge), T{0}});
        return gap * gap;
    }

    void search_image(Image image) {
        const Interval x = moved(0, image[0]);
        const Interval y = moved(1, image[1]);
        const Interval z = moved(2, image[2]);
        const std::uint32_t shift = Shift::of(image[0], image[1], image[2]);
        const T reach_squared = reach_ * reach_;
        const std::int32_t last_x = column_at(x.high + reach_);
        const std::int32_t first_y = column_at(y.low - reach_);
        const std::int32_t last_y = column_at(y.high + reach_);
        for (std::int32_t i = column_at(x.low - reach_); i <= last_x; ++i) {
            const T left = reach_squared - gap_squared(x, i);
            for (std::int32_t j = first_y; j <= last_y; ++j) {
                const auto column =
                    static_cast<std::size_t>(std::int64_t{i} * clusters_.columns + j);
                if (is_found_from_there(column)) continue;
                const T rest = left - gap_squared(y, j);
                if (rest < 0) continue;
                const T along = std::sqrt(rest);
                const std::size_t bins = column * static_cast<std::size_t>(clusters_.bins);
                const auto low = static_cast<std::size_t>(bin_at(z.low - along));
                const auto high = static_cast<std::size_t>(bin_at(z.high + along));
                divide(shift, clusters_.first_from_bin[bins + low],
                       clusters_.past_bin[bins + high]);
            }
        }
    }
    /// All pairs with the clusters of that column are mutual, and theirs are the lower numbers.
    bool is_found_from_there(std::size_t column) const {
        return clusters_.first_in_column[column + 1] <= cluster_ &&
               clusters_.first_in_column[column] >= own_.first;
    }

    /// Says for each cluster of the range whose it is.
    void divide(std::uint32_t shift, std::uint32_t first, std::uint32_t last) {
        const auto own_first = static_cast<std::uint32_t>(own_.first);
        const auto own_last = static_cast<std::uint32_t>(own_.last);
        if (first < own_first || last > own_last) {
            add(candidates_.one_sided, shift, first, std::min(last, own_first));
            add(candidates_.one_sided, shift, std::max(first, own_last), last);
        }
        // An atom and another one's image within one cluster: each finds the other.
        if (shift != Shift::none && first <= cluster_ && cluster_ < last)
            add(candidates_.one_sided, shift, cluster_, cluster_ + 1);
        add(candidates_.mutual, shift, std::max(first, cluster_ + 1), std::min(last, own_last));
    }
    static void add(std::vector<Range>& to, std::uint32_t shift, std::uint32_t first,
                    std::uint32_t last) {
        if (first >= last) return;
        if (!to.empty() && to.back().shift == shift && to.back().last == first)
            to.back().last = last;
        else
            to.push_back({.shift = shift, .first = first, .last = last});
    }

    const ClusterView<T>& clusters_;
    Slice own_;
    std::uint32_t cluster_;
    T reach_;
    Candidates& candidates_;
};

} // namespace

template <class T>
void find_candidates(const ClusterView<T>& clusters, Slice own, std::uint32_t cluster, T reach,
                     Candidates& candidates) {
    candidates.clear();
    Search<T>{clusters, own, cluster, reach, candidates}.run();
}

template void find_candidates(const ClusterView<float>&, Slice, std::uint32_t, float, Candidates&);
template void find_candidates(const ClusterView<double>&, Slice, std::uint32_t, double,
                              Candidates&);

} // namespace assay::md
