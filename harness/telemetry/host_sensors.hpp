// SPDX-License-Identifier: Apache-2.0
//
// Sensors of the host: energy of its processors and their memory (RAPL, by the kernel's powercap files) and
// their temperature (hwmon). Most virtual machines have neither, Arm processors no counter of energy.

#pragma once

#include "machine/files.hpp"
#include "record/model.hpp"

#include <filesystem>
#include <optional>
#include <vector>

namespace assay::telemetry {

/// Found once, read at both ends of a window.
class HostSensors {
public:
    explicit HostSensors(const machine::Files& files);

    /// Joules by zone since any origin; nothing if a zone may not be read.
    using Energy = std::vector<std::optional<double>>;
    Energy energy(const machine::Files& files) const;
    /// Fills in the energy of a window of this length, or why there is none.
    void add_energy(const Energy& begun, const Energy& ended, double seconds,
                    record::Telemetry& telemetry) const;
    /// The hottest sensor of the processors.
    std::optional<double> temperature_celsius(const machine::Files& files) const;

private:
    struct Zone {
        std::filesystem::path counter;
        double range = 0; ///< joules at which the counter wraps; 0: unknown
        bool is_memory = false;
    };
    std::vector<Zone> zones_;
    std::vector<std::filesystem::path> temperatures_;
};

} // namespace assay::telemetry
