// SPDX-License-Identifier: Apache-2.0
//
// What workload.prefill_attention computes, whatever library does: softmax(Q K^T / sqrt(head_size)) V for all tokens of
// a prompt; its work as FlashAttention counts it (arXiv:2205.14135 and its benchmarks), and which rows are recomputed.

#pragma once

#include "attention_data.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::workload {

/// Tensors are [batch][heads][tokens][size], keys and values with heads / group.
struct PrefillShape {
    std::int64_t batch;
    std::int64_t heads; ///< of queries
    std::int64_t group; ///< heads that share keys and values
    std::int64_t tokens;
    std::int64_t size; ///< numbers of a query, a key or a value
    bool is_causal;    ///< a token attends to itself and those before it

    template <class Params>
    static PrefillShape of(const Params& p) {
        return {p.batch, p.heads, p.group, p.tokens, p.head_size, p.causal};
    }
    std::int64_t rows() const { return batch * heads * tokens; }
    std::int64_t cached_rows() const { return rows() / group; }
    std::size_t keys_of(std::size_t position) const {
        return is_causal ? position + 1 : static_cast<std::size_t>(tokens);
    }
    float scale() const { return 1 / std::sqrt(static_cast<float>(size)); }

    /// Bytes of all four tensors in a type of 16 bits.
    std::int64_t bytes() const { return 2 * 2 * (rows() + cached_rows()) * size; }
    /// FLOP of both products; half of them where causal.
    Work work() const {
        const double all = 4.0 * static_cast<double>(rows() * tokens) * static_cast<double>(size);
        return {.flops = is_causal ? all / 2 : all,
                .bytes = static_cast<double>(bytes()),
                .items = static_cast<double>(batch * tokens)};
    }
    Fit fits() const {
        return Fit::needs(heads % group == 0, "heads that are a multiple of their group");
    }
};

/// Rows of the results that are recomputed: in each sixteenth of them one anywhere, and one of the same head that is
/// early, where a key too many or too few is a large part; the last and the first row of a head are among those.
class PrefillRows {
public:
    PrefillRows(const PrefillShape& shape, std::uint64_t round)
        : tokens_{static_cast<std::size_t>(shape.tokens)},
          anywhere_{static_cast<std::size_t>(shape.rows()), 16, round}, round_{round} {}

    std::size_t size() const { return 2 * anywhere_.size(); }
    std::size_t operator[](std::size_t i) const {
        const std::size_t row = anywhere_[i / 2];
        return i % 2 == 0 ? row : row / tokens_ * tokens_ + early(i / 2);
    }
    std::size_t position(std::size_t i) const { return (*this)[i] % tokens_; }
    /// Rows that surely hold one that is recomputed.
    Slice damage(std::uint64_t pick) const { return anywhere_.damage(pick); }

private:
    std::size_t early(std::size_t i) const {
        constexpr std::size_t few = 64;
        if (i < 2) return i == 0 ? tokens_ - 1 : 0;
        return random_bits(attention_data::spoil_seed + round_, i) % std::min(tokens_, few);
    }
    std::size_t tokens_;
    Samples anywhere_;
    std::uint64_t round_;
};

namespace prefill_data {

template <class Params>
inline constexpr std::tuple axes{
    integer("batch", "prompts at a time", "", &Params::batch, {4}, {1, 4096}),
    integer("tokens", "of a prompt", "", &Params::tokens, {4096}, {1, 1 << 17}),
    integer("heads", "query heads of the layer", "", &Params::heads, {32}, {1, 1024}),
    integer("head_size", "numbers of a query, key or value: 64 or 128", "", &Params::head_size,
            {128}, {64, 128}),
    integer("group", "query heads that share a key and value head", "", &Params::group, {1},
            {1, 128}),
    boolean("causal", "a token attends to itself and those before it", &Params::causal, {true}),
};

/// Element i of queries, keys and values as the kernel was given them, and of the results as it made them; size
/// numbers a row.
template <class Query, class Key, class Value, class Got>
Check check(const PrefillShape& shape, const AttentionRounding& rounding, const PrefillRows& which,
            int threads, const Query& query, const Key& key, const Value& value, const Got& got) {
    const auto size = static_cast<std::size_t>(shape.size);
    const auto tokens = static_cast<std::size_t>(shape.tokens);
    const auto first_of_keys = [&](std::size_t i) {
        return which[i] / tokens / static_cast<std::size_t>(shape.group) * tokens * size;
    };
    std::vector<AttentionReference> references(which.size());
    on_each_slice(threads, which.size(), 1, [&](Slice slice) {
        for (std::size_t i = slice.first; i < slice.last; ++i)
            references[i] = AttentionReference{
                shape.keys_of(which.position(i)), size,
                [&](auto d) { return double{shape.scale()} * query(which[i] * size + d); },
                [&](auto j, auto d) { return key(first_of_keys(i) + j * size + d); }};
    });
    return check_each(
        which.size() * size,
        [&](std::size_t at) {
            const std::size_t i = at / size;
            const std::size_t d = at % size;
            const auto of_key = [&](auto j) { return value(first_of_keys(i) + j * size + d); };
            return references[i].expect(rounding, of_key).error(got(which[i] * size + d));
        },
        1,
        "whole rows recomputed in fp64, early and late ones of heads in all parts; 1 is several "
        "standard deviations of the rounding of probabilities, sums and results");
}

} // namespace prefill_data
} // namespace assay::workload
