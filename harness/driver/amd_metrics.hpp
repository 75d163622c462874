// SPDX-License-Identifier: Apache-2.0
//
// What amdgpu's table `gpu_metrics` says beside the kernel's other files: energy, reasons for reduced clocks, the link.
// Layouts: Linux, drivers/gpu/drm/amd/include/kgd_pp_interface.h, gpu_metrics_v1_1 to v1_4 and v1_6 to v1_8 (v1_5 had two
// sizes, v1_9 has another form); throttler bits: drivers/gpu/drm/amd/pm/swsmu/inc/amdgpu_smu.h.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::driver {

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

} // namespace assay::driver
