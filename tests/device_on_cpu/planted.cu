// SPDX-License-Identifier: Apache-2.0
#include "device/instructions.cuh"
#include "device/launch.cuh"
#include "planted.hpp"

#include <array>
#include <span>

namespace assay::device_on_cpu::planted {
namespace {

constexpr unsigned everybody = 0xffffffffU;
constexpr unsigned side = 32;
constexpr unsigned threads = 256;

template <Fault fault>
__global__ void transpose_kernel(const double* in, double* out) {
    __shared__ double tile[side][side + 1];
    const unsigned x = threadIdx.x % side;
    for (unsigned y = threadIdx.x / side; y < side; y += threads / side)
        tile[y][x] = in[y * side + x];
    if constexpr (fault == Fault::none) __syncthreads();
    for (unsigned y = threadIdx.x / side; y < side; y += threads / side)
        out[y * side + x] = tile[x][y];
}

/// Sixteen blocks, each of which shows its neighbours a word in each round.
template <Fault fault>
__global__ void exchange_kernel(std::uint32_t* out, unsigned rounds) {
    auto* const own = device::dynamic_shared<unsigned>();
    const unsigned blocks = gridDim.x;
    std::uint32_t sum = 0;
    for (unsigned round = 1; round <= rounds; ++round) {
        if (threadIdx.x == 0) *own = round * (blockIdx.x + 1);
        if (fault == Fault::none || round != rounds) device::sync_cluster();
        sum += *device::shared_of(own, (device::cluster_rank() + 1) % blocks);
        device::sync_cluster();
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

constexpr unsigned piece = 64; // bytes
constexpr unsigned pieces = 5;

/// One slot after the other through two of them, each with its barrier.
template <Fault store_fault, Fault load_fault>
__global__ void bulk_kernel(const std::byte* in, std::byte* out) {
    const unsigned memory = device::shared_address(device::dynamic_shared<std::byte>());
    const unsigned barriers = memory + 2 * piece;
    if (threadIdx.x == 0)
        for (unsigned slot = 0; slot < 2; ++slot) device::init_barrier(barriers + 8 * slot, 1);
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (unsigned k = 0; k < pieces; ++k) {
        const unsigned slot = k % 2;
        if (store_fault == Fault::none) device::wait_for_bulk_reads<1>();
        device::arrive_expecting(barriers + 8 * slot, piece);
        device::bulk_load(memory + slot * piece, in + k * piece, piece, barriers + 8 * slot);
        if (load_fault == Fault::none) device::wait_for_phase(barriers + 8 * slot, k / 2 % 2);
        device::bulk_store(out + k * piece, memory + slot * piece, piece);
    }
    device::wait_for_bulk_reads<0>();
}

__global__ void wait_for_nothing_kernel() {
    const unsigned barrier = device::shared_address(device::dynamic_shared<std::byte>());
    if (threadIdx.x == 0) device::init_barrier(barrier, 1);
    __syncthreads();
    device::wait_for_phase(barrier, 0);
}

/// Running sums over the warps of a block, one step after the other in the same words.
template <Fault fault>
__global__ void window_kernel(const std::uint32_t* in, std::uint32_t* out, unsigned steps) {
    __shared__ std::uint32_t warps[threads / 32];
    for (unsigned step = 0; step < steps; ++step) {
        std::uint32_t sum = in[step * threads + threadIdx.x];
        for (unsigned distance = 16; distance > 0; distance /= 2)
            sum += __shfl_xor_sync(everybody, sum, distance);
        if constexpr (fault == Fault::none) __syncthreads(); // everybody has read the step before
        if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
        __syncthreads();
        std::uint32_t all = 0;
        for (const std::uint32_t of_warp : warps) all += of_warp;
        out[step * threads + threadIdx.x] = all;
    }
}

template <Fault fault>
__global__ void copy_kernel(const std::uint32_t* in, std::uint32_t* out) {
    out[threadIdx.x + (fault == Fault::none ? 0 : 1)] = in[threadIdx.x];
}

template <Fault fault>
__global__ void scan_kernel(const std::uint32_t* in, std::uint32_t* out) {
    __shared__ std::uint32_t sums[threads];
    sums[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (unsigned distance = 1; distance < threads; distance *= 2) {
        const std::uint32_t before = threadIdx.x >= distance ? sums[threadIdx.x - distance] : 0;
        if constexpr (fault == Fault::none) __syncthreads();
        sums[threadIdx.x] += before;
        __syncthreads();
    }
    out[threadIdx.x] = sums[threadIdx.x];
}

template <class Index>
__global__ void index_kernel(std::uint64_t* found) {
    const Index at = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
    found[threadIdx.x] = at;
}

struct Largest {
    std::uint64_t* largest;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t i) const {
        if (i > *largest) *largest = i;
    }
};

__global__ void read_first(std::uint32_t* found) {
    __shared__ std::uint32_t word;
    *found = word;
    word = 1;
}
__global__ void leave_half() {
    if (threadIdx.x % 2 == 0) return;
    __syncthreads();
}
__global__ void part_ways(std::uint32_t* found) {
    if (threadIdx.x % 2 == 0)
        __syncthreads();
    else {
        *found = 1;
        __syncthreads();
    }
}
__global__ void shuffle_half(std::uint32_t* found) {
    if (threadIdx.x % 2 == 0)
        __syncthreads();
    else
        *found = __shfl_xor_sync(everybody, threadIdx.x, 1U);
}

// --- by the host -----------------------------------------------------------------------------------------------------

using Words = std::vector<std::uint32_t>;

Words numbers(std::size_t count) {
    Words words(count);
    for (std::size_t i = 0; i < count; ++i) words[i] = static_cast<std::uint32_t>(i * i % 1009);
    return words;
}

/// Output of kernel(in, out, more...) for `in`.
template <class T, class Kernel, class... More>
std::vector<T> made_of(Kernel kernel, const std::vector<T>& in, unsigned block, More... more) {
    const device::Stream stream;
    const device::Buffer<T> from{in.size()};
    const device::Buffer<T> to{in.size()};
    device::to_device(std::span<const T>{in}, from.data(), stream);
    device::launch(kernel, {1, block, stream.get()}, static_cast<const T*>(from.data()), to.data(),
                   more...);
    device::check_launches();
    return device::to_host(to, stream);
}

/// The kernel with the fault, or without.
template <class Kernel>
Kernel either(Fault fault, Kernel right, Kernel wrong) {
    return fault == Fault::none ? right : wrong;
}

template <class... Arguments>
void run(void (*kernel)(Arguments...), Arguments... arguments) {
    const device::Stream stream;
    device::launch(kernel, {1, threads, stream.get(), 8}, arguments...);
}

} // namespace

bool transpose(Fault fault) {
    std::vector<double> in(side * side);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<double>(i);
    const auto out =
        made_of(either(fault, transpose_kernel<Fault::none>, transpose_kernel<Fault::planted>), in,
                threads);
    for (std::size_t i = 0; i < in.size(); ++i)
        if (out[i] != in[i % side * side + i / side]) return false;
    return true;
}

bool window(Fault fault) {
    constexpr unsigned steps = 4;
    const Words in = numbers(std::size_t{steps} * threads);
    const Words out =
        made_of(either(fault, window_kernel<Fault::none>, window_kernel<Fault::planted>), in,
                threads, steps);
    for (std::size_t step = 0; step < steps; ++step) {
        std::uint32_t all = 0;
        for (std::size_t i = 0; i < threads; ++i) all += in[step * threads + i];
        for (std::size_t i = 0; i < threads; ++i)
            if (out[step * threads + i] != all) return false;
    }
    return true;
}

bool copy(Fault fault) {
    const Words in = numbers(threads);
    return made_of(either(fault, copy_kernel<Fault::none>, copy_kernel<Fault::planted>), in,
                   threads) == in;
}

bool scan(Fault fault) {
    Words in = numbers(threads);
    const Words out =
        made_of(either(fault, scan_kernel<Fault::none>, scan_kernel<Fault::planted>), in, threads);
    for (std::size_t i = 1; i < in.size(); ++i) in[i] += in[i - 1];
    return out == in;
}

bool exchange(Fault fault) {
    constexpr unsigned blocks = 16;
    constexpr unsigned rounds = 3;
    const auto kernel =
        either(fault, exchange_kernel<Fault::none>, exchange_kernel<Fault::planted>);
    const device::Stream stream;
    const device::Buffer<std::uint32_t> found{std::size_t{blocks} * threads};
    const device::Launch how{blocks, threads, stream.get(), sizeof(unsigned)};
    if (device::most_clusters(kernel, how, blocks) != 1) return false;
    device::launch_clusters(kernel, how, blocks, found.data(), rounds);
    device::check_launches();
    const Words sums = device::to_host(found, stream);
    for (std::size_t i = 0; i < sums.size(); ++i)
        if (sums[i] != (1 + 2 + 3) * ((i / threads + 1) % blocks + 1)) return false;
    return true;
}

namespace {
/// Are pieces copied through shared memory right? A block that leaves copies behind fails.
bool copies(void (*kernel)(const std::byte*, std::byte*)) {
    const device::Stream stream;
    const device::Buffer<std::uint32_t> to{pieces * piece / 4};
    const device::Buffer<std::uint32_t> from{to.size()};
    const Words in = numbers(to.size());
    device::to_device(std::span<const std::uint32_t>{in}, from.data(), stream);
    device::launch(kernel, {1, 32, stream.get(), 2 * piece + 16},
                   reinterpret_cast<const std::byte*>(from.data()),
                   reinterpret_cast<std::byte*>(to.data()));
    return cudaGetLastError() == cudaSuccess && device::to_host(to, stream) == in;
}
} // namespace

bool bulk_store(Fault fault) {
    return copies(either(fault, bulk_kernel<Fault::none, Fault::none>,
                         bulk_kernel<Fault::planted, Fault::none>));
}
bool bulk_load(Fault fault) {
    return copies(either(fault, bulk_kernel<Fault::none, Fault::none>,
                         bulk_kernel<Fault::none, Fault::planted>));
}

std::vector<std::uint64_t> last_indices(std::uint64_t count, Fault fault) {
    std::vector<std::uint64_t> found(threads);
    const auto blocks = static_cast<unsigned>(count / threads);
    const auto kernel = either(fault, index_kernel<std::uint64_t>, index_kernel<unsigned>);
    run_block({blocks, threads}, blocks - 1, [&] { kernel(found.data()); });
    return found;
}

std::uint64_t last_of_each(std::uint64_t count) {
    std::uint64_t largest = 0;
    const device::Grid grid = device::sized({}, count);
    run_block({grid.blocks, grid.threads}, grid.blocks - 1,
              [&] { device::each_kernel(Largest{&largest}, count); });
    return largest;
}

std::uint32_t fresh_shared() {
    const device::Stream stream;
    const device::Buffer<std::uint32_t> found{1};
    device::launch(read_first, {1, 1, stream.get()}, found.data());
    return device::get(found.data(), stream);
}

void wait_for_the_ended() { run(leave_half); }
void wait_for_nothing() { run(wait_for_nothing_kernel); }
void wait_apart() {
    const device::Buffer<std::uint32_t> found{1};
    run(part_ways, found.data());
}
void shuffle_apart() {
    const device::Buffer<std::uint32_t> found{1};
    run(shuffle_half, found.data());
}

} // namespace assay::device_on_cpu::planted
