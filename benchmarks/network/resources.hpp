// SPDX-License-Identifier: Apache-2.0
//
// What UCX finds on this machine before it is told what to use.

#pragma once

#include <string>
#include <vector>

namespace assay::network {

/// "posix", "tcp", "rc_mlx5": in alphabetical order, each once. Whatever UCX_TLS says.
std::vector<std::string> transports_found();

} // namespace assay::network
