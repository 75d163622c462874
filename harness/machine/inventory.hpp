// SPDX-License-Identifier: Apache-2.0
//
// What is this machine? Everything is read from hwloc, /proc, /sys and DMI; nothing is asked of the
// network. What cannot be found out is left empty, and never keeps the rest from being found.

#pragma once

#include "machine/binding.hpp"
#include "machine/clock.hpp"
#include "machine/files.hpp"
#include "machine/topology.hpp"
#include "record/model.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace assay::machine {

struct Options {
    bool hostname = false;
    /// Takes some 5 to 20 ms; without it core_clock_hz stays unknown.
    bool core_clock = true;
    /// Asks the drivers of devices. May take a second where nothing keeps a driver awake.
    bool devices = true;
};
record::Machine inspect(const Options& options = {});

/// What a machine is made out from; tests make up their own.
struct Sources {
    Files files;
    Shape shape;
    std::string architecture;
    std::string hypervisor; ///< what it calls itself
    std::optional<double> core_clock_hz;
    std::filesystem::path nvml; ///< library that describes NVIDIA devices; empty: not asked
};
record::Machine inspect(const Sources& sources);

/// Facts by name, as assay/machine.hpp lists them, and core_clock_hz. Unknown: NaN, "".
/// memory.available is read anew on every call, from the machine this process is on.
double fact(const record::Machine& machine, std::string_view name);
std::string fact_text(const record::Machine& machine, std::string_view name);

/// Is this instruction set there? The kernel's names: avx2, avx512f, asimd.
bool has_isa(const record::Machine& machine, std::string_view isa);

} // namespace assay::machine
