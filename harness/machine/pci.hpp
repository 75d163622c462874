// SPDX-License-Identifier: Apache-2.0
//
// Accelerators and network devices on the PCI bus, by class and ids, so that one is listed even without
// its driver. Every name comes from the machine itself or is the vendor's.

#pragma once

#include "machine/files.hpp"
#include "record/model.hpp"

#include <vector>

namespace assay::machine {

/// In the order of their addresses.
std::vector<record::PciDevice> read_pci(const Files& files);

} // namespace assay::machine
