// SPDX-License-Identifier: Apache-2.0
#include "device/worst.cuh"
#include "stencil/device_window_kernels.hpp"
#include "stencil/window_data.hpp"

namespace assay::stencil {
namespace {

constexpr unsigned most_threads = 512;

template <class T>
struct Prefix {
    T before; ///< the sum over the threads before this one
    T all;    ///< and over all threads of the block
};

/// By every thread of a block, whose threads are whole warps.
template <class T>
__device__ Prefix<T> prefix_of_block(T own) {
    constexpr unsigned everybody = 0xffffffffU;
    __shared__ T warps[most_threads / 32];
    const unsigned lane = threadIdx.x % 32;
    const unsigned warp = threadIdx.x / 32;
    T inclusive = own;
    for (unsigned distance = 1; distance < 32; distance *= 2) {
        const T other = __shfl_up_sync(everybody, inclusive, distance);
        if (lane >= distance) inclusive += other;
    }
    const T shifted = __shfl_up_sync(everybody, inclusive, 1);
    __syncthreads(); // everybody has read what the call before left in `warps`
    if (lane == 31) warps[warp] = inclusive;
    __syncthreads();
    Prefix<T> prefix{0, 0};
    for (unsigned i = 0; i < blockDim.x / 32; ++i) {
        if (i < warp) prefix.before += warps[i];
        prefix.all += warps[i];
    }
    if (lane > 0) prefix.before += shifted;
    return prefix;
}

template <class T, unsigned items>
__global__ void __launch_bounds__(most_threads) moving(WindowTask<T> task, std::size_t steps) {
    const std::size_t at_once = std::size_t{blockDim.x} * items;
    const std::size_t first = blockIdx.x * at_once * steps;
    T sum = prefix_of_block(task.share(first, threadIdx.x, blockDim.x)).all;
    for (std::size_t step = 0; step < steps; ++step) {
        const std::size_t at = first + step * at_once + std::size_t{threadIdx.x} * items;
        const auto rise = task.template rise<items>(at);
        const Prefix<T> prefix = prefix_of_block(rise.values[items]);
        task.template finish<items>(at, sum + prefix.before, rise);
        sum += prefix.all;
    }
}

template <class T, unsigned items>
__global__ void __launch_bounds__(most_threads) direct(WindowTask<T> task) {
    task.template direct<items>((std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) * items);
}

template <class T, unsigned items>
void launch(const WindowTask<T>& task, const WindowShape& shape, cudaStream_t stream) {
    const device::Launch how{window_blocks(shape, task.window, task.count), shape.threads, stream};
    if (task.window <= longest_direct)
        device::launch(direct<T, items>, how, task);
    else
        device::launch(moving<T, items>, how, task, window_steps(shape, task.window));
}

/// The worst of a run of means.
template <class T>
struct WorstOfRun {
    WindowTask<T> task;
    std::size_t run;
    ASSAY_HOST_DEVICE double operator()(std::uint64_t i) const {
        const std::size_t first = i * run;
        const std::size_t last = first + run < task.count ? first + run : task.count;
        return window_data::worst_of(task.in, task.out, first, last, task.window);
    }
};

} // namespace

template <class T>
void launch_window(const WindowTask<T>& task, const WindowShape& shape,
                   const device::Stream& stream) {
    constexpr unsigned lanes = 16 / sizeof(T);
    if (shape.items == lanes)
        launch<T, lanes>(task, shape, stream.get());
    else
        launch<T, 2 * lanes>(task, shape, stream.get());
}

template <class T>
Check check_window(const WindowTask<T>& task, double bound, const device::Stream& stream) {
    // Each thread begins with a window, so runs are longer than that.
    const std::size_t run = std::max<std::size_t>(4 * task.window, 1024);
    const auto worst =
        device::find_worst(stream, (task.count + run - 1) / run, WorstOfRun<T>{task, run});
    return check_value(worst.error, bound, window_data::method, window_data::damage);
}

template void launch_window(const WindowTask<double>&, const WindowShape&, const device::Stream&);
template void launch_window(const WindowTask<float>&, const WindowShape&, const device::Stream&);
template Check check_window(const WindowTask<double>&, double, const device::Stream&);
template Check check_window(const WindowTask<float>&, double, const device::Stream&);

} // namespace assay::stencil
