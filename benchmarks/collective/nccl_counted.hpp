// SPDX-License-Identifier: Apache-2.0
//
// What the counters of NVLink must show of a call, whatever the algorithm: asked of the label, or, where NCCL
// chose the way, of its log.

#pragma once

#include "collective/nccl_log.hpp"

#include <optional>

namespace assay::collective {

/// Bytes of a message that each device must send or receive at least, on average over devices, in the
/// busier direction. With n devices: a result of S bytes that needs all inputs costs S (n-1) / n, for a device may have its
/// own part; NVLink's switch, which adds up and copies on the way, saves no more than that.
constexpr double least_carried(Kind kind, double bytes, int ranks) {
    if (kind == Kind::send_receive) return bytes;
    return bytes * static_cast<double>(ranks - 1) / static_cast<double>(ranks);
}

struct LinkExpectation {
    std::optional<double> least; ///< bytes
    std::optional<double> most;
};

/// Nothing where neither label nor log says whether NVLink carries the messages.
LinkExpectation expected_of_nvlink(const NcclChoice& asked, const NcclLog& log,
                                   double least_carried, int machines);

} // namespace assay::collective
