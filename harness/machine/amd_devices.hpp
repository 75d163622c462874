// SPDX-License-Identifier: Apache-2.0
//
// AMD's devices as the kernel's driver (amdgpu, KFD) shows them in /sys: no library is needed, and tests have trees.

#pragma once

#include "driver/nvml.hpp"
#include "machine/files.hpp"
#include "record/model.hpp"

#include <filesystem>
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

/// One of them, to be read during a window: what driver::NvmlDevice is for NVIDIA's. Energy and reasons for low clocks are
/// in a table of the driver whose layout changes (driver/amd_metrics.hpp): absent where it is not known.
class AmdDevice {
public:
    AmdDevice(Files files, record::Device described, std::string kfd_id);

    const record::Device& describe() const { return described_; }
    driver::DeviceReadings readings() const;
    driver::DeviceCounters counters() const;
    driver::DeviceHealth health() const { return {}; }
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
