// SPDX-License-Identifier: Apache-2.0
//
// What workload.attention computes, wherever it runs: its shape, what it counts, where its numbers come from, and what
// its outputs are compared with.

#pragma once

#include "samples.hpp"
#include "transformer_data.hpp"

#include <assay/define.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

namespace assay::workload {

struct AttentionShape {
    std::int64_t batch;
    std::int64_t context; ///< tokens of a sequence
    std::int64_t heads;   ///< of queries
    std::int64_t size;    ///< numbers of a key, a value or a query
    std::int64_t group;   ///< heads that share keys and values

    template <class Params>
    static AttentionShape of(const Params& p) {
        return {p.batch, p.context, p.heads, p.head_size, p.group};
    }
    /// Queries of all sequences and heads.
    std::size_t queries() const { return static_cast<std::size_t>(batch * heads); }
    /// Stretches of `context` keys: one for each sequence and group.
    std::size_t stretches() const { return queries() / static_cast<std::size_t>(group); }
    /// Cached keys, and as many values.
    std::int64_t rows() const { return batch * heads / group * context; }
    std::size_t first_row(std::size_t query) const {
        return query / static_cast<std::size_t>(group) * static_cast<std::size_t>(context);
    }
    Fit fits() const {
        return Fit::needs(heads % group == 0, "heads that are a multiple of their group");
    }
    /// Each number of a key and of a value is multiplied and added once for each query.
    Work work(double cache_bytes) const {
        const auto numbers = static_cast<double>(2 * rows() * size);
        return {.flops = 2 * numbers * static_cast<double>(group),
                .bytes = cache_bytes,
                .items = static_cast<double>(batch)};
    }
};

namespace attention_data {

template <class Params>
inline constexpr std::tuple axes{
    integer("batch", "sequences decoded together", "", &Params::batch, {1, 4}, {1, 4096}),
    integer("context", "tokens in the cache of a sequence", "", &Params::context, {4096},
            {1, 1 << 20}),
    integer("heads", "query heads of the layer", "", &Params::heads, {32}, {1, 1024}),
    integer("head_size", "numbers of a key or value, a multiple of 16", "", &Params::head_size,
            {128}, {16, 1024}),
};
/// Behind all others: records from before it existed have it last, too (harness/decisions/records.md 0420).
template <class Params>
inline constexpr std::tuple group_axis{integer("group",
                                               "query heads that share a key and value head; 1: "
                                               "multi-head attention",
                                               "", &Params::group, {1}, {1, 128})};

/// The largest of uniform numbers of variance 1, which keys and values are.
inline constexpr float most = std::numbers::sqrt3_v<float>;
inline constexpr std::uint64_t keys_seed = 61;
inline constexpr std::uint64_t values_seed = 62;
inline constexpr std::uint64_t queries_seed = 63;
inline constexpr std::uint64_t spoil_seed = 64;
/// Scores of variance 1: queries are divided by sqrt(size) here and not in every call.
inline float most_of_queries(const AttentionShape& shape) {
    return std::sqrt(3.0F / static_cast<float>(shape.size));
}

inline Samples samples(const AttentionShape& shape, std::uint64_t round) {
    constexpr std::size_t queries = 16; // each reads its whole stretch of the cache
    return {shape.queries(), queries, round};
}

/// query(query, d), and key(sample, row, d) and value(sample, row, d) of the row of all, are what the kernel was given,
/// got(query, d) what it made of it.
template <class Query, class Key, class Value, class Got>
Check check(const AttentionShape& shape, const AttentionRounding& rounding, const Samples& which,
            int threads, const Query& query, const Key& key, const Value& value, const Got& got) {
    const auto size = static_cast<std::size_t>(shape.size);
    std::vector<AttentionReference> references(which.size());
    on_each_slice(threads, which.size(), 1, [&](Slice slice) {
        for (std::size_t i = slice.first; i < slice.last; ++i) {
            const std::size_t first = shape.first_row(which[i]);
            references[i] =
                AttentionReference{static_cast<std::size_t>(shape.context), size,
                                   [&](auto d) { return query(which[i], d); },
                                   [&](auto j, auto d) { return key(i, first + j, d); }};
        }
    });
    return check_each(
        which.size() * size,
        [&](std::size_t i) {
            const std::size_t sample = i / size;
            const std::size_t first = shape.first_row(which[sample]);
            const std::size_t d = i % size;
            return references[sample]
                .expect(rounding, [&](auto j) { return value(sample, first + j, d); })
                .error(got(which[sample], d));
        },
        1,
        "all outputs of a sample of heads recomputed in fp64; 1 is several standard deviations of "
        "the rounding of scores, probabilities and sums");
}

} // namespace attention_data
} // namespace assay::workload
