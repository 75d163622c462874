// SPDX-License-Identifier: Apache-2.0
//
// The attention of a language model on hosts: one new token of each sequence to its cache, or prompts to themselves.

#pragma once

#include "../workload/attention_stretches.hpp"
#include "llm.hpp"
#include "llm_host_kernels.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>

namespace assay::model {

template <class T>
class HostAttention {
public:
    HostAttention(int threads, const LlmStep& step)
        : threads_{threads}, length_{number(step.queries)}, context_{number(step.context)},
          key_heads_{number(step.shape.key_heads)}, group_{number(step.shape.group())},
          size_{number(step.shape.head_size)}, stretches_{number(step.batch) * key_heads_},
          decode_{threads, stretches_, context_, group_, size_},
          tile_{std::min<std::size_t>(16, workload::largest_group / group_)},
          scratch_{length_ == 1 ? 2 * stretches_ * each() : number(threads) * room()} {}

    /// Queries and results are rows of tokens; keys and values are caches.
    void run(const T* queries, const T* keys, const T* values, T* results) noexcept {
        if (length_ == 1) return run_decoding(queries, {keys, values}, results);
        const std::size_t tiles = (length_ + tile_ - 1) / tile_;
        std::atomic<std::size_t> next{0};
        on_each_thread(threads_, [&](std::size_t thread, std::size_t /*team*/) {
            for (std::size_t i = next++; i < tiles * stretches_; i = next++) {
                const std::size_t first = (tiles - 1 - i / stretches_) * tile_; // longest first
                attend_tile(i % stretches_, first, scratch_.data() + thread * room(), queries,
                            {keys, values}, results);
            }
        });
    }

private:
    struct Cache {
        const T* keys;
        const T* values;
        const T* keys_from(std::size_t row, std::size_t size) const { return keys + row * size; }
        const T* values_from(std::size_t row, std::size_t size) const {
            return values + row * size;
        }
    };
    template <class Integer>
    static std::size_t number(Integer count) {
        return static_cast<std::size_t>(count);
    }
    std::size_t each() const { return group_ * size_; } // numbers of a token that share a key
    std::size_t room() const {
        return 3 * tile_ * each() + workload::attention_scratch(tile_ * group_, size_);
    }

    void run_decoding(const T* queries, const Cache& cache, T* results) noexcept {
        const std::size_t count = stretches_ * each();
        rows_.widen(queries, count, scratch_.data());
        decode_.run(cache, scratch_.data(), scratch_.data() + count);
        rows_.narrow(scratch_.data() + count, count, results);
    }
    /// The queries of some tokens read the keys before those tokens together; each token reads the few behind by itself.
    /// Both parts are merged.
    void attend_tile(std::size_t stretch, std::size_t first, float* own, const T* queries,
                     const Cache& cache, T* results) const noexcept {
        const auto place = [&](std::size_t token) {
            const std::size_t row = stretch / key_heads_ * length_ + token;
            return (row * key_heads_ + stretch % key_heads_) * each();
        };
        const std::size_t tokens = std::min(tile_, length_ - first);
        float* const before = own + tile_ * each();
        float* const behind = before + tile_ * each();
        float* const rest = behind + tile_ * each();
        std::array<workload::Attended, workload::largest_group> old;
        std::array<workload::Attended, workload::largest_group> recent;
        for (std::size_t t = 0; t < tokens; ++t)
            rows_.widen(queries + place(first + t), each(), own + t * each());
        const std::size_t row = stretch * context_;
        if (first > 0)
            workload::attend({tokens * group_, own, before, old.data(), rest},
                             cache.keys_from(row, size_), cache.values_from(row, size_), first,
                             size_);
        for (std::size_t t = 0; t < tokens; ++t) {
            float* const at = own + t * each();
            workload::attend({group_, at, behind, recent.data(), rest},
                             cache.keys_from(row + first, size_),
                             cache.values_from(row + first, size_), t + 1, size_);
            for (std::size_t q = 0; q < group_; ++q) {
                const std::size_t query = t * group_ + q;
                const std::array<workload::AttentionPart, 2> parts{
                    {{behind + q * size_, recent.at(q)}, {before + query * size_, old.at(query)}}};
                workload::join({parts.data(), first > 0 ? 2U : 1U}, size_, own + query * size_);
            }
            rows_.narrow(at, each(), results + place(first + t));
        }
    }

    int threads_;
    std::size_t length_, context_, key_heads_, group_, size_, stretches_;
    workload::AttentionStretches decode_;
    std::size_t tile_; // tokens
    LlmRows<T> rows_ = llm_rows<T>();
    HostBuffer<float> scratch_;
};

} // namespace assay::model
