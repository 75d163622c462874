// SPDX-License-Identifier: Apache-2.0
//
// The numbers of workload.attention on a device and the check of its results, whatever computes them. For .cu files.

#pragma once

#include "device/benchmark.cuh"
#include "workload/attention_data.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <tuple>
#include <type_traits>
#include <vector>

namespace assay::workload {

template <class T>
constexpr bool is_bf16 = std::is_same_v<T, __nv_bfloat16>;

/// Formats of caches on devices, and their types in C++.
enum class Format : std::uint8_t { bf16, fp16 };
template <template <class> class State>
using OneOfFormats = OneOf<State<__nv_bfloat16>, State<__half>>;

struct DecodingParams {
    std::int64_t batch = 1;
    std::int64_t context = 4096;
    std::int64_t heads = 32;
    std::int64_t head_size = 128;
    Format precision = Format::bf16;
    std::int64_t group = 1;
};
inline constexpr auto decoding_axes =
    std::tuple_cat(attention_data::axes<DecodingParams>,
                   std::tuple{choice("precision", "type of the cache", &DecodingParams::precision,
                                     {Name{"bf16", Format::bf16}, Name{"fp16", Format::fp16}})},
                   attention_data::group_axis<DecodingParams>);

/// The numbers of a cache, rounded.
template <class T>
struct Rounded {
    device::Uniform<float> from;
    ASSAY_HOST_DEVICE T operator()(std::uint64_t i) const { return static_cast<T>(from(i)); }
};

/// Rows that do not follow each other, one behind the other.
template <class T>
struct GatherRows {
    const T* from;
    std::uint64_t size;
    std::uint64_t stride;
    ASSAY_HOST_DEVICE T operator()(std::uint64_t i) const {
        return from[i / size * stride + i % size];
    }
};

/// In a cache the tokens of a head follow each other, or the heads of a token, as in most servers.
enum class CacheOrder : std::uint8_t { heads_first, tokens_first };

/// Queries, keys and values in T, results in Result.
template <class T, class Result, CacheOrder order = CacheOrder::heads_first>
class DecodingData {
public:
    Work work() const { return shape_.work(static_cast<double>(keys_.bytes() + values_.bytes())); }
    Check verify() const {
        const Samples which = attention_data::samples(shape_, round_);
        struct Stretch {
            std::vector<T> keys;
            std::vector<T> values;
        };
        const auto context = static_cast<std::size_t>(shape_.context);
        std::vector<Stretch> stretches;
        const device::Buffer<T> rows{context * size_};
        const auto rows_of = [&](const device::Buffer<T>& cache, std::size_t query) {
            device::for_each_now(place_.stream, rows.size(),
                                 device::Fill{rows.data(), stretch(cache, query)});
            return device::to_host(rows, place_.stream);
        };
        for (std::size_t i = 0; i < which.size(); ++i)
            stretches.push_back({rows_of(keys_, which[i]), rows_of(values_, which[i])});
        const auto queries = device::to_host(queries_, place_.stream);
        const auto results = device::to_host(results_, place_.stream);
        const auto at = [&](const std::vector<T>& rows, std::size_t row, std::size_t d) {
            return static_cast<float>(rows[row % context * size_ + d]);
        };
        return attention_data::check(
            shape_, rounding(), which, team_threads(),
            [&](auto query, auto d) { return static_cast<float>(queries[query * size_ + d]); },
            [&](auto i, auto row, auto d) { return at(stretches[i].keys, row, d); },
            [&](auto i, auto row, auto d) { return at(stretches[i].values, row, d); },
            [&](auto query, auto d) { return static_cast<float>(results[query * size_ + d]); });
    }
    Outputs outputs() const { return {device::output(results_, place_.stream)}; }
    void poison() { // NaN
        device::set_bytes(results_, 0xff, place_.stream);
        ++round_;
    }
    /// One number of as many queries in a row as surely hold one that is looked at.
    void spoil() {
        const std::uint64_t pick = spoils_.next();
        const Slice damage = attention_data::samples(shape_, round_).damage(pick >> 16U);
        for (std::size_t query = damage.first; query < damage.last; ++query)
            device::change(
                results_.data() + query * size_ + pick % size_, place_.stream,
                [](Result value) { return damaged(Precision::bf16, static_cast<float>(value)); });
    }

protected:
    DecodingData(const AttentionShape& shape, device::Place& place, const Context& context)
        : place_{place}, shape_{shape}, size_{static_cast<std::size_t>(shape.size)},
          queries_{shape.queries() * size_}, keys_{static_cast<std::size_t>(shape.rows()) * size_},
          values_{keys_.size()}, results_{queries_.size()} {
        const float most = attention_data::most;
        const float of_query = attention_data::most_of_queries(shape);
        fill(queries_, {attention_data::queries_seed, -of_query, of_query});
        fill(keys_, {attention_data::keys_seed, -most, most});
        fill(values_, {attention_data::values_seed, -most, most});
        const double bytes = work().bytes;
        context.setting("cache_bytes", bytes);
        context.setting("cache_order",
                        order == CacheOrder::tokens_first ? "tokens first" : "heads first");
        context.tell({.footprint_bytes = bytes});
    }

    device::Place& place_;
    AttentionShape shape_;
    std::size_t size_;
    device::Buffer<T> queries_;
    device::Buffer<T> keys_;
    device::Buffer<T> values_;
    device::Buffer<Result> results_;

private:
    /// The rows of the cache that a query attends to.
    GatherRows<T> stretch(const device::Buffer<T>& cache, std::size_t query) const {
        if constexpr (order == CacheOrder::heads_first)
            return {cache.data() + shape_.first_row(query) * size_, size_, size_};
        const auto heads = static_cast<std::size_t>(shape_.heads);
        const auto group = static_cast<std::size_t>(shape_.group);
        const std::size_t token = heads / group * size_;
        const std::size_t sequence = query / heads * static_cast<std::size_t>(shape_.context);
        return {cache.data() + sequence * token + query % heads / group * size_, size_, token};
    }
    static AttentionRounding rounding() {
        const bool is_wide = std::is_same_v<Result, float>;
        return {.scores = Precision::fp32,
                .probabilities = is_bf16<T> ? 0x1p-9 : 0x1p-11,
                .result =
                    is_wide ? 0 : roundoff_of(is_bf16<T> ? Precision::bf16 : Precision::fp16)};
    }
    void fill(const device::Buffer<T>& to, const device::Uniform<float>& from) const {
        device::for_each_now(place_.stream, to.size(), device::Fill{to.data(), Rounded<T>{from}});
    }

    std::uint64_t round_ = 0; // of samples
    Picks spoils_{attention_data::spoil_seed};
};

} // namespace assay::workload
