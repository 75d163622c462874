// SPDX-License-Identifier: Apache-2.0
//
// What the kernel counted while messages went somewhere, and which way they must have taken.

#pragma once

#include <cstdint>
#include <string>

namespace assay::collective {

enum class Transport : std::uint8_t { any, shared_memory, tcp, rdma };

/// Bytes since the beginning.
struct Traffic {
    double tcp = 0;  ///< sent and received by the TCP connections that this process has
    double rdma = 0; ///< by every port of this machine's RDMA devices
};
Traffic traffic_now();

/// Where the kernel lists RDMA devices; tests have folders of their own.
inline constexpr const char* rdma_devices = "/sys/class/infiniband";
/// Has this machine an RDMA device?
bool has_rdma(const char* devices = rdma_devices);
/// Sent and received by every port since the beginning. 0 for ports that count nothing.
double rdma_bytes(const char* devices = rdma_devices);

/// The transport that this traffic proves: one that carried at least half of what had to be moved.
/// Shared memory leaves no trace: it is what is left where ranks share a machine. "": cannot be told.
std::string path_of(const Traffic& traffic, double least_bytes, int machines, int ranks);

/// Empty, or how the traffic contradicts what was asked for.
std::string contradiction(Transport asked, const Traffic& traffic, double least_bytes);

} // namespace assay::collective
