// SPDX-License-Identifier: Apache-2.0
//
// AMD's devices as the kernel's driver (amdgpu, KFD) shows them in /sys: no library is needed, and tests have trees.

#pragma once

#include "machine/files.hpp"
#include "machine/nvml.hpp"
#include "record/model.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::machine {

struct AmdDevices {
    std::vector<record::Device> devices; ///< kind "hip", in the order of PCI addresses
    std::vector<record::Serial> serials;
    std::string driver;                ///< version of amdgpu; that of the kernel has none
    std::vector<std::string> problems; ///< of devices on the bus that KFD does not offer
};
/// Nodes of the topology with a graphics target; of one that is partitioned each part, with a `mode`.
AmdDevices read_amd_devices(const Files& files, const std::vector<record::PciDevice>& pci);

/// One of them, to be read during a window: what machine::NvmlDevice is for NVIDIA's. Energy and reasons for low clocks
/// are in a table of the driver whose layout changes (machine/amd_devices.hpp): absent where it is not known.
class AmdDevice {
public:
    AmdDevice(Files files, record::Device described, std::string kfd_id);

    const record::Device& describe() const { return described_; }
    machine::DeviceReadings readings() const;
    machine::DeviceCounters counters() const;
    machine::DeviceHealth health() const { return {}; }
    std::optional<double> clock_hz() const { return readings().clock_hz; }
    /// That have memory of it.
    std::optional<std::vector<int>> processes() const;
    bool is_part() const { return !described_.mode.empty(); }
    const std::string& problem() const { return problem_; }

private:
    Files files_;
    record::Device described_;
    std::filesystem::path pci_;
    std::filesystem::path sensors_; ///< hwmon
    std::string kfd_id_;
    std::string problem_; ///< none: a file that is missing is an absent reading
};
std::optional<AmdDevice> find_amd_device(const Files& files, std::string_view uuid);

} // namespace assay::machine

namespace assay::machine {

// Data of amdgpu's table `gpu_metrics` beside the kernel's other files: energy, reasons for reduced clocks, the link.
// Layouts: Linux, drivers/gpu/drm/amd/include/kgd_pp_interface.h, gpu_metrics_v1_1 to v1_4 and v1_6 to v1_8 (v1_5 had
// two sizes, v1_9 has another form); throttler bits: drivers/gpu/drm/amd/pm/swsmu/inc/amdgpu_smu.h.

struct AmdMetrics {
    std::optional<double> energy_joules; ///< since the driver was loaded
    /// Of this moment, as in DeviceReadings: MI200 and older.
    std::optional<std::vector<std::string>> throttles;
    /// How often the firmware looked, and how often it found each reason: MI300 and later.
    std::optional<double> looks;
    std::map<std::string, double> throttled_looks;
    std::optional<int> pcie_generation;
    std::optional<int> pcie_width;
};

/// Empty for a table of another layout or length.
AmdMetrics read_amd_metrics(std::string_view table);

} // namespace assay::machine
