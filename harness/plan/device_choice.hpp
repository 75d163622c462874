// SPDX-License-Identifier: Apache-2.0
//
// On which devices cases are measured: what --device means on this machine, and how a case of a device
// benchmark becomes one for each of them.

#pragma once

#include "base/result.hpp"
#include "plan/plan.hpp"
#include "record/model.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay::harness {

struct ChosenDevices {
    std::vector<record::Device> one_each; ///< a case is measured on each of these in turn
    std::vector<record::Device> together; ///< a benchmark of all devices is shown these
};

/// `asked`: "all", an index, a UUID or its beginning, a PCI address; several count together. Without any:
/// the first device, and all for benchmarks of all devices. What is not there is an error that lists what
/// is.
Result<ChosenDevices> choose_devices(const record::Machine& machine,
                                     const std::vector<std::string>& asked);

/// May there be a device that no driver's library tells of? Then its cases are tried, and the worker
/// says why they cannot be measured.
bool may_have_devices(const record::Machine& machine);

/// Each case of a device benchmark once for each device; those of the host stay as they are.
std::vector<PlannedCase> put_on_devices(std::vector<PlannedCase> cases,
                                        const ChosenDevices& chosen);

} // namespace assay::harness
