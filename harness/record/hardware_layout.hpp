// SPDX-License-Identifier: Apache-2.0
//
// The keys of what a machine consists of; part of layout.hpp.

#pragma once

#include "json/codec.hpp"
#include "record/hardware.hpp"

#include <vector>

namespace assay::record {

template <class Visit>
void each_field(Visit&& visit, Maybe<Part> auto& part) {
    visit("kind", part.kind);
    visit("where", part.where);
    visit("id", part.id);
}

template <class Visit>
void each_field(Visit&& visit, Maybe<Serial> auto& serial) {
    visit("kind", serial.kind);
    visit("where", serial.where);
    visit("text", serial.text);
    visit("keyed", serial.keyed);
}

template <class Visit>
void each_field(Visit&& visit, Maybe<MachineIdentity> auto& identity) {
    visit("by", identity.by);
    visit("node", identity.node);
    visit("aliases", identity.aliases);
    visit("parts", identity.parts);
    visit("serials", identity.serials);
}

template <class Visit>
void each_field(Visit&& visit, Maybe<PowerLimit> auto& limit) {
    visit("scope", limit.scope);
    visit("term", limit.term);
    visit("watts", limit.watts);
}

template <class Visit>
void each_field(Visit&& visit, Maybe<MemoryModules> auto& modules) {
    visit("count", modules.count);
    visit("bytes", modules.bytes);
    visit("type", modules.type);
    visit("transfers_per_second", modules.transfers_per_second);
    visit("transfers_per_second_most", modules.transfers_per_second_most);
}

template <class Visit>
void each_field(Visit&& visit, Maybe<StorageDevice> auto& storage) {
    visit("name", storage.name);
    visit("model", storage.model);
    visit("bytes", storage.bytes);
    visit("rotational", storage.rotational);
    visit("transport", storage.transport);
    visit("firmware", storage.firmware);
}

template <class Visit>
void each_field(Visit&& visit, Maybe<NetworkCard> auto& card) {
    visit("name", card.name);
    visit("address", card.address);
    visit("driver", card.driver);
    visit("firmware", card.firmware);
    visit("bytes_per_second", card.bytes_per_second);
    visit("mtu", card.mtu);
    visit("state", card.state);
    visit("link_layer", card.link_layer);
    visit("virtual_functions", card.virtual_functions);
    visit("physical_function", card.physical_function);
}

template <class Visit>
void each_field(Visit&& visit, Maybe<Bond> auto& bond) {
    visit("name", bond.name);
    visit("mode", bond.mode);
    visit("members", bond.members);
    visit("active", bond.active);
    visit("bytes_per_second", bond.bytes_per_second);
}

template <class Visit>
void each_field(Visit&& visit, Maybe<Platform> auto& platform) {
    visit("region", platform.region);
    visit("zone", platform.zone);
    visit("bios_vendor", platform.bios_vendor);
    visit("bios_version", platform.bios_version);
    visit("bios_date", platform.bios_date);
    visit("microcode", platform.microcode);
    visit("frequency_driver", platform.frequency_driver);
    visit("governor", platform.governor);
    visit("boost", platform.boost);
    visit("smt", platform.smt);
    visit("power_limits", platform.power_limits);
    visit("energy_unread", platform.energy_unread);
    visit("memory_modules", platform.memory_modules);
    visit("memory_slots", platform.memory_slots);
    visit("memory_channels", platform.memory_channels);
    visit("memory_channels_most", platform.memory_channels_most);
    visit("memory_unread", platform.memory_unread);
    visit("storage", platform.storage);
    visit("network", platform.network);
    visit("bonds", platform.bonds);
    visit("kernel_options", platform.kernel_options);
    visit("clock_limit_hz", platform.clock_limit_hz);
    visit("clock_most_hz", platform.clock_most_hz);
    visit("numa_balancing", platform.numa_balancing);
    visit("iommu", platform.iommu);
    visit("mitigations", platform.mitigations);
    visit("swap_bytes", platform.swap_bytes);
    visit("swap_used_bytes", platform.swap_used_bytes);
    visit("results_free_bytes", platform.results_free_bytes);
}

template <class Visit>
void each_field(Visit&& visit, Maybe<DeviceFirmware> auto& firmware) {
    visit("vbios", firmware.vbios);
    visit("inforom", firmware.inforom);
}

template <class Visit>
void each_field(Visit&& visit, Maybe<ErrorCounter> auto& counter) {
    visit("source", counter.source);
    visit("device", counter.device);
    visit("counter", counter.counter);
    visit("before", counter.before);
    visit("after", counter.after);
}

template <class Visit>
void each_field(Visit&& visit, Maybe<Cache> auto& cache) {
    visit("level", cache.level);
    visit("type", cache.type);
    visit("bytes", cache.bytes);
    visit("count", cache.count);
    visit("line_bytes", cache.line_bytes);
}

template <class Visit>
void each_field(Visit&& visit, Maybe<PciLink> auto& link) {
    visit("numa_node", link.numa_node);
    visit("width", link.width);
    visit("width_max", link.width_max);
    visit("generation", link.generation);
    visit("generation_max", link.generation_max);
    visit("peers_redirected", link.peers_redirected);
}

template <class Visit>
void each_field(Visit&& visit, Maybe<PciDevice> auto& device) {
    visit("address", device.address);
    visit("vendor_id", device.vendor_id);
    visit("device_id", device.device_id);
    visit("kind", device.kind);
    visit("name", device.name);
    visit("driver", device.driver);
    visit("link", device.link);
}

template <class Visit>
void each_field(Visit&& visit, Maybe<Device> auto& device) {
    visit("kind", device.kind);
    visit("index", device.index);
    visit("uuid", device.uuid);
    visit("whole_uuid", device.whole_uuid);
    visit("pci_address", device.pci_address);
    visit("name", device.name);
    visit("compute_capability", device.compute_capability);
    visit("multiprocessors", device.multiprocessors);
    visit("memory_bytes", device.memory_bytes);
    visit("clock_max_hz", device.clock_max_hz);
    visit("memory_clock_max_hz", device.memory_clock_max_hz);
    visit("memory_bus_bits", device.memory_bus_bits);
    visit("power_limit_watts", device.power_limit_watts);
    visit("power_limit_default_watts", device.power_limit_default_watts);
    visit("mode", device.mode);
    visit("ecc", device.ecc);
    visit("confidential", device.confidential);
    visit("numa_node", device.numa_node);
    visit("nvlinks", device.nvlinks);
    visit("firmware", device.firmware);
}

} // namespace assay::record

namespace assay::json {

template <>
inline constexpr bool is_sparse<std::vector<record::Device>> = true;
template <>
inline constexpr bool is_sparse<record::MachineIdentity> = true;
template <>
inline constexpr bool is_sparse<record::Platform> = true;
template <>
inline constexpr bool is_sparse<record::DeviceFirmware> = true;
template <>
inline constexpr bool is_sparse<record::PciLink> = true;
template <>
inline constexpr bool is_sparse<std::vector<record::ErrorCounter>> = true;
template <>
inline constexpr bool is_lenient<record::Serial> = true;
template <>
inline constexpr bool is_lenient<record::MachineIdentity> = true;
template <>
inline constexpr bool is_lenient<record::MemoryModules> = true;
template <>
inline constexpr bool is_lenient<record::StorageDevice> = true;
template <>
inline constexpr bool is_lenient<record::NetworkCard> = true;
template <>
inline constexpr bool is_lenient<record::Bond> = true;
template <>
inline constexpr bool is_lenient<record::Platform> = true;
template <>
inline constexpr bool is_lenient<record::DeviceFirmware> = true;
template <>
inline constexpr bool is_lenient<record::PciLink> = true;

} // namespace assay::json
