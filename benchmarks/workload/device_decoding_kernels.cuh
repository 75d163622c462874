// SPDX-License-Identifier: Apache-2.0
//
// The attention of a decoding step on devices, as FlashDecoding computes it: blocks take parts of the context, and the
// last block of a tile of queries joins them.

#pragma once

#include "device/benchmark.cuh"
#include "device/tiles.cuh"
#include "workload/decoding_spans.hpp"
#include "workload/device_attention_kernels.cuh"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace assay::workload {

/// A part of the context is attended to by a block: a quarter of its keys by each warp.
constexpr unsigned decode_warps = 4;

/// C: the type of the cache; fp8 with queries in bf16.
template <class T, class C = T>
struct Decode {
    const T* queries;
    const C* keys;
    const C* values;
    // Results of each part: a tile of queries against some of the keys.
    float* sums;
    float2* states;   ///< largest score, sum of exp(score - largest)
    unsigned* joined; ///< parts of a tile that are done; 0 between calls
    std::uint32_t group;
    std::uint32_t context;
    std::uint32_t span;    ///< keys of a part, a multiple of those that a block takes at once
    float score_scale = 1; ///< of queries times keys
    float value_scale = 1;
    ASSAY_HOST_DEVICE std::uint32_t splits() const { return (context + span - 1) / span; }
    ASSAY_HOST_DEVICE std::uint32_t tiles() const { return (group + tile - 1) / tile; }
};

/// Keys and values as attend_to() takes them, by way of shared memory, of which a warp has `shared_bytes` for itself:
/// three tiles, of keys and values in turns. Two are on their way while one is used, whatever the compiler does with
/// registers. Rows lie one after the other; their 16 bytes are exchanged such that lanes that read at once use all
/// banks.
template <class C, unsigned size>
struct FromShared {
    static constexpr unsigned row_bytes = size * sizeof(C);
    static constexpr unsigned tile_bytes = tile * row_bytes;
    static constexpr unsigned shared_bytes = 3 * tile_bytes;

    const C* keys;
    const C* values;
    unsigned last;
    unsigned char* memory;
    unsigned now = 2 * tile_bytes; ///< where the tile in use begins

    /// Where a number of a row lies in a tile, and one further: no bit of what is added is in what was there.
    static __device__ unsigned place(unsigned row, unsigned number) {
        return further(0, row, number);
    }
    static __device__ unsigned further(unsigned from, unsigned rows, unsigned numbers) {
        const unsigned exchanged = (rows / 2 % 4 * 32) ^ (rows % 2 * 64);
        return (from ^ (exchanged % row_bytes) ^ (numbers * unsigned{sizeof(C)})) +
               rows * row_bytes;
    }
    /// Queues copies of the rows from `at` on, if there are any.
    __device__ void ask(const C* from, unsigned at, unsigned to) const {
        constexpr unsigned each = 16 / sizeof(C);        // numbers of a copy
        constexpr unsigned rows = warp * 16 / row_bytes; // at once
        const unsigned row = threadIdx.x % warp / (size / each);
        const unsigned number = threadIdx.x % warp % (size / each) * each;
        const unsigned first = place(row, number);
        const auto number_of = [&](unsigned of_row) {
            return from + static_cast<std::uint64_t>(of_row) * size + number;
        };
        const auto copy = [&](unsigned i, const C* its) {
            device::copy_async(device::shared_address(memory + to) + further(first, i, 0), its);
        };
        if (at + tile <= last) {
            const C* const begin = number_of(at + row);
#pragma unroll
            for (unsigned i = 0; i < tile; i += rows) copy(i, begin + i * size);
        } else if (at < last) {
            for (unsigned i = 0; i < tile; i += rows)
                copy(i, number_of(lower_of(at + row + i, last - 1)));
        }
        device::close_copies();
    }
    __device__ void begin(unsigned first) const {
        ask(keys, first, 0);
        ask(values, first, tile_bytes);
    }
    /// Waits for the next tile, and asks for the one behind it of the kind of the last one.
    __device__ void turn_to(const C* kind, unsigned next) {
        device::wait_for_copies<1>();
        __syncwarp();
        const unsigned free = now;
        now = now == 2 * tile_bytes ? 0 : now + tile_bytes;
        ask(kind, next, free);
    }
    __device__ void turn_to_keys(unsigned at) { turn_to(keys, at + tile); }
    __device__ void turn_to_values(unsigned at) { turn_to(values, at + tile); }
    __device__ Eight at(unsigned place) const {
        return eight_of(*reinterpret_cast<const Stored<C>*>(memory + now + place));
    }
    __device__ Eight key(unsigned n, unsigned c) const {
        const unsigned first = place(threadIdx.x % warp / 4, 8 * (threadIdx.x % 4));
        return at(further(first, 8 * n, 32 * c));
    }
    __device__ Eight value(unsigned n, unsigned c) const {
        const unsigned first = place(2 * (threadIdx.x % 4), 8 * (threadIdx.x % warp / 4));
        return at(further(first, 8 * (n / 2) + n % 2, 64 * c));
    }
};

using Four = device::Pack<float, 4>;

/// What a warp found: sums of its keys, not yet divided.
template <unsigned size>
struct OfWarp {
    Four sums[tile * size / 4];
    float2 states[tile];

    /// Where four sums of a row lie: lanes that write, or read, together use all banks.
    static __device__ unsigned place(unsigned row, unsigned chunk) {
        return row * (size / 4) + (chunk ^ (chunk / 4 & 2U) ^ row % 2);
    }
};

/// Shared memory of a warp: at first what it copies, then what it found.
template <class C, unsigned size>
constexpr unsigned decode_bytes =
    std::max<unsigned>(FromShared<C, size>::shared_bytes, sizeof(OfWarp<size>));

struct Joined {
    float total = 0; ///< of exp(score - largest)
    float largest = -INFINITY;
    Four sums{};
};
/// Neighbouring sums over `count` parts, some at once: part i has state(i) and sums(i).
template <unsigned at_once, class State, class Sums>
__device__ Joined join(unsigned count, const State& state, const Sums& sums) {
    Joined joined;
    for (unsigned first = 0; first < count; first += at_once) {
        float2 states[at_once];
        Four parts[at_once];
#pragma unroll
        for (unsigned i = 0; i < at_once; ++i) {
            states[i] = float2{-INFINITY, 0};
            parts[i] = Four{};
            if (first + i >= count) continue;
            states[i] = state(first + i);
            parts[i] = sums(first + i);
        }
        float largest = joined.largest;
#pragma unroll
        for (unsigned i = 0; i < at_once; ++i) largest = fmaxf(largest, states[i].x);
        const float kept = expf(joined.largest - largest);
        joined.largest = largest;
        joined.total *= kept;
        for (float& sum : joined.sums.values) sum *= kept;
#pragma unroll
        for (unsigned i = 0; i < at_once; ++i) {
            const float weight = expf(states[i].x - largest);
            joined.total = fmaf(weight, states[i].y, joined.total);
            for (unsigned k = 0; k < 4; ++k)
                joined.sums.values[k] = fmaf(weight, parts[i].values[k], joined.sums.values[k]);
        }
    }
    return joined;
}

inline __device__ void store_at(float* results, std::uint64_t at, const Four& values) {
    *reinterpret_cast<Four*>(results + at) = values;
}

/// A tile of queries of one group against `span` keys by a block; the last block of a tile joins its parts.
/// store_at(results, at, four) says where results are kept.
template <class T, unsigned size, class Results, class C = T>
__global__ void __launch_bounds__(decode_warps* warp, size == 128 ? 3 : 4)
    attend_part(Decode<T, C> of, Results results) {
    using Own = OfWarp<size>;
    constexpr unsigned bytes = decode_bytes<C, size>;
    auto* const memory = device::dynamic_shared<unsigned char>();
    const unsigned splits = of.splits();
    const unsigned its_tile = blockIdx.x / splits;
    const std::uint64_t stretch = its_tile / of.tiles();
    const unsigned first_query = its_tile % of.tiles() * tile;
    const unsigned own = threadIdx.x / warp;
    const unsigned first = blockIdx.x % splits * of.span + own * (of.span / decode_warps);
    const unsigned last = lower_of(first + of.span / decode_warps, of.context);
    const std::uint64_t cached = stretch * of.context * size;
    const Attended<size> found = attend_to<T, size, false>(
        Rows<T>{of.queries + stretch * of.group * size, size}, first_query, of.group,
        FromShared<C, size>{of.keys + cached, of.values + cached, last, memory + own * bytes},
        first, last, of.score_scale);

    __syncwarp(); // all lanes have read the last tile
    const auto found_by = [&](unsigned of_warp) -> Own& {
        return *reinterpret_cast<Own*>(memory + of_warp * bytes);
    };
    const unsigned rows = lower_of(tile, of.group - first_query);
    const float as_found[2] = {1, 1};
    each_eight<float>(found.sums, as_found, [&](unsigned row, unsigned number, const auto& eight) {
        if (row >= rows) return;
        for (unsigned i = 0; i < 2; ++i)
            for (unsigned k = 0; k < 4; ++k)
                found_by(own).sums[Own::place(row, number / 4 + i)].values[k] =
                    eight.values[4 * i + k];
    });
    if (threadIdx.x % 4 == 0)
        for (unsigned half = 0; half < 2; ++half)
            found_by(own).states[threadIdx.x % warp / 4 + 8 * half] =
                float2{found.largest[half], found.total[half]};
    __syncthreads();

    const auto each_four = [&](const auto& what) {
        for (unsigned i = threadIdx.x; i < rows * (size / 4); i += decode_warps * warp)
            what(i / (size / 4), i % (size / 4));
    };
    auto* const sums = reinterpret_cast<Four*>(of.sums);
    each_four([&](unsigned row, unsigned chunk) {
        const Joined joined = join<decode_warps>(
            decode_warps, [&](unsigned i) { return found_by(i).states[row]; },
            [&](unsigned i) { return found_by(i).sums[Own::place(row, chunk)]; });
        const std::uint64_t part = std::uint64_t{blockIdx.x} * tile + row;
        sums[part * (size / 4) + chunk] = joined.sums;
        if (chunk == 0) of.states[part] = float2{joined.largest, joined.total};
    });

    __threadfence(); // before this part is counted, it can be read
    __syncthreads();
    auto& is_last = *reinterpret_cast<bool*>(memory);
    if (threadIdx.x == 0) {
        is_last = atomicAdd(of.joined + its_tile, 1U) == splits - 1;
        if (is_last) of.joined[its_tile] = 0;
    }
    __syncthreads();
    if (!is_last) return;
    __threadfence();
    each_four([&](unsigned row, unsigned chunk) {
        const auto part = [&](unsigned i) {
            return (std::uint64_t{its_tile} * splits + i) * tile + row;
        };
        Joined joined = join<8>(
            splits, [&](unsigned i) { return of.states[part(i)]; },
            [&](unsigned i) { return sums[part(i) * (size / 4) + chunk]; });
        const float share = of.value_scale / joined.total;
        for (float& sum : joined.sums.values) sum *= share;
        const std::uint64_t query = stretch * of.group + first_query + row;
        store_at(results, query * size + 4 * chunk, joined.sums);
    });
}

template <class T, class C, class Results>
struct DecodingKernel {
    void (*kernel)(Decode<T, C>, Results);
    std::size_t shared_bytes; ///< of a block

    /// For heads of 64 or 128 numbers.
    static DecodingKernel of(std::int64_t size) {
        if (size == 64) return {attend_part<T, 64, Results, C>, decode_warps * decode_bytes<C, 64>};
        return {attend_part<T, 128, Results, C>, decode_warps * decode_bytes<C, 128>};
    }
    void queue(const device::Stream& stream, const Decode<T, C>& of, std::size_t stretches,
               const Results& results) const {
        const auto blocks = static_cast<unsigned>(stretches * of.tiles() * of.splits());
        device::launch(kernel, {blocks, decode_warps * warp, stream.get(), shared_bytes}, of,
                       results);
    }
};

/// Memory of the parts of contexts.
class DecodingParts {
public:
    /// The spans to try for `of`, which is ready for each of them, and has the smallest.
    template <class T, class C, class Results>
    std::vector<std::uint32_t>
    prepare(Decode<T, C>& of, const DecodingKernel<T, C, Results>& kernel, std::int64_t size,
            std::size_t stretches, const device::Properties& properties,
            const device::Stream& stream) {
        int blocks = 0; // of a multiprocessor
        device::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks, kernel.kernel, int{decode_warps * warp}, kernel.shared_bytes));
        blocks *= properties.multiprocessors;
        const std::size_t tiles = stretches * of.tiles();
        auto spans =
            spans_of(of.context, tiles, static_cast<std::size_t>(blocks), decode_warps * tile);
        if (properties.is_cpu()) spans = {spans.back()}; // nothing to time
        of.span = *std::ranges::min_element(spans);
        states_ = device::Buffer<float2>{tiles * of.splits() * tile};
        sums_ = device::Buffer<float>{states_.size() * static_cast<std::size_t>(size)};
        joined_ = device::Buffer<unsigned>{tiles};
        device::set_bytes(joined_, 0, stream);
        of.states = states_.data();
        of.sums = sums_.data();
        of.joined = joined_.data();
        return spans;
    }
    const device::Buffer<float2>& states() const { return states_; }

private:
    device::Buffer<float2> states_;
    device::Buffer<float> sums_;
    device::Buffer<unsigned> joined_;
};

} // namespace assay::workload
