// SPDX-License-Identifier: Apache-2.0
//
// The lanes of an endpoint: the transports and devices that UCX chose for it, and what for. Read from
// ucp_ep_print_info, the only interface that tells them in all versions: ucp_ep_query knows transports
// from 1.14 on, and not what they are for.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::network {

struct Lane {
    std::string transport; ///< "rc_mlx5"
    std::string device;    ///< "mlx5_0:1"
    std::string uses;      ///< "rma_bw#0 am am_bw#0", in UCX's words
    bool operator==(const Lane&) const = default;
};

/// Lines such as
///   #                 lane[0]:  0:tcp/lo.0 md[0]                -> md[0]/tcp/sysdev[255] rma_bw#0 am am_bw#0
/// Everything else is passed over.
std::vector<Lane> lanes_of(std::string_view info);

/// "tcp, cma": each once, in the order of lanes.
std::string transports_of(const std::vector<Lane>& lanes);
/// "lo, eth0"
std::string devices_of(const std::vector<Lane>& lanes);
/// "tcp/lo (rma_bw#0 am); tcp/eth0 (rma_bw#1)"
std::string words_of(const std::vector<Lane>& lanes);

} // namespace assay::network
