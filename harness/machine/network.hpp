// SPDX-License-Identifier: Apache-2.0
//
// How fast is the link of a network device? As the kernel says, for devices as libraries name them: an interface
// ("eth0"), or a port of an RDMA device ("mlx5_0:1").

#pragma once

#include "machine/files.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace assay::machine {

struct NetworkRate {
    std::optional<double> bytes_per_second; ///< of data in one direction, headers included
    std::string source; ///< "/sys/class/net/eth0/speed: 25000 Mbit/s", or why the rate is not known
};

/// Nothing where the kernel has no network device of this name. What a virtual device says of its rate
/// is no rate: veth claims 10 Gbit/s, whatever is below it.
std::optional<NetworkRate> network_rate(const Files& files, std::string_view device);

} // namespace assay::machine
