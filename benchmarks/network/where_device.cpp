// SPDX-License-Identifier: Apache-2.0
#include "collective/world.hpp"
#include "device/error.hpp"
#include "device/properties.hpp"
#include "resources.hpp"
#include "where.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>

namespace assay::network {

Fit fit_place(std::int64_t ranks, std::int64_t bytes_per_rank, const Machine& machine) {
    if (auto fit = device::fits_any_device(); !fit) return fit;
    int devices = 0;
    device::check(cudaGetDeviceCount(&devices));
    const auto hosts = std::max<std::int64_t>(machine.count("job.hosts"), 1);
    const std::int64_t here = (ranks + hosts - 1) / hosts;
    if (here > devices)
        return Fit::no("not applicable: takes a device for each rank, ", here,
                       " on a host; here are ", devices);
    const auto found = transports_found();
    if (std::ranges::find(found, "cuda_copy") == found.end())
        return Fit::no(
            "needs a UCX that was built with CUDA (transport cuda_copy, in libuct_cuda)");
    for (int device = 0; device < here; ++device) {
        // Compares with the whole memory: asking how much is free would take some of it.
        cudaDeviceProp all{};
        device::check(cudaGetDeviceProperties(&all, device));
        const auto total = static_cast<std::int64_t>(all.totalGlobalMem);
        if (bytes_per_rank > total)
            return Fit::no("needs ", bytes_per_rank, " bytes of device ", device,
                           "'s memory, it has ", total);
    }
    return Fit::yes();
}

void take_place(const Context& context) {
    const auto machines = mpi::machine_of_ranks();
    const auto own = machines.begin() + context.team().rank();
    const auto local = static_cast<int>(std::ranges::count(machines.begin(), own, *own));
    device::check(cudaSetDevice(local));
    device::check(cudaFree(nullptr)); // makes the context, which UCX looks for
    context.setting("memory", "cuda");
}

void from_device(void* to, const void* from, std::size_t bytes) {
    device::check(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
}
void to_device(void* to, const void* from, std::size_t bytes) {
    device::check(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
    device::check(cudaDeviceSynchronize()); // pageable memory may still be on its way
}

void report_place(const Context& context) { device::report_versions(context); }

} // namespace assay::network
