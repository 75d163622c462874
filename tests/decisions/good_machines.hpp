// SPDX-License-Identifier: Apache-2.0
//
// Machines that good nodes are made on: hosts of many kinds, and every processor and chip of configs/hardware.

#pragma once

#include "record/model.hpp"
#include "reference/hardware.hpp"

#include <string>
#include <vector>

namespace assay::decisions {

struct HostKind {
    std::string name;
    std::string cpu_model;
    std::string vendor;
    std::string architecture = "x86_64";
    std::vector<std::string> isa; ///< empty: all that the data sheet has a rate of
    int cores = 0;
    int sockets = 1;
    bool is_guest = false;
    bool are_threads = false; ///< two of the guest's CPUs share a core, and it does not see that
    int modules = 0;          ///< of memory; 0: nobody who is not root knows
};

/// 2, 16, 96 and 192 cores, bare metal and guest, x86 and Arm.
std::vector<HostKind> host_kinds();
/// One of each that configs/hardware tells by its name, on bare metal.
std::vector<HostKind> every_processor();
/// Hosts that single devices and eight of them are plugged into.
HostKind host_of_one();
HostKind host_of_eight();

const reference::Hardware& hardware();
/// "amd-mi300x": has a driver's name, so a run may know it.
bool is_known(const reference::HardwareEntry& chip);

/// Null where no data sheet is its.
const reference::ProcessorEntry* processor_of(const record::Machine& machine);
record::Machine machine_of(const HostKind& kind);
/// Telemetry while nothing disturbs it.
record::Telemetry quiet(const record::Machine& machine);
record::Telemetry quiet(const record::Machine& machine, const reference::HardwareEntry& chip);

} // namespace assay::decisions
