// SPDX-License-Identifier: Apache-2.0
//
// What can be asked of NCCL beside the message: the way that it takes, the algorithm and protocol, and
// whose the buffers are. Each name stands for variables that NCCL reads once. Not all go together:
// conflict() is the one place that says so.

#pragma once

#include "collective/nccl_values.hpp"

#include <assay/axes.hpp>

#include <array>
#include <cstdint>
#include <string>

namespace assay::collective {

enum class Way : std::uint8_t { fastest, nvlink_ring, pcie_peer, host_staged, rdma, tcp };

enum class Allocation : std::uint8_t {
    plain,      // cudaMalloc
    registered, // ncclMemAlloc, and registered with the communicator
    symmetric   // ncclMemAlloc, and a window that all ranks have at one address
};

enum class NcclAlgorithm : std::uint8_t {
    own_choice,
    ring,
    tree,
    collnet_direct,
    collnet_chain,
    nvls,
    nvls_tree,
    pat
};

enum class NcclProtocol : std::uint8_t { own_choice, ll, ll128, simple };

inline constexpr std::array way_names{
    Name<Way>{"fastest", Way::fastest},     Name<Way>{"nvlink_ring", Way::nvlink_ring},
    Name<Way>{"pcie_peer", Way::pcie_peer}, Name<Way>{"host_staged", Way::host_staged},
    Name<Way>{"rdma", Way::rdma},           Name<Way>{"tcp", Way::tcp},
};

/// Variables as NVIDIA documents them. NVLink's switch is not turned off by turning off peer access. Each transport
/// sets all that decides it, so that what the user has set elsewhere is not another way under this name.
inline constexpr std::array way_variables{
    variable("nvlink_ring", "NCCL_NVLS_ENABLE", "0"),
    variable("nvlink_ring", "NCCL_ALGO", "Ring"),
    variable("nvlink_ring", "NCCL_P2P_DISABLE", "0"),
    variable("nvlink_ring", "NCCL_P2P_LEVEL", "PXB"), // the default
    variable("pcie_peer", "NCCL_P2P_LEVEL", "SYS"),
    variable("pcie_peer", "NCCL_P2P_DISABLE", "0"),
    variable("pcie_peer", "NCCL_NVLS_ENABLE", "0"),
    variable("host_staged", "NCCL_P2P_DISABLE", "1"),
    variable("host_staged", "NCCL_NVLS_ENABLE", "0"),
    variable("host_staged", "NCCL_SHM_DISABLE", "0"),
    variable("rdma", "NCCL_P2P_DISABLE", "1"),
    variable("rdma", "NCCL_SHM_DISABLE", "1"),
    variable("rdma", "NCCL_NVLS_ENABLE", "0"),
    variable("rdma", "NCCL_MNNVL_ENABLE", "0"),
    variable("rdma", "NCCL_NET", "IB"),
    variable("rdma", "NCCL_IB_DISABLE", "0"),
    variable("tcp", "NCCL_P2P_DISABLE", "1"),
    variable("tcp", "NCCL_SHM_DISABLE", "1"),
    variable("tcp", "NCCL_NVLS_ENABLE", "0"),
    variable("tcp", "NCCL_MNNVL_ENABLE", "0"),
    variable("tcp", "NCCL_NET", "Socket"),
    variable("tcp", "NCCL_IB_DISABLE", "1"),
};

/// By the words that NCCL's log has for them from 2.24 on, in lower case.
inline constexpr std::array algorithm_names{
    Name<NcclAlgorithm>{"default", NcclAlgorithm::own_choice},
    Name<NcclAlgorithm>{"ring", NcclAlgorithm::ring},
    Name<NcclAlgorithm>{"tree", NcclAlgorithm::tree},
    Name<NcclAlgorithm>{"collnet_direct", NcclAlgorithm::collnet_direct},
    Name<NcclAlgorithm>{"collnet_chain", NcclAlgorithm::collnet_chain},
    Name<NcclAlgorithm>{"nvls", NcclAlgorithm::nvls},
    Name<NcclAlgorithm>{"nvls_tree", NcclAlgorithm::nvls_tree},
    Name<NcclAlgorithm>{"pat", NcclAlgorithm::pat},
};
inline constexpr std::array algorithm_variables{
    variable("ring", "NCCL_ALGO", "Ring"),
    variable("tree", "NCCL_ALGO", "Tree"),
    variable("collnet_direct", "NCCL_ALGO", "CollNetDirect"),
    variable("collnet_direct", "NCCL_COLLNET_ENABLE", "1"),
    variable("collnet_chain", "NCCL_ALGO", "CollNetChain"),
    variable("collnet_chain", "NCCL_COLLNET_ENABLE", "1"),
    variable("nvls", "NCCL_ALGO", "NVLS"),
    variable("nvls_tree", "NCCL_ALGO", "NVLSTree"),
    variable("pat", "NCCL_ALGO", "PAT"),
#ifdef ASSAY_RCCL // kernels that are neither, which RCCL prefers to both
    variable("ring", "RCCL_MSCCL_ENABLE", "0"),
    variable("ring", "RCCL_MSCCLPP_ENABLE", "0"),
    variable("tree", "RCCL_MSCCL_ENABLE", "0"),
    variable("tree", "RCCL_MSCCLPP_ENABLE", "0"),
#endif
};

inline constexpr std::array protocol_names{
    Name<NcclProtocol>{"default", NcclProtocol::own_choice},
    Name<NcclProtocol>{"ll", NcclProtocol::ll},
    Name<NcclProtocol>{"ll128", NcclProtocol::ll128},
    Name<NcclProtocol>{"simple", NcclProtocol::simple},
};
inline constexpr std::array protocol_variables{
    variable("ll", "NCCL_PROTO", "LL"),
    variable("ll128", "NCCL_PROTO", "LL128"),
    variable("simple", "NCCL_PROTO", "Simple"),
};

struct NcclChoice {
    Way way = Way::fastest;
    NcclAlgorithm algorithm = NcclAlgorithm::own_choice;
    NcclProtocol protocol = NcclProtocol::own_choice;
    Allocation buffers = Allocation::plain;
};

/// Has NCCL algorithms to choose from? It sends and receives, and broadcasts, in one way only.
constexpr bool has_algorithms(Kind kind) {
    return kind == Kind::allreduce || kind == Kind::reduce_scatter || kind == Kind::allgather;
}

/// Empty, or why these cannot be asked for together, of `ranks` devices on so many hosts.
std::string conflict(const NcclChoice& choice, Kind kind, int ranks, int hosts);

} // namespace assay::collective
