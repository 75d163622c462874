// SPDX-License-Identifier: Apache-2.0
//
// What is this machine? Read from hwloc, /proc, /sys and DMI, without network access. Unreadable facts
// are left empty, and do not affect the rest.

#pragma once

#include "machine/files.hpp"
#include "machine/system.hpp"
#include "machine/topology.hpp"
#include "record/model.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::machine {

struct Options {
    bool hostname = false;
    std::string node; ///< what people call it; empty: nothing
    SerialOptions serials{};
    /// Takes 5 to 20 ms; without it core_clock_hz is unknown.
    bool core_clock = true;
    /// Asks the drivers of devices. May take a second without persistence mode.
    bool devices = true;
    std::filesystem::path results; ///< where results will be written; empty: not asked
};
record::Machine inspect(const Options& options = {});

/// The sources of the inventory; tests replace them.
struct Sources {
    Files files;
    Shape shape;
    std::string architecture;
    std::string hypervisor; ///< its signature
    std::optional<double> core_clock_hz;
    std::filesystem::path nvml; ///< library that describes NVIDIA devices; empty: not asked
    SerialOptions serials{};
    std::string node; ///< what people call the machine
    FirmwareOf network_firmware{};
};
record::Machine inspect(const Sources& sources);

/// Facts by name, as assay/machine.hpp lists them, and core_clock_hz. Unknown: NaN, "".
/// memory.available is read anew on every call, on the machine of this process.
double fact(const record::Machine& machine, std::string_view name);
std::string fact_text(const record::Machine& machine, std::string_view name);

// --- pci -----------------------------------------------------------------------------------------
// Accelerators and network devices on the PCI bus, by class and ids, so that one is listed even without
// its driver. Every name comes from the machine itself or is the vendor's.

/// In the order of their addresses.
std::vector<record::PciDevice> read_pci(const Files& files);

} // namespace assay::machine
