// SPDX-License-Identifier: Apache-2.0
//
// The keys of what a machine consists of; part of layout.hpp.

#pragma once

#include "json/codec.hpp"
#include "record/hardware.hpp"

#include <vector>

namespace assay::record {

ASSAY_FIELDS(Part, kind, where, id)

ASSAY_FIELDS(Serial, kind, where, text, keyed)

ASSAY_FIELDS(MachineIdentity, by, node, aliases, parts, serials)

ASSAY_FIELDS(PowerLimit, scope, term, watts)

ASSAY_FIELDS(MemoryModules, count, bytes, type, transfers_per_second, transfers_per_second_most)

ASSAY_FIELDS(StorageDevice, name, model, bytes, rotational, transport, firmware)

ASSAY_FIELDS(NetworkCard, name, address, driver, firmware, bytes_per_second, mtu, state, link_layer,
             virtual_functions, physical_function)

ASSAY_FIELDS(Bond, name, mode, members, active, bytes_per_second)

ASSAY_FIELDS(Platform, region, zone, bios_vendor, bios_version, bios_date, microcode,
             frequency_driver, governor, boost, smt, power_limits, energy_unread, memory_modules,
             memory_slots, memory_channels, memory_channels_most, memory_unread, memoryless_nodes,
             storage, network, bonds, kernel_options, clock_limit_hz, clock_most_hz, numa_balancing,
             iommu, mitigations, swap_bytes, swap_used_bytes, results_free_bytes, burstable)

ASSAY_FIELDS(DeviceFirmware, vbios, inforom)

ASSAY_FIELDS(DeviceFabric, state, status, clique, health)

ASSAY_FIELDS(ErrorCounter, source, device, counter, before, after)

ASSAY_FIELDS(Cache, level, type, bytes, count, line_bytes)

ASSAY_FIELDS(PciLink, numa_node, width, width_max, generation, generation_max, peers_redirected)

ASSAY_FIELDS(PciDevice, address, vendor_id, device_id, kind, name, driver, link)

ASSAY_FIELDS(Device, kind, index, uuid, whole_uuid, pci_address, name, compute_capability,
             multiprocessors, memory_bytes, clock_max_hz, memory_clock_max_hz, memory_bus_bits,
             power_limit_watts, power_limit_default_watts, mode, ecc, confidential, numa_node,
             nvlinks, firmware, fabric)

template <OneOf<std::vector<Device>, MachineIdentity, Platform, DeviceFirmware, DeviceFabric,
                PciLink, std::vector<ErrorCounter>>
              T>
void json_sparse(const T&);

template <OneOf<Serial, MachineIdentity, MemoryModules, StorageDevice, NetworkCard, Bond, Platform,
                DeviceFirmware, DeviceFabric, PciLink>
              T>
void json_lenient(const T&);

} // namespace assay::record
