// SPDX-License-Identifier: Apache-2.0
//
// What the firmware says the machine is (DMI, or a device tree). Fields that name one piece of
// hardware, serial numbers, UUIDs and board tags, are never read.

#pragma once

#include "machine/files.hpp"

#include <string>

namespace assay::machine {

/// Placeholders ("To Be Filled By O.E.M.") read as empty.
struct Firmware {
    std::string vendor;
    std::string product;
    std::string bios;        ///< vendor and version: the only trace of Amazon's first generation
    std::string chassis_tag; ///< only compared with those that clouds set for all their machines
};
Firmware read_firmware(const Files& files);

/// "Supermicro SYS-821GE-TNHR"; the vendor is not repeated where the product begins with it.
std::string system_name(const Firmware& firmware);

} // namespace assay::machine
