// SPDX-License-Identifier: Apache-2.0
//
// The attention of a decoding step on hosts: rows of all stretches of a cache are divided evenly among threads, and the
// parts of a stretch are merged.

#pragma once

#include "attention_kernels.hpp"

#include <assay/host.hpp>
#include <assay/parallel.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace assay::workload {

/// Sums of one query over some rows, as attend() leaves them.
struct AttentionPart {
    const float* sums;
    Attended state;
};

/// The result of a query whose rows were read in parts: `size` numbers.
inline void join(std::span<const AttentionPart> parts, std::size_t size, float* result) {
    float largest = -std::numeric_limits<float>::infinity();
    for (const AttentionPart& part : parts) largest = std::max(largest, part.state.largest);
    std::fill_n(result, size, 0.0F);
    float sum = 0;
    for (const AttentionPart& part : parts) {
        const float weight = std::exp(part.state.largest - largest);
        sum += weight * part.state.sum;
        for (std::size_t d = 0; d < size; ++d) result[d] += weight * part.sums[d];
    }
    for (std::size_t d = 0; d < size; ++d) result[d] *= 1 / sum;
}

/// `stretches` of `rows` keys and values of `size` numbers, each with `group` queries.
class AttentionStretches {
public:
    AttentionStretches(int threads, std::size_t stretches, std::size_t rows, std::size_t group,
                       std::size_t size)
        : threads_{threads}, all_{stretches * rows}, rows_{rows}, group_{group}, size_{size},
          parts_(2 * static_cast<std::size_t>(threads)), sums_{parts_.size() * group * size},
          states_(parts_.size() * group), joined_(parts_.size()),
          scratch_each_{attention_scratch(group, size)},
          scratch_{scratch_each_ * static_cast<std::size_t>(threads)} {}

    /// cache.keys_from(row, size) and cache.values_from(row, size) are a row of all stretches and those behind it, as
    /// attend() takes them. Queries and results lie stretch by stretch.
    template <class Cache>
    void run(const Cache& cache, const float* queries, float* results) noexcept {
        on_each_thread(threads_, [&](std::size_t thread, std::size_t team) {
            const Slice own = slice_of(all_, thread, team);
            parts_[2 * thread].rows = 0;
            parts_[2 * thread + 1].rows = 0;
            for (std::size_t at = own.first; at < own.last;) {
                const std::size_t stretch = at / rows_;
                const std::size_t end = std::min((stretch + 1) * rows_, own.last);
                const std::size_t slot = 2 * thread + (at == own.first ? 0 : 1);
                parts_[slot] = {.stretch = stretch, .rows = end - at};
                attend_part(cache, at, slot, queries, results,
                            scratch_.data() + thread * scratch_each_);
                at = end;
            }
        });
        for (std::size_t i = 0; i < parts_.size();) i = join_from(i, results);
    }

private:
    /// A thread's part of a stretch that it shares with others.
    struct alignas(cache_line) Part {
        std::size_t stretch = 0;
        std::size_t rows = 0; // 0: nothing
    };

    /// Where it is a whole stretch, its results; else what join_from() takes.
    template <class Cache>
    void attend_part(const Cache& cache, std::size_t first, std::size_t slot, const float* queries,
                     float* results, float* scratch) noexcept {
        const std::size_t query = parts_[slot].stretch * group_;
        const std::size_t rows = parts_[slot].rows;
        const bool is_whole = rows == rows_;
        const Group group{.count = group_,
                          .queries = queries + query * size_,
                          .results = is_whole ? results + query * size_
                                              : sums_.data() + slot * group_ * size_,
                          .states = states_.data() + slot * group_,
                          .scratch = scratch};
        const auto keys = cache.keys_from(first, size_);
        const auto values = cache.values_from(first, size_);
        // One query waits for memory whatever it computes: its rows are read by the simplest loop.
        if (group_ == 1)
            *group.states = attend(group.queries, keys, values, rows, size_, group.results);
        else
            attend(group, keys, values, rows, size_);
        if (!is_whole) return;
        parts_[slot].rows = 0;
        for (std::size_t q = 0; q < group_; ++q) {
            const float factor = 1 / group.states[q].sum;
            for (std::size_t d = 0; d < size_; ++d) group.results[q * size_ + d] *= factor;
        }
    }
    /// Joins the parts of one stretch, which follow each other; where the next one's begin.
    std::size_t join_from(std::size_t first, float* results) noexcept {
        if (parts_[first].rows == 0) return first + 1;
        const std::size_t stretch = parts_[first].stretch;
        std::size_t end = first;
        while (end < parts_.size() && (parts_[end].rows == 0 || parts_[end].stretch == stretch))
            ++end;
        for (std::size_t q = 0; q < group_; ++q) {
            std::size_t count = 0;
            for (std::size_t i = first; i < end; ++i)
                if (parts_[i].rows != 0)
                    joined_[count++] = {sums_.data() + (i * group_ + q) * size_,
                                        states_[i * group_ + q]};
            join({joined_.data(), count}, size_, results + (stretch * group_ + q) * size_);
        }
        return end;
    }

    int threads_;
    std::size_t all_; // rows of all stretches
    std::size_t rows_;
    std::size_t group_;
    std::size_t size_;
    std::vector<Part> parts_;           // two of each thread: where its slice begins and ends
    HostBuffer<float> sums_;            // of those, for each query of a group
    std::vector<Attended> states_;      // the same
    std::vector<AttentionPart> joined_; // room for the parts of one query
    std::size_t scratch_each_;          // of a thread
    HostBuffer<float> scratch_;
};

} // namespace assay::workload
