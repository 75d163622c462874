// SPDX-License-Identifier: Apache-2.0
//
// The devices that cases are measured on: what --device means on this machine, and how a case of a device
// benchmark becomes one for each device.

#pragma once

#include "base/result.hpp"
#include "plan/plan.hpp"
#include "record/model.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace assay::plan {

struct ChosenDevices {
    std::vector<record::Device> one_each; ///< a case is measured on each of these in turn
    std::vector<record::Device> together; ///< for benchmarks of all devices
};

/// `asked`: "all", an index, also with the kind ("hip:0"), a UUID or its beginning, a PCI address; several count
/// together. Without any: the first device of each kind, and all for benchmarks of all devices. A device that does not exist is an error that lists
/// those that do.
Result<ChosenDevices> choose_devices(const record::Machine& machine,
                                     const std::vector<std::string>& asked);

/// May there be a device of this kind without a driver library? Then its cases are tried, and the worker reports why
/// they cannot be measured.
bool may_have_devices(const record::Machine& machine, std::string_view kind);

/// Is there, or may there be, what the benchmark runs on?
bool may_run_here(const Benchmark& benchmark, const record::Machine& machine);

/// Repeats each case of a device benchmark for each device; cases on the host stay as they are.
std::vector<PlannedCase> put_on_devices(std::vector<PlannedCase> cases,
                                        const ChosenDevices& chosen);

} // namespace assay::plan
