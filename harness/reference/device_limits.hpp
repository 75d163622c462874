// SPDX-License-Identifier: Apache-2.0
//
// The bounds of a case on a device computed from data sheets: at the vendor's clock, at the clock of the
// window, and the printed value.

#pragma once

#include "base/result.hpp"
#include "plan/manifest.hpp"
#include "record/model.hpp"
#include "reference/hardware.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay::harness {

struct DeviceLimits {
    std::vector<record::Ceiling> ceilings; ///< the one to compare with comes first
    std::string reason;                    ///< why there are none; may be empty
    std::vector<std::string> warnings;
};

/// `hardware` may be the reason why it could not be read. No data sheet covers a part of a device (MIG), a
/// virtual one or one in confidential mode.
DeviceLimits limits_of(BoundBy by, const record::Case& c, const record::Machine& machine,
                       const Result<datasheet::Hardware>& hardware);

} // namespace assay::harness
