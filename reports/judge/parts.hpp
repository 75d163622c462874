// SPDX-License-Identifier: Apache-2.0
//
// What is wrong with the parts of a machine, whatever was measured. A limit that is a share of a data sheet starts from
// the links, channels and clocks that are there, so that a part which is missing lowers the bar: it is found here.

#pragma once

#include "judge/causes.hpp"
#include "record/model.hpp"
#include "reference/hardware.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay::report {

struct PartFinding {
    Cause cause = Cause::none; ///< none: it is as it should be
    std::string id;
    std::string detail;
};

/// Links of devices and cards, ports, memory channels, clocks. `clock_hz`: of one core while nothing else ran.
/// `hardware`: null where the data sheets cannot be read.
std::vector<PartFinding> findings_of_parts(const record::Machine& machine,
                                           std::optional<double> clock_hz,
                                           const datasheet::Hardware* hardware);

/// Of a soak: wrong results, its time, and of each phase whether it slowed down.
std::vector<PartFinding> findings_of(const record::Soak& soak);

/// Devices that the provider's type of machine has. 0 where the catalogue does not know it, or what no driver of ours
/// reports, and in a container, which may be given some of them.
int devices_of_type(const record::Machine& machine, const datasheet::Hardware* hardware);

/// The installed data sheets, read once; null if they cannot be read.
const datasheet::Hardware* installed_hardware();

} // namespace assay::report
