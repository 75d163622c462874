// SPDX-License-Identifier: Apache-2.0
//
// What is wrong with a machine's links: PCIe, NVLink and network ports, by what was recorded of it and by data sheets.
// `assay doctor` and `assay check` both say this and nothing else about links.

#pragma once

#include "record/model.hpp"
#include "reference/hardware.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace assay::reference {

enum class LinkFault : std::uint8_t {
    lanes,      ///< PCIe: fewer than both ends have
    generation, ///< PCIe: lower than both ends have; not of accelerators, which lower it at rest
    nvlinks,    ///< fewer are up than the data sheet says
    nvlinks_differ,  ///< fewer than of another device of its name, which no data sheet explains
    nvlinks_unknown, ///< the driver does not say how many are up
    fabric_unready,  ///< the device has not joined the NVLink fabric, or another part of it
    fabric_degraded, ///< the fabric reports a fault
    port_slow,       ///< slower than most ports of the same use
    port_down,
};

struct LinkFinding {
    LinkFault fault{};
    std::string where;        ///< PCI address, "cuda:1", "mlx5_0:1"
    double found = 0;         ///< lanes, generation, links, B/s
    double most = 0;          ///< what it might be; 0: no number
    bool is_measured = false; ///< benchmarks run on this device
    std::string text{};       ///< "in_progress": where words say it
};

/// `hardware`: null where the data sheets cannot be read.
std::vector<LinkFinding> faults_of_links(const record::Machine& machine, const Hardware* hardware);

/// Links by a data sheet; 0 if it says nothing, or if a bridge, which is optional, makes the links.
int nvlinks_of(const HardwareEntry* entry);

} // namespace assay::reference
