// SPDX-License-Identifier: Apache-2.0
#include "device/worst.cuh"
#include "memory/device_access.hpp"

namespace assay::memory {
namespace {

struct MakeWord {
    std::uint32_t* words;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t i) const { words[i] = access_word(i); }
};
struct MakeElement {
    double* elements;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t i) const { elements[i] = matrix_element(i); }
};

/// Words from memory, and the same made again.
struct Loaded {
    const std::uint32_t* words;
    ASSAY_HOST_DEVICE std::uint32_t operator()(std::uint64_t i) const { return words[i]; }
};
struct Remade {
    ASSAY_HOST_DEVICE std::uint32_t operator()(std::uint64_t i) const { return access_word(i); }
};

struct Stride {
    StrideShape shape;
    ASSAY_HOST_DEVICE std::uint32_t operator()(std::uint64_t thread) const {
        return stride_sum(shape, thread, Remade{});
    }
};
struct Banks {
    unsigned stride;
    ASSAY_HOST_DEVICE std::uint32_t operator()(std::uint64_t thread) const {
        return bank_sum(static_cast<unsigned>(thread % bank_threads), stride);
    }
};

template <class Expected>
struct WrongSum {
    const std::uint32_t* sums;
    Expected expected;
    ASSAY_HOST_DEVICE double operator()(std::uint64_t thread) const {
        return sums[thread] == expected(thread) ? 0 : 1;
    }
};
template <class Expected>
struct PoisonSum {
    std::uint32_t* sums;
    Expected expected;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t thread) const {
        sums[thread] = ~expected(thread);
    }
};
struct WrongElement {
    const double* out;
    std::uint64_t side;
    bool transposed;
    ASSAY_HOST_DEVICE double operator()(std::uint64_t i) const {
        return out[i] == matrix_result(transposed, i, side) ? 0 : 1;
    }
};

const char* const sums_words = "the sum of each thread, modulo 2^32, against its recomputation";

__global__ void __launch_bounds__(stride_threads)
    read_strided(const std::uint32_t* words, std::uint32_t* sums, StrideShape shape) {
    const std::uint64_t thread =
        static_cast<std::uint64_t>(blockIdx.x) * stride_threads + threadIdx.x;
    sums[thread] = stride_sum(shape, thread, Loaded{words});
}

__global__ void __launch_bounds__(matrix_threads)
    copy_matrix(const double* in, double* out, std::uint64_t side, unsigned width) {
    const Place at = copied_place(blockIdx.x, threadIdx.x, width, side);
    out[at.row * side + at.column] = in[at.row * side + at.column];
}

__global__ void __launch_bounds__(matrix_threads)
    transpose_plain(const double* in, double* out, std::uint64_t side) {
#pragma unroll
    for (unsigned k = 0; k < tile_side / tile_rows; ++k) {
        const Place at = tile_place(blockIdx.x, threadIdx.x, k, side);
        out[at.column * side + at.row] = in[at.row * side + at.column];
    }
}

template <unsigned padding>
__global__ void __launch_bounds__(matrix_threads)
    transpose_through_tile(const double* in, double* out, std::uint64_t side) {
    __shared__ double tile[tile_side][tile_side + padding];
    const unsigned x = threadIdx.x % tile_side;
    const unsigned y = threadIdx.x / tile_side;
#pragma unroll
    for (unsigned k = 0; k < tile_side / tile_rows; ++k) {
        const Place at = tile_place(blockIdx.x, threadIdx.x, k, side);
        tile[y + k * tile_rows][x] = in[at.row * side + at.column];
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < tile_side / tile_rows; ++k) {
        const Place at = mirrored_place(blockIdx.x, threadIdx.x, k, side);
        out[at.row * side + at.column] = tile[x][y + k * tile_rows];
    }
}

__global__ void __launch_bounds__(bank_threads) read_banks(std::uint32_t* sums, unsigned stride) {
    __shared__ std::uint32_t words[bank_words];
    for (unsigned i = threadIdx.x; i < bank_words; i += bank_threads) words[i] = access_word(i);
    __syncthreads();
    std::uint32_t sum = 0;
    for (unsigned repeat = 0; repeat < bank_repeats; ++repeat)
        for (unsigned round = 0; round < bank_rounds; ++round) {
            const std::uint32_t* const from = words + bank_word(threadIdx.x, round, stride);
#pragma unroll
            for (unsigned k = 0; k < bank_loads; ++k) sum += from[k];
        }
    sums[static_cast<std::uint64_t>(blockIdx.x) * bank_threads + threadIdx.x] = sum;
}

} // namespace

void fill_words(std::uint32_t* words, std::uint64_t count, const device::Stream& stream) {
    device::on_each(stream, count, MakeWord{words});
    device::check_launches();
}
void fill_matrix(double* elements, std::uint64_t side, const device::Stream& stream) {
    device::on_each(stream, side * side, MakeElement{elements});
    device::check_launches();
}

void launch_stride(const std::uint32_t* words, std::uint32_t* sums, const StrideShape& shape,
                   const device::Stream& stream) {
    device::launch(read_strided, {shape.blocks, stride_threads, stream.get()}, words, sums, shape);
}

void launch_matrix(MatrixPattern pattern, const double* in, double* out, std::uint64_t side,
                   const device::Stream& stream) {
    const device::Launch how{static_cast<unsigned>(matrix_blocks(pattern, side)), matrix_threads,
                             stream.get()};
    switch (pattern) {
    case MatrixPattern::transpose:
        device::launch(transpose_plain, how, in, out, side);
        return;
    case MatrixPattern::transpose_tiled:
        device::launch(transpose_through_tile<0>, how, in, out, side);
        return;
    case MatrixPattern::transpose_padded:
        device::launch(transpose_through_tile<1>, how, in, out, side);
        return;
    default:
        device::launch(copy_matrix, how, in, out, side, block_width(pattern));
    }
}

void launch_banks(std::uint32_t* sums, unsigned blocks, unsigned stride,
                  const device::Stream& stream) {
    device::launch(read_banks, {blocks, bank_threads, stream.get()}, sums, stride);
}

Check check_stride(const std::uint32_t* sums, const StrideShape& shape,
                   const device::Stream& stream) {
    return device::check_each(stream, shape.threads(), WrongSum<Stride>{sums, {shape}}, 0,
                              sums_words);
}
Check check_matrix(MatrixPattern pattern, const double* out, std::uint64_t side,
                   const device::Stream& stream) {
    return device::check_each(stream, side * side, WrongElement{out, side, transposes(pattern)}, 0,
                              "every element recomputed from the random seed, bit for bit");
}
Check check_banks(const std::uint32_t* sums, unsigned blocks, unsigned stride,
                  const device::Stream& stream) {
    return device::check_each(stream, std::uint64_t{blocks} * bank_threads,
                              WrongSum<Banks>{sums, {stride}}, 0, sums_words);
}

void poison_stride(std::uint32_t* sums, const StrideShape& shape, const device::Stream& stream) {
    device::on_each(stream, shape.threads(), PoisonSum<Stride>{sums, {shape}});
    device::check_launches();
    stream.wait();
}
void poison_banks(std::uint32_t* sums, unsigned blocks, unsigned stride,
                  const device::Stream& stream) {
    device::on_each(stream, std::uint64_t{blocks} * bank_threads, PoisonSum<Banks>{sums, {stride}});
    device::check_launches();
    stream.wait();
}

} // namespace assay::memory
