// SPDX-License-Identifier: Apache-2.0
//
// Combines the samples and counters of one window on a device.

#pragma once

#include "machine/nvml.hpp"
#include "record/model.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay::telemetry {

/// The increase of a counter; absent if one end is, or if it ran backwards: the driver was reloaded.
std::optional<std::int64_t> grown(const std::optional<std::int64_t>& begun,
                                  const std::optional<std::int64_t>& ended);

/// Mean and extremes of the available values of a reading.
class Range {
public:
    void add(const std::optional<double>& value);
    std::optional<double> mean() const;
    std::optional<double> low() const { return low_; }
    std::optional<double> high() const { return high_; }

private:
    double sum_ = 0;
    std::int64_t count_ = 0;
    std::optional<double> low_;
    std::optional<double> high_;
};

class DeviceSamples {
public:
    void add(const machine::DeviceReadings& now);
    bool empty() const { return count_ == 0; }
    /// The readings of the window; `begun` and `ended` are the counters at its ends.
    record::DeviceTelemetry summary(const machine::DeviceCounters& begun,
                                    const machine::DeviceCounters& ended,
                                    const machine::DeviceHealth& health) const;

private:
    std::vector<record::Throttle> throttles(const machine::DeviceCounters& begun,
                                            const machine::DeviceCounters& ended) const;

    std::int64_t count_ = 0;
    Range power_;
    Range clock_;
    Range memory_clock_;
    Range temperature_;
    Range memory_temperature_;
    std::optional<int> generation_;
    std::optional<int> width_;
    std::int64_t reasons_known_ = 0; ///< samples with the reasons for low clocks
    std::map<std::string, std::int64_t> reasons_;
};

/// Adds the disturbances found in `telemetry.device`, which must exist. `seconds`: of the window.
void add_disturbances(const record::Device& described, double seconds,
                      record::Telemetry& telemetry);

} // namespace assay::telemetry
