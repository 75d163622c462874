// SPDX-License-Identifier: Apache-2.0
//
// The link rate of a network device by the kernel, for devices as libraries name them: an interface
// ("eth0"; "bond0" is several), or a port of an RDMA device ("mlx5_0:1").

#pragma once

#include "machine/files.hpp"
#include "record/hardware.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::machine {

struct NetworkRate {
    std::optional<double> bytes_per_second; ///< of data in one direction, headers included
    std::string source; ///< "/sys/class/net/eth0/speed: 25000 Mbit/s", or why the rate is not known
};

/// How much there is to spread over the members of a bond: most modes send all of one connection over one member.
enum class Streams : std::uint8_t { one, several };

/// Nothing if the kernel has no network device of this name. The rate of a virtual device is ignored:
/// veth claims 10 Gbit/s, whatever is below it.
std::optional<NetworkRate> network_rate(const Files& files, std::string_view device,
                                        Streams streams = Streams::several);

std::vector<record::Bond> read_bonds(const Files& files);

/// Packets beyond what the type of instance allows, as the driver of an interface of this machine counts them
/// ("bw_in_allowance_exceeded"): Amazon's ENA; of others nothing.
std::map<std::string, std::int64_t> ask_allowances(const std::string& interface);

} // namespace assay::machine
