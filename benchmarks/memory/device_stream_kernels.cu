// SPDX-License-Identifier: Apache-2.0
#include "device/worst.cuh"
#include "memory/device_stream_kernels.hpp"

namespace assay::memory {
namespace {

/// One element; std::fma so that the check computes the very same.
template <Kernel kernel>
__device__ double value(double out, double left, double right, std::uint64_t i) {
    if constexpr (kernel == Kernel::copy) return left;
    if constexpr (kernel == Kernel::scale) return stream_data::scalar * left;
    if constexpr (kernel == Kernel::add) return left + right;
    if constexpr (kernel == Kernel::triad) return std::fma(stream_data::scalar, right, left);
    if constexpr (kernel == Kernel::write) return stream_data::written(i);
    return std::fma(stream_data::scalar, right, out + left); // nstream
}

template <bool evict_first>
__device__ double2 load(const double2* from) {
    if constexpr (evict_first) return __ldcs(from);
    return *from;
}
template <bool evict_first>
__device__ void store(double2* to, const double2& value) {
    if constexpr (evict_first)
        __stcs(to, value);
    else
        *to = value;
}

template <Kernel kernel, unsigned unroll, bool evict_first>
__global__ void map(StreamArrays arrays) {
    auto* out = reinterpret_cast<double2*>(arrays.out);
    const auto* left = reinterpret_cast<const double2*>(arrays.left);
    const auto* right = reinterpret_cast<const double2*>(arrays.right);
    double2 o[unroll] = {};
    double2 l[unroll] = {};
    double2 r[unroll] = {};
#pragma unroll
    for (unsigned k = 0; k < unroll; ++k) {
        const std::uint64_t at = map_vector(blockIdx.x, threadIdx.x, k, blockDim.x, unroll);
        if constexpr (kernel == Kernel::nstream) o[k] = load<evict_first>(out + at);
        if constexpr (kernel != Kernel::write) l[k] = load<evict_first>(left + at);
        if constexpr (reads_right(kernel)) r[k] = load<evict_first>(right + at);
    }
#pragma unroll
    for (unsigned k = 0; k < unroll; ++k) {
        const std::uint64_t at = map_vector(blockIdx.x, threadIdx.x, k, blockDim.x, unroll);
        store<evict_first>(out + at, {value<kernel>(o[k].x, l[k].x, r[k].x, 2 * at),
                                      value<kernel>(o[k].y, l[k].y, r[k].y, 2 * at + 1)});
    }
}

/// The sum over the threads of a block, in its first thread.
__device__ double sum_of_block(double own) {
    constexpr unsigned everybody = 0xffffffffU;
    __shared__ double warps[32];
    for (int distance = 16; distance > 0; distance /= 2)
        own += __shfl_down_sync(everybody, own, distance);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = own;
    __syncthreads();
    own = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0.0;
    if (threadIdx.x < 32)
        for (int distance = 16; distance > 0; distance /= 2)
            own += __shfl_down_sync(everybody, own, distance);
    return own;
}

/// What one vector adds; a functor, because a lambda of a kernel is for devices alone.
template <Kernel kernel>
struct Take {
    const double2* left;
    const double2* right;
    double* sums;
    ASSAY_HOST_DEVICE void operator()(unsigned k, std::uint64_t at) const {
        const double2 l = left[at];
        if constexpr (kernel == Kernel::dot) {
            const double2 r = right[at];
            sums[k] = std::fma(l.x, r.x, sums[k]);
            sums[k] = std::fma(l.y, r.y, sums[k]);
        } else {
            sums[k] += l.x + l.y;
        }
    }
};

template <Kernel kernel>
__global__ void reduce(StreamArrays arrays) {
    double sums[4] = {};
    const Take<kernel> take{reinterpret_cast<const double2*>(arrays.left),
                            reinterpret_cast<const double2*>(arrays.right), sums};
    walk_vectors(static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x,
                 static_cast<std::uint64_t>(gridDim.x) * blockDim.x, arrays.count / 2, take);
    const double sum = sum_of_block((sums[0] + sums[1]) + (sums[2] + sums[3]));
    if (threadIdx.x == 0) arrays.partial[blockIdx.x] = sum;
}

__global__ void add_partial(const double* partial, unsigned count, double* sum) {
    double own = 0;
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) own += partial[i];
    own = sum_of_block(own);
    if (threadIdx.x == 0) *sum = own;
}

/// How far an element is from what must come out, relative to it.
struct Deviation {
    Kernel kernel;
    const double* out;
    std::uint64_t calls;
    ASSAY_HOST_DEVICE double operator()(std::uint64_t i) const {
        const double wanted = stream_data::expected(kernel, i, calls, true);
        return out[i] == wanted ? 0.0 : (out[i] - wanted) / wanted;
    }
};

/// Each thread's share of the exact sum.
struct ExactShare {
    Kernel kernel;
    std::uint64_t count;
    std::uint64_t shares;
    double* out; // two numbers for each share
    ASSAY_HOST_DEVICE void operator()(std::uint64_t share) const {
        stream_data::CompensatedSum sum;
        for (std::uint64_t i = share; i < count; i += shares) {
            if (kernel == Kernel::dot)
                sum.add_product(stream_data::left(i), stream_data::right(i));
            else
                sum.add(stream_data::left(i));
        }
        out[2 * share] = sum.sum;
        out[2 * share + 1] = sum.error;
    }
};

template <Kernel kernel, bool evict_first>
void launch_hinted(const StreamArrays& arrays, const StreamShape& shape, cudaStream_t stream) {
    const device::Launch how{shape.blocks, shape.threads, stream};
    if (shape.unroll == 1)
        device::launch(map<kernel, 1, evict_first>, how, arrays);
    else if (shape.unroll == 2)
        device::launch(map<kernel, 2, evict_first>, how, arrays);
    else
        device::launch(map<kernel, 4, evict_first>, how, arrays);
}
template <Kernel kernel>
void launch_map(const StreamArrays& arrays, const StreamShape& shape, cudaStream_t stream) {
    if (shape.evict_first)
        launch_hinted<kernel, true>(arrays, shape, stream);
    else
        launch_hinted<kernel, false>(arrays, shape, stream);
}

template <Kernel kernel>
void launch_reduce(const StreamArrays& arrays, const StreamShape& shape, cudaStream_t stream) {
    device::launch(reduce<kernel>, {shape.blocks, shape.threads, stream}, arrays);
    device::launch(add_partial, {1, 1024, stream}, arrays.partial, shape.blocks, arrays.sum);
}

} // namespace

void launch_stream(Kernel kernel, const StreamArrays& arrays, const StreamShape& shape,
                   const device::Stream& stream) {
    switch (kernel) {
    case Kernel::copy:
        return launch_map<Kernel::copy>(arrays, shape, stream.get());
    case Kernel::scale:
        return launch_map<Kernel::scale>(arrays, shape, stream.get());
    case Kernel::add:
        return launch_map<Kernel::add>(arrays, shape, stream.get());
    case Kernel::triad:
        return launch_map<Kernel::triad>(arrays, shape, stream.get());
    case Kernel::nstream:
        return launch_map<Kernel::nstream>(arrays, shape, stream.get());
    case Kernel::write:
        return launch_map<Kernel::write>(arrays, shape, stream.get());
    case Kernel::dot:
        return launch_reduce<Kernel::dot>(arrays, shape, stream.get());
    case Kernel::read:
        return launch_reduce<Kernel::read>(arrays, shape, stream.get());
    }
}

Check check_stream(Kernel kernel, const double* out, std::uint64_t count, std::uint64_t calls,
                   const device::Stream& stream) {
    return device::check_each(
        stream, count, Deviation{kernel, out, calls}, 0,
        "every element recomputed from the random seed on the device, bit for bit");
}

double exact_sum(Kernel kernel, std::uint64_t count, const device::Stream& stream) {
    constexpr std::uint64_t shares = 1U << 16U;
    const device::Buffer<double> found{2 * shares};
    device::on_each(stream, shares, ExactShare{kernel, count, shares, found.data()});
    device::check_launches();
    stream_data::CompensatedSum sum;
    for (const double part : device::to_host(found, stream)) sum.add(part);
    return sum.value();
}

} // namespace assay::memory
