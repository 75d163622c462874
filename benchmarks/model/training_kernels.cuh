// SPDX-License-Identifier: Apache-2.0
//
// The kernels of a training step between its products: embedding, norms, GELU, loss, sums over tokens, AdamW. Every sum
// is made in the same order each time: there are no atomics. For .cu files.

#pragma once

#include "device/benchmark.cuh"
#include "device/pack.hpp"
#include "model/training.hpp"
#include "workload/gelu.hpp"

#include <cmath>
#include <cstdint>

namespace assay::model::training {

using device::warp_lanes;

template <class T>
using Eight = device::Pack<T, 8>;
using FourWide = device::Pack<float, 4>;

template <class P, class T>
ASSAY_HOST_DEVICE P load(const T* from) {
    return device::read_only(reinterpret_cast<const P*>(from));
}
template <class P, class T>
ASSAY_HOST_DEVICE void store(T* to, const P& pack) {
    *reinterpret_cast<P*>(to) = pack;
}

ASSAY_HOST_DEVICE inline void store_eight(float* to, const float (&numbers)[8]) {
    store(to, FourWide{numbers[0], numbers[1], numbers[2], numbers[3]});
    store(to + 4, FourWide{numbers[4], numbers[5], numbers[6], numbers[7]});
}

/// In every lane.
__device__ inline float sum_in_warp(float own) {
    for (unsigned distance = warp_lanes / 2; distance > 0; distance /= 2)
        own += __shfl_xor_sync(device::every_lane, own, distance);
    return own;
}
__device__ inline float most_in_warp(float own) {
    for (unsigned distance = warp_lanes / 2; distance > 0; distance /= 2)
        own = fmaxf(own, __shfl_xor_sync(device::every_lane, own, distance));
    return own;
}

// --- embedding -----------------------------------------------------------------------------------------

/// The rows of a token and of its position, added.
template <class T>
struct Embed {
    const std::int32_t* tokens;
    const T* table;
    const T* positions;
    T* to;
    std::uint64_t packs; ///< of a row
    std::uint64_t sequence;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t i) const {
        const std::uint64_t at = i / packs;
        const std::uint64_t column = 8 * (i % packs);
        const auto token = static_cast<std::uint64_t>(tokens[at]);
        auto sum = load<Eight<T>>(table + 8 * packs * token + column);
        const auto other = load<Eight<T>>(positions + 8 * packs * (at % sequence) + column);
        for (unsigned k = 0; k < 8; ++k)
            sum.values[k] = static_cast<T>(static_cast<float>(sum.values[k]) +
                                           static_cast<float>(other.values[k]));
        store(to + 8 * i, sum);
    }
};

/// Gradient of the table of positions: sums over the sequences, zero behind them.
template <class T>
struct EmbedPositionGradient {
    const T* of;
    float* to;
    std::uint64_t packs;
    std::uint64_t sequence;
    std::uint64_t batch;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t i) const {
        float sums[8] = {};
        if (i / packs < sequence)
            for (std::uint64_t b = 0; b < batch; ++b) {
                const auto eight = load<Eight<T>>(of + 8 * (b * sequence * packs + i));
                for (unsigned k = 0; k < 8; ++k) sums[k] += static_cast<float>(eight.values[k]);
            }
        store_eight(to + 8 * i, sums);
    }
};

constexpr unsigned rows_of_warp = 8;
constexpr unsigned scan_warps = 4;

/// Gradient of the table of tokens, added to that of the head, which has the same weights. A warp has some rows of the
/// table, and looks for their tokens among all.
template <class T>
__global__ void __launch_bounds__(scan_warps* warp_lanes)
    embed_gradient(const std::int32_t* tokens, const T* of, float* table, std::uint32_t count,
                   std::uint32_t width, std::uint32_t rows) {
    const unsigned own = blockIdx.x * scan_warps + device::warp();
    if (own * rows_of_warp >= rows) return;
    for (unsigned first = 0; first < count; first += warp_lanes) {
        const unsigned at = first + device::lane();
        const bool is_own = at < count && static_cast<unsigned>(tokens[at]) / rows_of_warp == own;
        for (device::Lanes found = __ballot_sync(device::every_lane, is_own); found != 0;
             found &= found - 1) {
            const unsigned lane = device::count((found & (~found + 1)) - 1);
            const auto token = static_cast<std::uint64_t>(tokens[first + lane]);
            float* const to = table + token * width;
            const T* const from = of + std::uint64_t{first + lane} * width;
            for (unsigned i = 4 * device::lane(); i < width; i += 4 * warp_lanes) {
                const auto add = load<device::Pack<T, 4>>(from + i);
                auto sum = *reinterpret_cast<const FourWide*>(to + i);
                for (unsigned k = 0; k < 4; ++k) sum.values[k] += static_cast<float>(add.values[k]);
                store(to + i, sum);
            }
        }
    }
}

// --- sums of columns -----------------------------------------------------------------------------------

constexpr unsigned rows_of_group = 64; // added by one block; the sums are a row of `partial`

constexpr unsigned adders = 16;

/// Adds up the rows of `partial`: columns [0, width) go to to[0], the next ones to to[1] and to[2].
struct ColumnSums {
    const float* partial;
    std::uint32_t groups;
    std::uint32_t width;
    std::uint32_t stride; ///< of groups
    std::uint32_t wanted; ///< of `to`
    float* to[3];
};
template <class Sums>
__global__ void __launch_bounds__(adders* warp_lanes) add_groups(Sums of) {
    __shared__ float sums[adders][warp_lanes];
    const unsigned column = blockIdx.x * warp_lanes + device::lane();
    float sum = 0;
    if (column < of.wanted * of.width)
#pragma unroll 8
        for (unsigned group = device::warp(); group < of.groups; group += adders)
            sum += of.partial[std::uint64_t{group} * of.stride + column];
    sums[device::warp()][device::lane()] = sum;
    __syncthreads();
    if (device::warp() > 0 || column >= of.wanted * of.width) return;
    for (unsigned k = 1; k < adders; ++k) sum += sums[k][device::lane()];
    float* const to = column < of.width ? of.to[0] : column < 2 * of.width ? of.to[1] : of.to[2];
    to[column % of.width] = sum;
}

// --- GELU ----------------------------------------------------------------------------------------------

using workload::Gelu;
using workload::normal_distribution;

constexpr unsigned strip_warps = 2; // eight columns by a lane

/// The gradient of GELU's input, and sums of its columns; without a `before`, `of` is summed and nothing else.
template <class T, bool has_gelu>
__global__ void __launch_bounds__(strip_warps* warp_lanes)
    sum_columns(const T* of, const T* before, T* to, float* partial, std::uint32_t rows,
                std::uint32_t width) {
    const unsigned column = 8 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (column >= width) return;
    const unsigned first = blockIdx.y * rows_of_group;
    const unsigned last = first + rows_of_group < rows ? first + rows_of_group : rows;
    float sums[8] = {};
#pragma unroll 4
    for (unsigned row = first; row < last; ++row) {
        const std::uint64_t at = std::uint64_t{row} * width + column;
        auto eight = load<Eight<T>>(of + at);
        if constexpr (has_gelu) {
            const auto numbers = load<Eight<T>>(before + at);
#pragma unroll
            for (unsigned k = 0; k < 8; ++k) {
                const auto x = static_cast<float>(numbers.values[k]);
                constexpr float density = 0.398942280F; // 1 / sqrt(2 pi)
                const float slope = normal_distribution(x) + x * density * expf(-0.5F * x * x);
                eight.values[k] = static_cast<T>(static_cast<float>(eight.values[k]) * slope);
            }
            store(to + at, eight);
        }
#pragma unroll
        for (unsigned k = 0; k < 8; ++k) sums[k] += static_cast<float>(eight.values[k]);
    }
    store_eight(partial + std::uint64_t{blockIdx.y} * width + column, sums);
}

// --- norms ---------------------------------------------------------------------------------------------

constexpr unsigned norm_warps = 4;

/// A row by a warp: each lane has every 32nd pack of it.
template <unsigned packs, class Use>
__device__ void each_pack(unsigned width, const Use& use) {
#pragma unroll
    for (unsigned i = 0; i < packs; ++i) {
        const unsigned column = 8 * (i * warp_lanes + device::lane());
        if (column < width) use(i, column);
    }
}

/// Normalised rows; means of all, then 1 / deviation.
template <class T>
struct Norm {
    const T* from;
    const T* scales;
    const T* shifts;
    T* to;
    float* statistics;
    std::uint32_t rows;
    std::uint32_t width;
};
template <class T, unsigned packs>
__global__ void __launch_bounds__(norm_warps* warp_lanes) normalise(Norm<T> of) {
    const unsigned row = blockIdx.x * norm_warps + device::warp();
    if (row >= of.rows) return;
    const std::uint64_t first = std::uint64_t{row} * of.width;
    float x[packs][8] = {};
    float sum = 0;
    each_pack<packs>(of.width, [&](unsigned i, unsigned column) {
        const auto eight = load<Eight<T>>(of.from + first + column);
#pragma unroll
        for (unsigned k = 0; k < 8; ++k) sum += x[i][k] = static_cast<float>(eight.values[k]);
    });
    const auto count = static_cast<float>(of.width);
    const float mean = sum_in_warp(sum) / count;
    float squares = 0;
    each_pack<packs>(of.width, [&](unsigned i, unsigned) {
#pragma unroll
        for (unsigned k = 0; k < 8; ++k) {
            x[i][k] -= mean;
            squares = fmaf(x[i][k], x[i][k], squares);
        }
    });
    const float factor = 1 / sqrtf(sum_in_warp(squares) / count + workload::norm_epsilon);
    each_pack<packs>(of.width, [&](unsigned i, unsigned column) {
        const auto scales = load<Eight<T>>(of.scales + column);
        auto shifts = load<Eight<T>>(of.shifts + column);
#pragma unroll
        for (unsigned k = 0; k < 8; ++k)
            shifts.values[k] =
                static_cast<T>(fmaf(x[i][k] * factor, static_cast<float>(scales.values[k]),
                                    static_cast<float>(shifts.values[k])));
        store(of.to + first + column, shifts);
    });
    if (device::lane() > 0) return;
    of.statistics[row] = mean;
    of.statistics[of.rows + row] = factor;
}

/// The gradient of what was normalised, with another one added, and sums over tokens: gradients of scales and shifts,
/// and of the bias that was added last to what was normalised.
template <class T>
struct NormGradient {
    const T* of;
    const T* from;
    const T* scales;
    const T* added; ///< may be none
    const float* statistics;
    T* to;
    float* partial; ///< [group][3][width]
    std::uint32_t rows;
    std::uint32_t width;
};
template <class T, unsigned packs>
__global__ void __launch_bounds__(norm_warps* warp_lanes) norm_gradient(NormGradient<T> of) {
    __shared__ float sums[norm_warps][8 * packs * warp_lanes];
    float total[3][packs][8] = {};
    const auto count = static_cast<float>(of.width);
    const unsigned end = (blockIdx.x + 1) * rows_of_group;
    for (unsigned row = blockIdx.x * rows_of_group + device::warp(); row < of.rows && row < end;
         row += norm_warps) {
        const std::uint64_t first = std::uint64_t{row} * of.width;
        const float mean = of.statistics[row];
        const float factor = of.statistics[of.rows + row];
        float x[packs][8];
        float g[packs][8];
        Eight<T> added[packs] = {};
        float sum = 0;
        float along = 0;
        each_pack<packs>(of.width, [&](unsigned i, unsigned column) {
            const auto from = load<Eight<T>>(of.from + first + column);
            const auto gradient = load<Eight<T>>(of.of + first + column);
            const auto scales = load<Eight<T>>(of.scales + column);
            if (of.added != nullptr) added[i] = load<Eight<T>>(of.added + first + column);
#pragma unroll
            for (unsigned k = 0; k < 8; ++k) {
                x[i][k] = (static_cast<float>(from.values[k]) - mean) * factor;
                const auto own = static_cast<float>(gradient.values[k]);
                total[0][i][k] = fmaf(own, x[i][k], total[0][i][k]);
                total[1][i][k] += own;
                g[i][k] = own * static_cast<float>(scales.values[k]);
                sum += g[i][k];
                along = fmaf(g[i][k], x[i][k], along);
            }
        });
        const float mean_sum = sum_in_warp(sum) / count;
        const float mean_along = sum_in_warp(along) / count;
        each_pack<packs>(of.width, [&](unsigned i, unsigned column) {
#pragma unroll
            for (unsigned k = 0; k < 8; ++k) {
                const float own = factor * (g[i][k] - mean_sum - x[i][k] * mean_along);
                T& result = added[i].values[k];
                result = static_cast<T>(own + static_cast<float>(result));
                total[2][i][k] += static_cast<float>(result);
            }
            store(of.to + first + column, added[i]);
        });
    }
#pragma unroll
    for (unsigned which = 0; which < 3; ++which) {
        __syncthreads(); // the sums before have been read
        each_pack<packs>(of.width, [&](unsigned i, unsigned column) {
#pragma unroll
            for (unsigned k = 0; k < 8; ++k) sums[device::warp()][column + k] = total[which][i][k];
        });
        __syncthreads();
        for (unsigned column = threadIdx.x; column < of.width; column += blockDim.x) {
            float sum = 0;
            for (unsigned k = 0; k < norm_warps; ++k) sum += sums[k][column];
            of.partial[(std::uint64_t{blockIdx.x} * 3 + which) * of.width + column] = sum;
        }
    }
}

// --- loss ----------------------------------------------------------------------------------------------

// With such blocks, the rows in work fit the second level, where they are read again.
constexpr unsigned most_loss_warps = 32;

/// Cross entropy of each token's scores, and the gradient of its mean.
template <class T>
struct Loss {
    const T* scores;
    const std::int32_t* targets;
    float* losses;
    float* logarithms; ///< of the sums of exp(score)
    T* gradients;
    std::uint32_t classes;
    float share; ///< 1 / tokens
};
template <class T>
__global__ void __launch_bounds__(most_loss_warps* warp_lanes) cross_entropy(Loss<T> of) {
    __shared__ float largest[most_loss_warps];
    __shared__ float totals[most_loss_warps];
    const unsigned warps = blockDim.x / warp_lanes;
    const std::uint64_t first = std::uint64_t{blockIdx.x} * of.classes;
    const auto target = static_cast<unsigned>(of.targets[blockIdx.x]);
    const auto each = [&](const auto& use) {
#pragma unroll 2
        for (unsigned i = 8 * threadIdx.x; i < of.classes; i += 8 * blockDim.x)
            use(i, load<Eight<T>>(of.scores + first + i));
    };
    float most = -INFINITY;
    float total = 0;
    each([&](unsigned, const Eight<T>& eight) {
        float next = most;
#pragma unroll
        for (const T& number : eight.values) next = fmaxf(next, static_cast<float>(number));
        total *= expf(most - next);
        most = next;
#pragma unroll
        for (const T& number : eight.values) total += expf(static_cast<float>(number) - most);
    });
    const float most_of_warp = most_in_warp(most);
    total = sum_in_warp(most > -INFINITY ? total * expf(most - most_of_warp) : 0);
    if (device::lane() == 0) {
        largest[device::warp()] = most_of_warp;
        totals[device::warp()] = total;
    }
    __syncthreads();
    for (unsigned k = 0; k < warps; ++k) most = fmaxf(most, largest[k]);
    total = 0;
    for (unsigned k = 0; k < warps; ++k) total += totals[k] * expf(largest[k] - most);
    const float logarithm = most + logf(total);
    if (threadIdx.x == 0) {
        of.losses[blockIdx.x] = logarithm - static_cast<float>(of.scores[first + target]);
        of.logarithms[blockIdx.x] = logarithm;
    }
    each([&](unsigned i, Eight<T> eight) {
#pragma unroll
        for (unsigned k = 0; k < 8; ++k) {
            const float probability = expf(static_cast<float>(eight.values[k]) - logarithm);
            eight.values[k] =
                static_cast<T>(of.share * (probability - (i + k == target ? 1.0F : 0.0F)));
        }
        device::write_past_caches(reinterpret_cast<Eight<T>*>(of.gradients + first + i), eight);
    });
}

// --- the parameters ------------------------------------------------------------------------------------

constexpr unsigned norm_parts = 256;
constexpr unsigned square_warps = 8;

/// In every thread.
__device__ inline float sum_in_block(float own) {
    __shared__ float sums[square_warps];
    own = sum_in_warp(own);
    if (device::lane() == 0) sums[device::warp()] = own;
    __syncthreads();
    float sum = 0;
    for (const float each : sums) sum += each;
    return sum;
}
/// Squares of a part of all gradients; then the root of the sum of parts.
template <class T, bool is_last>
__global__ void __launch_bounds__(square_warps* warp_lanes)
    add_squares(const T* of, T* to, std::uint64_t count, std::uint64_t part) {
    const std::uint64_t first = blockIdx.x * part;
    const std::uint64_t last = first + part < count ? first + part : count;
    const unsigned stride = 4 * blockDim.x;
    float sum = 0;
    const auto use = [&](const FourWide& four) {
#pragma unroll
        for (const float number : four.values) sum += is_last ? number : number * number;
    };
    std::uint64_t i = first + 4 * threadIdx.x;
    for (; i + 3 * stride < last; i += 4 * stride) { // several loads on their way at once
        FourWide fours[4];
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) fours[k] = load<FourWide>(of + i + k * stride);
#pragma unroll
        for (const FourWide& four : fours) use(four);
    }
    for (; i < last; i += stride) use(load<FourWide>(of + i));
    sum = sum_in_block(sum);
    if (threadIdx.x == 0) to[blockIdx.x] = is_last ? sqrtf(sum) : sum;
}

/// The step of AdamW, from one state to another, on four parameters.
template <class T>
struct Adam {
    const float* masters;
    const float* firsts;
    const float* seconds;
    float* new_masters;
    float* new_firsts;
    float* new_seconds;
    T* new_weights;
    const float* gradients;
    const float* norm;
    AdamW by;
    float first_correction;
    float second_correction;
    std::uint64_t matrices; ///< fours that decay
    ASSAY_HOST_DEVICE void operator()(std::uint64_t i) const {
        const float excess = by.most_norm / (*norm + 1e-6F); // torch.nn.utils.clip_grad_norm_
        const float clip = excess < 1 ? excess : 1;
        const float decay = i < matrices ? by.decay : 0;
        auto master = load<FourWide>(masters + 4 * i);
        auto first = load<FourWide>(firsts + 4 * i);
        auto second = load<FourWide>(seconds + 4 * i);
        const auto gradient = load<FourWide>(gradients + 4 * i);
        device::Pack<T, 4> weight;
        for (unsigned k = 0; k < 4; ++k) {
            const float g = clip * gradient.values[k];
            float& m = first.values[k];
            float& v = second.values[k];
            float& w = master.values[k];
            m = by.first * m + (1 - by.first) * g;
            v = by.second * v + (1 - by.second) * g * g;
            const float change = first_correction * m / (sqrtf(second_correction * v) + by.epsilon);
            w -= by.rate * (change + decay * w);
            weight.values[k] = static_cast<T>(w);
        }
        store(new_masters + 4 * i, master);
        store(new_firsts + 4 * i, first);
        store(new_seconds + 4 * i, second);
        store(new_weights + 4 * i, weight);
    }
};

} // namespace assay::model::training
