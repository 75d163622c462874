// SPDX-License-Identifier: Apache-2.0
//
// NVLink traffic of several devices in a window: the driver's counters before and after it.

#pragma once

#include "base/result.hpp"
#include "machine/nvml.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay::telemetry {

/// Of one device, all its links together; nothing if it is not counted, or has counted nothing since the driver was
/// loaded.
struct LinkBytes {
    std::optional<std::int64_t> received;
    std::optional<std::int64_t> sent;
};

class LinkWindow {
public:
    /// By UUID. The error says why there are no counters.
    static Result<LinkWindow> open(const std::vector<std::string>& devices,
                                   const std::filesystem::path& library = driver::nvml_library);
    void begin();
    /// In the given order.
    std::vector<LinkBytes> end();

private:
    explicit LinkWindow(std::vector<driver::NvmlDevice> devices) : devices_{std::move(devices)} {}
    std::vector<driver::NvmlDevice> devices_;
    std::vector<driver::DeviceCounters> begun_;
};

} // namespace assay::telemetry
