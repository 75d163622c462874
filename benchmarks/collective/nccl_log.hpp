// SPDX-License-Identifier: Apache-2.0
//
// What NCCL's log (NCCL_DEBUG=INFO) says of the way that messages took, and whether that is the way that
// was asked for. The lines are those of NCCL 2.18 to 2.30; what is not understood is passed over, so
// that a log of another version, cut off or damaged, proves nothing and does no harm.

#pragma once

#include "collective/nccl_choice.hpp"

#include <assay/benchmark.hpp>

#include <string>
#include <string_view>

namespace assay::collective {

/// How two ranks were connected, of all connections of the log.
struct Connections {
    bool peer = false;   ///< one device reaches into the memory of another
    bool shared = false; ///< through the memory of the host
    bool rdma = false;   ///< NCCL's own InfiniBand and RoCE
    bool socket = false; ///< TCP
    bool other = false;  ///< a network of a plugin, or one that reduces
    bool direct = false; ///< the network's adapter reaches the memory of the device
    bool any() const { return peer || shared || rdma || socket || other; }
};

struct NcclLog {
    Connections connections;
    std::string link;      ///< of the ring between devices: "NVL", "PIX", "SYS"; "" unknown
    std::string algorithm; ///< of the last call: "RING", "NVLS"; "" unknown
    std::string protocol;  ///< "LL", "LL128", "SIMPLE"; "" unknown
    int channels = 0;      ///< of the last call; 0: unknown
    std::string
        kernel; ///< of the last call, where it was one for symmetric buffers; then no algorithm
};

NcclLog read_nccl_log(std::string_view text);

/// "nvlink", "pcie_peer", "shared_memory", "rdma", "tcp", several with " and "; "" unknown.
std::string path_of(const NcclLog& log);
/// The same for the program, which has limits of some.
Links links_of(const NcclLog& log);

/// Empty, or how the log contradicts what was asked for.
std::string contradiction(const NcclChoice& asked, const NcclLog& log);

/// Empty, or what the log would have to say and does not.
std::string unproved(const NcclChoice& asked, const NcclLog& log);

} // namespace assay::collective
