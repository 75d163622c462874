// SPDX-License-Identifier: Apache-2.0
#include "device/launch.cuh"
#include "md/device_kernels.hpp"
#include "md/device_steps.hpp"

#include <assay/verify.hpp>

namespace assay::md {
namespace {

constexpr unsigned force_threads = 256;

/// Threads of an atom are neighbours in a warp and add up what they found.
template <class T>
__global__ void __launch_bounds__(force_threads) forces_kernel(LiquidArrays<T> a) {
    constexpr unsigned everybody = 0xffffffffU;
    const std::uint64_t thread = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::uint64_t atom = thread / a.lanes;
    Four<T> force{};
    // Threads behind the last atom stay, because the whole warp takes part in the sum.
    if (atom < a.atoms)
        force = ShareOfForce<T>{a}(static_cast<std::uint32_t>(atom),
                                   static_cast<std::uint32_t>(thread % a.lanes));
    for (unsigned distance = a.lanes / 2; distance > 0; distance /= 2) {
        force.x += __shfl_xor_sync(everybody, force.x, distance);
        force.y += __shfl_xor_sync(everybody, force.y, distance);
        force.z += __shfl_xor_sync(everybody, force.z, distance);
    }
    if (atom < a.atoms && thread % a.lanes == 0) a.force[atom] = force;
}

constexpr unsigned sum_threads = 1024;

/// first[i] becomes the sum of the counts before i, and first[cells] of all. One block: each thread has a
/// run of counts, and the sums of the runs are added up in shared memory.
__global__ void __launch_bounds__(sum_threads)
    sum_up_kernel(const std::uint32_t* counts, std::uint32_t* first, std::uint64_t cells) {
    __shared__ std::uint32_t sums[sum_threads];
    const unsigned thread = threadIdx.x;
    const std::uint64_t run = (cells + sum_threads - 1) / sum_threads;
    const std::uint64_t begin = thread * run < cells ? thread * run : cells;
    const std::uint64_t end = begin + run < cells ? begin + run : cells;
    std::uint32_t own = 0;
    for (std::uint64_t i = begin; i < end; ++i) own += counts[i];
    sums[thread] = own;
    __syncthreads();
    for (unsigned distance = 1; distance < sum_threads; distance *= 2) {
        const std::uint32_t before = thread >= distance ? sums[thread - distance] : 0;
        __syncthreads();
        sums[thread] += before;
        __syncthreads();
    }
    std::uint32_t next = sums[thread] - own;
    for (std::uint64_t i = begin; i < end; ++i) {
        first[i] = next;
        next += counts[i];
    }
    if (thread == sum_threads - 1) first[cells] = sums[thread];
}

/// Runs the steps as kernels on a stream.
struct OnDevice {
    const device::Stream& stream;

    template <class Body>
    void each(std::uint64_t count, const Body& body) const {
        device::on_each(stream, count, body, {.threads = 128});
    }
    void sum_up(const std::uint32_t* counts, std::uint32_t* first, std::uint64_t cells) const {
        device::launch(sum_up_kernel, {1, sum_threads, stream.get()}, counts, first, cells);
    }
    template <class T>
    void forces(const LiquidArrays<T>& a) const {
        const std::uint64_t threads = std::uint64_t{a.atoms} * a.lanes;
        const auto blocks = static_cast<unsigned>((threads + force_threads - 1) / force_threads);
        device::launch(forces_kernel<T>, {blocks, force_threads, stream.get()}, a);
    }
};

template <class T>
struct LoadAtom {
    LiquidArrays<T> a;
    const Four<T>* position;
    const Four<T>* velocity;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t i) const {
        a.position[i] = position[i];
        a.velocity[i] = velocity[i];
        a.number[i] = static_cast<std::uint32_t>(i);
    }
};

} // namespace

template <class T>
void LiquidWork<T>::load(const LiquidArrays<T>& a, const Four<T>* position, const Four<T>* velocity,
                         const device::Stream& stream) {
    const OnDevice on{stream};
    device::check(cudaMemsetAsync(a.overflow, 0, sizeof(*a.overflow), stream.get()));
    device::check(cudaMemsetAsync(a.in_cell, 0, a.box.cells() * sizeof(*a.in_cell), stream.get()));
    on.each(a.atoms, LoadAtom<T>{a, position, velocity});
    rebuild(a, on);
    on.forces(a);
    device::check_launches();
}
template <class T>
void LiquidWork<T>::steps(const LiquidArrays<T>& a, int count, const device::Stream& stream) {
    run_steps_of(a, count, OnDevice{stream});
    device::check_launches();
}
template <class T>
void LiquidWork<T>::forces(const LiquidArrays<T>& a, const device::Stream& stream) {
    OnDevice{stream}.forces(a);
}
template <class T>
void LiquidWork<T>::reference(const LiquidArrays<T>& a, double edge, ForceReference* out,
                              const device::Stream& stream) {
    OnDevice{stream}.each(a.atoms, ReferenceOfAtom<T>{a, edge, unit_roundoff<T>, out});
    device::check_launches();
}

template struct LiquidWork<double>;
template struct LiquidWork<float>;

} // namespace assay::md
