// SPDX-License-Identifier: Apache-2.0
//
// Do the driver, the toolkit of this build and the devices go together?

#pragma once

#include "record/finding.hpp"
#include "record/model.hpp"
#include "reference/compatibility.hpp"

#include <string_view>
#include <vector>

namespace assay::reference {

/// `runtime`: of CUDA that the module was built with, "13.0"; empty without CUDA.
std::vector<record::Finding> on_versions(const record::Machine& machine, std::string_view runtime,
                                         const reference::Compatibility& known);

} // namespace assay::reference
