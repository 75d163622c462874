// SPDX-License-Identifier: Apache-2.0
#include "device/launch.cuh"
#include "gemm/device_matrices.hpp"

#include <type_traits>

namespace assay::gemm {
namespace {

constexpr unsigned threads = 256; // of a block that adds up a row together
constexpr unsigned vectors = device_vectors;

/// Adds `values` over all threads of the block; the sums are right in thread 0. All threads must call it.
template <class Sum, unsigned count>
__device__ void add_over_block(Sum (&values)[count]) {
    __shared__ Sum shared[threads];
    for (unsigned v = 0; v < count; ++v) {
        __syncthreads(); // the last value was read
        shared[threadIdx.x] = values[v];
        for (unsigned half = threads / 2; half > 0; half /= 2) {
            __syncthreads();
            if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
        }
        if (threadIdx.x == 0) values[v] = shared[0];
    }
}

/// A block for each sample.
__global__ void entry_kernel(Operands of, Sampling sampling, std::uint64_t first, Entry* entries) {
    const Position at = sample_at(sampling, first + blockIdx.x);
    double sums[3] = {};
    for (std::uint64_t l = threadIdx.x; l < of.a.inner; l += threads) {
        const double a = load(of.a, at.row, l);
        const double b = load(of.b, at.column, l);
        sums[0] += a * b;
        sums[1] += a * a;
        sums[2] += b * b;
    }
    add_over_block(sums);
    if (threadIdx.x == 0)
        entries[blockIdx.x] = {load(of.c, at.column, at.row), sums[0], sums[1], sums[2]};
}

/// Integers go through int64, so that -1 becomes 2^64 - 1.
template <class Sum>
__device__ Sum as_sum(double value) {
    if constexpr (std::is_integral_v<Sum>)
        return static_cast<Sum>(static_cast<long long>(value));
    else
        return value;
}

template <class Sum>
struct RandomVectors {
    Sum* to;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t i) const {
        constexpr std::uint64_t seed = 0xf4e1'7a1d'5000; // not that of a matrix
        if constexpr (std::is_integral_v<Sum>)
            to[i] = random_bits(seed, i);
        else
            to[i] = random_normal<double>(seed, i);
    }
};

/// M^T r: for element `i` of all rows of M, the sums over the rows times each vector, and the squares.
/// Neighbouring threads read neighbouring elements.
template <class Sum>
struct TimesVectors {
    Operand matrix;
    const Sum* r; // `vectors` of matrix.rows each
    Sum* sums;    // `vectors` + 1 of matrix.inner each
    __device__ void operator()(std::uint64_t i) const {
        Sum own[vectors + 1] = {};
        for (std::uint64_t row = 0; row < matrix.rows; ++row) {
            const Sum x = as_sum<Sum>(load(matrix, row, i));
            for (unsigned v = 0; v < vectors; ++v) own[v] += x * r[v * matrix.rows + row];
            own[vectors] += x * x;
        }
        for (unsigned v = 0; v <= vectors; ++v) sums[v * matrix.inner + i] = own[v];
    }
};

/// M s: a block for each row.
template <class Sum>
__global__ void row_kernel(Operand matrix, const Sum* s, Sum* sums) {
    Sum own[vectors + 1] = {};
    const std::uint64_t row = blockIdx.x;
    for (std::uint64_t l = threadIdx.x; l < matrix.inner; l += threads) {
        const Sum x = as_sum<Sum>(load(matrix, row, l));
        for (unsigned v = 0; v < vectors; ++v) own[v] += x * s[v * matrix.inner + l];
        own[vectors] += x * x;
    }
    add_over_block(own);
    if (threadIdx.x == 0)
        for (unsigned v = 0; v <= vectors; ++v) sums[v * matrix.rows + row] = own[v];
}

template <class T>
std::vector<T> part(const std::vector<T>& of, std::size_t first, std::size_t count) {
    const auto begin = of.begin() + static_cast<std::ptrdiff_t>(first);
    return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

} // namespace

void fill_normal(const device::Stream& stream, const Operand& operand, std::uint64_t seed) {
    const FillNormal fill{operand, seed};
    device::on_each(stream, fill.count(), fill);
    device::check_launches();
}

std::vector<Entry> sampled_entries(const device::Stream& stream, const Operands& operands,
                                   const Sampling& sampling, std::uint64_t first,
                                   std::uint64_t count) {
    const device::Buffer<Entry> entries{count};
    device::launch(entry_kernel, {static_cast<unsigned>(count), threads, stream.get()}, operands,
                   sampling, first, entries.data());
    device::check_launches();
    return device::to_host(entries, stream);
}

template <class Sum>
RowReport<Sum> row_report(const device::Stream& stream, const Operands& operands) {
    const std::uint64_t m = operands.a.rows;
    const std::uint64_t n = operands.b.rows;
    const std::uint64_t k = operands.a.inner;
    constexpr device::Grid narrow{.threads = 64}; // few threads with much work: over all processors
    const device::Buffer<Sum> r{vectors * n};
    const device::Buffer<Sum> br{(vectors + 1) * k};
    const device::Buffer<Sum> cr{(vectors + 1) * m};
    const device::Buffer<Sum> abr{(vectors + 1) * m};
    device::on_each(stream, r.size(), RandomVectors<Sum>{r.data()});
    device::on_each(stream, k, TimesVectors<Sum>{operands.b, r.data(), br.data()}, narrow);
    device::on_each(stream, m, TimesVectors<Sum>{operands.c, r.data(), cr.data()}, narrow);
    device::launch(row_kernel<Sum>, {static_cast<unsigned>(m), threads, stream.get()}, operands.a,
                   br.data(), abr.data());
    device::check_launches();
    const auto of_b = device::to_host(br, stream);
    const auto of_c = device::to_host(cr, stream);
    const auto of_a = device::to_host(abr, stream);
    return {.found = part(of_c, 0, vectors * m),
            .expected = part(of_a, 0, vectors * m),
            .square_a = part(of_a, vectors * m, m),
            .square_b = part(of_b, vectors * k, k)};
}

template RowReport<double> row_report(const device::Stream&, const Operands&);
template RowReport<std::uint64_t> row_report(const device::Stream&, const Operands&);

} // namespace assay::gemm
