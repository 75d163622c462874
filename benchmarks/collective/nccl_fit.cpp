// SPDX-License-Identifier: Apache-2.0

#include "collective/nccl_device.hpp"
#include "collective/traffic.hpp"
#include "device/footprint.hpp"
#include "device/properties.hpp"

#include <string>

namespace assay::collective {
namespace {

using device::check;

/// What NCCL itself takes on each device: channels, and with NVLink's switch about a gigabyte.
constexpr std::int64_t nccl_bytes = 2 * device::gibibyte;

bool is_fp8(Element element) { return bytes_of(element) == 1; }

int capability_of(int device) {
    int major = 0;
    int minor = 0;
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    return 10 * major + minor;
}

Fit fits_type(const NcclGroup::Plan& plan, int ranks) {
    if (plan.in_place && reduces(plan.kind) && bytes_of(plan.element) < 4)
        return Fit::no("not applicable: sums taken in place again and again leave the range of a "
                       "type this narrow");
    if (is_fp8(plan.element) && NCCL_VERSION_CODE < 22403)
        return Fit::no("not applicable: needs NCCL 2.24 or later for fp8");
    if (reduces(plan.kind) && largest_value(plan.element, ranks) == 0)
        return Fit::no("not applicable: no sum over " + std::to_string(ranks) +
                       " ranks is exact in this type, so it could not be checked");
    if (is_fp8(plan.element) && reduces(plan.kind))
        for (int device = 0; device < ranks; ++device)
            if (capability_of(device) < 90)
                return Fit::no("not applicable: sums in fp8 need compute capability 9.0");
    return Fit::yes();
}

/// A device reaches into the memory of its neighbours, or there is no way between peers to be asked for.
Fit fits_way(Way way, int ranks) {
    if (way == Way::rdma && !has_rdma()) return Fit::no("not applicable: no RDMA device here");
    if (way != Way::nvlink_ring && way != Way::pcie_peer) return Fit::yes();
    for (int device = 0; device < ranks; ++device) {
        const int next = (device + 1) % ranks;
        int can = 0;
        check(cudaDeviceCanAccessPeer(&can, device, next));
        if (can == 0)
            return Fit::no("not applicable: device " + std::to_string(device) +
                           " does not reach the memory of device " + std::to_string(next));
    }
    return Fit::yes();
}

std::int64_t bytes_on_device(const NcclGroup::Plan& plan, int ranks) {
    const auto count = count_of(plan.kind, plan.element, plan.bytes, ranks);
    const auto numbers = plan.in_place
                             ? held_in_place(plan.kind, count, ranks)
                             : sent(plan.kind, count, ranks) + received(plan.kind, count, ranks);
    return static_cast<std::int64_t>(numbers) * bytes_of(plan.element);
}

} // namespace

Fit NcclGroup::fits(const Plan& plan) {
    if (const Fit one = device::fits_device(0); !one) return one;
    const int count = devices_there();
    if (count < 2) return Fit::no("not applicable: needs two devices, there is one");
    const int ranks = ranks_of(plan.ranks, count);
    if (ranks > count)
        return Fit::no("not applicable: needs " + std::to_string(ranks) + " devices, there are " +
                       std::to_string(count));
    if (plan.buffers == Allocation::registered && NCCL_VERSION_CODE < 21903)
        return Fit::no("not applicable: needs NCCL 2.19 or later for registered buffers");
    if (auto fit = fits_type(plan, ranks); !fit) return fit;
    if (auto fit = fits_way(plan.way, ranks); !fit) return fit;
    const std::int64_t needed = bytes_on_device(plan, ranks) + nccl_bytes + device::reserve_bytes;
    Fit fit = Fit::yes();
    for (int number = 0; number < ranks && fit; ++number) {
        use(number);
        std::size_t available = 0;
        std::size_t total = 0;
        check(cudaMemGetInfo(&available, &total));
        fit = Fit::needs(needed <= static_cast<std::int64_t>(available),
                         std::to_string(needed) + " bytes of free memory on device " +
                             std::to_string(number) + ", there are " + std::to_string(available));
    }
    use(0);
    return fit;
}

} // namespace assay::collective
