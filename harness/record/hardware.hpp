// SPDX-License-Identifier: Apache-2.0
//
// Parts and settings of a machine, as recorded. Unknown ones are empty or absent.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::record {

/// A part that may be replaced while the machine stays the same.
struct Part {
    std::string kind;  ///< "board", "device", "network"
    std::string where; ///< PCI address; empty for the board
    std::string id;    ///< hashed: another one is another part
    bool operator==(const Part&) const = default;
};

/// A serial number, MAC address or GUID that was requested: in clear, or hashed with a key of the user's.
struct Serial {
    std::string kind;  ///< "product", "board", "device", "network", "storage"
    std::string where; ///< PCI address or name; empty for product and board
    std::string text;  ///< in clear, or
    std::string keyed; ///< hashed with the key: equal for the same part in all runs with this key
    bool operator==(const Serial&) const = default;
};

/// How a machine is recognised.
struct MachineIdentity {
    /// "cloud_instance", "product_uuid"; where nothing strong is known "node", "devices", "machine_id", "hardware"
    std::string by;
    std::string node; ///< what people call it (--node)
    /// Ids that it has when less of it can be read, or had before: runs under these are its own.
    std::vector<std::string> aliases;
    std::vector<Part> parts;
    std::vector<Serial> serials;
    bool operator==(const MachineIdentity&) const = default;
};

struct PowerLimit {
    std::string scope; ///< "package-0"
    std::string term;  ///< "long_term", "short_term"
    double watts = 0;
    bool operator==(const PowerLimit&) const = default;
};

/// Memory modules that are alike.
struct MemoryModules {
    int count = 0;
    std::int64_t bytes = 0;                     ///< of each
    std::string type;                           ///< "DDR5"
    std::optional<double> transfers_per_second; ///< as configured
    std::optional<double> transfers_per_second_most;
    bool operator==(const MemoryModules&) const = default;
};

struct StorageDevice {
    std::string name; ///< "nvme0n1"
    std::string model;
    std::optional<std::int64_t> bytes;
    std::optional<bool> rotational;
    std::string transport; ///< "nvme", "sata", "virtio", ...
    std::string firmware;
    bool operator==(const StorageDevice&) const = default;
};

struct NetworkCard {
    std::string name; ///< "eth0", "mlx5_0:1"
    std::string address;
    std::string driver;
    std::string firmware;
    std::optional<double> bytes_per_second; ///< of the link, in one direction
    std::optional<std::int64_t> mtu;        ///< of an interface, in bytes
    std::string state;                      ///< "up", "down"; of a port "active", "down", "init"
    std::string link_layer;                 ///< of a port: "InfiniBand", "Ethernet"
    std::optional<int> virtual_functions;   ///< parts that are given away (SR-IOV)
    std::string
        physical_function; ///< address of the card that this one is a part of, where that is not shown
    bool operator==(const NetworkCard&) const = default;
};

/// Interfaces that act as one.
struct Bond {
    std::string name; ///< "bond0"
    std::string mode; ///< as the kernel names it: "802.3ad", "active-backup"
    std::vector<std::string> members;
    std::vector<std::string> active;        ///< those that carry data now
    std::optional<double> bytes_per_second; ///< of many streams, in one direction
    bool operator==(const Bond&) const = default;
};

/// Choices of the provider, the firmware and the administrator.
struct Platform {
    std::string region; ///< of the cloud: "eu-central-1"
    std::string zone;
    std::string bios_vendor;
    std::string bios_version;
    std::string bios_date;
    std::string microcode; ///< "0x2b000590"
    std::string frequency_driver;
    std::string governor;      ///< several: "performance, powersave"
    std::optional<bool> boost; ///< clocks above the nominal one
    std::string smt;           ///< "on", "off", "notsupported", ...
    std::vector<PowerLimit> power_limits;
    std::string
        energy_unread; ///< why the host's energy is not known: "no_counter", "not_permitted"
    std::vector<MemoryModules> memory_modules;
    std::optional<int> memory_slots;
    std::optional<int> memory_channels;      ///< with a module
    std::optional<int> memory_channels_most; ///< with a slot
    std::string memory_unread; ///< why modules are not known: "no_table", "not_permitted"
    std::vector<std::string> memoryless_nodes; ///< NUMA nodes that have CPUs and no memory: "0"
    std::vector<StorageDevice> storage;
    std::vector<NetworkCard> network;
    std::vector<Bond> bonds;
    std::vector<std::string> kernel_options; ///< those that matter for speed: "mitigations=off"
    std::optional<double> clock_limit_hz;    ///< that the governor may choose at most; the lowest
    std::optional<double> clock_most_hz;     ///< of the same CPU, by its hardware
    std::optional<bool> numa_balancing;      ///< the kernel moves pages to the node that uses them
    std::string iommu; ///< "off", or how devices are mapped: "identity", "DMA", "DMA-FQ"
    std::vector<std::string> mitigations; ///< of flaws of the processor, that are active
    std::optional<std::int64_t> swap_bytes;
    std::optional<std::int64_t> swap_used_bytes;
    std::optional<std::int64_t> results_free_bytes; ///< where results are written
    std::optional<bool>
        burstable; ///< true: this instance type has full CPUs only while credits last
    bool operator==(const Platform&) const = default;
};

struct DeviceFirmware {
    std::string vbios;
    std::string inforom;
    bool operator==(const DeviceFirmware&) const = default;
};

/// NVLink fabric of several nodes or of a baseboard with switches, as the device sees its own place in it.
struct DeviceFabric {
    std::string state;         ///< "not_started", "in_progress", "completed"; empty: it is in none
    std::optional<int> status; ///< why registration failed, as NVML numbers errors; 0: it did not
    std::optional<int> clique; ///< devices of one clique reach each other
    /// What is wrong: "degraded_bandwidth", "route_recovery", "route_unhealthy", "access_timeout_recovery".
    std::vector<std::string> health;
    bool operator==(const DeviceFabric&) const = default;
};

/// Values of an error counter before and after a run.
struct ErrorCounter {
    std::string source;  ///< "edac", "pcie", "infiniband", "network", "nvlink", "driver",
                         ///< "allowance"
    std::string device;  ///< "mc0", PCI address, "mlx5_0:1", "eth0", "GPU-..."
    std::string counter; ///< as its source names it: "ce_count"
    std::optional<std::int64_t> before;
    std::optional<std::int64_t> after;
    bool operator==(const ErrorCounter&) const = default;
};

struct Cache {
    int level = 0;
    std::string type; ///< "data", "instruction", "unified"
    std::int64_t bytes = 0;
    int count = 0; ///< instances that the process may use
    std::optional<int> line_bytes;
};

/// Where a PCI device is plugged in.
struct PciLink {
    std::optional<int> numa_node; ///< nearest to it
    std::optional<int> width;     ///< lanes
    std::optional<int> width_max;
    std::optional<int> generation; ///< not of accelerators: at rest theirs is lowered
    std::optional<int> generation_max;
    /// A bridge above it sends what is meant for other devices through the root (ACS). Only root can see it.
    std::optional<bool> peers_redirected;
    bool operator==(const PciLink&) const = default;
};

/// A PCI accelerator or network device, known by its ids even without a driver.
struct PciDevice {
    std::string address; ///< 0000:65:00.0
    std::string vendor_id;
    std::string device_id;
    std::string kind; ///< "accelerator", "display", "network", "infiniband"
    std::string name; ///< empty when not known
    std::string driver;
    PciLink link{};
};

/// A device that benchmarks can run on, as its driver describes it. Each part of a divided device (MIG) is a
/// device; the whole is not.
struct Device {
    std::string kind;                      ///< "cuda"
    int index = 0;                         ///< in the order of PCI addresses, among its kind
    std::string uuid;                      ///< "GPU-...", "MIG-...": as in Place
    std::optional<std::string> whole_uuid; ///< of the whole device if this is a part (MIG)
    std::string pci_address;               ///< 0000:65:00.0; of the whole device if this is a part
    std::string name;
    std::string compute_capability;     ///< "9.0"; empty when not known
    std::optional<int> multiprocessors; ///< of this device or part
    std::optional<std::int64_t> memory_bytes;
    std::optional<double> clock_max_hz; ///< of the multiprocessors
    std::optional<double> memory_clock_max_hz;
    std::optional<int> memory_bus_bits;
    std::optional<double> power_limit_watts; ///< enforced now
    std::optional<double> power_limit_default_watts;
    std::string mode;                 ///< "" is the whole device; "mig 1g.10gb", "vgpu"
    std::optional<bool> ecc;          ///< error correction of its memory is enabled
    std::optional<bool> confidential; ///< confidential computing is enabled
    std::optional<int> numa_node;     ///< of the host, nearest to the device
    std::optional<int>
        nvlinks; ///< links that are up; absent if it has none or they are not reported
    DeviceFirmware firmware;
    DeviceFabric fabric{};
};

} // namespace assay::record
