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

/// Queries, keys and values in T, results in Result.
template <class T, class Result>
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
        for (std::size_t i = 0; i < which.size(); ++i) {
            const std::size_t first = shape_.first_row(which[i]) * size_;
            stretches.push_back(
                {device::to_host(keys_.data() + first, context * size_, place_.stream),
                 device::to_host(values_.data() + first, context * size_, place_.stream)});
        }
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
