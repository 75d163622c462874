// SPDX-License-Identifier: Apache-2.0
//
// The limits that arithmetic on data sheets gives for a case on a device: what its maker's clock allows,
// what the clock of the window allowed, and the figure that is printed.

#pragma once

#include "base/result.hpp"
#include "machine/hardware.hpp"
#include "record/model.hpp"
#include "registry/manifest.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay::harness {

struct DeviceLimits {
    std::vector<record::Ceiling> ceilings; ///< the one to hold a figure against comes first
    std::string reason;                    ///< why there are none; may be empty
    std::vector<std::string> warnings;
};

/// `hardware` may be the reason why it could not be read. Of a part of a device (MIG), a virtual one or
/// one in confidential mode no data sheet says anything.
DeviceLimits limits_of(BoundBy by, const record::Case& c, const record::Machine& machine,
                       const Result<machine::Hardware>& hardware);

/// B/s of one PCIe lane in one direction after line coding, before packets; nothing for generations that
/// are not known.
std::optional<double> pcie_lane_rate(int generation);

} // namespace assay::harness
