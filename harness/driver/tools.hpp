// SPDX-License-Identifier: Apache-2.0
//
// The makers' own programs, for what a user does about a device. `kind` is record::Device::kind.

#pragma once

#include <string_view>

namespace assay::driver {

/// Raises a power limit, as root.
constexpr std::string_view power_limit_command(std::string_view kind) {
    return kind == "hip" ? "amd-smi set --power-cap" : "nvidia-smi -pl";
}
/// Shows who computes on a device.
constexpr std::string_view processes_command(std::string_view kind) {
    return kind == "hip" ? "amd-smi process" : "nvidia-smi";
}

} // namespace assay::driver
