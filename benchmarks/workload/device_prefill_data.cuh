// SPDX-License-Identifier: Apache-2.0
//
// The numbers of workload.prefill_attention on a device and the check of its results, whatever computes them. For .cu
// files.

#pragma once

#include "workload/device_attention_data.cuh"
#include "workload/device_tensor.cuh"
#include "workload/prefill_data.hpp"

namespace assay::workload {

struct PrefillParams {
    std::int64_t batch = 4;
    std::int64_t tokens = 4096;
    std::int64_t heads = 32;
    std::int64_t head_size = 128;
    std::int64_t group = 1;
    bool causal = true;
    Format precision = Format::bf16;
};
template <class Params>
inline constexpr auto prefill_axes = std::tuple_cat(
    prefill_data::axes<Params>,
    std::tuple{choice("precision", "type of all tensors", &Params::precision,
                      {Name{"bf16", Format::bf16}, Name{"fp16", Format::fp16}}, {Format::bf16})});

/// Queries, keys, values and results in T.
template <class T>
class PrefillData {
public:
    Work work() const { return shape_.work(); }
    Check verify() const {
        results_.look_again();
        const auto of = [](const DeviceTensor<T>& tensor) {
            return [&tensor](std::size_t i) { return tensor.element(i); };
        };
        return prefill_data::check(shape_, rounding(), rows(), team_threads(), of(queries_),
                                   of(keys_), of(values_), of(results_));
    }
    Outputs outputs() const { return {results_.output()}; }
    void poison() { // NaN
        results_.poison();
        ++round_;
    }
    /// One number of as many rows as surely hold one that is looked at.
    void spoil() {
        const std::uint64_t pick = spoils_.next();
        const auto size = static_cast<std::size_t>(shape_.size);
        const Slice damage = rows().damage(pick >> 16U);
        std::size_t at = 0;
        results_.change(
            {.first = damage.first * size, .last = damage.last * size}, [&](float value) {
                return at++ % size == pick % size ? damaged(Precision::bf16, value) : value;
            });
    }

protected:
    PrefillData(const PrefillShape& shape, device::Place& place, const Context& context)
        : place_{place}, shape_{shape}, queries_{shape.rows() * shape.size, place.stream},
          keys_{shape.cached_rows() * shape.size, place.stream},
          values_{shape.cached_rows() * shape.size, place.stream},
          results_{shape.rows() * shape.size, place.stream} {
        fill(queries_, attention_data::queries_seed);
        fill(keys_, attention_data::keys_seed);
        fill(values_, attention_data::values_seed);
        context.tell({.footprint_bytes = static_cast<double>(shape.bytes())});
    }

    device::Place& place_;
    PrefillShape shape_;
    DeviceTensor<T> queries_;
    DeviceTensor<T> keys_;
    DeviceTensor<T> values_;
    DeviceTensor<T> results_;

private:
    static AttentionRounding rounding() {
        return {.scores = Precision::fp32,
                .probabilities = is_bf16<T> ? 0x1p-9 : 0x1p-11,
                .result = roundoff_of(is_bf16<T> ? Precision::bf16 : Precision::fp16)};
    }
    PrefillRows rows() const { return {shape_, round_}; }
    void fill(DeviceTensor<T>& to, std::uint64_t seed) const {
        constexpr float most = attention_data::most;
        device::for_each_now(place_.stream, to.size(),
                             device::Fill{to.data(), Rounded<T>{{seed, -most, most}}});
        to.look_again();
    }

    std::uint64_t round_ = 0; // of samples
    Picks spoils_{attention_data::spoil_seed};
};

} // namespace assay::workload
