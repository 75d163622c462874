// SPDX-License-Identifier: Apache-2.0
//
// The machine by its firmware, the operating system, the compiler of this build, and an id of the machine that
// reveals nothing about its owner: the same on every run, and /etc/machine-id cannot be derived from it.
// Serial numbers, UUIDs and board tags are never read.

#pragma once

#include "machine/files.hpp"
#include "record/model.hpp"

#include <string>

namespace assay::machine {

/// DMI, or a device tree. Placeholders ("To Be Filled By O.E.M.") read as empty.
struct Firmware {
    std::string vendor;
    std::string product;
    std::string bios;        ///< vendor and version: the only trace of Amazon's first generation
    std::string chassis_tag; ///< only compared with the tags that clouds set on all machines
};
Firmware read_firmware(const Files& files);

/// "Supermicro SYS-821GE-TNHR"; the vendor is not repeated if the product begins with it.
std::string system_name(const Firmware& firmware);

std::string operating_system(const Files& files); ///< "Debian GNU/Linux 12 (bookworm)"
std::string kernel_release(const Files& files);   ///< "6.1.0-18-amd64"
std::string architecture();                       ///< "x86_64"
std::string host_name();
/// Differs between machines, between boots of one, and between networks of one (containers).
std::string boot_identity();

/// The C library this process runs with, and the compiler that built it.
record::NamedList own_software();

/// Sixteen hexadecimal digits. Nothing that comes and goes (memory in use, CPUs taken offline, a lost accelerator,
/// limits, the kernel) may enter. Reads of `machine` what cannot change without making it another
/// machine; those members must be filled in.
std::string identity(const Files& files, const record::Machine& machine);

} // namespace assay::machine
