// SPDX-License-Identifier: Apache-2.0

#include "collective/nccl_counted.hpp"

namespace assay::collective {
namespace {

/// "Nearly none": others may use the links, and NCCL itself sends some words at the beginning.
constexpr double stray = 0.1;

} // namespace

LinkExpectation expected_of_nvlink(const NcclChoice& asked, const NcclLog& log,
                                   double least_carried, int machines) {
    const LinkExpectation carries{.least = least_carried, .most = {}};
    const LinkExpectation carries_none{.least = {}, .most = stray * least_carried};
    if (asked.way == Way::nvlink_ring) return carries;
    if (asked.way != Way::fastest) return carries_none;
    // Between hosts a part goes by the network, and which part depends on the algorithm.
    if (machines > 1) return {};
    if (log.algorithm.starts_with("NVLS")) return carries;
    const bool by_nvlink = log.link == "NVL" || log.link == "NVB";
    const Connections& seen = log.connections;
    const bool others = seen.shared || seen.rdma || seen.socket || seen.other;
    if (seen.peer && !others && by_nvlink) return carries;
    // Kernels for symmetric buffers leave no connections in the log.
    const bool none = !by_nvlink && !log.link.empty() && log.kernel.empty();
    return seen.any() && none ? carries_none : LinkExpectation{};
}

} // namespace assay::collective
