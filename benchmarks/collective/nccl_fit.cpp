// SPDX-License-Identifier: Apache-2.0

#include "collective/nccl_device.hpp"
#include "collective/traffic.hpp"
#include "device/footprint.hpp"
#include "device/properties.hpp"

namespace assay::collective {
namespace {

using device::check;

/// Memory that NCCL itself takes on each device: channels, and with NVLink's switch about a gigabyte.
constexpr std::int64_t nccl_bytes = 2 * device::gibibyte;

bool is_fp8(Element element) { return bytes_of(element) == 1; }

int capability_of(int device) {
    int major = 0;
    int minor = 0;
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    return 10 * major + minor;
}

Fit fits_type(Kind kind, const NcclParams& params, int ranks, int here) {
    if (params.in_place && reduces(kind) && bytes_of(params.element) < 4)
        return Fit::no("not applicable: repeated sums in place overflow a type this narrow");
    if (is_fp8(params.element) && NCCL_VERSION_CODE < fp8_since)
        return Fit::no(is_rccl ? "not applicable: fp8 of this library has other codes on each chip"
                               : "not applicable: needs NCCL 2.24 or later for fp8");
    if (reduces(kind) && largest_value(params.element, ranks) == 0)
        return Fit::no("not applicable: no sum over ", ranks,
                       " ranks is exact in this type, so it could not be checked");
    if (is_fp8(params.element) && reduces(kind))
        for (int device = 0; device < here; ++device)
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
            return Fit::no("not applicable: device ", device,
                           " does not reach the memory of device ", next);
    }
    return Fit::yes();
}

std::int64_t bytes_on_device(Kind kind, const NcclParams& params, int ranks) {
    const auto count = count_of(kind, bytes_of(params.element), params.bytes, ranks);
    const auto numbers = params.in_place ? held_in_place(kind, count, ranks)
                                         : sent(kind, count, ranks) + received(kind, count, ranks);
    return static_cast<std::int64_t>(numbers) * bytes_of(params.element);
}

/// With the library of the header, and with the one that is loaded.
Fit fits_buffers(Allocation buffers) {
    if (buffers == Allocation::plain) return Fit::yes();
    const bool windows = buffers == Allocation::symmetric;
    const int since = windows ? windows_since : registration_since;
    if (NCCL_VERSION_CODE >= since && nccl_version() >= since) return Fit::yes();
    return Fit::no(windows ? "not applicable: needs NCCL 2.27 or later for symmetric windows"
                           : "not applicable: needs NCCL 2.19 or later for registered buffers");
}

Fit fits_choice(Kind kind, const NcclParams& params, const Crowd& crowd, int here) {
    if (auto why = conflict(params, kind, crowd.ranks, crowd.hosts); !why.empty())
        return Fit::no("not applicable: " + why);
    const bool by_switch =
        params.algorithm == NcclAlgorithm::nvls || params.algorithm == NcclAlgorithm::nvls_tree;
    if (is_rccl && (by_switch || params.way == Way::nvlink_ring))
        return Fit::no("not applicable: AMD's devices have no NVLink");
    if (is_rccl && params.algorithm == NcclAlgorithm::pat)
        return Fit::no("not applicable: RCCL has no algorithm pat");
    for (int device = 0; by_switch && device < here; ++device)
        if (capability_of(device) < 90)
            return Fit::no(
                "not applicable: NVLink's switch adds up from compute capability 9.0 on");
    return fits_buffers(params.buffers);
}

/// A process that shares devices with others asks for the whole memory of each: looking at what is free
/// would take some of it, on every device and by every process.
Fit fits_memory(std::int64_t bytes, int here, bool shares_devices) {
    const std::int64_t needed = bytes + nccl_bytes + device::reserve_bytes;
    Fit fit = Fit::yes();
    for (int number = 0; number < here && fit; ++number) {
        std::size_t available = 0;
        std::size_t total = 0;
        if (shares_devices) {
            cudaDeviceProp all{};
            check(cudaGetDeviceProperties(&all, number));
            available = all.totalGlobalMem;
        } else {
            use(number);
            check(cudaMemGetInfo(&available, &total));
        }
        fit = Fit::needs(needed <= static_cast<std::int64_t>(available), needed, " bytes of ",
                         shares_devices ? "" : "free ", "memory on device ", number, ", there are ",
                         available);
    }
    if (!shares_devices) use(0);
    return fit;
}

} // namespace

int nccl_version() {
    int version = 0;
    check(ncclGetVersion(&version));
    return version;
}
void report_nccl(const Context& context) {
    if (!why_no_nccl().empty()) throw device::Error{why_no_nccl()};
    const int version = nccl_version();
    context.setting(is_rccl ? "rccl" : "nccl",
                    joined(version / 10000, '.', version % 10000 / 100, '.', version % 100));
}

Fit NcclGroup::fits(Kind kind, const NcclParams& params, const Machine& machine,
                    const Beside& beside) {
    if (auto fit = device::fits_any_device(); !fit) return fit;
    if (const auto& why = why_no_nccl(); !why.empty()) return Fit::no("not applicable: ", why);
    const int count = devices_there();
    const Crowd crowd = crowd_of(params.ranks, count, machine);
    if (crowd.ranks < 2) return Fit::no("not applicable: needs two devices, there is one");
    // Hosts are taken to be alike, and to share the ranks evenly.
    const int here = (crowd.ranks + crowd.hosts - 1) / crowd.hosts;
    if (here > count)
        return Fit::no("not applicable: needs ", here, " devices",
                       crowd.hosts > 1 ? " on a host" : "", ", there are ", count);
    if (auto fit = fits_choice(kind, params, crowd, here); !fit) return fit;
    if (auto fit = fits_type(kind, params, crowd.ranks, here); !fit) return fit;
    if (auto fit = fits_way(params.way, here); !fit) return fit;
    for (int device = 0; device < here; ++device)
        if (capability_of(device) < beside.capability)
            return Fit::no("not applicable: needs compute capability ", beside.capability / 10, '.',
                           beside.capability % 10, ", device ", device, " is older");
    return fits_memory(bytes_on_device(kind, params, crowd.ranks) + beside.bytes, here,
                       crowd.shares_devices);
}

} // namespace assay::collective
